"""A process that makes runs for another one: it reads pieces of work from standard input."""

import os
import pickle
import signal
import sys
import traceback


def end_with_parent() -> None:
    """Ends this process with its parent, on Linux."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def main() -> None:
    # What a class prints goes to standard error: standard output is the way back.
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()

    from weir import _weir
    from weir._workers import receive, send

    source = sys.stdin.buffer
    job = receive(source)
    if job is None:
        return
    plan = None
    while (piece := receive(source)) is not None:
        controller, seeds = piece
        try:
            if plan is None:
                classes, state, changes, names, data = job
                for name, cls, estimator in classes:
                    _weir.register(name, pickle.loads(cls), at_receiver=estimator)
                plan = _weir.Plan(_weir.Scenario.of_state(state), changes, names, seeds, data)
            send(back, ("made", plan.metrics(plan.controllers[controller], seeds)))
        except Exception as error:
            send(back, ("failed", type(error).__name__, str(error), traceback.format_exc()))
            return


if __name__ == "__main__":
    main()
