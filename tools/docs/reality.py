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
import tomllib

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
    """A row for each flow of each run: the real value of each quantity with the simulated range, and the worst result."""
    for run in result["compared"]:
        flows = {}
        for one in run["compared"]:
            flows.setdefault(one["flow"], []).append(one)
        name = run["run"].split("/", 1)[1].removesuffix("/1").removeprefix("none")
        for flow, quantities in flows.items():
            cells = []
            for one in quantities:
                least, _, most = one["simulated"]
                mark = {"agrees": "", "spread": " ~", "differs": " ✗"}[one["agreement"]]
                cells.append(f"{number(one['real'])} ({number(least)}…{number(most)}){mark}")
            if len(cells) == 3:  # TCP: its mean wait takes the place of two percentiles
                cells.insert(2, "–")
            yield [name or "–", flow, *cells]


def main():
    weir, out = sys.argv[1:]
    text = ["| controller, seed | flow | rate, kbit/s | wait p50, ms | wait p95, ms | loss, % |", "|---|---|---|---|---|---|"]
    failed, inconclusive, late = 0, 0, []
    for scenario, controllers, runs, allowed in ROWS:
        print(f"{scenario} …", file=sys.stderr)
        result = measured(weir, scenario, controllers, runs)
        path = ROOT / f"tests/reality/{scenario}.toml"
        title = tomllib.loads(path.read_text(encoding="utf-8"))["title"]
        rows = list(rows_of(result))
        differing = {row[0] for row in rows if any(cell.endswith("✗") for cell in row)}
        failed += max(0, len(differing) - allowed)
        twice = [run["run"] for run in result["runs"] if run["repeated"] and run["inconclusive"]]
        inconclusive += len(twice)
        late += [run["emulator_late_ms"] for run in result["runs"]]
        text += [f"| **{title}** |"]
        text += ["| " + " | ".join(row) + " |" for row in rows]
        text += [f"| {name}: inconclusive twice |" for name in twice]
    p99 = sorted(one[1] for one in late)
    cause = (ROOT / "tests/reality/causes.md").read_text(encoding="utf-8").rstrip()
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    head = [
        "# Reality", "",
        "Real packets beside the simulator, by `make reality`. The scenarios of [tests/reality](../tests/reality) ran over real sockets and the kernel's TCP. Each run's",
        "own seed was simulated twenty times, with hosts that were late as the real ones. A cell has the real value and the simulated range; of TCP the first wait is the mean.",
        "Where there is no mark the real value agrees; ~ is a spread, which concludes nothing, and ✗ differs. [testbed.md](testbed.md#beside-the-simulator) has the rules.", "",
        f"Written {datetime.date.today()} at commit {commit.stdout.strip()}, Linux {platform.release()}, {len(late)} runs of 60 s. The emulator's lateness at the 99th percentile was",
        f"{p99[len(p99) // 2]:.2f} ms in the median run and {p99[-1]:.2f} ms in the worst.", "",
    ]
    pathlib.Path(out).write_text("\n".join(head + text + ["", cause]).rstrip() + "\n", encoding="utf-8")
    if failed:
        print(f"{failed} runs differ that must agree", file=sys.stderr)
        return 1
    return 3 if inconclusive else 0


if __name__ == "__main__":
    sys.exit(main())
