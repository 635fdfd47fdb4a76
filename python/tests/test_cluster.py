"""The files for clusters, and the page that describes them."""

import os
import re
import subprocess
import sys
import types

import pytest

import weir
from conftest import ROOT, extra
from test_sweep import Inline, tree

FOLDER = ROOT / "tools" / "cluster"

#: A `sbatch` that runs the script at once, for each task of the array.
SBATCH = """#!/bin/bash
set -eu
tasks=
for argument; do
    case $argument in
        --array=*-*) range=${argument#--array=}; tasks=$(seq "${range%-*}" "${range#*-}") ;;
        --array=*) tasks=${argument#--array=} ;;
        --dependency=afterok:7 | --parsable) ;;
        -*) echo "unknown: $argument" >&2; exit 1 ;;
        *) script=$argument ;;
    esac
done
export SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=2
if [ -z "$tasks" ]; then bash "$script" >&2; fi
for task in $tasks; do
    SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$(wc -w <<<"$tasks") bash "$script" >&2
done
echo 7
"""


def blocks(language):
    text = (ROOT / "docs" / "cluster.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def program(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def short(tmp_path):
    """The script with a sweep of some runs."""
    text = (FOLDER / "sweep.sbatch").read_text()
    shorter = text.replace("--runs 100", "--runs 2 --set duration=10s").replace("/5log", "/2log")
    assert shorter.count("--set") == 1 and shorter.count("/2log") == 1
    (tmp_path / "sweep.sbatch").write_text(shorter)
    return tmp_path


def test_the_script_for_slurm_gives_the_files_of_one_process(short, weir_command):
    command = weir_command("--version", path=True)
    (short / "bin").mkdir()
    program(short / "bin", "sbatch", SBATCH)
    environment = {**os.environ, "PATH": f"{short / 'bin'}:{os.environ['PATH']}", "WEIR": command}
    submit = next(block for block in blocks("sh") if "sbatch" in block)
    assert submit.strip() in (FOLDER / "sweep.sbatch").read_text().replace("#   ", "")
    subprocess.run(["bash", "-euc", submit], cwd=short, env=environment, check=True)
    assert sorted(os.listdir(short / "result.parts")) == [str(task) for task in range(1, 9)]
    weir_command(
        "run", "quality/steady", "--sweep", "links.forward.rate=500kbps,1Mbps,2Mbps", "--sweep", "links.forward.delay=10ms..200ms/2log",
        "--controller", "gcc,nada,scream-v2", "--runs", "2", "--set", "duration=10s", "--quiet", "--out", str(short / "whole"),
    )
    assert tree(short / "result") == tree(short / "whole")
    # A task that failed runs again, in an array of its own.
    (short / "result.parts" / "3" / "runs.log").unlink()
    subprocess.run(["sbatch", "--array=3", "sweep.sbatch"], cwd=short, env=environment, check=True)
    subprocess.run(["sbatch", "sweep.sbatch"], cwd=short, env=environment, check=True)
    assert tree(short / "result") == tree(short / "whole")


def arguments(job, environment, folder):
    """The arguments that the container of a job gives to `weir`."""
    container = job["spec"]["template"]["spec"]["containers"][0]
    program(folder, "weir", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    ran = subprocess.run(
        [*container["command"], *container["args"]],
        capture_output=True, text=True, check=True, env={**environment, "PATH": f"{folder}:{os.environ['PATH']}"},
    )
    return ran.stdout.split()


def test_the_jobs_for_kubernetes_have_each_shard_once(tmp_path):
    yaml = extra("yaml")
    job, merge = (yaml.safe_load((FOLDER / name).read_text()) for name in ("sweep-job.yaml", "merge-job.yaml"))
    for own in (job, merge):
        assert (own["apiVersion"], own["kind"]) == ("batch/v1", "Job")
        pod = own["spec"]["template"]["spec"]
        # With a limit for each index, pods must not be restarted in place.
        assert pod["restartPolicy"] == "Never"
        mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed" and spec["backoffLimitPerIndex"] >= 1
    of_index = [arguments(job, {"JOB_COMPLETION_INDEX": str(index)}, tmp_path) for index in range(spec["completions"])]
    value = lambda own, option: own[own.index(option) + 1]
    count = spec["completions"]
    assert [value(own, "--shard") for own in of_index] == [f"{index}/{count}" for index in range(1, count + 1)]
    assert len({value(own, "--out") for own in of_index}) == count
    merged = arguments(merge, {}, tmp_path)
    assert all(value(own, "--out").startswith("/results/parts/") for own in of_index)
    assert value(merged, "--merge") == "/results/parts/*"
    # The merge needs the request of the shards, and the same image.
    request = lambda own, end: own[: own.index(end)]
    assert request(merged, "--merge") == request(of_index[0], "--shard")
    images = {own["spec"]["template"]["spec"]["containers"][0]["image"] for own in (job, merge)}
    assert len(images) == 1
    # Both files have the sweep of the script for Slurm.
    script = (FOLDER / "sweep.sbatch").read_text()
    assert all(value in script for value in merged if value.startswith("links.") or value.startswith("gcc"))


def test_the_lines_for_ray_fit_its_interface(monkeypatch, tmp_path):
    inline, called = Inline(), []

    def remote(**options):
        called.append(options)

        def of(function):
            call = lambda *arguments: types.SimpleNamespace(future=lambda: inline.submit(function, *arguments))
            return types.SimpleNamespace(remote=call)

        return of

    monkeypatch.setitem(sys.modules, "ray", types.SimpleNamespace(remote=remote, init=lambda address: None))
    lines = next(block for block in blocks("python") if "import ray" in block)
    short = lines.replace("runs=100", "runs=1, set={'duration': '5s'}").replace('"result"', repr(str(tmp_path / "out")))
    exec(short, {"weir": weir, "grid": {"links.forward.rate": ["1Mbps", "2Mbps"]}})
    assert called and all(options == {"max_retries": 3} for options in called)
    assert "sweep.json" in tree(tmp_path / "out")


def test_the_lines_for_submitit_run(tmp_path, monkeypatch):
    extra("submitit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    lines = next(block for block in blocks("python") if "import submitit" in block)
    short = lines.replace("runs=100", "runs=1, set={'duration': '5s'}").replace('folder="log"', 'folder="log", cluster="local"')
    exec(short, {"weir": weir, "grid": {"links.forward.rate": ["1Mbps", "2Mbps"]}})
    assert "sweep.json" in tree(tmp_path / "result")
