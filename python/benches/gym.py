"""Steps per second of the environments, and per second of processor time, which counts on a machine with other work.

python python/benches/gym.py [--repetitions 5]
"""

import argparse
import time

import gymnasium
import numpy as np

from weir.gym import RateControlEnv, RateControlVectorEnv, action_of

MBPS_12 = {
    "links.forward.rate": "30Mbps",
    "links.back.rate": "30Mbps",
    "flows.video.rates.max": "25Mbps",
    "flows.video.encoder.max_rate": "25Mbps",
}


def clocks():
    """Time that has passed, and that of the processor."""
    return np.array([time.perf_counter(), time.process_time()])


def single(env, action, steps):
    """Steps per second of one call, resets included."""
    env.reset(seed=1)
    begin = clocks()
    for _ in range(steps):
        if env.step(action)[3]:
            env.reset()
    return steps / (clocks() - begin)


def vector(calls, threads, steps, action):
    """Steps per second of a vector of calls, resets included."""
    env = RateControlVectorEnv(calls, threads=threads)
    env.reset(seed=1)
    actions = np.full((calls, 1), action, dtype=np.float32)
    begin = clocks()
    for _ in range(steps):
        env.step(actions)
    return calls * steps / (clocks() - begin)


def packets(env, action):
    """Packets that arrive in a step."""
    env.reset(seed=1)
    while True:
        *_, truncated, info = env.step(action)
        if truncated:
            return info["run"]["received"]["packets"] / 300


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    action = np.array([action_of(2.5e6, 50e3, 10e6)], dtype=np.float32)
    fast = np.array([action_of(12e6, 50e3, 25e6)], dtype=np.float32)
    wide = RateControlEnv(set=MBPS_12)
    rows = {
        "one call of 2.5 Mbit/s": lambda: single(RateControlEnv(), action, 30_000),
        "the same by gymnasium.make": lambda: single(gymnasium.make("weir/RateControl-v0"), action, 30_000),
        f"one call of {packets(wide, fast):.0f} packets a step": lambda: single(wide, fast, 6_000),
        "64 calls, one thread": lambda: vector(64, 1, 600, action[0]),
        "64 calls, two threads": lambda: vector(64, 2, 600, action[0]),
    }
    for name, measure in rows.items():
        passed, processor = np.median([measure() for _ in range(repetitions)], axis=0)
        print(f"{name:32} {passed:9.0f} steps/s, {processor:9.0f} in a second of processor time")
    env = RateControlEnv()
    for name, options in [("reset", {}), ("reset with a setting", {"set": {"links.forward.rate": "1Mbps"}})]:
        begin = clocks()
        for seed in range(300):
            env.reset(seed=seed, options=options)
        print(f"{name:32} {1e6 * (clocks() - begin)[1] / 300:9.0f} us of processor time")


if __name__ == "__main__":
    main()
