"""A sweep of 4000 runs of 60 s: in one process, on two threads, and on two workers of Dask with one killed in the middle.

    python benches/dask_sweep.py [RUNS]
"""

import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import weir

GRID = {"links.forward.delay": ["10ms", "20ms", "30ms", "50ms", "80ms"], "links.forward.rate": "1Mbps..4Mbps/4"}
CONTROLLERS = ["gcc", "nada"]


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def processor_time():
    """Seconds of processor time of this process and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(own.ru_utime + own.ru_stime for own in used)


def timed(out, runs, **more):
    began = time.perf_counter()
    weir.sweep("quality/steady", GRID, CONTROLLERS, runs, set={"duration": "60s"}, out=out, **more)
    return time.perf_counter() - began


def main():
    from dask.distributed import Client, LocalCluster

    total = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    runs = max(total // (5 * 4 * len(CONTROLLERS)), 1)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        began = processor_time()
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(folder / "dask")
        )
        with cluster, Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
            killed = []

            def kill(done, all_runs):
                if not killed and done > all_runs // 3:
                    killed.append(done)
                    os.kill(pids[0], signal.SIGKILL)

            two = timed(folder / "two", runs, executor=client, progress=kill)
        used_by_two, began = processor_time() - began, processor_time()
        one = timed(folder / "one", runs, jobs=1, progress=False)
        used_by_one = processor_time() - began
        threads = timed(folder / "threads", runs, jobs=2, progress=False)
        same = tree(folder / "one") == tree(folder / "two")
    bar = one / 2 * 1.2 + 3
    print(f"{runs * 5 * 4 * len(CONTROLLERS)} runs: one process {one:.1f} s; two threads {threads:.1f} s; Dask, two workers, one killed after {killed[0]} runs {two:.1f} s")
    print(f"processor time: one process {used_by_one:.1f} s; Dask {used_by_two:.1f} s, with its start and the runs made twice")
    print(f"bar {bar:.1f} s: {'held' if two <= bar else 'missed'}; the same bytes: {same}")


if __name__ == "__main__":
    main()
