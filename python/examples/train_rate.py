"""Trains a rate controller by the cross-entropy method in NumPy alone, and compares it on scenarios it has not seen.

    python python/examples/train_rate.py [--generations 60] [--threads 2] [--out policy.npz]

The policy moves the target by a bounded linear function of the observation. It is trained on the draws for training;
the best of its generations is chosen by those for validation. The table has the draws for test: the policy, the
constant rate that is best over all of them together, and three controllers.
"""

import argparse
import time

import numpy as np

import weir
from weir.gym import ENTRIES, Distribution, RateControlVectorEnv, Reward, rate_of

SCENARIO = "quality/steady"
LEAST, MOST = 50e3, 10e6
CALLS = Distribution(
    {
        "links.forward.rate": ("400kbps", "6Mbps", "log"),
        "links.forward.delay": ("10ms", "80ms"),
        "links.back.delay": ("10ms", "80ms"),
        "links.forward.queue.time": ("100ms", "500ms"),
        "links.forward.loss": [0.0, 0.0, 0.0, 0.01, 0.03],
    }
)
REWARD = Reward()
CONTROLLERS = ["gcc", "nada", "scream-v2"]
TARGET = ENTRIES.index("target")
# The largest change of an action in a step: a factor of 1.7 in the rate.
REACH = 0.2
POPULATION, ELITE, CALLS_EACH = 32, 6, 4


def features(observation):
    """The observation, what arrived against what was meant, and a constant."""
    target, received = observation[:, TARGET], observation[:, ENTRIES.index("received_long")]
    more = np.stack([received - target, np.maximum(0.0, 0.5 - target), np.ones(len(observation))], axis=1)
    return np.concatenate([observation, more], axis=1)


SIZE = len(ENTRIES) + 3


def steered(weights):
    """The actions of policies by observations, with a row of weights for each call."""

    def act(observation):
        change = REACH * np.tanh(np.einsum("nf,nf->n", features(observation), weights))
        action = 2.0 * observation[:, TARGET] - 1.0 + change
        return np.clip(action, -1.0, 1.0).astype(np.float32)[:, None]

    return act


def play(draws, indices, policy, threads):
    """Plays a call for each index: the mean reward of a step of each, and the metrics of its flow."""
    env = RateControlVectorEnv(len(indices), SCENARIO, reward=REWARD, distribution=draws, threads=threads)
    observation, _ = env.reset(options={"index": list(indices)})
    total, steps, over = np.zeros(len(indices)), 0, False
    while not over:
        observation, reward, _, truncated, info = env.step(policy(observation))
        total, steps, over = total + reward, steps + 1, truncated.all()
    return total / steps, info["run"]


def train(arguments):
    """The weights of the generation that validation prefers."""
    random = np.random.default_rng(arguments.seed)
    mean, spread = np.zeros(SIZE), np.full(SIZE, 1.0)
    best, chosen = -np.inf, mean
    for generation in range(arguments.generations):
        members = mean + spread * random.standard_normal((POPULATION, SIZE))
        indices = random.integers(len(CALLS.train), size=CALLS_EACH)
        weights = np.repeat(members, CALLS_EACH, axis=0)
        rewards, _ = play(CALLS.train, np.tile(indices, POPULATION), steered(weights), arguments.threads)
        elite = members[np.argsort(-rewards.reshape(POPULATION, CALLS_EACH).mean(axis=1))[:ELITE]]
        # The old mean stays in: four calls are a noisy judge.
        mean = 0.5 * mean + 0.5 * elite.mean(axis=0)
        spread = np.maximum(0.5 * spread + 0.5 * elite.std(axis=0), 0.05)
        if generation % 5 == 4 or generation + 1 == arguments.generations:
            every = np.tile(mean, (arguments.calls, 1))
            rewards, _ = play(CALLS.validation, range(arguments.calls), steered(every), arguments.threads)
            print(f"generation {generation + 1:3}: reward {rewards.mean():.4f} on validation", flush=True)
            if rewards.mean() > best:
                best, chosen = rewards.mean(), mean.copy()
    return chosen


def place(bps):
    """The rate as an entry of the observation."""
    return np.clip(np.log(np.maximum(bps, 1.0) / LEAST) / np.log(MOST / LEAST), 0.0, 1.0)


def score(rate, delay, loss):
    """The reward by what a whole run measured, the same for every controller."""
    return REWARD.rate * place(rate) - REWARD.delay * delay - REWARD.loss * loss


def measured(runs):
    """Received rates, mean delays above the propagation in seconds, and loss ratios."""
    columns = ([run["payload_rate_bps"], run["owd_excess_ms"]["mean"] / 1e3, run["packet_loss_ratio"]] for run in runs)
    return np.array(list(columns)).T


def best_constant(arguments):
    """The action and the runs of the constant rate whose mean score over all test calls is the highest."""
    trials = []
    for action in np.linspace(-1.0, 1.0, 41, dtype=np.float32):
        actions = np.full((arguments.calls, 1), action, dtype=np.float32)
        _, runs = play(CALLS.test, range(arguments.calls), lambda _, own=actions: own, arguments.threads)
        trials.append((score(*measured(runs)).mean(), action, measured(runs)))
    return max(trials, key=lambda trial: trial[0])[1:]


def controller_runs(name, arguments):
    """The runs of a controller on the test calls."""
    runs = []
    for draw in CALLS.test[: arguments.calls]:
        table = weir.run(
            SCENARIO, controllers=[name], seeds=[draw.seed], set=dict(draw.set), jobs=1, progress=False
        ).table
        values = dict(zip(table["metric"], table["value"], strict=True))
        rate, delay, loss = (
            values[f"flows[].{key}"] for key in ("payload_rate_bps", "owd_excess_ms.mean", "packet_loss_ratio")
        )
        runs.append([rate, delay / 1e3, loss])
    return np.array(runs).T


def show(rows, calls):
    """Prints the measurements of each name, the best score first."""
    print(f"\n{calls} held-back calls{'':8} score   rate Mbit/s   delay ms   loss %")
    for name, (rate, delay, loss) in sorted(rows.items(), key=lambda row: -score(*row[1]).mean()):
        values = f"{rate.mean() / 1e6:11.3f} {1e3 * delay.mean():10.1f} {100 * loss.mean():8.2f}"
        print(f"{name:24} {score(rate, delay, loss).mean():7.4f} {values}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--calls", type=int, default=64, help="calls for validation and for test")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="file for the weights")
    arguments = parser.parse_args()
    begin = time.monotonic()
    weights = train(arguments)
    print(f"trained in {time.monotonic() - begin:.0f} s")
    if arguments.out:
        np.savez(arguments.out, weights=weights, entries=ENTRIES)
    every = np.tile(weights, (arguments.calls, 1))
    _, runs = play(CALLS.test, range(arguments.calls), steered(every), arguments.threads)
    action, constant = best_constant(arguments)
    rows = {"trained policy": measured(runs), f"constant {rate_of(action, LEAST, MOST) / 1e3:.0f} kbit/s": constant}
    rows |= {name: controller_runs(name, arguments) for name in CONTROLLERS}
    show(rows, arguments.calls)


if __name__ == "__main__":
    main()
