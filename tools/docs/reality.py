#!/usr/bin/env python3
"""Real runs beside simulated ones, as a document.

    tools/docs/reality.py WEIR OUT            writes the first part of OUT (docs/reality.md) by the program WEIR; some eleven minutes
    tools/docs/reality.py WEIR OUT --long     the second part: distributions, and rows of papers; some twenty minutes

Runs the scenarios of tests/reality/ with `weir testbed --compare`, and rows with `weir reproduce --live`. The other part of OUT stays.
Exit code 1 where a quantity or a distribution differs that must agree, 3 where runs were inconclusive twice.
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

# Heading of the second part.
SECOND = "## Distributions"
# Scenarios, controllers and runs whose distributions are compared. TCP begins within the first frame interval, at a time that each
# seed draws: with one start the simulated runs have a few outcomes.
OF_DISTRIBUTIONS = (["beside-cubic", "beside-reno"], ["nada", "gcc-2016"], 12)
STARTS = "flows.bulk.start_spread=33ms"
# What is told apart for a cause in tests/reality/causes.txt.
HAS_A_CAUSE = {("beside-cubic", "gcc-2016")}
# Rows of papers at full length, and their seeds.
PAPERS = [
    "gcc-2016/table1", "gcc-2016/table2", "gcc-2016/table6", "gcc-2016/fig11",
    "nada-vs-gcc-2016/table1", "nada-vs-gcc-2016/table3",
]
SEEDS = 6
# Real runs of these at a time.
TOGETHER = 10


def measured(weir, scenario, controllers, runs, *more, most=8):
    """The JSON of the runs of a scenario, at most so many at a time."""
    together = max(1, min(most, len(controllers or [0]) * runs))
    command = [weir, "testbed", str(ROOT / f"tests/reality/{scenario}.toml"), "--json", "--quiet", "--compare",
               "--runs", str(runs), "--together", str(together), *more]
    if controllers:
        command += ["--controller", ",".join(controllers)]
    return output(command)


def output(command):
    """The JSON that a command prints."""
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
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"


def rows_of(scenario, result):
    """A row for each flow of each run, with the name of the run: the real value of each quantity with the simulated range. The first
    media flow is called as the run."""
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
                real, least, most = map(number, (one["real"], least, most))
                cells.append((real if real == least == most else f"{real} ({least}…{most})") + mark)
            if len(cells) == 3:  # TCP: its mean wait takes the place of two percentiles
                cells.insert(2, "–")
            yield name, [name if name and flow == next(iter(flows)) else flow, *cells]


def twice(runs):
    """The names of the runs that were inconclusive twice."""
    return [run["run"] for run in runs if run["repeated"] and run["inconclusive"]]


def of_distributions(weir):
    """A table of the distributions, the number of those that differ without a cause, and the runs that do not count."""
    scenarios, controllers, runs = OF_DISTRIBUTIONS
    text = ["| controller, beside | video, kbit/s: median (range) | simulated | probability | told apart |", "|---|---|---|---|---|"]
    failed, inconclusive = 0, []
    for scenario in scenarios:
        print(f"{scenario} …", file=sys.stderr)
        result = measured(weir, scenario, controllers, runs, "--set", STARTS, most=TOGETHER)
        inconclusive += twice(result["runs"])
        for controller in controllers:
            all_of = [one for one in result["distributions"] if one["runs"] == f"{scenario}/{controller}"]
            rate = next((one for one in all_of if (one["flow"], one["quantity"]) == ("video", "rate (kbit/s)")), None)
            apart = [one for one in all_of if one["agreement"] == "differs"]
            failed += len(apart) if (scenario, controller) not in HAS_A_CAUSE else 0
            name = f"{controller}, {scenario.removeprefix('beside-')}"
            if rate is None:
                text.append(f"| {name} | too few runs | | | |")
                continue
            cells = [f"{number(values[len(values) // 2])} ({number(values[0])}…{number(values[-1])})"
                     for values in (rate["real"], rate["simulated"])]
            differing = ", ".join(f"{one['flow']} {one['quantity'].split(' (')[0]} ({one['probability']:.3f})" for one in apart)
            text.append(f"| {name} | {' | '.join(cells)} | {rate['probability']:.2f} | {differing or '–'} |")
    return text, failed, inconclusive


def of_papers(weir):
    """A table of the rows with the claims whose verdicts differ, and the runs that do not count."""
    print("rows of papers …", file=sys.stderr)
    common = ["--runs", str(SEEDS), "--json", "--quiet"]
    real = output([weir, "reproduce", *PAPERS, "--live", "--jobs", str(TOGETHER), *common])
    simulated = output([weir, "reproduce", *PAPERS, *common])
    known = {claim["id"]: claim for claim in simulated["claims"]}
    met = {"reproduced", "better", "tested"}

    def measured_in_words(claim):
        value = claim["measured"]
        interval = f" ± {number(value['ci95'])}" if value["ci95"] is not None else ""
        return f"{number(value['mean'])}{interval}" if value["mean"] is not None else "–"

    text = ["| row | claims | met, simulated | met, real |", "|---|---|---|---|"]
    differing = []
    for row in PAPERS:
        claims = [claim for claim in real["claims"] if claim["row"] == row and not claim["beside"]]
        counts = [sum(one["verdict"] in met for one in claims), sum(known[one["id"]]["verdict"] in met for one in claims)]
        text.append(f"| {row} | {len(claims)} | {counts[1]} | {counts[0]} |")
        differing += [one for one in claims if one["verdict"] != known[one["id"]]["verdict"]]
    text += ["", "| claim | accepted | simulated | real |", "|---|---|---|---|"]
    for claim in differing:
        beside = known[claim["id"]]
        cells = [f"{measured_in_words(one)}: {one['verdict']}" for one in (beside, claim)]
        text.append(f"| {claim['id']} | {accepted_in_words(claim)} | {' | '.join(cells)} |")
    return text, twice(real["runs"])


def accepted_in_words(claim):
    """The accepted range of a claim."""
    low, high = claim["accepted"]["low"], claim["accepted"]["high"]
    strict = claim["accepted"]["strict"]
    if low is None or high is None:
        sign = (">" if high is None else "<") if strict else ("≥" if high is None else "≤")
        return f"{sign}\u00a0{low if high is None else high:g} {claim['unit']}".rstrip()
    return f"{low:g}…{high:g} {claim['unit']}".rstrip()


def first_part(weir):
    """The first part of the document, the number of runs that differ and must agree, and the runs that do not count."""
    text = ["| controller, seed | rate, kbit/s | wait p50, ms | wait p95, ms | loss, % |", "|---|---|---|---|---|"]
    failed, beside_tcp, inconclusive, late = 0, 0, [], []
    for scenario, controllers, runs in ROWS:
        print(f"{scenario} …", file=sys.stderr)
        result = measured(weir, scenario, controllers, runs)
        path = ROOT / f"tests/reality/{scenario}.toml"
        title = tomllib.loads(path.read_text(encoding="utf-8"))["title"]
        rows = list(rows_of(scenario, result))
        differing = {name for name, cells in rows if any(cell.endswith("✗") for cell in cells)}
        if scenario in BESIDE_TCP:
            beside_tcp += len(differing)
        else:
            failed += len(differing)
        uncounted = twice(result["runs"])
        inconclusive += uncounted
        late += [run["emulator_late_ms"] for run in result["runs"]]
        text += [f"| **{title}** |"]
        text += ["| " + " | ".join(cells) + " |" for _, cells in rows]
        text += [f"| {name}: inconclusive twice |" for name in uncounted]
    failed += max(0, beside_tcp - MAY_DIFFER)
    p99 = sorted(one[1] for one in late)
    head = [
        "# Reality", "",
        "Real packets beside the simulator, by `make reality`: the scenarios of [tests/reality](../tests/reality) over real sockets, with the kernel's TCP. Each run's",
        "seed was simulated twenty times, with hosts as late as the real ones. A cell has the real value and the simulated range, or one number where these are equal;",
        "of TCP the first wait is the mean. ~ is a spread, ✗ differs, the others agree.",
        "[testbed.md](testbed.md#beside-the-simulator) has the rules.", "",
        f"{written()}, {len(late)} runs of 60 s. The emulator's",
        f"lateness at the 99th percentile was {p99[len(p99) // 2]:.2f} ms in the median run, {p99[-1]:.2f} ms in the worst. Behind queues that mark, waits agree",
        "within 1 ms. Of sixteen runs beside TCP one may differ.", "",
    ]
    return head + text, failed, inconclusive


def second_part(weir):
    """The second part, the number of distributions that differ without a cause, and the runs that do not count."""
    distributions, failed, inconclusive = of_distributions(weir)
    papers, uncounted = of_papers(weir)
    runs = OF_DISTRIBUTIONS[2]
    text = [
        SECOND, "",
        f"By `make reality-long`: {runs} real runs beside {20 * runs} simulated ones. TCP begins within the first 33 ms, when the seed says.",
        f"{written()}.", "", *distributions, "", "## Rows of papers", "",
        f"Verdicts on [claims](reproduction.md) over {SEEDS} real runs at full length, by `weir reproduce ROW --live --runs {SEEDS}`, and over the same seeds simulated. The second",
        "table has those that differ.", "", *papers,
    ]
    return text, failed, inconclusive + uncounted


def written():
    """When, where and from what a part was written."""
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    return f"Written {datetime.date.today()} at commit {commit.stdout.strip()}, Linux {platform.release()} ({machine()})"


def main():
    weir, out, *options = sys.argv[1:]
    path = pathlib.Path(out)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    causes = (ROOT / "tests/reality/causes.txt").read_text(encoding="utf-8").rstrip()
    before, _, _ = before.partition(causes.splitlines()[0])
    first, heading, second = before.partition(SECOND)
    parts = [first, heading + second]
    made = second_part if "--long" in options else first_part
    text, failed, inconclusive = made(weir)
    parts[made is second_part] = "\n".join(text)
    parts = [part.strip() for part in [*parts, causes]]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    if failed:
        print(f"{failed} runs or distributions differ that must agree", file=sys.stderr)
        return 1
    return 3 if inconclusive else 0


if __name__ == "__main__":
    sys.exit(main())
