"""Rate control as a Gymnasium environment: ``weir/RateControl-v0``.

The import registers the environment.

>>> import gymnasium, weir.gym
>>> env = gymnasium.make("weir/RateControl-v0", scenario="quality/steady")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

``gymnasium.make_vec("weir/RateControl-v0", num_envs=64, threads=2)`` makes 64 calls in this process.
:class:`RateControlEnv` has the action, the observation and the reward; :class:`Distribution` draws scenarios for
training, validation and test.
"""

import gymnasium

from .distribution import Distribution, Draw, Draws
from .environment import RateControlEnv
from .settings import ENTRIES, Measure, Reward, RunMetrics, action_of, rate_of
from .vector import RateControlVectorEnv

ENVIRONMENT_ID = "weir/RateControl-v0"

__all__ = [
    "ENVIRONMENT_ID",
    "ENTRIES",
    "Distribution",
    "Draw",
    "Draws",
    "Measure",
    "RateControlEnv",
    "RateControlVectorEnv",
    "Reward",
    "RunMetrics",
    "action_of",
    "rate_of",
]

if ENVIRONMENT_ID not in gymnasium.registry:
    gymnasium.register(
        ENVIRONMENT_ID,
        entry_point="weir.gym.environment:RateControlEnv",
        vector_entry_point="weir.gym.vector:RateControlVectorEnv",
    )
