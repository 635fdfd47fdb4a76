"""Runs under Python classes in several processes."""

import importlib
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from . import _weir

#: The answer of another process: the runs, or the type, text and trace of an exception.
Answer: TypeAlias = tuple[Any, ...]
#: A controller by its index, and seeds.
Piece: TypeAlias = tuple[int, list[int]]
#: Arguments of a plan.
PlanArguments: TypeAlias = tuple[_weir.Scenario, list[str], list[str] | None, list[int] | None, list[str]]

#: Runs of a piece of work.
PIECE = 4


def sendable(name: str, cls: type[Any]) -> bytes:
    """The class as bytes: by its import path, or by cloudpickle."""
    module, path = getattr(cls, "__module__", "__main__"), getattr(cls, "__qualname__", "")
    try:
        found: Any = importlib.import_module(module) if module != "__main__" else None
        for part in path.split("."):
            found = getattr(found, part)
        if found is cls:
            return pickle.dumps(cls)
    except (ImportError, AttributeError):
        pass
    try:
        import cloudpickle
    except ImportError as error:
        raise _weir.ControllerError(
            f"{name}: the class {module}.{path} cannot be imported by other processes; "
            "put it into a module, install cloudpickle, or use jobs=1"
        ) from error
    try:
        data: bytes = cloudpickle.dumps(cls)
        return data
    except Exception as error:
        raise _weir.ControllerError(
            f"{name}: the class {module}.{path} cannot be sent to other processes: {error}; use jobs=1"
        ) from error


def send(stream: IO[bytes], value: object) -> None:
    """Writes a value with its length."""
    data = pickle.dumps(value)
    stream.write(struct.pack("<Q", len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value, or `None` at the end."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    length = struct.unpack("<Q", head)[0]
    data = stream.read(length)
    # A process that is killed may leave a part of its answer.
    return pickle.loads(data) if len(data) == length else None


class Worker:
    """A process that makes pieces of work."""

    def __init__(self, job: object) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "weir._worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        assert self.process.stdin and self.process.stdout, "both are pipes"
        self.input: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout
        self.job = job

    def work(self, pieces: "queue.Queue[Piece]", answers: "queue.Queue[Any]") -> None:
        """Makes pieces until there is none."""
        try:
            send(self.input, self.job)
            while True:
                try:
                    piece = pieces.get_nowait()
                except queue.Empty:
                    break
                send(self.input, piece)
                answer = receive(self.output)
                answers.put((piece, answer))
                if answer is None or answer[0] != "made":
                    break
            self.input.close()
        except OSError:
            answers.put((None, None))
        finally:
            answers.put(None)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.input, self.output):
            try:
                stream.close()
            except OSError:
                pass


def raised(answer: Answer | None) -> _weir.WeirError:
    """The exception of a worker's answer."""
    if answer is None:
        return _weir.RunError("a process that made runs has ended; use jobs=1 to see why")
    _, kind, text, trace = answer
    error: _weir.WeirError = getattr(_weir, kind, _weir.RunError)(text)
    error.__cause__ = RuntimeError(f"in another process:\n{trace}") if trace else None
    return error


def run_in_processes(
    plan: _weir.Plan,
    arguments: PlanArguments,
    jobs: int,
    series: bool,
    progress: Callable[[int, int], object] | None,
) -> _weir.RunSet:
    """The runs of `plan`: those of the first seed in this process, the others in `jobs` processes."""
    scenario, changes, names, _, data = arguments
    first, others = plan.seeds[0], plan.seeds[1:]
    classes = [(name, sendable(name, cls), estimator) for name, cls, estimator in _weir.registered() if name in plan.classes]
    job = (classes, scenario.state(), changes, names, data)
    pieces: queue.Queue[Piece] = queue.Queue()
    answers: queue.Queue[Any] = queue.Queue()
    for controller in range(len(plan.controllers)):
        for begin in range(0, len(others), PIECE):
            pieces.put((controller, others[begin : begin + PIECE]))
    workers = [Worker(job) for _ in range(min(jobs, pieces.qsize()))]
    threads = [threading.Thread(target=worker.work, args=(pieces, answers), daemon=True) for worker in workers]
    all_runs, done = len(plan.controllers) * len(plan.seeds), 0
    made: dict[tuple[int, int], str] = {}
    try:
        for thread in threads:
            thread.start()
        own = _weir.Plan(scenario, changes, names, [first], data)
        runs = own.run(1, series, None)
        done, working = len(plan.controllers), len(workers)
        while working:
            answer = answers.get()
            if answer is None:
                working -= 1
                continue
            piece, answer = answer
            if answer is None or answer[0] != "made":
                raise raised(answer)
            for seed, metrics in zip(piece[1], answer[1], strict=True):
                made[piece[0], seed] = metrics
                done += 1
            if progress:
                progress(done, all_runs)
    finally:
        for worker in workers:
            worker.end()
    runs.extend(others, [[made[controller, seed] for seed in others] for controller in range(len(plan.controllers))])
    return runs
