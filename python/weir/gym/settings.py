"""Settings that one environment and a vector of them have in common."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import ArrayLike, NDArray

from .. import _weir
from .._scenarios import Scenario, ScenarioSource
from .distribution import Draw, Draws

ENTRIES: tuple[str, ...] = tuple(_weir.ENV_ENTRIES)
"""Names of the entries of an observation, in order."""

Measure = enum.IntEnum(  # type: ignore[misc]
    "Measure", {name.upper(): index for index, (name, _) in enumerate(_weir.ENV_MEASURES)}, module=__name__
)
Measure.__doc__ = "Places of the values of a step, in their units: " + ", ".join(
    f"{name} ({unit})" for name, unit in _weir.ENV_MEASURES
)

# Seeds are drawn below this.
_SEEDS = 1 << 31
_OPTIONS = ("seed", "set", "index")


@dataclass(frozen=True)
class Reward:
    """The default reward of a step: ``rate · received − delay · d − loss · l``.

    ``received`` is that entry of the observation, d the mean delay above the least of the call in seconds, and l the
    loss ratio. With the default weights 100 ms of delay and a loss of 10 % cost as much as a fifth of the range of
    rates each.
    """

    rate: float = 1.0
    delay: float = 2.0
    loss: float = 2.0

    def __post_init__(self) -> None:
        for name in ("rate", "delay", "loss"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"reward.{name}: a finite number, not {value!r}")


RewardFunction: TypeAlias = Callable[[NDArray[np.float64]], Any]


class RunMetrics(Mapping[str, Any]):
    """The metrics of a flow, by the keys of its results: ``metrics["queue_wait_ms"]["p95"]``.

    Those of an episode are computed when they are first read, by another simulation of it.
    """

    def __init__(self, source: dict[str, Any] | _weir.PlayedCall) -> None:
        self._source = source

    @property
    def _values(self) -> dict[str, Any]:
        if isinstance(self._source, _weir.PlayedCall):
            self._source = self._source.metrics()
        return self._source

    def __deepcopy__(self, memo: dict[int, Any]) -> RunMetrics:
        return self

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"RunMetrics({self._values!r})"


class CallSettings:
    """The settings of calls, checked."""

    def __init__(
        self,
        scenario: ScenarioSource,
        flow: str | None,
        set: Mapping[str, object] | None,
        interval: float | str,
        feedback_interval: float | str,
        reward: Reward | RewardFunction | None,
        distribution: Draws | None,
    ) -> None:
        self.scenario = Scenario.of(scenario)
        if flow is not None and not isinstance(flow, str):
            raise TypeError(f"flow: the name of a flow, not {flow!r}")
        self.flow = flow
        if set is not None:
            self.scenario = self.scenario.set(checked("set", set))
        self.interval, self.reports = _time("interval", interval), _time("feedback_interval", feedback_interval)
        if reward is None:
            reward = Reward()
        if not isinstance(reward, Reward) and not callable(reward):
            raise TypeError(f"reward: a weir.gym.Reward or a function of the measures, not {reward!r}")
        self.function = None if isinstance(reward, Reward) else reward
        self.weights = reward if isinstance(reward, Reward) else Reward()
        if distribution is not None and not isinstance(distribution, Draws):
            raise TypeError(f"distribution: a part of a weir.gym.Distribution, such as its train, not {distribution!r}")
        self.draws = distribution

    def calls(self, number: int, threads: int) -> _weir.SteppedCalls:
        """That many calls."""
        weights = (self.weights.rate, self.weights.delay, self.weights.loss)
        return _weir.SteppedCalls(self.scenario._own, self.flow, self.interval, self.reports, weights, number, threads)

    def draw(self, random: np.random.Generator, seed: int | None, options: Mapping[str, Any] | None) -> Draw:
        """The run of a reset."""
        options = {} if options is None else options
        if not isinstance(options, Mapping):
            raise TypeError(f"options: a dictionary, not {options!r}")
        for key in options:
            if key not in _OPTIONS:
                raise ValueError(f"options: there is no {key!r}; use {', '.join(_OPTIONS)}")
        if self.draws is not None:
            index = options.get("index")
            if index is None:
                index = int(random.integers(len(self.draws)))
            drawn = self.draws[_whole("options.index", index)]
        elif "index" in options:
            raise ValueError("options.index: there is no distribution to draw from")
        else:
            drawn = Draw(seed if seed is not None else int(random.integers(_SEEDS)), {})
        own = options.get("set")
        if own is not None:
            drawn = Draw(drawn.seed, {**drawn.set, **checked("options.set", own)})
        run_seed = options.get("seed")
        return drawn if run_seed is None else Draw(_whole("options.seed", run_seed), drawn.set)


def spaces() -> tuple[Space[Any], Space[Any]]:
    """The spaces of observations and actions."""
    low = np.array([-1.0 if name == "gradient" else 0.0 for name in ENTRIES], dtype=np.float32)
    return Box(low, np.ones(len(ENTRIES), dtype=np.float32), dtype=np.float32), Box(-1.0, 1.0, (1,), dtype=np.float32)


def checked(place: str, given: Mapping[str, object]) -> dict[str, object]:
    """A dictionary of settings."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{place}: a dictionary of keys and values, not {given!r}")
    for key, value in given.items():
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            raise TypeError(
                f"{place}[{key!r}]: text, a finite number, a boolean, a list or a dictionary, not {value!r}"
            )
    return dict(given)


def _whole(place: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise TypeError(f"{place}: a whole number from 0 on, not {value!r}")
    return int(value)


def _time(place: str, given: object) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given < 1e6:
        return f"{round(given * 1e9)}ns"
    raise TypeError(f"{place}: seconds, or text such as '100ms', not {given!r}")


def rate_of(action: ArrayLike, least: float, most: float) -> Any:
    """The target rate of an action between -1 and 1, in the unit of the bounds; rounding to whole bit/s is the
    environment's."""
    return least * (most / least) ** ((np.clip(action, -1.0, 1.0) + 1.0) / 2.0)


def action_of(rate: ArrayLike, least: float, most: float) -> Any:
    """The action of a target rate, within the bounds of the flow's rates."""
    return np.clip(2.0 * np.log(np.asarray(rate) / least) / np.log(most / least) - 1.0, -1.0, 1.0)
