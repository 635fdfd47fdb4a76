"""`python -m weir.demo`: a call from a moving car under every controller, alone and beside an upload."""

import sys

from . import _weir
from ._progress import progress_of
from ._runs import Controllers, directories, jobs_of, named
from ._studies import ComparisonTable, terminal_width
from ._types import Directories, Progress


def demo(
    controllers: Controllers | None = None,
    runs: int | None = None,
    *,
    jobs: int | None = None,
    progress: Progress = None,
    data: Directories = (),
) -> ComparisonTable:
    """The table and the sentence that `weir run` prints without arguments.

    `controllers` and `runs` are those of the demo unless given. `jobs` is the number of runs at a time, and `data` names
    folders with traces.
    """
    with named(controllers) as names, progress_of(progress, "demo") as function:
        return ComparisonTable(_weir.run_demo(names, runs, jobs_of(jobs), function, directories(data), terminal_width()))


def main() -> int:
    result = demo()
    print("\n".join(result.title), end="\n\n")
    print(result.text(bold=sys.stdout.isatty()))
    for note in result.notes:
        print(note)
    print(result.verdict)
    return 0


if __name__ == "__main__":
    sys.exit(main())
