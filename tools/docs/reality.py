#!/usr/bin/env python3
"""Real runs beside simulated ones, as a document.

    tools/docs/reality.py WEIR OUT     writes OUT (docs/reality.md) by the program WEIR; some eleven minutes

Runs the scenarios of tests/reality/ with `weir testbed --compare`. Exit code 1 where a quantity differs that must agree, 3 where
runs were inconclusive twice.
"""
import datetime
import json
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ALONE = ["gcc", "nada", "scream-v2", "gcc-2016"]
# Scenario, controllers, runs of each, and how many runs may differ.
ROWS = [
    ("steps", ALONE, 1, 0),
    ("constant", ALONE, 1, 0),
    ("lte", ALONE, 1, 0),
    ("cubic-alone", [], 1, 0),
    ("reno-alone", [], 1, 0),
    ("beside-cubic", ["gcc", "scream-v2"], 4, 1),
    ("beside-reno", ["gcc", "scream-v2"], 4, 1),
    ("codel", ["scream-v2"], 1, 0),
    ("dualpi2", ["scream-v2"], 1, 0),
    ("coupled", [], 1, 0),
]


def measured(weir, scenario, controllers, runs):
    """The JSON of the runs of a scenario."""
    together = max(1, min(8, len(controllers or [0]) * runs))
    command = [weir, "testbed", str(ROOT / f"tests/reality/{scenario}.toml"), "--json", "--quiet", "--compare",
               "--runs", str(runs), "--together", str(together)]
    if controllers:
        command += ["--controller", ",".join(controllers)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 2:
        sys.exit(f"{' '.join(command)}: {ended.stderr}")
    return json.loads(ended.stdout)


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def rows_of(result):
    for run in result["compared"]:
        for one in run["compared"]:
            least, median, most = map(number, one["simulated"])
            name = run["run"].split("/", 1)[1].removesuffix("/1").replace("none/", "")
            yield [name if name != "none" else "–", one["flow"], one["quantity"], number(one["real"]),
                   f"{least} … {median} … {most}", one["agreement"]]


def main():
    weir, out = sys.argv[1:]
    text, failed, inconclusive, late = [], 0, 0, []
    for scenario, controllers, runs, allowed in ROWS:
        print(f"{scenario} …", file=sys.stderr)
        result = measured(weir, scenario, controllers, runs)
        title = result["summary"]["scenario"]
        rows = list(rows_of(result))
        differing = {row[0] for row in rows if row[5] == "differs"}
        failed += max(0, len(differing) - allowed)
        twice = [run["run"] for run in result["runs"] if run["repeated"] and run["inconclusive"]]
        inconclusive += len(twice)
        late += [run["emulator_late_ms"] for run in result["runs"]]
        text += [f"## {title}", "", "| controller, seed | flow | quantity | real | simulated: least … median … most | result |",
                 "|---|---|---|---|---|---|"]
        text += ["| " + " | ".join(row) + " |" for row in rows] + [""]
        text += [f"Inconclusive twice: {name}." for name in twice] + ([""] if twice else [])
    p99 = sorted(one[1] for one in late)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    head = [
        "# Reality", "",
        "Real packets beside the simulator, by `make reality`: the scenarios of [tests/reality](../tests/reality) over real sockets and the kernel's TCP, and each",
        "run's own seed simulated twenty times with hosts that are late as the real ones were. [testbed.md](testbed.md#beside-the-simulator) has the rule of each result.", "",
        f"Written {datetime.date.today()} at commit {commit.stdout.strip()}, Linux {platform.release()}, {len(late)} runs of 60 s. The emulator's lateness at the 99th percentile was",
        f"{p99[len(p99) // 2]:.2f} ms in the median run and {p99[-1]:.2f} ms in the worst.", "",
    ]
    pathlib.Path(out).write_text("\n".join(head + text).rstrip() + "\n", encoding="utf-8")
    if failed:
        print(f"{failed} runs differ that must agree", file=sys.stderr)
        return 1
    return 3 if inconclusive else 0


if __name__ == "__main__":
    sys.exit(main())
