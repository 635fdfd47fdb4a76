#!/usr/bin/env python3
"""What `make mutants-AREA` found: a row for each area named, below them what was missed.

usage: tools/mutants.py AREA...
       tools/mutants.py --again AREA RUN   # a configuration for cargo-mutants, to run what the runs before RUN missed or left

An area has a sample, run 0, and maybe runs of what was missed before or not run at all: the last word on a mutant counts.
"""

import json
import math
import re
import sys
from pathlib import Path

WORDS = ["Unviable", "CaughtMutant", "Timeout", "MissedMutant"]
FOUND = Path(__file__).resolve().parent.parent / "target"


def words(area, before=math.inf):
    """Of each mutant of the sample, in order, what the runs before run `before` said, one after the other."""
    home = FOUND / f"mutants-{area}"
    sample = home / "0" / "mutants.out" / "mutants.json"
    if not sample.exists():
        sys.exit(f"{area}: nothing was run; `make mutants-{area} SHARD=0/10`")
    said = {mutant["name"]: [] for mutant in json.loads(sample.read_text())}
    runs = sorted((int(path.parts[-3]), path) for path in home.glob("*/mutants.out/outcomes.json"))
    for path in (path for run, path in runs if run < before):
        for outcome in json.loads(path.read_text())["outcomes"]:
            if outcome["scenario"] == "Baseline":
                continue
            word = outcome["summary"]
            if word == "Timeout" and waited_for_a_lock(path.parent / outcome["log_path"]):
                continue
            # cargo-mutants lets deletions of fields through that it was not asked for.
            said.get(outcome["scenario"]["Mutant"]["name"], []).append(word)
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


def count(words):
    return [sum(own == word for own in words) for word in WORDS]


def row(area, said):
    _, caught, timeouts, _ = count([own[0] for own in said.values()])
    first = caught + timeouts
    unviable, caught, timeouts, missed = count([own[-1] for own in said.values()])
    viable, noticed = caught + timeouts + missed, caught + timeouts
    if viable == 0:
        sys.exit(f"{area}: no mutant is viable")
    return (
        f"| `{area}` | {len(said)} | {unviable} | {first} | {caught} | {timeouts} | {missed} "
        f"| {100 * noticed / viable:.1f} % | {100 * lower_bound(noticed, viable):.1f} % |"
    )


def again(area, run):
    asked = [name for name, own in words(area, int(run)).items() if not own or own[-1] == "MissedMutant"]
    if not asked:
        sys.exit(f"{area}: nothing was missed")
    # Deletions of fields go through the names, and not through the files.
    print(f"examine_globs = {json.dumps(sorted({name.split(':')[0] for name in asked}), indent=1)}")
    print(f"examine_re = {json.dumps([f'^{re.escape(name)}$' for name in asked], indent=1)}")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--again":
        return again(*arguments[1:])
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    areas = {area: words(area) for area in arguments}
    for area, said in areas.items():
        if open := sum(not own for own in said.values()):
            sys.exit(f"{area}: {open} were not run, or timed out while they waited for a lock; run them with AGAIN=1 or the like")
    print("| area | sample | did not compile | noticed at first | caught | timed out | missed | noticed | at least |")
    print("|---|---|---|---|---|---|---|---|---|")
    for area, said in areas.items():
        print(row(area, said))
    for area, said in areas.items():
        print(f"\n{area} missed:")
        for name in (name for name, own in said.items() if own[-1] == "MissedMutant"):
            print(f"  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
