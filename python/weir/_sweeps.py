"""Sweeps of a scenario over a grid, in this process or in the workers of an executor."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Mapping
from typing import Any

from . import _executors, _weir
from ._destinations import destination
from ._progress import progress_of
from ._results import RunTable
from ._runs import Controllers, check_number, directories, jobs_of, named
from ._scenarios import Scenario, ScenarioSource, assignments
from ._types import Directories, Executor, Path, Progress, Settings
from ._workers import sendable


class SweepResult(RunTable):
    """Runs of a scenario at each place of a grid, under each controller, over the same seeds.

    The long table has a column `at.KEY` for each key of the grid.

    >>> import weir
    >>> result = weir.sweep(
    ...     "quality/steady", {"links.forward.rate": ["1Mbps", "2Mbps"]}, ["gcc"], runs=2, set={"duration": "10s"}
    ... )
    >>> sorted(set(result.table["at.links.forward.rate"].tolist()))
    [1000000.0, 2000000.0]
    """

    def __init__(self, swept: _weir.SweptRuns, path: str | None) -> None:
        super().__init__(swept)
        self._runs = swept
        #: Where the files are, or `None` without any.
        self.path = path

    def summary(self) -> list[dict[str, Any]]:
        """Means and intervals for each controller at each place, as in `sweep.json`."""
        summary: list[dict[str, Any]] = json.loads(self._runs.to_json())
        return summary

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return self._runs.scenario

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return self._runs.title

    @property
    def controllers(self) -> list[str]:
        """Names under which controllers were compared."""
        return self._runs.controllers

    @property
    def notes(self) -> list[str]:
        """Sentences on traces that were replaced by others."""
        return self._runs.notes

    def __repr__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        return f"<weir.SweepResult of {self.scenario}: {', '.join(self.controllers)}{where}>"


def axis(path: str, values: str | Iterable[object]) -> str:
    """The `path=value,value` of a key: a list of values, or a text as after `--sweep`."""
    if not isinstance(path, str):
        raise TypeError(f"grid: a key is text, such as 'links.forward.rate', not {path!r}")
    if isinstance(values, str):
        return f"{path}={values}"
    try:
        listed = list(values)
    except TypeError as error:
        raise TypeError(f"grid {path}: a list of values is needed, or a text such as '1ms..100ms/5log', not {values!r}") from error
    texts = [_weir.assignment(path, value)[len(path) + 1 :] for value in listed]
    for text in texts:
        if "," in text or "=" in text:
            raise ValueError(f"grid {path}: the value {text} has a comma or an equals sign, which no swept value can have")
    return f"{path}={','.join(texts)}"


def source_of(scenario: ScenarioSource) -> tuple[Scenario, str, str | None, list[str]]:
    """Name, text and settings of a scenario. A file is sent as its text, so that workers need no shared file system."""
    own = Scenario.of(scenario)
    return own, *own._own.state()


def sweep(
    scenario: ScenarioSource,
    grid: Mapping[str, str | Iterable[object]],
    controllers: Controllers | None = None,
    runs: int | None = None,
    *,
    out: Path | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    set: Settings | None = None,
    progress: Progress = None,
    data: Directories = (),
) -> SweepResult:
    """Runs a scenario at each place of a grid, under each controller.

    grid: a dictionary from paths such as `"links.forward.rate"` to lists of values, or to ranges such as `"1ms..100ms/5log"`.
    controllers: names, variants such as `"gcc{trendline.window=40}"`, or classes; those of the scenario unless given.
    runs: number of seeds at each place, from seed 1 on; that of the scenario unless given.
    out: a directory, or a URL of fsspec, for the files that `weir run --sweep` writes. Runs are kept there, and a second call makes
        only those that are missing.
    executor: an object whose `submit(function, *arguments)` gives a future with `result()`, such as a pool of
        `concurrent.futures` or a `dask.distributed.Client`. The files do not depend on it.
    jobs: threads without an executor; as many as there are processors unless given, and 1 with a class.
    set, progress, data: as for `weir.run`. Workers look for traces in `data` on their own machines.

    Raises `weir.ScenarioError` with the place of a mistake, `OSError` if `out` cannot be written.

    >>> import weir
    >>> weir.sweep("quality/steady", {"links.forward.rat": ["1Mbps", "2Mbps"]})
    Traceback (most recent call last):
        ...
    weir.ScenarioError: grid links.forward.rat=1Mbps: ...did you mean `rate`?...
    """
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid is a dictionary from paths to lists of values, not {type(grid).__name__}")
    check_number("runs", runs, 1, 1000)
    axes = [axis(path, values) for path, values in grid.items()]
    threads, traces = jobs_of(jobs), directories(data)
    with named(controllers) as names:
        own, name, text, settings = source_of(scenario)
        arguments = (name, text, [*settings, *assignments(set)], axes, names, runs, traces)
        plan = _weir.SweepPlan(*arguments)
        job = None
        if executor is not None:
            registered = [entry for entry in _weir.registered() if entry[0] in plan.classes]
            classes = [(name, sendable(name, cls), estimator) for name, cls, estimator in registered]
            job = pickle.dumps((classes, arguments))
        with destination(out) as place, progress_of(progress, own.name) as function:
            work = _weir.SweepWork(plan, place.folder, threads)
            try:
                if executor is None or job is None:
                    work.make(threads, function)
                else:
                    _executors.make(work, job, executor, function)
                swept = work.finish()
            finally:
                work.close()
            place.complete()
        return SweepResult(swept, place.path)
