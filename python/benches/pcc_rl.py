"""Steps per second of the environment of PCC-RL and of that of Weir, at about 130 packets a step, in turns.

python python/benches/pcc_rl.py PCC-RL/src/gym/network_sim.py [--repetitions 5]

The file is that of a checkout of PCC-RL, with the folder `common` beside its own. It finds Gymnasium under the name of the package `gym`.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import sys
import tempfile

import gymnasium
import numpy as np
from gym import MBPS_12, clocks, single

from weir.gym import RateControlEnv, action_of

# A step lasts half a round trip, of 240 ms each way and some time in the queue.
PACKETS_PER_SECOND, DELAY = 500, 0.24
STEPS = 2000


def loaded(path):
    """The module of a file, for which Gymnasium is `gym`."""
    names = ("", ".spaces", ".utils", ".utils.seeding", ".envs", ".envs.registration")
    own = {f"gym{name}": sys.modules.get(f"gym{name}") for name in names}
    sys.modules.update({f"gym{name}": sys.modules[f"gymnasium{name}"] for name in names})
    try:
        spec = importlib.util.spec_from_file_location("network_sim", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        for name, before in own.items():
            if before is None:
                del sys.modules[name]
            else:
                sys.modules[name] = before


def steady(env):
    """Resets the environment to a link without loss and a sender at its rate."""
    env.reset()
    env.senders[0].rate = PACKETS_PER_SECOND


def others(env):
    """Steps per second of the other environment, and packets a step."""
    action, sent = np.zeros(1, dtype=np.float32), 0
    steady(env)
    begin = clocks()
    for _ in range(STEPS):
        if env.step(action)[2]:
            steady(env)
        sent += env.senders[0].sent
    return STEPS / (clocks() - begin), sent / STEPS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="network_sim.py of PCC-RL")
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    path = os.path.abspath(arguments.path)
    fast = np.array([action_of(12e6, 50e3, 25e6)], dtype=np.float32)
    # It prints at each reset, and writes a file at every hundredth.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        env = loaded(path).SimulatedNetworkEnv()
        env.min_bw = env.max_bw = PACKETS_PER_SECOND
        env.min_lat = env.max_lat = DELAY
        env.min_loss = env.max_loss = 0.0
        wide = RateControlEnv(set=MBPS_12)
        pairs = [(others(env), single(wide, fast, 6000)) for _ in range(arguments.repetitions)]
    (theirs, ours), packets = np.median([(rates, own) for (rates, _), own in pairs], axis=0), pairs[0][0][1]
    for name, (passed, processor) in [(f"PCC-RL, {packets:.0f} packets a step", theirs), ("Weir, 126 packets a step", ours)]:
        print(f"{name:32} {passed:9.0f} steps/s, {processor:9.0f} in a second of processor time")
    print(f"ratio of processor time {ours[1] / theirs[1]:.1f}")


if __name__ == "__main__":
    main()
