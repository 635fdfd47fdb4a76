#!/usr/bin/env python3
"""The results of `make mutants-AREA`: a row for each area named, below them the mutants that were missed.

usage: tools/mutants.py AREA...
"""

import json
import math
import sys
from pathlib import Path

WORDS = ["Unviable", "CaughtMutant", "Timeout", "MissedMutant"]
FOUND = Path(__file__).resolve().parent.parent / "target"


def words(area):
    """The outcome of each mutant of the sample, in order."""
    home = FOUND / f"mutants-{area}" / "mutants.out"
    if not (home / "outcomes.json").exists():
        sys.exit(f"{area}: nothing was run; `make mutants-{area} SHARD=0/10`")
    said = {mutant["name"]: None for mutant in json.loads((home / "mutants.json").read_text())}
    for outcome in json.loads((home / "outcomes.json").read_text())["outcomes"]:
        if outcome["scenario"] == "Baseline":
            continue
        word = outcome["summary"]
        if word != "Timeout" or not waited_for_a_lock(home / outcome["log_path"]):
            said[outcome["scenario"]["Mutant"]["name"]] = word
    if still_open := sum(word is None for word in said.values()):
        sys.exit(f"{area}: {still_open} were not run, or timed out while they waited for a lock; run `make mutants-{area}` again")
    return said


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


def row(area, said):
    unviable, caught, timeouts, missed = [sum(own == word for own in said.values()) for word in WORDS]
    viable, noticed = caught + timeouts + missed, caught + timeouts
    if viable == 0:
        sys.exit(f"{area}: no mutant is viable")
    return (
        f"| `{area}` | {len(said)} | {unviable} | {caught} | {timeouts} | {missed} "
        f"| {100 * noticed / viable:.1f} % | {100 * lower_bound(noticed, viable):.1f} % |"
    )


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    areas = {area: words(area) for area in arguments}
    print("| area | sample | did not compile | caught | timed out | missed | noticed | at least |")
    print("|---|---|---|---|---|---|---|---|")
    for area, said in areas.items():
        print(row(area, said))
    for area, said in areas.items():
        print(f"\n{area} missed:")
        for name in (name for name, own in said.items() if own == "MissedMutant"):
            print(f"  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
