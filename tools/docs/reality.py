#!/usr/bin/env python3
"""Real runs beside simulated ones, as a document.

    tools/docs/reality.py WEIR OUT     writes OUT (docs/reality.md) by the program WEIR; some eleven minutes

Runs the scenarios of tests/reality/ with `weir testbed --compare`. Exit code 1 where a quantity differs that must agree, 3 where
runs were inconclusive twice.
"""
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ALONE = ["gcc", "nada", "scream-v2", "gcc-2016"]
# Scenario, controllers, and runs of each.
ROWS = [
    ("steps", ALONE, 1),
    ("constant", ALONE, 1),
    ("lte", ALONE, 1),
    ("cubic-alone", [], 1),
    ("reno-alone", [], 1),
    ("beside-cubic", ["gcc", "scream-v2"], 4),
    ("beside-reno", ["gcc", "scream-v2"], 4),
    ("codel", ["scream-v2"], 1),
    ("dualpi2", ["scream-v2"], 1),
    ("coupled", [], 1),
]
# Of the runs beside TCP one may differ.
BESIDE_TCP = {"beside-cubic", "beside-reno"}
MAY_DIFFER = 1
# Queues that mark, where a wait agrees only within so many milliseconds of the simulated range.
MARKING = {"codel": 1.0, "dualpi2": 1.0}


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


def machine():
    """The processors, in words."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{os.cpu_count()} processors, {model}"


def result_of(scenario, one):
    """The result of a quantity; waits behind a queue that marks have a bar of their own."""
    least, _, most = one["simulated"]
    within = MARKING.get(scenario)
    if within is None or not one["quantity"].startswith("wait") or one["agreement"] == "spread":
        return one["agreement"]
    return "agrees" if least - within <= one["real"] <= most + within else "differs"


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def rows_of(scenario, result):
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
                mark = {"agrees": "", "spread": " ~", "differs": " ✗"}[result_of(scenario, one)]
                cells.append(f"{number(one['real'])} ({number(least)}…{number(most)}){mark}")
            if len(cells) == 3:  # TCP: its mean wait takes the place of two percentiles
                cells.insert(2, "–")
            yield [name or "–", flow, *cells]


def main():
    weir, out = sys.argv[1:]
    text = ["| controller, seed | flow | rate, kbit/s | wait p50, ms | wait p95, ms | loss, % |", "|---|---|---|---|---|---|"]
    failed, beside_tcp, inconclusive, late = 0, 0, 0, []
    for scenario, controllers, runs in ROWS:
        print(f"{scenario} …", file=sys.stderr)
        result = measured(weir, scenario, controllers, runs)
        path = ROOT / f"tests/reality/{scenario}.toml"
        title = tomllib.loads(path.read_text(encoding="utf-8"))["title"]
        rows = list(rows_of(scenario, result))
        differing = {row[0] for row in rows if any(cell.endswith("✗") for cell in row)}
        if scenario in BESIDE_TCP:
            beside_tcp += len(differing)
        else:
            failed += len(differing)
        twice = [run["run"] for run in result["runs"] if run["repeated"] and run["inconclusive"]]
        inconclusive += len(twice)
        late += [run["emulator_late_ms"] for run in result["runs"]]
        text += [f"| **{title}** |"]
        text += ["| " + " | ".join(row) + " |" for row in rows]
        text += [f"| {name}: inconclusive twice |" for name in twice]
    failed += max(0, beside_tcp - MAY_DIFFER)
    p99 = sorted(one[1] for one in late)
    cause = (ROOT / "tests/reality/causes.md").read_text(encoding="utf-8").rstrip()
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    head = [
        "# Reality", "",
        "Real packets beside the simulator, by `make reality`. The scenarios of [tests/reality](../tests/reality) ran over real sockets and the kernel's TCP. Each run's",
        "own seed was simulated twenty times, with hosts that were late as the real ones. A cell has the real value and the simulated range; of TCP the first wait is the mean. Without a mark the real",
        "value agrees; ~ is a spread, which concludes nothing, and ✗ differs. [testbed.md](testbed.md#beside-the-simulator) has the rules.", "",
        f"Written {datetime.date.today()} at commit {commit.stdout.strip()}, Linux {platform.release()} ({machine()}), {len(late)} runs of 60 s. The emulator's",
        f"lateness at the 99th percentile was {p99[len(p99) // 2]:.2f} ms in the median run and {p99[-1]:.2f} ms in the worst. Behind queues that mark, waits agree",
        "within 1 ms. Of the sixteen runs beside TCP one may differ.", "",
    ]
    pathlib.Path(out).write_text("\n".join(head + text + [cause]).rstrip() + "\n", encoding="utf-8")
    if failed:
        print(f"{failed} runs differ that must agree", file=sys.stderr)
        return 1
    return 3 if inconclusive else 0


if __name__ == "__main__":
    sys.exit(main())
