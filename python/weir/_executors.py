"""Runs of a sweep in the workers of an executor."""

from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from queue import SimpleQueue
from typing import Any

from . import _weir
from ._shards import shard
from ._types import Executor
from ._workers import raised

#: Most runs of a shard.
SHARD = 64
#: Least number of shards, if there are runs enough.
SHARDS = 16
#: How often a lost shard is submitted again.
RETRIES = 3


def shards_of(places: list[int]) -> list[list[int]]:
    """Shards of the runs at `places`, the indices of the missing runs.

    Runs that are far apart share a shard, so that shards take much the same time.
    """
    # At least four runs in a shard, where there are runs enough.
    count = max(-(-len(places) // SHARD), min(SHARDS, -(-len(places) // 4)))
    return [places[index::count] for index in range(count)]


class Submitter:
    """An executor, which is replaced if it is a pool of processes that lost one."""

    def __init__(self, executor: Executor) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise TypeError(f"an executor has `submit(function, *arguments)`, which {executor!r} lacks")
        self.executor: Any = executor
        self.replacement: ProcessPoolExecutor | None = None
        # Pools that broke since the last finished shard.
        self.broken = 0
        module = type(executor).__module__.partition(".")[0]
        # Without `pure=False` Dask would take the result of an equal shard, and a lost worker's shards would be errors.
        self.options: dict[str, Any] = {"pure": False, "retries": RETRIES} if module in ("dask", "distributed") else {}

    def submit(self, job: bytes, places: list[int]) -> Any:
        try:
            return self.executor.submit(shard, job, places, **self.options)
        except BrokenExecutor as error:
            self.replace(error)
            return self.executor.submit(shard, job, places, **self.options)

    def replace(self, error: BrokenExecutor) -> None:
        """Replaces a broken pool by one like it."""
        pool = self.executor
        if not isinstance(pool, ProcessPoolExecutor):
            raise _weir.RunError(f"the executor takes no shards any more: {error}") from error
        self.broken += 1
        if self.broken > RETRIES:
            raise _weir.RunError(
                f"the pool of processes broke {self.broken} times, and no shard was finished meanwhile: {error}"
            ) from error
        names = ("_mp_context", "_initializer", "_initargs")
        like = {name.removeprefix("_"): getattr(pool, name) for name in names if hasattr(pool, name)}
        self.close()
        self.executor = self.replacement = ProcessPoolExecutor(getattr(pool, "_max_workers", None), **like)

    def close(self) -> None:
        """Ends a pool that replaced another one."""
        if self.replacement is not None:
            self.replacement.shutdown(wait=False, cancel_futures=True)
            self.replacement = None


def lost(places: list[int], error: Exception) -> _weir.RunError:
    """The exception of a shard that was lost too often."""
    return _weir.RunError(
        f"a shard of {len(places)} runs was lost in the executor too often, at last by {type(error).__name__}: {error}"
    )


def require_same_build(built: Iterable[str]) -> None:
    """Refuses the runs of another build."""
    this_build = _weir.built_from()
    if tuple(built) != this_build:
        here, there = (f"weir {version} (sources {sources})" for version, sources in (this_build, tuple(built)))
        raise _weir.RunError(f"a worker has {there}, and this process {here}: install the same wheel on all machines")


class Pending:
    """Submitted shards, taken as they end, or in the order of submission if the futures have no `add_done_callback`."""

    def __init__(self) -> None:
        self.shards: dict[int, tuple[list[int], int, Any]] = {}
        self.ended: SimpleQueue[int] = SimpleQueue()

    def add(self, places: list[int], failures: int, future: Any) -> None:
        self.shards[id(future)] = (places, failures, future)
        if callable(getattr(future, "add_done_callback", None)):
            # Not the future itself: an executor may call back with another one.
            future.add_done_callback(lambda _, key=id(future): self.ended.put(key))
        else:
            self.ended.put(id(future))

    def take(self) -> tuple[list[int], int, Any]:
        """The next shard with its number of failures and its future."""
        return self.shards.pop(self.ended.get())

    def cancel(self) -> None:
        for _, _, future in self.shards.values():
            if callable(getattr(future, "cancel", None)):
                future.cancel()


def make(
    work: _weir.SweepWork, job: bytes, executor: Executor, progress: Callable[[int, int], object] | None
) -> None:
    """Makes the missing runs of `work` in an executor. This process keeps them, so that no worker writes a file."""
    places = work.missing()
    done, all_runs = 0, len(places)
    submitter, pending = Submitter(executor), Pending()
    if progress:
        progress(done, all_runs)
    try:
        for shard_places in shards_of(places) if places else ():
            pending.add(shard_places, 0, submitter.submit(job, shard_places))
        while pending.shards:
            shard_places, failures, future = pending.take()
            try:
                built, answer = future.result()
            except BrokenExecutor:
                # A dead worker breaks its whole pool, so this counts once, and not for each shard.
                pending.add(shard_places, failures, submitter.submit(job, shard_places))
                continue
            except Exception as error:
                if failures == RETRIES:
                    raise lost(shard_places, error) from error
                pending.add(shard_places, failures + 1, submitter.submit(job, shard_places))
                continue
            require_same_build(built)
            if answer[0] != "made":
                raise raised(answer)
            submitter.broken = 0
            done += work.absorb(answer[1])
            if progress:
                progress(done, all_runs)
    except BaseException:
        pending.cancel()
        raise
    finally:
        submitter.close()
