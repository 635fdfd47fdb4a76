"""Recorded calls: their replay under other controllers, and their explanation."""

import os

import numpy as np

from . import _weir
from ._results import Table
from ._runs import named
from ._studies import write


class Call:
    """A recorded call: an event log, a capture, counters of a browser, or two captures, that of the sender first."""

    def __init__(self, *files, direction=None, ssrc=None):
        self._own = _weir.Call.read([os.fspath(file) for file in files], direction, ssrc)

    name = property(lambda self: self._own.name, doc="Name of the first file without its endings.")
    remarks = property(lambda self: self._own.remarks, doc="Remarks on what was read.")

    def __len__(self):
        return len(self._own)

    def __repr__(self):
        return f"<weir.Call {self.name!r}: {len(self)} packets>"


def call_of(source):
    return source if isinstance(source, Call) else Call(source)


class Replay:
    """The decisions that other controllers would have made on a recorded call."""

    def __init__(self, own, names):
        self._own, self._names = own, names
        #: The results as `weir replay --json` has them: a dictionary for each controller.
        self.results = own.results()

    def rate(self, controller):
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

    def report(self, path):
        """Writes the page of `weir replay` to `path`, and returns the path."""
        return write(path, self._own.html())


def replay(call, controllers, *, start=None, max=None, feedback_interval=None):
    """Replays a recorded call, a file or a `weir.Call`, under controllers. Rates are in bit/s, the interval in seconds."""
    with named(controllers) as names:
        return Replay(call_of(call)._own.replay(names, start, max, feedback_interval), names)


class Explanation:
    """The falls of a recorded call, and what came first."""

    def __init__(self, own):
        self._own = own
        #: The results as `weir explain-call --json` has them.
        self.results = own.results()

    def report(self, path):
        """Writes the page of `weir explain-call` to `path`, and returns the path."""
        return write(path, self._own.html())

    def __str__(self):
        return str(self._own)


def explain(call):
    """Explains a recorded call, a file or a `weir.Call`."""
    return Explanation(call_of(call)._own.explain())
