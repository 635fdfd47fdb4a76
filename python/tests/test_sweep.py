"""Sweeps: the same files however the runs are made, what is kept, and refusals."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import weir
from weir import _executors, _weir
from conftest import ROOT, extra, lacks, tree

SCENARIO = "quality/steady"
GRID = {"links.forward.rate": ["1Mbps", "2Mbps"], "links.forward.delay": "10ms..40ms/3log"}
SET = {"duration": "10s"}
CONTROLLERS = ["gcc", "nada"]
OPTIONS = [
    *("--sweep", "links.forward.rate=1Mbps,2Mbps", "--sweep", "links.forward.delay=10ms..40ms/3log"),
    *("--set", "duration=10s", "--controller", "gcc,nada", "--runs", "3", "--quiet"),
]


def sweep(out=None, **more):
    return weir.sweep(SCENARIO, GRID, CONTROLLERS, runs=3, set=SET, out=out, **more)


def processes(count=2):
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The files of one process."""
    folder = tmp_path_factory.mktemp("alone") / "out"
    sweep(folder, jobs=1)
    files = tree(folder)
    assert set(files) == {"index.html", "runs.log", "sweep.json", "table/part-00000.parquet"}
    return files


class Inline:
    """An executor that runs at once, and counts."""

    def __init__(self, lose=lambda call: False, change=lambda answer: answer):
        self.lose, self.change, self.calls = lose, change, 0

    def submit(self, function, *arguments):
        self.calls += 1
        future = Future()
        if self.lose(self.calls):
            future.set_exception(OSError("the machine is gone"))
        else:
            future.set_result(self.change(function(*arguments)))
        return future


def test_the_table_has_a_row_for_each_metric_of_each_run_with_its_place():
    result = sweep()
    table = result.table
    assert len(set(table["run"])) == 2 * 3 * 2 * 3
    assert set(table["at.links.forward.rate"]) == {1e6, 2e6}
    assert sorted(set(table["at.links.forward.delay"])) == [0.01, 0.02, 0.04]
    rows = (table["metric"] == "media.rate_bps") & (table["variant"] == "nada")
    of_place = rows & (table["at.links.forward.rate"] == 2e6) & (table["at.links.forward.delay"] == 0.02)
    last = next(own for own in result.summary() if own["controller"] == "nada" and own["at"] == {
        "links.forward.rate": "2Mbps", "links.forward.delay": "20ms"
    })
    assert np.isclose(np.mean(table["value"][of_place]), 1000 * last["rate"]["mean"])
    alone = weir.run(SCENARIO, ["nada"], [2], set={**SET, "links.forward.rate": "2Mbps", "links.forward.delay": "20ms"})
    assert table["value"][of_place & (table["seed"] == 2)] == alone.values("media.rate_bps")
    assert result.path is None and result.reproducible and "gcc, nada" in repr(result)


def test_the_table_in_files_is_that_of_the_result(alone, tmp_path, pandas):
    extra("pyarrow")
    own = sweep().to_pandas()
    (tmp_path / "part.parquet").write_bytes(alone["table/part-00000.parquet"])
    read = pandas.read_parquet(tmp_path / "part.parquet")
    assert list(read.columns) == list(own.columns) and len(read) == len(own)
    assert np.array_equal(read["value"], own["value"], equal_nan=True)


def test_the_command_and_its_shards_write_the_same_files(alone, tmp_path, weir_command):
    weir_command("run", SCENARIO, *OPTIONS, "--out", str(tmp_path / "whole"))
    assert tree(tmp_path / "whole") == alone
    for shard in (1, 2, 3):
        weir_command("run", SCENARIO, *OPTIONS, "--shard", f"{shard}/3", "--out", str(tmp_path / f"part{shard}"))
    parts = [str(tmp_path / f"part{shard}") for shard in (1, 2, 3)]
    weir_command("run", SCENARIO, *OPTIONS, "--merge", *parts, "--out", str(tmp_path / "merged"))
    assert tree(tmp_path / "merged") == alone


@pytest.mark.parametrize("executor", [lambda: ThreadPoolExecutor(2), processes])
def test_an_executor_writes_the_same_files(alone, tmp_path, executor):
    with executor() as executor:
        result = sweep(tmp_path / "out", executor=executor)
    assert tree(tmp_path / "out") == alone and result.path == str(tmp_path / "out")


