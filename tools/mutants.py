#!/usr/bin/env python3
"""What `make mutants-AREA` found: a row for each area named, below them what was missed.

usage: tools/mutants.py AREA...
       tools/mutants.py --again AREA RUN   # a configuration for cargo-mutants, to run what the runs before RUN missed

An area has a sample, run 0, and maybe runs of what was missed before: the last word on a mutant counts.
"""

import json
import math
import re
import sys
from pathlib import Path

WORDS = ["Unviable", "CaughtMutant", "Timeout", "MissedMutant"]
FOUND = Path(__file__).resolve().parent.parent / "target"


def words(area, before=math.inf):
    """The mutants of the sample in order, and of each the last word before run `before`."""
    found = {}
    runs = [path for path in (FOUND / f"mutants-{area}").glob("*/mutants.out/outcomes.json")]
    runs = sorted((int(path.parts[-3]), path) for path in runs)
    for run, path in runs:
        if run >= before:
            break
        for outcome in json.loads(path.read_text())["outcomes"]:
            if outcome["scenario"] == "Baseline":
                continue
            name = outcome["scenario"]["Mutant"]["name"]
            if run > 0 and name not in found:
                continue  # cargo-mutants lets some through that it was not asked for
            word = outcome["summary"]
            if word == "Timeout" and waited_for_a_lock(path.parent / outcome["log_path"]):
                word = "Lock"
            found[name] = word
    if not found:
        sys.exit(f"{area}: nothing was run; `make mutants-{area} SHARD=0/10`")
    return found


def waited_for_a_lock(log):
    return "Blocking waiting for file lock" in log.read_text(errors="replace")


def lower_bound(hits, trials, error=0.05):
    """Of Clopper and Pearson (1934), one-sided: the share under which so many hits or more have a chance of 5 %."""
    if hits == 0:
        return 0.0

    def chance(share):
        return sum(math.comb(trials, n) * share**n * (1 - share) ** (trials - n) for n in range(hits, trials + 1))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < error else (low, middle)
    return low


def count(found):
    return [sum(own == word for own in found.values()) for word in WORDS]


def row(area):
    _, caught, timeouts, missed = count(words(area, 1))
    first = caught + timeouts
    unviable, caught, timeouts, missed = count(words(area))
    viable, noticed = caught + timeouts + missed, caught + timeouts
    if viable == 0:
        sys.exit(f"{area}: no mutant is viable")
    return (
        f"| `{area}` | {unviable + viable} | {unviable} | {first} | {caught} | {timeouts} | {missed} "
        f"| {100 * noticed / viable:.1f} % | {100 * lower_bound(noticed, viable):.1f} % |"
    )


def again(area, run):
    missed = [name for name, word in words(area, int(run)).items() if word in ("MissedMutant", "Lock")]
    if not missed:
        sys.exit(f"{area}: nothing was missed")
    print(f"examine_re = {json.dumps([f'^{re.escape(name)}$' for name in missed], indent=1)}")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--again":
        return again(*arguments[1:])
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    print("| area | sample | did not compile | noticed at first | caught | timed out | missed | noticed | at least |")
    print("|---|---|---|---|---|---|---|---|---|")
    for area in arguments:
        print(row(area))
    for area in arguments:
        found = words(area)
        print(f"\n{area} missed:")
        for name in (name for name, word in found.items() if word == "MissedMutant"):
            print(f"  {name}")
        if locked := sum(word == "Lock" for word in found.values()):
            sys.exit(f"{area}: {locked} timed out while they waited for a lock; run them again")


if __name__ == "__main__":
    main(sys.argv[1:])
