"""Speed of the package, as medians beside their bars: `python benches/speed.py [WHEEL]`."""

import os
import statistics
import sys
import time

import weir
from weir import _results, _weir

ROUNDS = 25
MINUTE = {"duration": "60s"}


def median_ms(work, rounds=ROUNDS):
    """The median time of a call in ms."""
    work()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


class Still:
    """Returns one rate, and reads three arrays."""

    calls = 0

    def __init__(self, limits, seed):
        self.rate = limits.start

    def on_feedback(self, now, feedback):
        Still.calls += 1
        feedback.sent, feedback.arrived, feedback.size
        return self.rate


class Bare:
    """Returns one rate, and reads nothing."""

    def __init__(self, limits, seed):
        self.rate = limits.start

    def on_feedback(self, now, feedback):
        return self.rate


def main():
    rows = []

    def call(controller):
        return weir.run("quality/steady", [controller], seeds=[1], set=MINUTE, jobs=1, progress=False)

    rows.append(("60-s call of gcc with series", median_ms(lambda: call("gcc").series()), 12, "ms"))
    fixed = median_ms(lambda: weir.run("quality/steady", ["fixed"], seeds=[1], set=MINUTE, jobs=1, series=False, progress=False))
    Still.calls = 0
    call(Still)
    calls = Still.calls
    own = median_ms(lambda: weir.run("quality/steady", [Still], seeds=[1], set=MINUTE, series=False, progress=False))
    bare = median_ms(lambda: weir.run("quality/steady", [Bare], seeds=[1], set=MINUTE, series=False, progress=False))
    rows.append(("60-s call under a class", own, 11, "ms"))
    rows.append((f"on_feedback, three arrays, {calls} calls", 1e3 * (own - fixed) / calls, 2, "µs"))
    rows.append(("on_feedback without arrays", 1e3 * (bare - fixed) / calls, 2, "µs"))
    result = weir.run("quality/steady", ["gcc", "nada", "scream-v2"], seeds=range(4), progress=False)
    rows.append(("long table of 12 runs", median_ms(lambda: _results.tidy(*result._runs.tidy())), None, "ms"))
    for wheel in sys.argv[1:]:
        rows.append((os.path.basename(wheel), os.path.getsize(wheel) / 1e6, 3, "MB"))
    rows.append(("extension module", os.path.getsize(_weir.__file__) / 1e6, None, "MB"))
    for what, value, bar, unit in rows:
        limit = "" if bar is None else f"  (at most {bar})"
        print(f"{what:45} {value:8.2f} {unit}{limit}")


if __name__ == "__main__":
    main()
