"""What several tests use: the command beside the package, and a recorded call."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def lacks(what):
    """Skips a test, or fails it where `WEIR_REQUIRE` names `python`."""
    if "python" in os.environ.get("WEIR_REQUIRE", "").split(","):
        pytest.fail(f"{what}, and WEIR_REQUIRE names python")
    pytest.skip(what, allow_module_level=True)


@pytest.fixture(scope="session")
def weir_command():
    """The command `weir`: that of WEIR, of a build here, or of the path."""
    folders = [Path(os.environ[name]) for name in ("CARGO_TARGET_DIR",) if name in os.environ] + [ROOT / "target"]
    built = [folder / profile / "weir" for folder in folders for profile in ("release", "fast", "debug")]
    found = [os.environ.get("WEIR"), *(str(path) for path in built if path.exists()), shutil.which("weir")]
    command = next((path for path in found if path), None)
    if command is None:
        lacks("there is no command `weir`; build it or set WEIR")

    def run(*arguments, path=False):
        if path:
            return command
        return subprocess.run([command, *arguments], capture_output=True, text=True, check=True, cwd=ROOT).stdout

    return run


def tree(folder):
    """The files below a folder, with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def extra(module):
    """A module of an extra."""
    try:
        return __import__(module)
    except ImportError:
        lacks(f"there is no {module}")


@pytest.fixture(scope="session")
def pandas():
    return extra("pandas")


@pytest.fixture(scope="session")
def polars():
    return extra("polars")
