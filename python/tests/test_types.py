"""Annotations of the package, and the stub of its extension module."""

import ast
import dataclasses
import enum
import importlib
import inspect
import subprocess
import sys

import pytest

import weir
from conftest import ROOT, extra
from weir import _weir

STUB = ast.parse((ROOT / "python" / "weir" / "_weir.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def is_alias(node):
    return isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"


VALUES = {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign) and not is_alias(node)}


def lacking_in_stub(function):
    """Parameters of a function of the stub without an annotation."""
    own = function.args
    named = [*own.posonlyargs, *own.args, *own.kwonlyargs, *filter(None, (own.vararg, own.kwarg))]
    lacking = [name.arg for name in named if name.annotation is None and name.arg not in ("self", "cls")]
    return lacking + ([] if function.returns else ["return"])


def lacking(function):
    """Parameters of a function of Python without an annotation."""
    signature = inspect.signature(function)
    empty = inspect.Parameter.empty
    names = [name for name, own in signature.parameters.items() if own.annotation is empty and name not in ("self", "cls")]
    return names + (["return"] if signature.return_annotation is empty else [])


def functions_of(cls):
    """Public functions of a class of Python, with those that a caller reaches by syntax."""
    reached = {"__init__", "__call__", "__len__", "__getitem__", "__eq__", "__str__", "__repr__", "_repr_html_"}
    for base in cls.__mro__:
        if not base.__module__.startswith("weir"):
            continue
        for name, member in vars(base).items():
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            is_made = dataclasses.is_dataclass(base) and name in ("__init__", "__eq__", "__repr__")
            if inspect.isfunction(member) and not is_made and (name in reached or not name.startswith("_")):
                yield f"{base.__name__}.{name}", member


@pytest.mark.parametrize("name", ["weir", "weir.gym", "weir.plot", "weir.demo"])
def test_every_public_callable_has_a_complete_signature(name):
    if name == "weir.gym":
        extra("gymnasium")
    module = importlib.import_module(name)
    own = [key for key, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == name]
    public = [key for key in getattr(module, "__all__", own) if not key.startswith("_") and callable(getattr(module, key))]
    assert public
    missing = {}
    for key in public:
        member = getattr(module, key)
        if getattr(_weir, key, None) is member:
            stubbed = [FUNCTIONS[key]] if key in FUNCTIONS else [node for node in CLASSES[key].body if isinstance(node, ast.FunctionDef)]
            missing |= {f"{key}.{node.name}": lacking_in_stub(node) for node in stubbed}
        elif inspect.isclass(member):
            if not issubclass(member, enum.Enum):
                missing |= {path: lacking(function) for path, function in functions_of(member)}
        else:
            missing[key] = lacking(member)
    assert {key: names for key, names in missing.items() if names} == {}


def test_the_stub_names_exactly_what_the_extension_has():
    there = {name for name in dir(_weir) if not name.startswith("__") or name == "__version__"}
    assert there == CLASSES.keys() | FUNCTIONS.keys() | VALUES
    for name, node in CLASSES.items():
        cls = getattr(_weir, name)
        assert [base.id for base in node.bases] == ([] if cls.__base__ is object else [cls.__base__.__name__]), name
        stubbed = {own.name for own in node.body if isinstance(own, ast.FunctionDef)}
        members = {own for own in vars(cls) if not own.startswith("_")} if cls.__base__ is object else set()
        assert {own for own in stubbed if not own.startswith("_")} == members, name
        assert ("__init__" in stubbed) == ("__new__" in vars(cls)), name


def test_arguments_of_the_stub_are_those_of_the_extension():
    for name, node in FUNCTIONS.items():
        check_arguments(name, node, getattr(_weir, name))
    for name, node in CLASSES.items():
        for own in node.body:
            is_property = isinstance(own, ast.FunctionDef) and any(ast.unparse(mark) == "property" for mark in own.decorator_list)
            if isinstance(own, ast.FunctionDef) and not is_property and not own.name.startswith("_"):
                check_arguments(f"{name}.{own.name}", own, getattr(getattr(_weir, name), own.name))


def check_arguments(path, node, function):
    """The names of a stub's parameters are those of the function, and the same ones have a default."""
    there = [own for own in inspect.signature(function).parameters.values() if own.name != "self"]
    stubbed = [own for own in [*node.args.args, *node.args.kwonlyargs] if own.arg != "self"]
    assert [own.name for own in there] == [own.arg for own in stubbed], path
    defaults = len(node.args.defaults) + sum(own is not None for own in node.args.kw_defaults)
    assert sum(own.default is not own.empty for own in there) == defaults, path


def test_the_package_passes_a_strict_type_check(tmp_path):
    extra("mypy")
    extra("gymnasium")
    extra("matplotlib")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "weir"]
    checked = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_public_name_has_a_description():
    missing = [name for name in weir.__all__ if not name.startswith("__") and not getattr(weir, name).__doc__]
    assert not missing
