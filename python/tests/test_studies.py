"""Studies, recorded calls, plots and the demo."""

import doctest
import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

import weir
from conftest import ROOT, extra, lacks, tree


def test_the_demo_is_that_of_the_command(weir_command):
    from weir.demo import demo

    result = demo(["gcc", "nada"], runs=2)
    printed = json.loads(weir_command("run", "--controller", "gcc,nada", "--runs", "2", "--json"))
    assert [row["name"] for row in printed[0]["controllers"]] == list(result.table["controller"])
    assert result.verdict and "controller" in str(result)


def test_the_demo_prints_the_table_and_the_sentence_of_the_command(weir_command, tmp_path):
    own = subprocess.run([sys.executable, "-m", "weir.demo"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    printed = weir_command("run", "--out", str(tmp_path / "demo"))
    lines = [line for line in printed.splitlines() if line.strip() and not line.startswith("Report:")]
    assert [line for line in own.splitlines() if line.strip()] == lines


def test_a_comparison_has_a_row_for_each_controller():
    result = weir.compare(["gcc", "nada"], runs=2)
    assert list(result.table["controller"]) == ["gcc", "nada"]
    label = result.columns[0]["label"]
    values = result.values("gcc", label)
    assert len(values) == 2 and np.isclose(np.mean(values), result.table[label][0])


def test_a_suite_has_verdicts_runs_and_a_page(tmp_path):
    result = weir.suite("quality", ["gcc"], seeds=[1], cases=["steady"], out=tmp_path / "kept")
    assert len(result.verdicts) > 0 and set(result.verdicts["controller"]) == {"gcc"}
    assert set(result.table["scenario"]) == {"quality/steady"} and set(result.table["seed"]) == {1}
    page = result.report(tmp_path / "suite.html")
    assert (tmp_path / "kept" / "suite.html").read_bytes() == open(page, "rb").read()
    passed = list(result.verdicts["verdict"]).count("passed")
    assert passed > 0 and f"{passed} of {len(result.verdicts)} checks passed" in repr(result)
    assert result.reproducible
    with pytest.raises(weir.ScenarioError, match="no case `x`"):
        weir.suite("quality", ["gcc"], cases=["x"], out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_row_of_a_paper_is_reproduced(tmp_path):
    row = "coupled-rtp-2014/fig6"
    result = weir.reproduce(row, runs=2, out=tmp_path / "kept")
    assert len(result.verdicts) > 0 and set(result.verdicts["row"]) == {row}
    assert set(result.table["scenario"]) == {row} and set(result.table["seed"]) == {1, 2}
    page = result.report(tmp_path / "claims.html")
    assert (tmp_path / "kept" / "index.html").read_bytes() == open(page, "rb").read()
    analysis = weir.reproduce("coupled-rtp-2014/alg1")
    assert len(analysis.verdicts) > 0 and len(analysis.table) == 0, "it runs no scenario"
    with pytest.raises(weir.ScenarioError, match="there is no `no/row`"):
        weir.reproduce("no/row")


FORMS = ["parquet", "csv", "none"]


@pytest.mark.parametrize("form", FORMS)
def test_a_suite_writes_the_files_of_the_command(weir_command, tmp_path, form):
    options = ["--controller", "gcc,nada", "--case", "steady,step", "--runs", "2", "--table", form, "--quiet"]
    weir_command("suite", "quality", *options, "--out", str(tmp_path / "command"))
    cases, seeds = ["steady", "step"], [1, 2]
    result = weir.suite("quality", ["gcc", "nada"], seeds, cases=cases, out=tmp_path / "own", table=form)
    files = tree(tmp_path / "own")
    assert files == tree(tmp_path / "command") and {"runs.log", "suite.html", "suite.json"} <= files.keys()
    check_table(result, tmp_path / "own", form)
    # The command finds every run, and writes the same bytes again.
    weir_command("suite", "quality", *options, "--out", str(tmp_path / "own"))
    assert tree(tmp_path / "own") == files


@pytest.mark.parametrize("form", FORMS)
def test_rows_write_the_files_of_the_command(weir_command, tmp_path, form):
    rows = ["coupled-rtp-2014/fig6", "coupled-rtp-2014/alg1"]
    options = ["--runs", "2", "--table", form, "--quiet"]
    weir_command("reproduce", *rows, *options, "--out", str(tmp_path / "command"))
    result = weir.reproduce(rows, runs=2, out=tmp_path / "own", table=form)
    files = tree(tmp_path / "own")
    assert files == tree(tmp_path / "command") and "claims.json" in files and "plots.json" in files
    check_table(result, tmp_path / "own", form)


def test_the_numbers_of_a_grid_are_those_of_the_command(weir_command, tmp_path):
    row, options = "gcc-2016/fig8", ["--grid", "2", "--runs", "1", "--quiet"]
    weir_command("reproduce", row, *options, "--out", str(tmp_path / "command"))
    result = weir.reproduce(row, grid=2, runs=1, out=tmp_path / "own")
    assert tree(tmp_path / "own") == tree(tmp_path / "command")
    axes = [name for name in result.table if name.startswith("at.")]
    assert len(axes) == 2 and all(result.table[name].dtype == float for name in axes)


def check_table(result, folder, form):
    """The table of a result is that of its files; without the files it was not asked for."""
    if form == "none":
        assert not (folder / "table").exists()
        with pytest.raises(ValueError, match="table is 'none'"):
            result.table
        return
    pandas = extra("pandas")
    if form == "csv":
        read = pandas.read_csv(folder / "table" / "part-00000.csv", dtype={"item": object, "window": object})
    else:
        extra("pyarrow")
        read = pandas.read_parquet(folder / "table" / "part-00000.parquet")
    own = result.to_pandas()
    assert list(read.columns) == list(own.columns) == result.table.columns and len(read) == len(own) > 0
    assert set(own.columns) >= {"run", "scenario", "variant", "controller", "seed", "flow", "window", "metric", "value", "unit"}
    assert np.array_equal(read["value"], own["value"], equal_nan=True)
    for name in ("run", "scenario", "variant", "controller", "seed", "flow", "metric", "unit"):
        both = read[name].astype(object), own[name].astype(object)
        assert all(a == b or (pandas.isna(a) and pandas.isna(b)) for a, b in zip(*both, strict=True)), name
    assert result.to_polars().height == len(own)


def test_a_table_has_one_of_three_forms(tmp_path):
    for study in (lambda **more: weir.suite("quality", ["gcc"], **more), lambda **more: weir.reproduce(**more)):
        with pytest.raises(ValueError, match="table is 'parquet', 'csv' or 'none', not \"xml\""):
            study(table="xml", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_too_many_places_and_runs_are_refused(tmp_path):
    refused = "k_u has 1000 values, k_d has 1000 values; a sweep has at most 100000 combinations of values"
    for wrong, error, words in [
        ({"grid": 1000}, weir.ScenarioError, refused),
        ({"grid": 1}, ValueError, "grid is a number from 2 to 1000, not 1"),
        ({"runs": 0}, ValueError, "runs is a number from 1 to 1000, not 0"),
    ]:
        with pytest.raises(error, match=words):
            weir.reproduce("gcc-2016/fig8", out=tmp_path / "out", **wrong)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def recorded(weir_command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("call")
    weir_command("run", "quality/step", "--controller", "gcc", "--runs", "1", "--record", "--out", str(folder))
    return next(path for path in folder.iterdir() if path.name.startswith("call"))


def test_a_recorded_call_is_replayed_and_explained(recorded, tmp_path):
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    from controllers import Aimd

    call = weir.Call(recorded)
    assert len(call) > 1000
    replay = weir.replay(call, ["gcc", "nada", Aimd])
    with pytest.raises(ValueError, match="controllers: name one at least"):
        weir.replay(call, None)
    assert [own["controller"] for own in replay.results] == ["gcc", "nada-at-sender", "Aimd"]
    assert len(replay.rate("gcc")) > 10 and len(replay.rate("Aimd")) > 10
    assert "<html" in open(replay.report(tmp_path / "replay.html")).read()
    found = weir.explain(recorded)
    assert isinstance(found.results, dict) and str(found)
    with pytest.raises(weir.CallError, match="nowhere"):
        weir.Call("nowhere.json")


def test_plots_have_a_line_for_each_controller():
    try:
        import matplotlib
    except ImportError:
        lacks("there is no matplotlib")
    matplotlib.use("Agg")
    result = weir.run("quality/steady", ["gcc", "nada"], seeds=[1, 2], set={"duration": "10s"})
    column = next(name for name in result.series() if name.endswith("target_rate_bps"))
    axes = weir.plot.series(result, column)
    assert len(axes.lines) == 2
    assert len(weir.plot.scatter(result).texts) == 2


@pytest.mark.parametrize("module", ["weir", "weir._runs", "weir._results", "weir._scenarios", "weir._sweeps"])
def test_the_examples_in_the_documentation_hold(module):
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testmod(importlib.import_module(module), optionflags=flags)
    assert tried > 0 and failed == 0
