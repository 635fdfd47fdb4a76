"""Results of runs: tables as dictionaries of NumPy arrays."""

from __future__ import annotations

import json
import os
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _weir
from ._extras import optional
from ._types import Columns, Path

if TYPE_CHECKING:
    import pandas
    import polars


class Table(dict[str, NDArray[Any]]):
    """Columns by name: NumPy arrays of one length. Texts are objects, `None` where there is none; numbers are NaN there."""

    def __init__(self, columns: Columns, codes: _weir.Codes | None = None) -> None:
        super().__init__(columns)
        self._codes = codes or {}

    def __len__(self) -> int:
        return len(next(iter(self.values()))) if self.columns else 0

    def __bool__(self) -> bool:
        return bool(self.columns)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.keys())

    def to_pandas(self) -> pandas.DataFrame:
        """A `pandas.DataFrame`; texts that repeat are categories. Needs the extra `pandas`."""
        frames = optional("pandas", "pandas")

        def column(name: str, values: NDArray[Any]) -> Any:
            if name in self._codes:
                categories, codes = self._codes[name]
                return frames.Categorical.from_codes(codes, categories=categories)
            return values

        frame: pandas.DataFrame = frames.DataFrame({name: column(name, values) for name, values in self.items()})
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A `polars.DataFrame`. Needs the extra `polars`."""
        frames = optional("polars", "polars")

        def column(name: str, values: NDArray[Any]) -> Any:
            if values.dtype == object:
                return frames.Series(name, values.tolist(), dtype=frames.String)
            return frames.Series(name, values)

        frame: polars.DataFrame = frames.DataFrame([column(name, values) for name, values in self.items()])
        return frame

    def _repr_html_(self) -> str:
        names = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = zip(*(values[:10] for values in self.values()), strict=True)
        cells = ("".join(f"<td>{escape(str(value))}</td>" for value in row) for row in rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><tr>{names}</tr>{body}</table><p>{len(self)} rows</p>"

    def __repr__(self) -> str:
        return f"<weir.Table of {len(self)} rows: {', '.join(self.columns)}>"


def tidy(numbers: _weir.Columns, texts: _weir.Codes, names: list[str]) -> Table:
    """The long table of its columns of numbers, of categories and codes, and of the names of all columns in order."""

    def column(name: str) -> NDArray[Any]:
        if name in texts:
            categories, codes = texts[name]
            # A last entry, for the code -1.
            return np.array([*categories, None], dtype=object)[codes]
        return numbers[name]

    return Table({name: column(name) for name in names}, texts)


class TidyRuns(Protocol):
    """Runs of the extension module that have the columns of a long table, or `None` if it was not asked for."""

    @property
    def reproducible(self) -> bool: ...
    def tidy(self) -> _weir.TidyColumns | None: ...


class RunTable:
    """Results with the long table of their runs."""

    _table: Table | None = None

    def __init__(self, runs: TidyRuns) -> None:
        self._tidy = runs.tidy
        #: Whether the same call gives the same results anywhere: no Python class took part.
        self.reproducible: bool = runs.reproducible

    @property
    def table(self) -> Table:
        """The long table: a row for each metric of each run, as `weir schema table` describes it."""
        if self._table is None:
            columns = self._tidy()
            if columns is None:
                raise ValueError("the metrics of the runs were not kept, as table is 'none'; leave it out")
            self._table = tidy(*columns)
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """The long table as a `pandas.DataFrame`. Needs the extra `pandas`."""
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The long table as a `polars.DataFrame`. Needs the extra `polars`."""
        return self.table.to_polars()


class Result(RunTable):
    """Runs of a scenario under one controller or several, over the same seeds.

    >>> import weir
    >>> result = weir.run("quality/steady", controllers=["gcc", "nada"], seeds=range(2), set={"duration": "10s"})
    >>> result.controllers, result.seeds
    (['gcc', 'nada'], [0, 1])
    >>> series = result.series(controller="nada")
    >>> len(series["time_s"])
    100
    >>> result.reproducible
    True
    """

    def __init__(self, runs: _weir.RunSet) -> None:
        super().__init__(runs)
        self._runs = runs

    def values(self, metric: str, controller: str | None = None, flow: str | None = None) -> NDArray[np.float64]:
        """The values of a metric, a number for each run, flow and link that has it."""
        table = self.table
        rows = table["metric"] == metric
        if not rows.any():
            known = sorted(set(self.table["metric"]))
            raise KeyError(f"there is no metric {metric!r} here; there are {', '.join(known)}")
        for name, wanted in (("variant", controller), ("flow", flow)):
            if wanted is not None:
                rows &= table[name] == wanted
        values: NDArray[np.float64] = table["value"][rows]
        return values

    def series(self, controller: str | None = None, seed: int | None = None) -> Table:
        """Time series of a run in bins of 100 ms: the first controller and the first seed unless given.

        The run of another seed than the first is made again.
        """
        return Table(self._runs.series(controller, seed))

    def decisions(self, controller: str | None = None, seed: int | None = None) -> Table:
        """The decisions of a run that moved a rate or changed its limiting factor."""
        return Table(self._runs.decisions(controller, seed))

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return self._runs.scenario

    @property
    def scenario_toml(self) -> str:
        """The scenario with its changes, as TOML."""
        return self._runs.scenario_toml

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return self._runs.title

    @property
    def controllers(self) -> list[str]:
        """Names under which controllers were compared."""
        return self._runs.controllers

    @property
    def seeds(self) -> list[int]:
        """Seeds of the runs."""
        return self._runs.seeds

    @property
    def verdict(self) -> str:
        """The result in a few sentences."""
        return self._runs.verdict

    @property
    def ranking(self) -> dict[str, Any] | None:
        """The leading and the recommended controllers, or `None` for a single controller."""
        return self._runs.ranking

    @property
    def notes(self) -> list[str]:
        """Sentences on traces that were replaced by others."""
        return self._runs.notes

    def summary(self) -> dict[str, Any]:
        """Means and intervals over the runs, as `weir run --json` prints them."""
        summary = json.loads(self._runs.to_json())
        return summary if self.reproducible else {**summary, "reproducible": False}

    def report(self, path: Path) -> str:
        """Writes the report page of `weir run` to `path`, whole or not at all, and returns the path."""
        path = os.fspath(path)
        self._runs.write_report(path)
        return path

    def _repr_html_(self) -> str:
        return self._runs.fragment()

    def __repr__(self) -> str:
        runs = len(self.controllers) * len(self.seeds)
        return f"<weir.Result of {self.scenario}: {runs} runs. {self.verdict}>"
