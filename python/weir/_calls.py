"""Recorded calls: their replay under other controllers, and their explanation."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias

import numpy as np

from . import _weir
from ._results import Table
from ._runs import Controllers, named
from ._studies import write
from ._types import Path


class Call:
    """A recorded call: an event log, a capture, counters of a browser, or two captures, that of the sender first."""

    def __init__(
        self, *files: Path, direction: Literal["sent", "received"] | None = None, ssrc: int | None = None
    ) -> None:
        self._own = _weir.Call.read([os.fspath(file) for file in files], direction, ssrc)

    @property
    def name(self) -> str:
        """Name of the first file without its endings."""
        return self._own.name

    @property
    def remarks(self) -> list[str]:
        """Remarks on the recording."""
        return self._own.remarks

    def __len__(self) -> int:
        return len(self._own)

    def __repr__(self) -> str:
        return f"<weir.Call {self.name!r}: {len(self)} packets>"


#: A recorded call, or its file.
CallSource: TypeAlias = Call | Path


def call_of(source: CallSource) -> Call:
    return source if isinstance(source, Call) else Call(source)


class Replay:
    """The decisions that other controllers would have made on a recorded call."""

    def __init__(self, own: _weir.Replay, names: list[str]) -> None:
        self._own, self._names = own, names
        #: The results as `weir replay --json` has them: a dictionary for each controller.
        self.results: list[dict[str, Any]] = own.results()

    def rate(self, controller: str) -> Table:
        """The rate of a controller at each of its changes: `time_s` and `rate_bps`."""
        for name, result in zip(self._names, self.results, strict=True):
            if controller in (name, result["controller"]):
                points = result["rate"]
                return Table(
                    {
                        "time_s": np.array([point["time_us"] for point in points]) / 1e6,
                        "rate_bps": np.array([point["bps"] for point in points], dtype=float),
                    }
                )
        raise KeyError(f"there is no replay under {controller!r}")

    def report(self, path: Path) -> str:
        """Writes the page of `weir replay` to `path`, and returns the path."""
        return write(path, self._own.html())


def replay(
    call: CallSource,
    controllers: Controllers,
    *,
    start: float | None = None,
    max: float | None = None,
    feedback_interval: float | None = None,
) -> Replay:
    """Replays a recorded call, a file or a `weir.Call`, under controllers.

    `start` and `max` are rates in bit/s, and `feedback_interval` is in seconds.
    """
    with named(controllers) as listed:
        if not listed:
            raise ValueError("controllers: name one at least")
        names = listed
        return Replay(call_of(call)._own.replay(names, start, max, feedback_interval), names)


class Explanation:
    """The falls of a recorded call, and what came first."""

    def __init__(self, own: _weir.Explanation) -> None:
        self._own = own
        #: The results as `weir explain-call --json` has them.
        self.results: dict[str, Any] = own.results()

    def report(self, path: Path) -> str:
        """Writes the page of `weir explain-call` to `path`, and returns the path."""
        return write(path, self._own.html())

    def __str__(self) -> str:
        return str(self._own)


def explain(call: CallSource) -> Explanation:
    """Explains a recorded call, a file or a `weir.Call`."""
    return Explanation(call_of(call)._own.explain())
