"""Trains a rate controller by PPO of Stable-Baselines3, which must be installed (`pip install stable-baselines3`).

    python python/examples/sb3.py [--steps 500000] [--out policy.zip]

The draws of scenarios, the test calls and the controllers beside the policy are those of `train_rate.py`.
"""

import argparse

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from train_rate import CALLS, CONTROLLERS, SCENARIO, controller_runs, measured, show

import weir.gym


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--calls", type=int, default=64, help="calls for test")
    parser.add_argument("--out", help="file for the policy")
    arguments = parser.parse_args()
    settings = {"scenario": SCENARIO, "distribution": CALLS.train}
    envs = make_vec_env(weir.gym.ENVIRONMENT_ID, n_envs=16, seed=1, env_kwargs=settings)
    model = PPO(
        "MlpPolicy", envs, n_steps=300, batch_size=1200, gamma=0.97, learning_rate=5e-4, seed=1, verbose=1, device="cpu"
    )
    model.learn(arguments.steps)
    if arguments.out:
        model.save(arguments.out)
    test = gymnasium.make(weir.gym.ENVIRONMENT_ID, scenario=SCENARIO, distribution=CALLS.test)
    runs = []
    for index in range(arguments.calls):
        observation, _ = test.reset(options={"index": index})
        truncated = False
        while not truncated:
            action, _ = model.predict(observation, deterministic=True)
            observation, _, _, truncated, info = test.step(action)
        runs.append(info["run"])
    rows = {"trained policy": measured(runs)} | {name: controller_runs(name, arguments) for name in CONTROLLERS}
    show(rows, arguments.calls)


if __name__ == "__main__":
    main()
