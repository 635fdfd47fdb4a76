"""Studies, recorded calls, plots and the demo."""

import doctest
import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

import weir
from conftest import ROOT, lacks


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


def test_a_suite_has_verdicts_and_a_page(tmp_path):
    result = weir.suite("quality", ["gcc"], seeds=[1], cases=["steady"], out=tmp_path / "kept")
    assert len(result.table) > 0 and set(result.table["controller"]) == {"gcc"}
    assert (tmp_path / "kept" / "runs.log").stat().st_size > 0
    page = result.report(tmp_path / "suite.html")
    assert open(page).read().startswith("<!DOCTYPE html>")
    with pytest.raises(weir.ScenarioError, match="no case `x`"):
        weir.suite("quality", ["gcc"], cases=["x"])


def test_a_row_of_a_paper_is_reproduced(tmp_path):
    row = weir.rows()[0]
    result = weir.reproduce(row, runs=2)
    assert len(result.table) > 0 and set(result.table["row"]) == {row}
    assert "<html" in open(result.report(tmp_path / "claims.html")).read()
    with pytest.raises(weir.ScenarioError, match="there is no `no/row`"):
        weir.reproduce("no/row")


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


def test_every_public_name_has_a_description():
    missing = [name for name in weir.__all__ if not name.startswith("__") and not getattr(weir, name).__doc__]
    assert not missing


def test_the_stubs_name_what_the_extension_has():
    import ast

    import weir._weir as module

    tree = ast.parse((ROOT / "python" / "weir" / "_weir.pyi").read_text())
    stubbed = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in dir(module) if not name.startswith("__") and callable(getattr(module, name))}
    assert there <= stubbed | {"Env", "VectorEnv"} and stubbed <= there
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {own.name for own in node.body if isinstance(own, ast.FunctionDef) and own.name != "__init__"}
            assert members <= set(dir(getattr(module, node.name))), node.name
