"""Runs: the same values as the command, tables, series, reports, errors, interruption."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import weir

SHORT = {"duration": "10s"}


def walk(value, path=""):
    """The means of a summary by their path."""
    if isinstance(value, dict):
        if "mean" in value and "ci95" in value:
            yield path, value["mean"]
            return
        for key, inner in value.items():
            yield from walk(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner, f"{path}[]")


def test_values_are_those_of_the_command(weir_command):
    printed = json.loads(weir_command("run", "quality/beside-cubic", "--controller", "gcc,nada", "--runs", "2", "--json"))
    for jobs in (1, 2):
        result = weir.run("quality/beside-cubic", ["gcc", "nada"], seeds=[1, 2], jobs=jobs)
        assert result.summary() == printed


def test_the_table_has_each_metric_of_each_run():
    result = weir.run("quality/beside-cubic", ["gcc", "nada"], seeds=range(3))
    table = result.table
    assert len({len(values) for values in table.values()}) == 1
    assert set(table["seed"]) == {0, 1, 2} and set(table["run"]) == set(range(6))
    assert set(table["variant"]) == {"gcc", "nada"}
    summary = result.summary()
    for controller in summary["controllers"]:
        flow = controller["flows"][0]
        values = result.values("flows[].rate_bps", controller["name"], flow["name"])
        assert len(values) == 3
        assert math.isclose(values.mean(), flow["rate_bps"]["mean"], rel_tol=1e-12)
    with pytest.raises(KeyError, match="no metric 'speed'"):
        result.values("speed")


def test_tables_become_frames(pandas, polars):
    result = weir.run("quality/steady", ["gcc"], seeds=[1], set=SHORT)
    frame = result.to_pandas()
    assert list(frame.columns) == result.table.columns and len(frame) == len(result.table)
    assert frame["metric"].dtype == "category"
    other = result.to_polars()
    assert other.columns == result.table.columns and other.height == len(frame)
    assert other["flow"].null_count() == frame["flow"].isna().sum() > 0
    assert len(result.series().to_pandas()) == 100
    assert result.decisions().to_polars()["reason"].null_count() == 0


def test_series_are_those_of_the_command(weir_command, tmp_path):
    weir_command("run", "quality/steady", "--controller", "gcc", "--runs", "1", "--series", "csv", "--out", str(tmp_path))
    result = weir.run("quality/steady", ["gcc"], seeds=[1])
    for name, own in (("series", result.series()), ("decisions", result.decisions())):
        lines = (tmp_path / f"{name}-gcc.csv").read_text().splitlines()
        head = lines[0].split(",")
        assert list(own) == head
        assert len(own) == len(lines) - 1
        for index, column in enumerate(head):
            if own[column].dtype == float:
                theirs = [float(line.split(",")[index] or "nan") for line in lines[1:]]
                np.testing.assert_array_equal(own[column], theirs)


def test_the_series_of_another_seed_is_that_of_its_own_run():
    both = weir.run("quality/steady", ["gcc"], seeds=[1, 2], set=SHORT)
    alone = weir.run("quality/steady", ["gcc"], seeds=[2], set=SHORT)
    first, second = both.series(seed=2), alone.series()
    assert list(first) == list(second)
    for column, values in first.items():
        np.testing.assert_array_equal(values, second[column])
    with pytest.raises(KeyError, match="no run of seed"):
        both.series(seed=3)
    with pytest.raises(KeyError, match="the controllers are"):
        both.series(controller="nada")


def test_a_report_is_written_whole(tmp_path):
    result = weir.run("quality/steady", ["gcc", "nada"], seeds=[1, 2], set=SHORT)
    page = tmp_path / "page.html"
    assert result.report(page) == str(page)
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>") and result.verdict[:20] in text
    again = tmp_path / "again.html"
    result.report(again)
    assert again.read_text() == text, "a report takes no series away"
    fragment = result._repr_html_()
    assert "<svg" in fragment and "<table" in fragment and "<script" not in fragment
    with pytest.raises(OSError, match="nowhere"):
        result.report(tmp_path / "nowhere" / "page.html")


def test_scenarios_come_from_names_files_texts_and_dictionaries(tmp_path):
    named = weir.Scenario.open("quality/steady")
    text = named.to_toml()
    path = tmp_path / "own.toml"
    path.write_text(text)
    results = [weir.run(source, ["gcc"], seeds=[1], set=SHORT) for source in ("quality/steady", path, str(path), text, named)]
    tables = [result.summary()["controllers"] for result in results]
    assert all(table == tables[0] for table in tables)
    with pytest.raises(TypeError, match="a scenario is a name"):
        weir.run(7)


def test_mistakes_have_their_place():
    forward = {"from": "a", "to": "b", "rate": "2Mbps", "delay": "20ms"}
    back = {**forward, "from": "b", "to": "a"}
    flow = {"kind": "media", "controller": "gcc", "from": "a", "to": "b"}
    keys = {"title": "t", "duration": "5s", "links": {"forward": forward, "back": back}, "flows": {"call": flow}}
    assert weir.Scenario(keys).links == ["forward", "back"]
    for wrong, words in [
        ({**keys, "duration": "5 parsec"}, "duration"),
        ({**keys, "colour": "red"}, "colour"),
        ({**keys, "flows": {"call": {**flow, "controller": "gccc"}}}, "did you mean `gcc`"),
        ({**keys, "flows": {"call": {**flow, "to": "sideways"}}}, "sideways"),
    ]:
        with pytest.raises(weir.ScenarioError, match=words) as raised:
            weir.Scenario(wrong)
        assert str(raised.value).startswith("scenario:")
    with pytest.raises(weir.ScenarioError, match="links.sideways"):
        weir.run("quality/steady", set={"links.sideways.rate": "1Mbps"})
    with pytest.raises(weir.ScenarioError, match="no scenario ships under this name"):
        weir.run("quality/steadi")
    with pytest.raises(weir.ScenarioError, match="did you mean `gcc`"):
        weir.run("quality/steady", controllers=["gccc"])
    with pytest.raises(TypeError, match="links.forward"):
        weir.Scenario({**keys, "links": {"forward": object()}})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"seeds": []}, ValueError),
        ({"seeds": [1, 1]}, ValueError),
        ({"seeds": [-1]}, ValueError),
        ({"seeds": ["a"]}, TypeError),
        ({"seeds": [1.7]}, TypeError),
        ({"seeds": "12"}, TypeError),
        ({"jobs": 0}, ValueError),
        ({"controllers": [3]}, TypeError),
        ({"controllers": ["gcc{"]}, (ValueError, weir.ScenarioError)),
    ],
)
def test_wrong_arguments_are_refused(arguments, error):
    with pytest.raises(error):
        weir.run("quality/steady", **arguments)


def test_progress_is_shown_and_may_end_the_call():
    seen = []
    weir.run("quality/steady", ["gcc"], seeds=range(5), set=SHORT, progress=lambda done, all_runs: seen.append((done, all_runs)))
    assert seen[-1] == (5, 5)

    def refuse(done, all_runs):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        weir.run("quality/steady", ["gcc"], seeds=range(300), progress=refuse)


LONG = """
import signal, sys, time, weir
# A shell lets what it starts in the background ignore this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    weir.run({scenario!r}, {controllers}, seeds=range({seeds}), set={{"duration": "3600s"}}, jobs={jobs}, progress=False)
except KeyboardInterrupt:
    print("ended", flush=True)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_call_within_a_second(jobs):
    code = LONG.format(scenario="quality/steady", controllers=["gcc"], seeds=1000, jobs=jobs)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert process.stdout.readline() == "ended\n"
    assert time.monotonic() - began < 1.0
    assert process.wait() == 0


