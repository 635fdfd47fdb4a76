"""Many calls in one process as a vector environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from .._scenarios import ScenarioSource, assignments
from .distribution import Draws
from .settings import CallSettings, Reward, RewardFunction, RunMetrics, spaces


class RateControlVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.float32], NDArray[Any]]):
    """``num_envs`` calls that take their steps together: each is as a :class:`weir.gym.RateControlEnv`.

    Call i has the seed ``seed + i``. With ``threads`` above 1 the calls of a step are simulated on that many threads;
    results are the same. ``autoreset_mode`` is ``NEXT_STEP`` or ``SAME_STEP``. ``reward``, if it is a function, gets
    the measures of all calls. Among the options of a reset ``index`` may be a list, with the draw of each call.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        scenario: ScenarioSource = "quality/steady",
        *,
        flow: str | None = None,
        set: Mapping[str, object] | None = None,
        interval: float | str = 0.1,
        feedback_interval: float | str = 0.05,
        reward: Reward | RewardFunction | None = None,
        distribution: Draws | None = None,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
    ) -> None:
        if render_mode is not None:
            # A TypeError, as for an unknown argument: callers then call again without it.
            raise TypeError(f"render_mode: the environment shows no picture, leave out {render_mode!r}")
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name}: a whole number from 1 on, not {value!r}")
        self.render_mode = None
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        if self.autoreset_mode == AutoresetMode.DISABLED:
            raise ValueError("autoreset_mode: NEXT_STEP or SAME_STEP")
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.num_envs = int(num_envs)
        self.single_observation_space, self.single_action_space = spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._settings = CallSettings(scenario, flow, set, interval, feedback_interval, reward, distribution)
        self._calls = self._settings.calls(self.num_envs, int(threads))
        self._function = self._settings.function
        self._random: list[np.random.Generator | None] = [None] * self.num_envs
        self._over = np.zeros(self.num_envs, dtype=np.bool_)
        self._terminated = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds = [None if seed is None else int(seed) + index for index in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {len(seeds)} seeds for {self.num_envs} calls")
        each = [options] * self.num_envs
        if isinstance(options, Mapping) and isinstance(options.get("index"), (list, tuple, np.ndarray)):
            if len(options["index"]) != self.num_envs:
                raise ValueError(f"options.index: {len(options['index'])} draws for {self.num_envs} calls")
            each = [{**options, "index": index} for index in options["index"]]
        infos = self._begin(range(self.num_envs), seeds, each, {})
        self._over[:] = False
        return self._calls.observations(), infos

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        actions = self._actions(actions)
        resets = np.flatnonzero(self._over)
        # The calls that are reset in this step, by the mode of the next step.
        infos = self._begin(resets, [None] * len(resets), [None] * len(resets), {}) if len(resets) else {}
        observations, rewards, truncated = self._calls.step(actions, ~self._over)
        if self._function is not None:
            rewards = np.where(self._over, 0.0, np.asarray(self._function(self._calls.measures()), dtype=np.float64))
        if truncated.any():
            ended = np.flatnonzero(truncated)
            for index in ended:
                info: dict[str, Any] = {"run": RunMetrics(self._calls.finish(int(index)))}
                if self.autoreset_mode == AutoresetMode.SAME_STEP:
                    info = {"final_obs": observations[index].copy(), "final_info": info}
                infos = self._add_info(infos, info, int(index))
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                infos = self._begin(ended, [None] * len(ended), [None] * len(ended), infos)
                observations[ended] = self._calls.observations()[ended]
        self._over = truncated.copy() if self.autoreset_mode == AutoresetMode.NEXT_STEP else self._over
        return observations, rewards, self._terminated.copy(), truncated, infos

    def measures(self) -> NDArray[np.float64]:
        """The last steps in physical units, a row for each call, by :class:`weir.gym.Measure`."""
        return self._calls.measures()

    def _begin(
        self,
        indices: Iterable[int],
        seeds: Sequence[int | None],
        options: Sequence[Mapping[str, Any] | None],
        infos: dict[str, Any],
    ) -> dict[str, Any]:
        """Begins calls: returns ``infos`` with theirs."""
        begins = []
        for index, seed, own in zip(indices, seeds, options, strict=True):
            random = self._random[index]
            if seed is not None or random is None:
                random = self._random[index] = np_random(seed)[0]
            draw = self._settings.draw(random, seed, own)
            begins.append((int(index), draw.seed, assignments(dict(draw.set))))
            infos = self._add_info(infos, {"seed": draw.seed, "set": RunMetrics(dict(draw.set))}, int(index))
        self._calls.begin(begins)
        return infos

    def _actions(self, given: ArrayLike) -> NDArray[np.float32]:
        try:
            actions = np.asarray(given, dtype=np.float32)
        except (TypeError, ValueError):
            raise TypeError(f"actions: float32 from -1 to 1, one for each call, not {given!r}") from None
        if actions.shape != (self.num_envs, 1):
            raise ValueError(f"actions: an array of shape ({self.num_envs}, 1), not {actions.shape}")
        return np.ascontiguousarray(actions[:, 0])
