"""One call as an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._scenarios import ScenarioSource, assignments
from .distribution import Draw, Draws
from .settings import CallSettings, Reward, RewardFunction, RunMetrics, spaces


class RateControlEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """The sender of one media flow, whose target rate is the action.

    A step is an interval of simulated time. An episode is the flow's time in its scenario; it ends by ``truncated``,
    never by ``terminated``. An incomplete last interval belongs to no step.

    **Action** a, one float32 from -1 to 1: the target rate of the step is ``min · (max/min)^((a + 1)/2)``, with the
    flow's ``rates.min`` and ``rates.max``, in whole bit/s. Values beyond -1 and 1 count as these.

    **Observation**, float32 by the names of :data:`weir.gym.ENTRIES`. All of it is what the sender knows: what it
    sent, and the reports that have reached it within the step. P(x) = ln(x/min) / ln(max/min) from 0 to 1, and T(t) =
    t / (t + 0.1 s).

    ================= ==== ==========================================================================================
    entry             from formula
    ================= ==== ==========================================================================================
    ``target``        0    P(target rate of the step): the last action
    ``sent``          0    P(payload sent / interval)
    ``received``      0    P(payload reported as arrived / time from the last arrival of earlier steps to the last of
                           this one, at least half an interval); 0 without an arrival
    ``received_long`` 0    the same over the last ten steps
    ``loss``          0    packets missing / packets reported; packets that were late after all do not count as missing
    ``loss_long``     0    the same over the last ten steps
    ``delay``         0    T(mean one-way delay above the least of the call); that of the step before without an arrival
    ``least_delay``   0    T(least one-way delay of the step above the least of the call); as above
    ``gradient``      -1   (mean delay - mean delay of the step before) / interval, from -1 to 1; 0 in the first step
    ``rtt``           0    T(last round-trip time); 0 before the first
    ``marked``        0    packets with congestion marks / packets that arrived
    ``silence``       0    T(time since the last report, or since the first packet)
    ``queued``        0    T(bytes that wait in the sender / target rate)
    ``in_flight``     0    T(bytes in flight / target rate)
    ``limited``       0    1 if the source sent less than the target
    ================= ==== ==========================================================================================

    After a reset no packet has left: ``target`` is P(``rates.start``), and all other entries are 0. The same actions
    give the same bits on every processor: times and bytes are whole numbers, logarithms and exponentials are those of
    one portable library, and all other steps are operations of IEEE 754.

    **Reward**: a :class:`weir.gym.Reward`, or a function of an array whose last axis has the values of
    :class:`weir.gym.Measure` (the last interval in physical units), which returns a number for each row.

    **Info**: after a reset ``seed`` and ``set``, the run's seed and own settings; with the last step ``run``, the
    metrics of the flow (:class:`weir.gym.RunMetrics`) as ``weir run`` measures them. These are the simulator's truth,
    for evaluation; the first reading simulates the episode once more.

    Parameters: ``scenario`` is a name, a path or text in TOML; its only media flow that is no competitor is
    controlled, or the one named ``flow``. ``set`` has settings of all episodes. ``interval`` and
    ``feedback_interval`` (of the receiver's reports) are seconds or text. ``distribution`` is a part of a
    :class:`weir.gym.Distribution`, from which each reset draws.

    Options of a reset: ``set`` (further settings), ``seed`` (of the run), ``index`` (of a draw). Without a
    distribution the seed of a reset is that of the run.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: ScenarioSource = "quality/steady",
        *,
        flow: str | None = None,
        set: Mapping[str, object] | None = None,
        interval: float | str = 0.1,
        feedback_interval: float | str = 0.05,
        reward: Reward | RewardFunction | None = None,
        distribution: Draws | None = None,
        render_mode: None = None,
    ) -> None:
        if render_mode is not None:
            # A TypeError, as for an unknown argument: `make_vec_env` of Stable-Baselines3 then calls again without it.
            raise TypeError(f"render_mode: the environment shows no picture, leave out {render_mode!r}")
        self.render_mode = None
        self.observation_space, self.action_space = spaces()
        self._settings = CallSettings(scenario, flow, set, interval, feedback_interval, reward, distribution)
        self._calls = self._settings.calls(1, 1)
        self._step = self._calls.step_one
        self._function = self._settings.function
        self.draw: Draw | None = None

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        draw = self._settings.draw(self.np_random, seed, options)
        self._calls.begin([(0, draw.seed, assignments(dict(draw.set)))])
        self.draw = draw
        return self._calls.observations()[0], {"seed": draw.seed, "set": RunMetrics(dict(draw.set))}

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        # None for an action of another type.
        stepped = self._step(action) or self._step(_action(action))
        assert stepped is not None
        observation, reward, truncated = stepped
        if self._function is not None:
            reward = float(self._function(self._calls.measures()[0]))
        info = {"run": RunMetrics(self._calls.finish(0))} if truncated else {}
        return observation, reward, False, truncated, info

    def measures(self) -> NDArray[np.float64]:
        """The last step in its units, by :class:`weir.gym.Measure`; zeros after a reset, and after the last step."""
        measures: NDArray[np.float64] = self._calls.measures()[0]
        return measures


def _action(given: ArrayLike) -> NDArray[np.float32]:
    try:
        action = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        raise TypeError(f"action: one float32 from -1 to 1, not {given!r}") from None
    if action.shape != (1,):
        raise ValueError(f"action: an array of shape (1,), not {action.shape}")
    return action
