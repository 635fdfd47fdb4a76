"""Plots of results by matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._extras import optional
from ._results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(axes: Axes | None) -> Any:
    return optional("matplotlib.pyplot", "plot").subplots()[1] if axes is None else axes


def series(
    result: Result,
    column: str,
    controllers: Iterable[str] | None = None,
    seed: int | None = None,
    axes: Axes | None = None,
) -> Axes:
    """A column of the time series of each controller over time; returns the axes."""
    axes = _axes(axes)
    for controller in controllers or result.controllers:
        table = result.series(controller, seed)
        if column not in table:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(table.columns)}")
        axes.plot(table["time_s"], table[column], label=controller)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(column)
    axes.legend()
    return axes


def scatter(
    result: Result,
    x: str = "media.frame_delay_ms.p95",
    y: str = "flows[].useful_rate_bps",
    axes: Axes | None = None,
) -> Axes:
    """Two metrics of each controller, with a mark at the means over the runs; returns the axes."""
    axes = _axes(axes)
    for controller in result.controllers:
        means = [float(np.nanmean(result.values(metric, controller))) for metric in (x, y)]
        axes.plot(*means, "o", label=controller)
        axes.annotate(controller, (means[0], means[1]), textcoords="offset points", xytext=(5, 5))
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes
