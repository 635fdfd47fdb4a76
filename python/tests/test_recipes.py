"""The recipes of `docs/recipes.md`, block by block."""

import re

import pytest

import weir
from conftest import ROOT, extra

TEXT = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
#: The blocks of each recipe, which begins with its name in bold.
RECIPES = {
    name: blocks
    for name, text in re.findall(r"^\*\*(.+?)\.\*\*(.*?)(?=^\*\*|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    if (blocks := re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
}


def test_every_block_belongs_to_a_recipe():
    assert sum(map(len, RECIPES.values())) == TEXT.count("```python") > 0


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_runs(name, tmp_path, monkeypatch):
    for module in ("pandas", "pyarrow", "scipy"):
        extra(module)
    extra("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    scope = {"weir": weir}
    for number, block in enumerate(RECIPES[name], 1):
        exec(compile(block, f"{name}, block {number}", "exec"), scope)
