"""The Gymnasium environment."""

import copy
import hashlib
import math
import pickle
import warnings

import numpy as np
import pytest

from conftest import extra

gymnasium = extra("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import weir  # noqa: E402
import weir.gym  # noqa: E402
from weir.gym import ENTRIES, Distribution, Measure, RateControlEnv, RateControlVectorEnv, Reward  # noqa: E402

SHORT = {"duration": "5s"}
LOSSY = {"duration": "6s", "links.forward.loss": 0.05, "links.forward.rate": "800kbps"}
TWO_CALLS = """
title = "Two calls on a link"
duration = "4s"

[links.forward]
from = "here"
to = "there"
delay = "20ms"
rate = "3Mbps"

[links.back]
from = "there"
to = "here"
delay = "20ms"
rate = "3Mbps"

[flows.one]
kind = "media"
from = "here"
to = "there"
controller = "gcc"
start = "1.5s"

[flows.two]
kind = "media"
from = "here"
to = "there"
controller = "nada"
COMPETITOR
"""


def actions_of(seed, steps, calls=None):
    shape = (steps, 1) if calls is None else (steps, calls, 1)
    return np.random.default_rng(seed).uniform(-1.2, 1.0, shape).astype(np.float32)


def played(env, actions, **reset):
    """The observations and rewards of an episode, and its last info."""
    observation, _ = env.reset(**reset)
    observations, rewards, info = [observation], [], {}
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        assert not terminated
        observations.append(observation)
        rewards.append(reward)
        if truncated:
            break
    return np.array(observations), np.array(rewards), info


def entry(observations, name):
    return observations[..., ENTRIES.index(name)]


def test_the_checker_of_gymnasium_has_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("weir/RateControl-v0", set=SHORT)
        check_env(env.unwrapped)


def test_metrics_of_an_episode_do_not_depend_on_the_file_of_its_scenario(tmp_path):
    file = tmp_path / "call.toml"
    file.write_text(weir.Scenario.of("quality/steady").to_toml())
    shipped = played(RateControlEnv("quality/steady"), actions_of(1, 1000), seed=1)[2]["run"]
    env = RateControlEnv(file)
    env.reset(seed=1)
    file.write_text("title = 'none'")
    own = played(env, actions_of(1, 1000), seed=1)[2]["run"]
    assert own["rate_bps"] == shipped["rate_bps"]


def test_an_episode_is_truncated_at_the_end_of_the_scenario():
    env = gymnasium.make("weir/RateControl-v0", scenario="quality/steady")
    observations, rewards, info = played(env, actions_of(1, 1000), seed=1)
    assert len(rewards) == 300
    assert observations.dtype == np.float32 and observations.shape == (301, len(ENTRIES))
    assert info["run"]["rate_bps"] > 50e3
    with pytest.raises(RuntimeError, match="no step is left: call reset"):
        env.unwrapped.step(np.zeros(1, dtype=np.float32))
    short, rewards, _ = played(RateControlEnv(interval="30ms", set={"duration": "1s"}), actions_of(1, 100), seed=1)
    assert len(rewards) == 33


def test_observations_are_within_their_bounds_whatever_the_actions():
    for settings in (LOSSY, SHORT, {**SHORT, "links.forward.rate": "60kbps"}):
        env = RateControlEnv(set=settings)
        observations, _, _ = played(env, actions_of(2, 100), seed=4)
        assert all(env.observation_space.contains(observation) for observation in observations)
        assert np.ptp(entry(observations, "gradient")) > 0.01
    assert entry(observations, "delay").max() > 0.5


def test_the_same_actions_give_the_same_bits():
    actions = actions_of(3, 60)
    first, rewards, _ = played(RateControlEnv(set=LOSSY), actions, seed=7)
    env = RateControlEnv(set=LOSSY)
    played(env, actions[:11], seed=8)
    again, rewards_again, _ = played(env, actions, seed=7)
    assert first.tobytes() == again.tobytes() and rewards.tobytes() == rewards_again.tobytes()
    other, _, _ = played(env, actions, seed=8)
    assert first.tobytes() != other.tobytes()
    # Another value on another processor is a fault; after a change of the simulator it is a new one on all.
    assert hashlib.sha256(first.tobytes()).hexdigest()[:16] == "2a123ca8db9d68e4"


def test_the_entries_have_their_formulas():
    env = RateControlEnv(set=LOSSY)
    env.reset(seed=2)
    place = lambda bps: min(max(math.log(max(bps, 1.0) / 50e3) / math.log(200.0), 0.0), 1.0)  # noqa: E731
    bounded = lambda time: time / (time + 0.1)  # noqa: E731
    last_delay, lost = 0.0, 0
    for step, action in enumerate(actions_of(5, 60)):
        observation, reward, *_, truncated, _ = env.step(action)
        if truncated:
            break
        measures = env.measures()
        assert measures[Measure.TIME] == pytest.approx(0.1 * (step + 1))
        assert measures[Measure.TARGET] == pytest.approx(50e3 * 200.0 ** ((min(max(action[0], -1), 1) + 1) / 2), abs=1)
        for name in ("target", "sent", "received"):
            assert entry(observation, name) == pytest.approx(place(measures[Measure[name.upper()]]), abs=1e-6)
        for name in ("delay", "least_delay", "rtt", "silence", "queued", "in_flight"):
            assert entry(observation, name) == pytest.approx(bounded(measures[Measure[name.upper()]]), abs=1e-6)
        if step > 0:
            assert measures[Measure.GRADIENT] == pytest.approx((measures[Measure.DELAY] - last_delay) / 0.1)
        last_delay = measures[Measure.DELAY]
        lost += measures[Measure.LOSS] > 0
        expected = entry(observation, "received") - 2 * measures[Measure.DELAY] - 2 * measures[Measure.LOSS]
        assert reward == pytest.approx(expected, abs=1e-6)
    assert lost > 5


def test_the_sender_knows_no_more_than_its_reports():
    env = RateControlEnv(set=SHORT)
    observation, _ = env.reset(seed=1)
    assert entry(observation, "target") == pytest.approx(math.log(6) / math.log(200), abs=1e-6)
    assert np.count_nonzero(observation) == 1
    # A round trip is 100 ms and a report comes 50 ms after the first packet.
    observation, *_ = env.step(np.zeros(1, dtype=np.float32))
    assert entry(observation, "received") == 0 and entry(observation, "rtt") == 0 and entry(observation, "sent") > 0
    observation, *_ = env.step(np.zeros(1, dtype=np.float32))
    assert entry(observation, "received") > 0.2
    assert 0.5 < entry(observation, "rtt") < 0.65


def test_a_constant_action_is_the_run_of_that_rate_in_one_go():
    rate = 900_000
    action = np.float32(weir.gym.action_of(rate, 50e3, 10e6))
    exact = round(weir.gym.rate_of(float(action), 50e3, 10e6))
    start = {"flows.video.rates.start": f"{exact}bps", "duration": "8s"}
    env = RateControlEnv(set=start, feedback_interval="100ms")
    _, rewards, info = played(env, np.full((80, 1), action), seed=3)
    assert len(rewards) == 80
    table = weir.run("quality/steady", controllers=["fixed"], seeds=[3], set=start).table
    compared = 0
    for metric, flow, value in zip(table["metric"], table["flow"], table["value"], strict=True):
        own = info["run"]
        for key in metric.removeprefix("flows[].").split("."):
            own = own.get(key) if hasattr(own, "get") else None
        # The sender makes decisions, always for the same rate.
        if flow == "video" and isinstance(own, float) and metric != "flows[].decisions":
            assert own == value, metric
            compared += 1
    assert compared > 50


def test_the_metrics_of_an_episode_may_be_read_later_and_elsewhere():
    calls = Distribution({"links.forward.rate": ("400kbps", "3Mbps"), "links.forward.loss": (0, 0.05)}).train
    env = RateControlEnv(set=SHORT, distribution=calls)
    _, _, info = played(env, actions_of(4, 60), seed=1)
    other = played(env, actions_of(4, 60), seed=2)[2]["run"]
    run = info["run"]
    sent = pickle.dumps(run)
    assert len(sent) < 2000
    assert copy.deepcopy(run) is run
    assert run["sent"]["packets"] > 100 and run["rate_bps"] != other["rate_bps"]
    assert pickle.loads(sent) == run == pickle.loads(pickle.dumps(run)) != other
    state = (("quality/steady", None, []), None, "1ns", "50ms", 1, [], [])
    with pytest.raises(weir.ScenarioError, match="interval: 1ns is shorter than 1ms"):
        weir._weir.PlayedCall(state).metrics()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_vector_environment_is_as_its_calls(mode, threads):
    calls = Distribution({"links.forward.rate": ("400kbps", "3Mbps"), "duration": ["0.7s", "0.9s", "1.2s"]}).train
    single = SyncVectorEnv([lambda: RateControlEnv(distribution=calls)] * 5, autoreset_mode=mode)
    vector = gymnasium.make_vec(
        "weir/RateControl-v0", num_envs=5, distribution=calls, threads=threads, autoreset_mode=mode
    )
    assert vector.metadata["autoreset_mode"] == mode
    assert vector.observation_space == single.observation_space and vector.action_space == single.action_space
    ends = 0
    for wanted, own in [(single.reset(seed=11), vector.reset(seed=11))]:
        assert wanted[0].tobytes() == own[0].tobytes()
        assert same(wanted[1], own[1])
    for actions in actions_of(6, 40, 5):
        wanted, own = single.step(actions), vector.step(actions)
        for ours, theirs in zip(own[:4], wanted[:4], strict=True):
            assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()
        assert same(wanted[4], own[4])
        ends += own[3].sum()
    assert ends > 10


def same(first, second):
    """Whether two infos are equal, arrays in arrays included."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, np.ndarray):
        return first.shape == second.shape and all(same(*pair) for pair in zip(first, second, strict=True))
    return bool(first == second)


def test_each_call_of_a_reset_may_have_its_own_draw():
    calls = Distribution({"links.forward.rate": ("400kbps", "3Mbps")})
    vector = RateControlVectorEnv(3, set=SHORT, distribution=calls.test)
    _, infos = vector.reset(options={"index": [5, 0, 5]})
    assert [dict(own) for own in infos["set"]] == [dict(calls.test[index].set) for index in (5, 0, 5)]
    observations, *_ = [vector.step(np.zeros((3, 1), dtype=np.float32)) for _ in range(9)][-1]
    assert observations[0].tobytes() == observations[2].tobytes() != observations[1].tobytes()


def test_draws_are_disjoint_within_their_ranges_and_the_same_everywhere():
    ranges = {
        "links.forward.rate": ("300kbps", "6Mbps", "log"),
        "links.forward.delay": ("10ms", "0.08s"),
        "links.forward.loss": (0, 0.05),
        "runs": (1, 3),
        "breakers": [False, True],
    }
    calls = Distribution(ranges, sizes=(500, 300, 200))
    parts = [calls.train, calls.validation, calls.test]
    assert [len(part) for part in parts] == [500, 300, 200]
    seeds = [draw.seed for part in parts for draw in part]
    assert len(set(seeds)) == 1000
    assert not set(seeds) & {
        draw.seed for part in ("train", "test") for draw in getattr(Distribution(ranges, seed=1), part)[:1000]
    }
    rates = [int(draw.set["links.forward.rate"].removesuffix("bps")) for draw in calls.train]
    assert all(300_000 <= rate <= 6_000_000 for rate in rates)
    # The median of a log-uniform rate is the geometric mean of its bounds.
    assert np.median(rates) == pytest.approx(1.34e6, rel=0.15)
    delays = [int(draw.set["links.forward.delay"].removesuffix("ns")) for draw in calls.train]
    assert 10e6 <= min(delays) < 12e6 and 78e6 < max(delays) <= 80e6
    assert {draw.set["runs"] for draw in calls.train} == {1, 2, 3}
    assert {draw.set["breakers"] for draw in calls.train} == {False, True}
    assert dict(calls.test[3].set) == dict(Distribution(ranges).test[3].set) == dict(calls.test[3:4][0].set)
    assert calls.test[-1] == calls.test[199]
    fewer = Distribution({"links.forward.delay": ("10ms", "80ms")})
    assert fewer.test[3].set["links.forward.delay"] == calls.test[3].set["links.forward.delay"]
    assert calls.test[0].set["links.forward.rate"] == "1104796bps"
    with pytest.raises(IndexError, match="test: there is no draw 200: there are 200"):
        calls.test[200]


def test_a_reward_may_be_a_function_or_have_other_weights():
    actions = actions_of(8, 20)
    observations, plain, _ = played(RateControlEnv(set=SHORT, reward=Reward(1.0, 0.0, 0.0)), actions, seed=1)
    assert plain == pytest.approx(entry(observations[1:], "received"), abs=1e-6)
    function = lambda measures: measures[..., Measure.RECEIVED] / 1e6 - measures[..., Measure.DELAY]  # noqa: E731
    env = RateControlEnv(set=SHORT, reward=function)
    env.reset(seed=1)
    _, reward, *_ = env.step(actions[0])
    assert reward == function(env.measures())
    vector = RateControlVectorEnv(2, set={"duration": "0.5s"}, reward=function)
    vector.reset(seed=1)
    rewards = [vector.step(actions[step][:, None] * np.ones((2, 1), dtype=np.float32))[1] for step in range(6)]
    assert rewards[0][0] == reward and np.any(rewards[4]) and not np.any(rewards[5])


def test_a_scenario_may_have_several_flows_and_begin_late():
    scenario = TWO_CALLS.replace("COMPETITOR", "competitor = true\nstop = '3s'")
    observations, rewards, info = played(RateControlEnv(scenario), actions_of(1, 100), seed=1)
    # The flow starts at 1.5 s of 4 s.
    assert len(rewards) == 25 and entry(observations, "sent")[1] > 0
    assert info["run"]["name"] == "one"
    other = RateControlEnv(TWO_CALLS.replace("COMPETITOR", "stop = '3s'"), flow="two")
    assert len(played(other, actions_of(1, 100), seed=1)[1]) == 30
    with pytest.raises(weir.ScenarioError, match="several media flows: set flow to one of `one`, `two`"):
        RateControlEnv(TWO_CALLS.replace("COMPETITOR", ""))
    with pytest.raises(weir.ScenarioError, match="no media flow `three`; use `one`, `two`"):
        RateControlEnv(TWO_CALLS.replace("COMPETITOR", ""), flow="three")
    copies = RateControlEnv(TWO_CALLS.replace("COMPETITOR", "count = 2"), flow="two")
    with pytest.raises(weir.ScenarioError, match="`two` must be one flow, without copies"):
        copies.reset(seed=1)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_class_may_control_another_flow_and_its_failure_is_raised(threads):
    seeds = []

    class Beside:
        def __init__(self, limits, seed):
            seeds.append(seed)

        def on_feedback(self, now, feedback):
            return 300e3 if now < 2 else 1 / 0

    scenario = TWO_CALLS.replace('"nada"', '"beside"').replace("COMPETITOR", "")
    weir.register("beside", Beside)
    try:
        env = RateControlEnv(scenario, flow="one")
        with pytest.raises(weir.ControllerError, match="flow two, at 2.0.*ZeroDivisionError") as raised:
            played(env, actions_of(1, 100), seed=1)
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
        with pytest.raises(RuntimeError, match="call reset"):
            env.step(np.zeros(1, dtype=np.float32))
        alone = list(seeds)
        weir.run(scenario, seeds=[1], set={"duration": "1s"})
        assert len(alone) == 1 and seeds == 2 * alone and alone[0] != 0, "the seed is that of the flow and the run"
        vector = RateControlVectorEnv(3, scenario=scenario, flow="one", threads=threads)
        vector.reset(seed=1)
        with pytest.raises(weir.ControllerError, match="flow two, at 2.0"):
            for actions in actions_of(1, 40, 3):
                vector.step(actions)
        assert len(set(seeds)) == 3
    finally:
        weir._weir.unregister("beside")


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"scenario": "quality/stedy"}, weir.ScenarioError, "quality/steady"),
        ({"scenario": 3}, TypeError, "a scenario is a name, a path, a text in TOML"),
        ({"set": {"links.forward.rat": "1Mbps"}}, weir.ScenarioError, "rat"),
        ({"set": {"links.forward.rate": None}}, TypeError, r"set\['links.forward.rate'\]: text, a finite number"),
        ({"set": {"links.forward.loss": float("nan")}}, TypeError, "a finite number"),
        ({"set": ["duration=1s"]}, TypeError, "set: a dictionary"),
        ({"interval": "0.5ms"}, weir.ScenarioError, "interval: 500us is shorter than 1ms"),
        ({"interval": "fast"}, weir.ScenarioError, "interval: `fast` has no number"),
        ({"interval": -1}, TypeError, "interval: seconds, or text"),
        ({"feedback_interval": True}, TypeError, "feedback_interval: seconds, or text"),
        ({"reward": 3}, TypeError, "reward: a weir.gym.Reward or a function"),
        ({"distribution": {}}, TypeError, "distribution: a part of a weir.gym.Distribution"),
        ({"flow": 1}, TypeError, "flow: the name of a flow"),
        ({"render_mode": "human"}, TypeError, "render_mode"),
        ({"scenario": "bench/tcp"}, weir.ScenarioError, "no media flow to control"),
    ],
)
def test_a_wrong_setting_is_one_exception_with_its_place(settings, error, text):
    with pytest.raises(error, match=text):
        RateControlEnv(**settings)


def test_a_wrong_reset_or_action_is_one_exception_with_its_place():
    env = RateControlEnv(set=SHORT)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(1, dtype=np.float32))
    for options, error, text in [
        ({"sets": {}}, ValueError, "options: there is no 'sets'; use seed, set, index"),
        ({"index": 1}, ValueError, "options.index: there is no distribution"),
        ({"seed": -1}, TypeError, "options.seed: a whole number"),
        ({"set": {"duration": "50ms"}}, weir.ScenarioError, "ends within its first step of 100ms"),
        ({"set": {"links.forward.rate": "fast"}}, weir.ScenarioError, "fast"),
        ([1], TypeError, "options: a dictionary"),
    ]:
        with pytest.raises(error, match=text):
            env.reset(seed=1, options=options)
    env.reset(seed=1)
    for action, error, text in [
        (np.array([np.nan], dtype=np.float32), ValueError, r"action\[0\] is NaN: an action is a number from -1 to 1"),
        (np.array([np.inf]), ValueError, r"action\[0\] is inf"),
        (np.zeros(2, dtype=np.float32), ValueError, r"action: an array of shape \(1,\), not \(2,\)"),
        (np.float32(0.5), ValueError, r"not \(\)"),
        ("up", TypeError, "action: one float32"),
    ]:
        with pytest.raises(error, match=text):
            env.step(action)
    # A refused action is no step.
    assert env.step([0.25])[0].tobytes() == played(env, [np.array([0.25], dtype=np.float32)], seed=1)[0][1].tobytes()
    vector = RateControlVectorEnv(3, set=SHORT)
    vector.reset(seed=1)
    for actions, error, text in [
        (np.array([[0], [np.nan], [0]]), ValueError, r"action\[1\] is NaN"),
        (np.zeros(3), ValueError, r"actions: an array of shape \(3, 1\), not \(3,\)"),
        ("up", TypeError, "actions: float32"),
    ]:
        with pytest.raises(error, match=text):
            vector.step(actions)
    with pytest.raises(ValueError, match="seed: 2 seeds for 3 calls"):
        vector.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="autoreset_mode: NEXT_STEP or SAME_STEP"):
        RateControlVectorEnv(2, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(ValueError, match="num_envs: a whole number from 1 on, not 0"):
        RateControlVectorEnv(0)


@pytest.mark.parametrize(
    ("ranges", "error", "text"),
    [
        ({"rate": ("1Mbps", "2ms")}, ValueError, "rate: the bounds '1Mbps' and '2ms' are not of one kind"),
        ({"rate": ("2Mbps", "1Mbps")}, ValueError, "rate: the lower bound '2Mbps' is above"),
        ({"rate": ("0bps", "1Mbps", "log")}, ValueError, "rate: a range by logarithms begins above 0"),
        ({"rate": ("1Mbps", "2Mbps", "normal")}, TypeError, "rate: "),
        ({"rate": ("1 mile", "2 miles")}, ValueError, "rate: a bound is a number, or a quantity"),
        ({"rate": (0.1, float("nan"))}, ValueError, "rate: a bound is a finite number"),
        ({"rate": []}, ValueError, "rate: a list of choices is empty"),
        ({3: (1, 2)}, TypeError, "ranges: a key is text"),
        ([("rate", (1, 2))], TypeError, "ranges: a dictionary"),
    ],
)
def test_a_wrong_range_is_one_exception_with_its_key(ranges, error, text):
    with pytest.raises(error, match=text):
        Distribution(ranges)


def test_draws_do_not_depend_on_the_callers_decimals():
    import decimal

    ranges = {"links.forward.rate": ("300kbps", "6Mbps", "log"), "links.forward.loss": (0, 0.05), "links.forward.delay": ["10ms", "90ms"]}
    expected = [dict(draw.set) for draw in Distribution(ranges).test[:20]]
    with decimal.localcontext(prec=3):
        assert [dict(draw.set) for draw in Distribution(ranges).test[:20]] == expected
