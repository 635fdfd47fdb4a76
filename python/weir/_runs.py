"""Runs of scenarios, and controllers as Python classes."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from . import _weir
from ._progress import progress_of
from ._results import Result
from ._scenarios import Scenario, ScenarioSource, assignments
from ._types import Directories, Progress, Settings
from ._workers import run_in_processes


class Estimator:
    """A class with AlphaRTC's interface, to be mounted at the receiver (`weir.alphartc`)."""

    def __init__(self, estimator: type[Any], name: str) -> None:
        self.estimator, self.name = estimator, name


#: The name of a controller, or a class.
Controller: TypeAlias = str | type[Any] | Estimator
#: One controller, or several.
Controllers: TypeAlias = Controller | Iterable[Controller]


def alphartc(estimator: type[Any], name: str | None = None) -> Estimator:
    """Mounts a class with AlphaRTC's interface at the receiver, as a controller for `weir.run` and `weir.register`.

    `report_states(stats)` gets a dictionary for each packet in the order of arrival. `get_estimated_bandwidth()` gives an estimate in
    bit/s each 200 ms, which the sender obeys.
    """
    return Estimator(estimator, name or name_of(estimator))


def name_of(cls: type[Any]) -> str:
    """The name of a class among the controllers: its attribute `name`, or its own name."""
    name = getattr(cls, "name", None)
    return name if isinstance(name, str) else cls.__name__


def register(name: str, controller: type[Any] | Estimator) -> None:
    """Gives a class, or an estimator of `weir.alphartc`, a name that scenarios and calls can use.

    A class needs `on_feedback(now, feedback)`, which returns a rate in bit/s; it is kept within the limits. An instance is made for
    each flow of each run, by `Class(limits, seed)` and the options as keyword arguments. Optional are:

    * `on_timeout(now)`, called each `interval` seconds, which returns a rate or `None`;
    * `feedback_interval`, the seconds between two reports, 0.05 unless given;
    * `scale(factor)`, called when a coupling scales the rate, and `on_route_changed(now)`;
    * `version`: results under the class are kept under it. Without it they are not kept.

    Without feedback for three seconds the rate is halved, and again each second.

    >>> import weir
    >>> class Half:
    ...     "Half of the greatest rate."
    ...     def __init__(self, limits, seed):
    ...         self.rate = limits.max / 2
    ...     def on_feedback(self, now, feedback):
    ...         return self.rate
    >>> weir.register("half", Half)
    >>> result = weir.run("quality/steady", controllers=["half"], seeds=[1], set={"duration": "10s"})
    >>> result.reproducible
    False
    """
    handed(name, controller, in_process=True)


def handed(name: str, controller: type[Any] | Estimator, in_process: bool) -> None:
    """Registers a class or an estimator: in the process, or for the call of this thread."""
    if isinstance(controller, Estimator):
        _weir.register(name, controller.estimator, at_receiver=True, in_process=in_process)
    else:
        _weir.register(name, controller, in_process=in_process)


@contextmanager
def named(controllers: Controllers | None) -> Iterator[list[str] | None]:
    """Names of controllers, during a call: classes among them are registered for it, which other threads do not see."""
    if isinstance(controllers, (str, type, Estimator)):
        controllers = [controllers]
    names: list[str] = []
    added: list[str] = []
    _weir.Plan.begin_call()
    try:
        for controller in controllers or []:
            if isinstance(controller, str):
                names.append(controller)
            elif isinstance(controller, (type, Estimator)):
                name = name_of(controller) if isinstance(controller, type) else controller.name
                if name in added:
                    raise ValueError(f"two classes are called {name!r}; give one of them another `name`")
                handed(name, controller, in_process=False)
                added.append(name)
                names.append(name)
            else:
                raise TypeError(f"a controller is a name or a class, not {controller!r}")
        yield None if controllers is None else names
    finally:
        _weir.Plan.end_call()


def directories(data: Directories) -> list[str]:
    """A list of directories: one, or several."""
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    return [os.fspath(directory) for directory in data]


def seeds_of(seeds: int | Iterable[int] | None) -> list[int] | None:
    """A list of seeds: those given, or a single one."""
    if seeds is None:
        return None
    if isinstance(seeds, str):
        raise TypeError(f"seeds are numbers, not the text {seeds!r}")
    if isinstance(seeds, bool):
        raise TypeError(f"seeds are numbers, not {seeds}")
    listed = [operator.index(seed) for seed in ([seeds] if isinstance(seeds, int) else seeds)]
    for seed in listed:
        if not 0 <= seed < 2**63:
            raise ValueError(f"a seed is a number from 0 to 2**63 - 1, not {seed}")
    if len(set(listed)) < len(listed):
        raise ValueError(f"seeds: one is named twice in {listed}")
    return listed


def check_number(name: str, number: int | None, least: int, most: int) -> None:
    """Refuses a number that is given and out of its range."""
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most):
        raise ValueError(f"{name} is a number from {least} to {most}, not {number!r}")


def jobs_of(jobs: int | None) -> int:
    """The number of jobs: as many as there are processors unless given."""
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(jobs, int) or jobs < 1:
        raise ValueError(f"jobs is a number from 1 on, not {jobs!r}")
    return jobs


def run(
    scenario: ScenarioSource,
    controllers: Controllers | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    set: Settings | None = None,
    jobs: int | None = None,
    series: bool = True,
    progress: Progress = None,
    data: Directories = (),
) -> Result:
    """Runs a scenario under each controller and seed.

    scenario: a shipped name (`weir.scenarios()`), a path, a text in TOML, a dictionary, or a `weir.Scenario`.
    controllers: names, variants such as `"gcc{trendline.window=40}"`, or classes; those of the scenario unless given.
    seeds: those of the scenario unless given.
    set: a dictionary from paths such as `"links.forward.rate"` to values.
    jobs: threads, or processes where a class takes part; as many as there are processors, or 1 with a class.
    series: whether to keep time series of the first seed.
    progress: a function of the runs that are over and of all runs; a bar on a terminal unless given, none if `False`.
    data: directories with further traces.

    Raises `weir.ScenarioError` with the place of a mistake, `weir.ControllerError` for a class that fails.

    >>> import weir
    >>> weir.run("quality/steady", controllers=["gccc"])
    Traceback (most recent call last):
        ...
    weir.ScenarioError: ...did you mean `gcc`?...
    """
    source = Scenario.of(scenario)
    seeds, data = seeds_of(seeds), directories(data)
    threads = jobs_of(jobs)
    with named(controllers) as names, progress_of(progress, source.name) as function:
        arguments = (source._own, assignments(set), names, seeds, data)
        plan = _weir.Plan(*arguments)
        if plan.classes and jobs is not None and threads > 1 and len(plan.seeds) > 1:
            return Result(run_in_processes(plan, arguments, threads, series, function))
        return Result(plan.run(1 if plan.classes else threads, series, function))
