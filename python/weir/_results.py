"""Results of runs: tables as dictionaries of NumPy arrays."""

import json
import os
from html import escape

import numpy as np

from ._extras import optional


class Table(dict):
    """Columns by name: NumPy arrays of one length. Texts are objects, `None` where there is none; numbers are NaN there."""

    def __init__(self, columns, codes=None):
        super().__init__(columns)
        self._codes = codes or {}

    def __len__(self):
        return len(next(iter(self.values()))) if self.columns else 0

    def __bool__(self):
        return bool(self.columns)

    @property
    def columns(self):
        """Names of the columns."""
        return list(self.keys())

    def to_pandas(self):
        """A `pandas.DataFrame`; texts that repeat are categories. Needs the extra `pandas`."""
        pandas = optional("pandas", "pandas")

        def column(name, values):
            if name in self._codes:
                categories, codes = self._codes[name]
                return pandas.Categorical.from_codes(codes, categories=categories)
            return values

        return pandas.DataFrame({name: column(name, values) for name, values in self.items()})

    def to_polars(self):
        """A `polars.DataFrame`. Needs the extra `polars`."""
        polars = optional("polars", "polars")

        def column(name, values):
            if values.dtype == object:
                return polars.Series(name, values.tolist(), dtype=polars.String)
            return polars.Series(name, values)

        return polars.DataFrame([column(name, values) for name, values in self.items()])

    def _repr_html_(self):
        names = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = zip(*(values[:10] for values in self.values()), strict=True)
        cells = ("".join(f"<td>{escape(str(value))}</td>" for value in row) for row in rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><tr>{names}</tr>{body}</table><p>{len(self)} rows</p>"

    def __repr__(self):
        return f"<weir.Table of {len(self)} rows: {', '.join(self.columns)}>"


def tidy(numbers, texts, names):
    """The long table of its columns of numbers, of categories and codes, and of the names of all columns in order."""

    def column(name):
        if name in texts:
            categories, codes = texts[name]
            # A last entry, for the code -1.
            return np.array([*categories, None], dtype=object)[codes]
        return numbers[name]

    return Table({name: column(name) for name in names}, texts)


class RunTable:
    """Results with the long table of their runs."""

    def __init__(self, runs):
        self._runs, self._table = runs, None

    @property
    def table(self):
        """The long table: a row for each metric of each run, as `weir schema table` describes it."""
        if self._table is None:
            columns = self._runs.tidy()
            if columns is None:
                raise ValueError("the metrics of the runs were not kept, as table is 'none'; leave it out")
            self._table = tidy(*columns)
        return self._table

    def to_pandas(self):
        """The long table as a `pandas.DataFrame`. Needs the extra `pandas`."""
        return self.table.to_pandas()

    def to_polars(self):
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

    def values(self, metric, controller=None, flow=None):
        """The values of a metric, a number for each run, flow and link that has it."""
        table = self.table
        rows = table["metric"] == metric
        if not rows.any():
            known = sorted(set(self.table["metric"]))
            raise KeyError(f"there is no metric {metric!r} here; there are {', '.join(known)}")
        for name, wanted in (("variant", controller), ("flow", flow)):
            if wanted is not None:
                rows &= table[name] == wanted
        return table["value"][rows]

    def series(self, controller=None, seed=None):
        """Time series of a run in bins of 100 ms: the first controller and the first seed unless given.

        The run of another seed than the first is made again.
        """
        return Table(self._runs.series(controller, seed))

    def decisions(self, controller=None, seed=None):
        """The decisions of a run that moved a rate or changed its limiting factor."""
        return Table(self._runs.decisions(controller, seed))

    @property
    def scenario(self):
        """Name of the scenario."""
        return self._runs.scenario

    @property
    def scenario_toml(self):
        """The scenario with its changes, as TOML."""
        return self._runs.scenario_toml

    @property
    def title(self):
        """Title of the scenario."""
        return self._runs.title

    @property
    def controllers(self):
        """Names under which controllers were compared."""
        return self._runs.controllers

    @property
    def seeds(self):
        """Seeds of the runs."""
        return self._runs.seeds

    @property
    def verdict(self):
        """The result in a few sentences."""
        return self._runs.verdict

    @property
    def ranking(self):
        """The leading and the recommended controllers, or `None` for a single controller."""
        return self._runs.ranking

    @property
    def notes(self):
        """Sentences on traces that were replaced by others."""
        return self._runs.notes

    @property
    def reproducible(self):
        """Whether the same call gives the same results anywhere: no class took part."""
        return self._runs.reproducible

    def summary(self):
        """Means and intervals over the runs, as `weir run --json` prints them."""
        summary = json.loads(self._runs.to_json())
        return summary if self.reproducible else {**summary, "reproducible": False}

    def report(self, path):
        """Writes the report page of `weir run` to `path`, whole or not at all, and returns the path."""
        path = os.fspath(path)
        self._runs.write_report(path)
        return path

    def _repr_html_(self):
        return self._runs.fragment()

    def __repr__(self):
        runs = len(self.controllers) * len(self.seeds)
        return f"<weir.Result of {self.scenario}: {runs} runs. {self.verdict}>"
