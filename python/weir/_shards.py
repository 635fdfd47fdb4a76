"""Shards of a sweep: what the workers of an executor run."""

import pickle
import threading
import traceback

from . import _weir
from ._workers import Answer

_lock = threading.Lock()
#: The last job with its plan: the shards of a sweep come one after the other.
_last: tuple[bytes, _weir.SweepPlan] | None = None


def planned(job: bytes) -> _weir.SweepPlan:
    """The plan of a job."""
    classes, plan = pickle.loads(job)
    # The worker may be a thread of the caller's process, whose classes stay as they are.
    _weir.Plan.begin_call()
    try:
        for name, cls, estimator in classes:
            try:
                cls = pickle.loads(cls)
            except Exception as error:
                raise _weir.ControllerError(f"{name}: a worker cannot load the class: {error}") from error
            _weir.register(name, cls, at_receiver=estimator)
        return _weir.SweepPlan(*plan)
    finally:
        # The plan keeps its classes.
        _weir.Plan.end_call()


def shard(job: bytes, places: list[int]) -> tuple[tuple[str, str], Answer]:
    """Makes the runs at these places of a job.

    Returns the version and sources of the build, and the runs or a failure. A failure is no exception, so that executors do not
    take it for one of their own.
    """
    global _last
    try:
        with _lock:
            if _last is None or _last[0] != job:
                _last = None
                _last = (job, planned(job))
            plan = _last[1]
        answer: Answer = ("made", plan.shard(places))
    except Exception as error:
        answer = ("failed", type(error).__name__, str(error), traceback.format_exc())
    return _weir.built_from(), answer
