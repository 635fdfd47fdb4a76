"""Studies of many scenarios: a portrait of controllers, suites, claims of papers."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _weir
from ._progress import progress_of
from ._results import RunTable, Table
from ._runs import Controllers, check_number, directories, jobs_of, named, seeds_of
from ._scenarios import assignments
from ._types import Directories, Path, Progress, Settings, TableForm

if TYPE_CHECKING:
    import pandas
    import polars


def write(path: Path, text: str) -> str:
    """Writes a page, whole or not at all, and returns its path."""
    path = os.fspath(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
    return path


def folder(out: Path | None) -> str | None:
    """The path of a directory for results, or `None` without one."""
    return None if out is None else os.fspath(out)


def terminal_width() -> int | None:
    """Width of the terminal on standard output, or `None` without one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


class ComparisonTable:
    """A row for each controller, with the mean of each metric over the runs, and a sentence."""

    def __init__(self, result: dict[str, Any]) -> None:
        self._result = result
        #: The result in a few sentences, or `None` where there is nothing to rank.
        self.verdict: str | None = result["verdict"]
        #: Lines above the table.
        self.title: list[str] = result.get("title", [])
        #: Remarks on the table.
        self.notes: list[str] = result["notes"]

    @property
    def columns(self) -> list[dict[str, Any]]:
        """For each metric a dictionary of label, unit, definition and decimals."""
        columns: list[dict[str, Any]] = self._result["table"]["columns"]
        return columns

    @property
    def table(self) -> Table:
        """The means, a column for each metric."""
        rows = self._result["table"]["rows"]
        columns = {"controller": np.array([row["name"] for row in rows], dtype=object)}
        for index, column in enumerate(self.columns):
            columns[column["label"]] = np.array([row["mean"][index] for row in rows], dtype=float)
        return Table(columns)

    def values(self, controller: str, label: str) -> NDArray[np.float64]:
        """The values of a metric, a number for each run; NaN where there is none."""
        index = [column["label"] for column in self.columns].index(label)
        for row in self._result["table"]["rows"]:
            if row["name"] == controller:
                return np.array(row["values"][index], dtype=float)
        raise KeyError(f"there is no controller {controller!r} here")

    def to_pandas(self) -> pandas.DataFrame:
        """The means as a `pandas.DataFrame`. Needs the extra `pandas`."""
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The means as a `polars.DataFrame`. Needs the extra `polars`."""
        return self.table.to_polars()

    def text(self, bold: bool = False) -> str:
        """The table as text, with the best numbers in bold for a terminal."""
        text: str = self._result["text"]
        return text if bold else re.sub("\x1b\\[[0-9]*m", "", text)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<weir.ComparisonTable of {len(self.table)} controllers. {self.verdict}>"


def compare(
    controllers: Controllers | None = None,
    runs: int | None = None,
    *,
    jobs: int | None = None,
    progress: Progress = None,
    data: Directories = (),
) -> ComparisonTable:
    """A portrait of each controller over the scenarios of `weir compare`; all controllers unless given."""
    with named(controllers) as names, progress_of(progress, "compare") as function:
        return ComparisonTable(
            _weir.compare(names, runs, jobs_of(jobs), function, directories(data), terminal_width())
        )


class SuiteResult(RunTable):
    """Controllers through a suite of cases: verdicts of checks, and the runs."""

    def __init__(self, runs: _weir.SuiteRuns, path: str | None) -> None:
        super().__init__(runs)
        self._runs = runs
        #: The result as `weir suite --json` prints it.
        self.results: dict[str, Any] = json.loads(runs.to_json())
        #: Sentences on the verdicts, and on traces that were replaced by others.
        self.notes = runs.notes
        #: Where the files are, or `None` without any.
        self.path = path

    @property
    def verdicts(self) -> Table:
        """A row for each case, controller and check."""
        rows = [
            (case["name"], own["name"], check["name"], check["mean"], check["limit"], check["unit"], check["verdict"])
            for case in self.results["cases"]
            for own in case["controllers"]
            for check in own["checks"]
        ]
        names = ["case", "controller", "check", "mean", "limit", "unit", "verdict"]
        columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {name: () for name in names}
        kinds = {"mean": float, "limit": float}
        return Table({name: np.array(values, dtype=kinds.get(name, object)) for name, values in columns.items()})

    def report(self, path: Path) -> str:
        """Writes the page of `weir suite` to `path`, and returns the path."""
        return write(path, self._runs.html())

    def __repr__(self) -> str:
        verdicts = list(self.verdicts["verdict"])
        return f"<weir.SuiteResult of {self.results['suite']}: {verdicts.count('passed')} of {len(verdicts)} checks passed>"


def suite(
    name: Path,
    controllers: Controllers | None = None,
    seeds: int | Iterable[int] | None = range(1, 6),
    *,
    cases: str | Iterable[str] = (),
    jobs: int | None = None,
    out: Path | None = None,
    table: TableForm = "parquet",
    progress: Progress = None,
    data: Directories = (),
) -> SuiteResult:
    """Controllers through a suite: a shipped one (`weir.suites()`) or that of a file.

    With `out`, a directory, the files of `weir suite` are written there. Runs are kept, and a second call makes only those that are
    missing. `table` is the form of the table of all runs: `"parquet"`, `"csv"`, or `"none"`, which keeps no metrics of the runs.
    """
    own_seeds, traces, path = seeds_of(seeds), directories(data), folder(out)
    own_cases = [cases] if isinstance(cases, str) else list(cases)
    with named(controllers) as names, progress_of(progress, str(name)) as function:
        runs = _weir.suite(
            os.fspath(name), names, own_seeds, own_cases, jobs_of(jobs), path, table, function, traces
        )
        return SuiteResult(runs, path)


class Reproduction(RunTable):
    """Claims of papers with their verdicts, and the runs."""

    def __init__(self, runs: _weir.RowRuns, path: str | None) -> None:
        super().__init__(runs)
        self._runs = runs
        #: The claims as `weir reproduce --json` prints them.
        self.claims: list[dict[str, Any]] = json.loads(runs.to_json())
        #: Where the files are, or `None` without any.
        self.path = path

    @property
    def verdicts(self) -> Table:
        """A row for each claim."""
        names = ["id", "row", "class", "claim", "unit", "verdict"]
        return Table({name: np.array([claim[name] for claim in self.claims], dtype=object) for name in names})

    def report(self, path: Path) -> str:
        """Writes the page of `weir reproduce` to `path`, and returns the path."""
        return write(path, self._runs.html())

    def __repr__(self) -> str:
        return f"<weir.Reproduction of {len(self.claims)} claims>"


def reproduce(
    rows: str | Iterable[str] = (),
    paper: str | None = None,
    *,
    full: bool = False,
    runs: int | None = None,
    grid: int | None = None,
    set: Settings | None = None,
    jobs: int | None = None,
    out: Path | None = None,
    table: TableForm = "parquet",
    progress: Progress = None,
    data: Directories = (),
) -> Reproduction:
    """The claims of papers, run and judged: rows of `weir.rows()`, or those of a paper; all unless given.

    With `out`, a directory, the files of `weir reproduce` are written there. Runs are kept, and a second call makes only those that
    are missing. `table` is as for `weir.suite`.
    """
    check_number("runs", runs, 1, 1000)
    check_number("grid", grid, 2, 1000)
    own_rows = [rows] if isinstance(rows, str) else list(rows)
    traces, path = directories(data), folder(out)
    with progress_of(progress, "reproduce") as function:
        made = _weir.reproduce(
            own_rows, paper, full, runs, grid, assignments(set), jobs_of(jobs), path, table, function, traces
        )
        return Reproduction(made, path)
