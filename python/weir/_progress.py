"""A bar of progress on a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._types import Progress

WIDTH = 30
PATIENCE = 0.5


class Bar:
    """A bar that appears if a call takes longer than half a second, and is cleared at its end."""

    def __init__(self, name: str) -> None:
        self.name, self.began, self.shown = name, time.monotonic(), False

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self.began < PATIENCE and not self.shown:
            return
        filled = WIDTH * done // max(total, 1)
        self.shown = True
        sys.stderr.write(f"\r{self.name} {'█' * filled}{'░' * (WIDTH - filled)} {done}/{total} runs")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def progress_of(choice: Progress, name: str) -> Iterator[Callable[[int, int], object] | None]:
    """The function that a call gets: `None` is a bar on a terminal, `False` none, else a function."""
    if callable(choice):
        yield choice
    elif choice is False or (choice is None and not sys.stderr.isatty()):
        yield None
    else:
        bar = Bar(name)
        try:
            yield bar
        finally:
            bar.clear()
