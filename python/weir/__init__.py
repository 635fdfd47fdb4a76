"""Weir: congestion control for real-time media, in a network simulator.

>>> import weir
>>> result = weir.run("quality/steady", controllers=["gcc"], seeds=[1], set={"duration": "10s"})
>>> result.controllers
['gcc']
>>> rows = result.table["metric"] == "flows[].rate_bps"
>>> bool(result.table["value"][rows][0] > 100e3)
True
"""

from typing import Any

from ._weir import (
    CallError,
    ControllerError,
    Feedback,
    Limits,
    RunError,
    ScenarioError,
    WeirError,
    __version__,
    controllers,
    metrics,
    rows,
    scenarios,
    schema,
    suites,
)
from ._calls import Call, Explanation, Replay, explain, replay
from ._results import Result, Table
from ._runs import alphartc, register, run
from ._scenarios import Scenario
from ._studies import ComparisonTable, Reproduction, SuiteResult, compare, reproduce, suite
from ._sweeps import SweepResult, sweep

__all__ = [
    "Call",
    "CallError",
    "ComparisonTable",
    "ControllerError",
    "Explanation",
    "Feedback",
    "Limits",
    "Replay",
    "Reproduction",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "SuiteResult",
    "SweepResult",
    "Table",
    "WeirError",
    "__version__",
    "alphartc",
    "compare",
    "controllers",
    "explain",
    "metrics",
    "register",
    "replay",
    "reproduce",
    "rows",
    "run",
    "scenarios",
    "schema",
    "suite",
    "suites",
    "sweep",
]


def __getattr__(name: str) -> Any:
    # Modules that need an extra are imported at their first use.
    if name in ("plot", "gym"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'weir' has no attribute {name!r}")
