"""The notebooks of `examples/`, cell by cell."""

import json
from pathlib import Path

import pytest
from conftest import extra

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs(path):
    extra("pandas")
    extra("matplotlib").use("Agg")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in cells), "a notebook is committed without outputs"
    scope = {"__name__": "__main__"}
    for number, source in enumerate(code):
        exec(compile(source, f"{path.name}[{number}]", "exec"), scope)
    # The sentences below its tables.
    by_size, by_discipline = scope["by_size"], scope["by_discipline"]
    assert by_size["video"]["30ms"] > 0.4 * by_size["upload"]["30ms"]
    assert by_size["video"]["300ms"] < 0.15 * by_size["upload"]["300ms"]
    assert 0.8 < by_discipline["video"]["fq-codel"] / by_discipline["upload"]["fq-codel"] < 1.25
    cuts = scope["cuts"]
    assert (cuts["reason"] == "delay").mean() > 0.8