def test_a_file_is_sent_as_its_text(alone, tmp_path, weir_command):
    path = tmp_path / "call.toml"
    path.write_text((ROOT / "scenarios" / f"{SCENARIO}.toml").read_text())
    weir_command("run", str(path), *OPTIONS, "--out", str(tmp_path / "whole"))
    removing = Inline()
    keep, removing.submit = removing.submit, lambda *arguments: (path.unlink(missing_ok=True), keep(*arguments))[1]
    weir.sweep(path, GRID, CONTROLLERS, runs=3, set=SET, out=tmp_path / "out", executor=removing)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def longer(out, **more):
    """A sweep that takes some seconds."""
    return weir.sweep(SCENARIO, {"links.forward.rate": ["1Mbps", "2Mbps"]}, CONTROLLERS, runs=40, out=out, **more)


@pytest.fixture(scope="module")
def longer_alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("longer") / "out"
    longer(folder)
    return tree(folder)


def killing(pids):
    """A progress function that kills one of these processes after the first shard."""
    killed = []

    def progress(done, _):
        if done and not killed:
            killed.append(pids()[0])
            os.kill(killed[0], signal.SIGKILL)

    return progress, killed


def test_dask_writes_the_same_files_with_a_worker_killed(longer_alone, tmp_path):
    distributed = extra("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        longer(tmp_path / "whole", executor=client)
        assert tree(tmp_path / "whole") == longer_alone
        pids = list(client.run(os.getpid).values())
        progress, killed = killing(lambda: pids)
        longer(tmp_path / "out", executor=client, progress=progress)
        assert killed and tree(tmp_path / "out") == longer_alone


def test_a_pool_that_lost_a_process_is_replaced(longer_alone, tmp_path):
    with processes() as pool:
        progress, killed = killing(lambda: list(pool._processes))
        longer(tmp_path / "out", executor=pool, progress=progress)
    assert killed and tree(tmp_path / "out") == longer_alone


def test_a_lost_shard_is_made_again_and_no_other(alone, tmp_path):
    executor = Inline(lose=lambda call: call == 2)
    sweep(tmp_path / "out", executor=executor)
    assert executor.calls == len(_executors.shards_of(range(36))) + 1
    assert tree(tmp_path / "out") == alone
    executor = Inline(lose=lambda call: True)
    with pytest.raises(weir.RunError, match="lost in the executor too often, at last by OSError: the machine is gone"):
        sweep(tmp_path / "other", executor=executor)
    assert not (tmp_path / "other").exists()


def test_shards_have_every_run_once():
    for runs in (1, 3, 36, 64, 1000, 4001):
        shards = _executors.shards_of(list(range(runs)))
        assert sorted(place for shard in shards for place in shard) == list(range(runs))
        assert max(map(len, shards)) <= _executors.SHARD


def test_a_worker_of_another_build_is_refused(tmp_path):
    executor = Inline(change=lambda answer: (("0.1.0", "0123"), answer[1]))
    with pytest.raises(weir.RunError, match=rf"weir 0.1.0 \(sources 0123\), and this process weir {weir.__version__}"):
        sweep(tmp_path / "out", executor=executor)


class Enough(Exception):
    pass


def some(done, _):
    if done >= 8:
        raise Enough


@pytest.mark.parametrize("executor", [None, Inline])
def test_a_second_call_goes_on(alone, tmp_path, executor):
    if executor:
        with pytest.raises(Enough):
            sweep(tmp_path / "out", executor=executor(), progress=some)
        assert set(tree(tmp_path / "out")) == {"runs.log"}
    else:
        # A call that was killed while it wrote the ninth run.
        (tmp_path / "out").mkdir()
        lines = alone["runs.log"].splitlines(keepends=True)
        (tmp_path / "out" / "runs.log").write_bytes(b"".join(lines[:8]) + lines[8][:100])
    seen = []
    sweep(tmp_path / "out", progress=lambda *own: seen.append(own))
    assert 0 < seen[-1][1] <= 36 - 8 and tree(tmp_path / "out") == alone
    seen.clear()
    sweep(tmp_path / "out", executor=executor and executor(), progress=lambda *own: seen.append(own))
    assert seen[-1] == (0, 0) and tree(tmp_path / "out") == alone


def test_results_go_to_a_url(alone):
    fsspec = extra("fsspec")
    memory = fsspec.filesystem("memory")

    def files():
        return {path.removeprefix("/results/one/"): memory.cat(path) for path in memory.find("/results/one")}

    with pytest.raises(Enough):
        sweep("memory://results/one", executor=Inline(), progress=stop_after(8))
    assert set(files()) == {"runs.log"}
    memory.pipe_file("/results/one/table/part-00007.parquet", b"of an earlier sweep")
    seen = []
    result = sweep("memory://results/one", progress=lambda *own: seen.append(own))
    assert seen[-1][1] <= 36 - 8 and result.path == "memory://results/one"
    assert files() == alone


def stop_after(runs):
    def progress(done, _):
        if done >= runs:
            raise Enough

    return progress


class Half:
    """Half of the greatest rate; without a version, so that its runs are not kept."""

    def __init__(self, limits, seed):
        self.rate = limits.max / 2

    def on_feedback(self, now, feedback):
        return self.rate


def with_class(cls, out, executor, runs=2):
    return weir.sweep(SCENARIO, {"links.forward.rate": ["1Mbps", "2Mbps"]}, [cls, "gcc"], runs, set=SET, out=out, executor=executor)


def test_classes_are_sent_to_workers(tmp_path):
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    from controllers import Aimd

    def local():
        class Inner(Half):
            pass

        return Inner

    extra("cloudpickle")
    before = _weir.registered()
    for cls, kept in ((Aimd, 8), (local(), 4)):
        one = with_class(cls, tmp_path / f"{cls.__name__}-one", None)
        with processes(1) as executor:
            other = with_class(cls, tmp_path / f"{cls.__name__}-two", executor)
        files = tree(tmp_path / f"{cls.__name__}-one")
        assert tree(tmp_path / f"{cls.__name__}-two") == files and len(files["runs.log"].splitlines()) == kept
        assert not one.reproducible and one.summary() == other.summary()
    assert _weir.registered() == before


class Failing(Half):
    def on_feedback(self, now, feedback):
        raise ValueError("no idea")


def test_a_class_that_fails_ends_the_sweep_at_once(tmp_path):
    executor = Inline()
    place = "quality/steady/Failing/links.forward.rate=1Mbps/[12], .*flow.*no idea"
    with pytest.raises(weir.ControllerError, match=place):
        with_class(Failing, tmp_path / "out", executor)
    assert executor.calls <= 2 and not (tmp_path / "out" / "sweep.json").exists()


def test_a_class_that_cannot_be_sent_is_named():
    class Locked(Half):
        lock = multiprocessing.get_context("spawn").Lock()

    executor = Inline()
    with pytest.raises(weir.ControllerError, match="Locked: the class .* cannot be sent to other processes"):
        with_class(Locked, None, executor)
    assert executor.calls == 0


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"grid": {"links.forward.rat": ["1Mbps", "2Mbps"]}}, weir.ScenarioError, "grid links.forward.rat=1Mbps: .*did you mean `rate`"),
        ({"grid": {"links.forward.rate": ["1Mbps", "fast"]}}, weir.ScenarioError, "grid links.forward.rate=fast"),
        ({"grid": {"links.forward.rate": ["1Mbps"]}}, weir.ScenarioError, "grid links.forward.rate=1Mbps: this is one value"),
        ({"grid": {"links.forward.rate": ["1Mbps", "2ms"]}}, weir.ScenarioError, "another quantity"),
        ({"grid": {"links.forward.rate": []}}, weir.ScenarioError, "a value is empty"),
        ({"grid": {"links.forward.rate": 3}}, TypeError, "grid links.forward.rate: a list of values"),
        ({"grid": {"links.forward.rate": ["1Mbps,2Mbps", "3Mbps"]}}, ValueError, "has a comma"),
        ({"grid": {"links.forward.rate": [object(), "1Mbps"]}}, TypeError, "links.forward.rate"),
        ({"grid": {3: ["1Mbps"]}}, TypeError, "a key is text"),
        ({"grid": {}}, weir.ScenarioError, "grid: a sweep varies one key at least"),
        ({"grid": ["1Mbps"]}, TypeError, "grid is a dictionary"),
        ({"grid": {"seed": [1, 2]}}, weir.ScenarioError, "grid seed: a sweep sets this itself"),
        ({"set": {"links.forward.rate": "1Mbps"}}, weir.ScenarioError, "set links.forward.rate=1Mbps: the sweep sets"),
        ({"set": {"links.forward.rat": "1Mbps"}}, weir.ScenarioError, "set links.forward.rat=1Mbps: .*did you mean"),
        ({"controllers": ["gccc"]}, weir.ScenarioError, "did you mean `gcc`"),
        ({"controllers": [3]}, TypeError, "a controller is a name or a class"),
        ({"runs": 0}, ValueError, "runs is a number from 1 to 1000"),
        ({"runs": "3"}, ValueError, "runs is a number"),
        ({"jobs": 0}, ValueError, "jobs is a number from 1"),
        ({"executor": 7}, TypeError, "an executor has `submit"),
        ({"out": "nothing://x"}, Exception, "nothing"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_runs(tmp_path, changes, error, message):
    arguments = {"scenario": SCENARIO, "grid": GRID, "out": tmp_path / "out", "runs": 1, **changes}
    with pytest.raises(error, match=message):
        weir.sweep(**arguments)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file/out: cannot be written"):
        sweep(tmp_path / "file" / "out")
    extra("fsspec")
    with pytest.raises(OSError, match="cannot be written"):
        sweep(f"file://{tmp_path}/file/out")


def test_a_directory_that_another_one_has_is_refused(tmp_path):
    plan = _weir.SweepPlan(SCENARIO, None, ["duration=10s"], ["links.forward.rate=1Mbps,2Mbps"], ["gcc"], 1)
    work = _weir.SweepWork(plan, tmp_path / "out")
    with pytest.raises(weir.RunError, match="runs.log.*another process puts runs into it"):
        sweep(tmp_path / "out")
    work.close()
    assert not (tmp_path / "out").exists()
    sweep(tmp_path / "out")


def test_a_class_in_a_sweep_is_in_its_results(tmp_path):
    from controllers import Aimd

    def swept(controller, folder):
        grid = {"links.forward.rate": ["1Mbps", "2Mbps"]}
        result = weir.sweep(SCENARIO, grid, [controller], runs=1, set=SET, out=tmp_path / folder, jobs=1)
        rows = json.loads((tmp_path / folder / "sweep.json").read_text())
        assert rows == result.summary() and len(rows) == 2
        assert set(tree(tmp_path / folder)) == {"index.html", "runs.log", "sweep.json", "table/part-00000.parquet"}
        return rows

    assert all(row["reproducible"] is False for row in swept(Aimd, "class"))
    assert all("reproducible" not in row for row in swept("gcc", "shipped"))


def test_without_space_nothing_is_half_written(alone, tmp_path):
    # A limit for the size of files stands for a full disk.
    program = """
        import resource, signal, sys
        import weir
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        weir.sweep("quality/steady", {"links.forward.rate": ["1Mbps", "2Mbps"], "links.forward.delay": "10ms..40ms/3log"},
                   ["gcc", "nada"], runs=3, set={"duration": "10s"}, out=sys.argv[1], jobs=1)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "out")], capture_output=True, text=True, env=environment
    )
    last = ended.stderr.strip().splitlines()[-1]
    assert ended.returncode == 1 and "runs.log: cannot be" in last and "File too large" in last, ended.stderr
    assert last.startswith("OSError: [Errno "), ended.stderr
    assert set(tree(tmp_path / "out")) == {"runs.log"}
    sweep(tmp_path / "out")
    assert tree(tmp_path / "out") == alone


def test_ctrl_c_ends_a_sweep_within_a_second(tmp_path):
    program = """
        import signal, sys, threading, time
        import weir
        began = []
        def interrupt():
            began.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)
        threading.Timer(1, interrupt).start()
        try:
            weir.sweep("quality/steady", {"links.forward.rate": "1Mbps..2Mbps/50"}, ["gcc"], runs=1000, jobs=2, out=sys.argv[1])
        except KeyboardInterrupt:
            print(time.monotonic() - began[0])
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "out")],
        capture_output=True, text=True, env=environment, check=True,
    )
    assert float(ended.stdout) < 1 and set(tree(tmp_path / "out")) == {"runs.log"}


def test_pages_of_an_earlier_sweep_never_stand_beside_another_table(monkeypatch):
    fsspec = extra("fsspec")
    from weir._destinations import Remote

    grid = {"links.forward.delay": ["10ms", "20ms"]}
    weir.sweep("quality/steady", grid, ["fixed"], runs=1, set={"duration": "2s"}, out="memory://late", progress=False)
    system = fsspec.filesystem("memory")
    assert system.exists("/late/sweep.json")
    sent = Remote.send

    def failing(self, name):
        if name == "index.html":
            raise OSError("the network is gone")
        sent(self, name)

    monkeypatch.setattr(Remote, "send", failing)
    other = {"links.forward.delay": ["30ms", "40ms"]}
    with pytest.raises(OSError, match="the network is gone"):
        weir.sweep("quality/steady", other, ["fixed"], runs=1, set={"duration": "2s"}, out="memory://late", progress=False)
    assert not system.exists("/late/sweep.json") and not system.exists("/late/index.html")
