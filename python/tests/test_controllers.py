"""Controllers as Python classes."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import extra
from controllers import Aimd, ReceiveRate, Recording

import weir

SHORT = {"duration": "10s"}


def test_a_class_controls_a_call():
    result = weir.run("quality/steady", [Aimd, "gcc"], seeds=[1])
    assert result.controllers == ["Aimd", "gcc"]
    rate = result.values("flows[].rate_bps", "Aimd")[0]
    assert 500e3 < rate < 4e6
    assert not result.reproducible and result.summary()["reproducible"] is False
    again = weir.run("quality/steady", [Aimd, "gcc"], seeds=[1])
    assert again.summary() == result.summary()
    assert "reproducible: false" in again._runs.report_html()
    assert "reproducible: false" not in weir.run("quality/steady", ["gcc"], seeds=[1], set=SHORT)._runs.report_html()


def test_the_rate_is_the_one_that_the_class_returns():
    class Constant:
        def __init__(self, limits, seed):
            self.limits = limits

        def on_feedback(self, now, feedback):
            return 777_000

    result = weir.run("quality/steady", [Constant], seeds=[1], set=SHORT)
    target = result.series()["call.target_rate_bps" if "call.target_rate_bps" in result.series() else next(
        name for name in result.series() if name.endswith("target_rate_bps"))]
    assert np.all(target[20:] == 777_000)


def test_a_fresh_instance_for_each_flow_and_run_sees_consistent_feedback():
    Recording.seen.clear()
    weir.run("quality/three-flows", [Recording], seeds=[1, 2])
    assert len(Recording.seen) == 6, "validation makes no instance"
    assert len({own.seed for own, _ in Recording.seen}) == 6
    limits = Recording.seen[0][0].limits
    assert limits.min <= limits.start <= limits.max
    Recording.seen.clear()
    weir.run("quality/steady", [Recording], seeds=[1], set={**SHORT, "links.forward.loss": 0.05})
    (_, calls), = Recording.seen
    numbers, lost = [], 0
    for now, feedback in calls:
        arrays = [feedback.sent, feedback.arrived, feedback.size, feedback.payload, feedback.number, feedback.ecn, feedback.lost]
        assert {len(array) for array in arrays} == {len(feedback)}
        assert feedback.sent is feedback.sent
        assert np.all(feedback.sent <= now) and np.all(np.diff(feedback.number) > 0)
        assert np.array_equal(np.isnan(feedback.arrived), feedback.lost)
        assert np.all(feedback.payload < feedback.size) and np.all(feedback.size <= 1500)
        numbers.extend(feedback.number)
        lost += feedback.lost.sum()
    assert lost > 0 and len(numbers) > 500
    # The arrays stay after the call.
    assert calls[0][1].sent[0] < 1.0


def test_options_are_keyword_arguments():
    weir.register("aimd", Aimd)
    result = weir.run("quality/steady", ["aimd", "aimd{step=2000}"], seeds=[1], set=SHORT)
    fast, slow = (result.values("flows[].rate_bps", name)[0] for name in result.controllers)
    assert fast > slow
    with pytest.raises(weir.ControllerError, match="unexpected keyword"):
        weir.run("quality/steady", ["aimd{stride=3}"], seeds=[1], set=SHORT)


def test_timers_are_called_at_their_interval():
    times = []

    class Timed:
        interval = 0.5
        feedback_interval = 0.1

        def __init__(self, limits, seed):
            self.feedback = 0

        def on_feedback(self, now, feedback):
            self.feedback += 1
            return 500e3

        def on_timeout(self, now):
            times.append(now)
            return None

    weir.run("quality/steady", [Timed], seeds=[1], set=SHORT)
    assert 18 <= len(times) <= 20
    np.testing.assert_allclose(np.diff(times), 0.5, atol=1e-6)


def failing(body):
    scope = {}
    exec(f"class Failing:\n    def __init__(self, limits, seed):\n        pass\n    def on_feedback(self, now, feedback):\n        {body}\n", scope)
    return scope["Failing"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('too hot')", "ValueError: too hot"),
        ("return float('nan')", "returned nan"),
        ("return float('inf')", "returned inf"),
        ("return -5", "returned -5"),
        ("return None", "returned None"),
        ("return 'fast'", "returned 'fast'"),
        ("return 300e3 if now < 2 else 1 / 0", "ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_class_that_fails_is_one_exception_with_its_place(body, words, jobs):
    extra("cloudpickle")
    with pytest.raises(weir.ControllerError, match=words) as raised:
        weir.run("quality/steady", [failing(body)], seeds=[1, 2, 3], set=SHORT, jobs=jobs)
    text = str(raised.value)
    assert "quality/steady" in text and "Failing" in text and "flow " in text and " s: " in text
    if words == "ZeroDivisionError":
        assert isinstance(raised.value.__cause__, (ZeroDivisionError, RuntimeError))
        assert "at 2.0" in text


def test_a_class_that_lacks_something_is_refused():
    with pytest.raises(TypeError, match="no method `on_feedback`"):
        weir.register("nothing", type("Nothing", (), {}))
    with pytest.raises(weir.ScenarioError, match="gcc"):
        weir.register("gcc", Aimd)
    with pytest.raises(weir.ScenarioError, match="TCP algorithm"):
        weir.register("cubic", Aimd)
    with pytest.raises(weir.ScenarioError, match="no name of a controller"):
        weir.register("my law{}", Aimd)
    with pytest.raises(weir.ScenarioError, match="interval"):
        weir.register("slow", type("Slow", (Aimd,), {"interval": -1.0, "on_timeout": lambda self, now: None}))
    for timed in ({}, {"interval": None}):
        with pytest.raises(weir.ScenarioError, match="`timed`: .* has `on_timeout` without a class attribute `interval`"):
            weir.register("timed", type("Timed", (Aimd,), {"on_timeout": lambda self, now: None, **timed}))


def test_two_classes_of_one_name_are_refused():
    other = type("Aimd", (Aimd,), {})
    with pytest.raises(ValueError, match="two classes are called 'Aimd'"):
        weir.run("quality/steady", [Aimd, other], seeds=[1], set=SHORT)
    named = type("Aimd", (Aimd,), {"name": "slower", "__init__": lambda self, *a: Aimd.__init__(self, *a, step=2e3)})
    result = weir.run("quality/steady", [Aimd, named], seeds=[1], set=SHORT)
    assert result.controllers == ["Aimd", "slower"]


def test_threads_that_use_one_name_have_each_its_own_class():
    def made(rate):
        class C:
            def __init__(self, limits, seed):
                pass

            def on_feedback(self, now, feedback):
                return rate

        return C

    def target(rate):
        result = weir.run("quality/steady", [made(rate)], seeds=[1], set=SHORT)
        series = result.series()
        return next(series[name][-1] for name in series if name.endswith("target_rate_bps"))

    rates = [300_000, 900_000] * 10
    # Threads change places often, so that one begins while another one makes its plan.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(target, rates)) == rates
    finally:
        sys.setswitchinterval(interval)
    assert all(own["name"] != "C" for own in weir.controllers())


def test_a_class_of_a_call_covers_one_of_the_process_for_that_call():
    fixed = lambda rate: type("C", (Aimd,), {"on_feedback": lambda self, now, feedback: rate})  # noqa: E731
    weir.register("C", fixed(400_000))

    def target(controller):
        series = weir.run("quality/steady", [controller], seeds=[1], set=SHORT).series()
        return next(series[name][-1] for name in series if name.endswith("target_rate_bps"))

    try:
        assert [target(own) for own in ("C", fixed(700_000), "C")] == [400_000, 700_000, 400_000]
    finally:
        weir._weir.unregister("C")


def test_a_rate_is_kept_within_the_limits():
    greedy = type("Greedy", (Aimd,), {"on_feedback": lambda self, now, feedback: 1e12})
    result = weir.run("quality/steady", [greedy], seeds=[1], set=SHORT)
    name = next(name for name in result.series() if name.endswith("target_rate_bps"))
    assert np.nanmax(result.series()[name]) == 10e6


def test_processes_give_the_values_of_one():
    one = weir.run("quality/steady", [Aimd, "gcc"], seeds=range(9), set=SHORT)
    two = weir.run("quality/steady", [Aimd, "gcc"], seeds=range(9), set=SHORT, jobs=2)
    assert one.summary() == two.summary()
    for name, values in one.series("Aimd").items():
        np.testing.assert_array_equal(values, two.series("Aimd")[name])


def test_a_class_that_cannot_be_sent_is_named(monkeypatch):
    class Local:
        handle = sys.stderr

        def __init__(self, limits, seed):
            pass

        def on_feedback(self, now, feedback):
            return 1e6

    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(weir.ControllerError, match="Local.*cannot be imported.*jobs=1"):
        weir.run("quality/steady", [Local], seeds=[1, 2], set=SHORT, jobs=2)


LONG = """
import signal, sys; sys.path.insert(0, {tests!r})
import weir
from controllers import Aimd
# A shell lets what it starts in the background ignore this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("ended", flush=True)
"""
LONG_CALLS = {
    "a class": "weir.run('quality/steady', [Aimd], seeds=[1], set={'duration': '10h'}, progress=False)",
    "beside a class": "weir.run('quality/steady', ['gcc', Aimd], seeds=[1], set={'duration': '10h'}, progress=False)",
    "a sweep": "weir.sweep('quality/steady', {'links.forward.rate': ['1Mbps', '2Mbps']}, ['gcc', Aimd], "
    "runs=1, set={'duration': '10h'}, progress=False)",
}


@pytest.mark.parametrize("call", LONG_CALLS.values(), ids=LONG_CALLS)
def test_ctrl_c_ends_a_run_in_a_call_with_a_class(call):
    code = LONG.format(tests=os.path.dirname(__file__), call=call)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(1)
        assert process.poll() is None, "the run is long"
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert process.stdout.readline() == "ended\n"
        assert time.monotonic() - began < 1.0
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()


def test_other_threads_go_on_during_a_shipped_run_beside_a_class():
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    ends = []
    weir.run("quality/steady", ["gcc", Aimd], seeds=[1], set={"duration": "1000s"}, progress=lambda done, _: ends.append(time.monotonic()))
    over.set()
    thread.join()
    # The class takes the interpreter by itself; the first run is that of gcc.
    within = [tick for tick in ticks if tick < ends[0]]
    assert len(within) > 5 and max(b - a for a, b in zip(within, within[1:])) < 0.5


def test_results_under_a_class_are_kept_only_with_a_version(tmp_path):
    class Unversioned(Aimd):
        version = None

    def made(controller, folder):
        weir.suite("quality", [controller], seeds=[1], cases=["steady"], out=tmp_path / folder)
        lines = (tmp_path / folder / "runs.log").read_text().splitlines()
        name = controller.__name__
        return [line for line in lines if f"/{name}/" in line]

    case_runs = made(Aimd, "versioned")
    assert case_runs and not made(Unversioned, "unversioned")
    assert made(Aimd, "versioned") == case_runs, "kept runs are not made again"
    other = type("Aimd", (Aimd,), {"version": "2"})
    assert len(made(other, "versioned")) == 2 * len(case_runs)


def test_an_estimator_of_alphartc_controls_from_the_receiver():
    result = weir.run("quality/steady", [weir.alphartc(ReceiveRate), "gcc"], seeds=[1])
    rate = result.values("flows[].rate_bps", "ReceiveRate")[0]
    assert 800e3 < rate < 3.2e6
    assert all(own["name"] != "ReceiveRate" for own in weir.controllers()), "the name was that of the call"
    weir.register("receive-rate", weir.alphartc(ReceiveRate))
    info = next(own for own in weir.controllers() if own["name"] == "receive-rate")
    assert info["placement"] == "receiver"


def test_an_estimator_gets_each_packet_in_order():
    seen = []

    class Watching(ReceiveRate):
        def report_states(self, stats):
            seen.append(stats)
            super().report_states(stats)

    result = weir.run("quality/steady", [weir.alphartc(Watching)], seeds=[1], set=SHORT)
    assert set(seen[0]) == {
        "send_time_ms", "arrival_time_ms", "payload_type", "sequence_number", "ssrc",
        "padding_length", "header_length", "payload_size",
    }
    assert all(isinstance(value, int) for value in seen[0].values())
    arrivals = [stats["arrival_time_ms"] for stats in seen]
    assert arrivals == sorted(arrivals)
    received = result.values("flows[].received.packets")[0]
    assert abs(len(seen) - received) <= 0.02 * received + 5
    with pytest.raises(weir.ControllerError, match="get_estimated_bandwidth returned -1"):
        weir.run("quality/steady", [weir.alphartc(type("Bad", (ReceiveRate,), {"get_estimated_bandwidth": lambda self: -1}))], seeds=[1], set=SHORT)