def test_other_threads_go_on_during_a_call():
    import threading

    count, over = [0], threading.Event()

    def work():
        while not over.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    began = count[0]
    weir.run("quality/steady", ["gcc"], seeds=range(20), jobs=1)
    went = count[0] - began
    over.set()
    thread.join()
    assert went > 10


def test_lists_and_schemas():
    names = [own["name"] for own in weir.controllers()]
    assert {"gcc", "nada", "scream-v2"} <= set(names)
    assert "quality/steady" in weir.scenarios() and weir.suites() and weir.rows()
    for what in ("scenario", "results", "study", "suite", "row", "call"):
        assert {"properties", "$ref", "anyOf", "oneOf", "$defs"} & set(weir.schema(what)), what
    assert weir.metrics()["flows[].rate_bps"] == "bit/s"
    table = weir.run("quality/steady", ["gcc"], seeds=[1], set=SHORT).table
    # The keys of a sweep have columns of their own.
    assert [own["name"] for own in weir.schema("table")["columns"] if own["name"] != "at.KEY"] == table.columns
    assert all(weir.metrics()[metric] == unit for metric, unit in zip(table["metric"], table["unit"], strict=True))
    assert "properties" in weir.schema("options", "nada")
    with pytest.raises(weir.ScenarioError, match="no schema `colour`"):
        weir.schema("colour")


def test_an_absent_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"weir-rtc\[pandas\]"):
        weir.run("quality/steady", ["gcc"], seeds=[1], set=SHORT).to_pandas()


def test_texts_of_a_table_are_escaped_in_a_notebook():
    shown = weir.Table({"flow": np.array(["a<i>b", None], dtype=object)})._repr_html_()
    assert "a&lt;i&gt;b" in shown and "<i>" not in shown


def test_a_run_is_made_again_with_the_traces_of_the_first_call(tmp_path):
    (tmp_path / "traces").mkdir()
    # A packet of 1500 bytes each 10 ms.
    (tmp_path / "traces" / "mine.down").write_text("".join(f"{10 * number}\n" for number in range(1, 1001)))
    scenario = """
title = "A call over a trace"
duration = "5s"

[links.forward]
from = "here"
to = "there"
delay = "20ms"
trace = "mine.down"

[links.back]
from = "there"
to = "here"
delay = "20ms"
rate = "3Mbps"

[flows.one]
kind = "media"
from = "here"
to = "there"
controller = "gcc"
"""
    result = weir.run(scenario, seeds=[1, 2], data=[tmp_path])
    assert len(result.series(seed=2)["time_s"]) == 50
    assert len(result.decisions(seed=2)["time"]) > 0
