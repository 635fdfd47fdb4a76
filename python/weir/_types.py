"""Types of arguments that several functions take."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import NDArray

#: A path of this machine.
Path: TypeAlias = str | PathLike[str]
#: Directories with further traces: one, or several.
Directories: TypeAlias = Path | Iterable[Path]
#: Values by paths such as `links.forward.rate`, or texts `path=value`.
Settings: TypeAlias = Mapping[str, object] | Iterable[str]
#: A function of the runs that are over and of all runs; `None` is a bar on a terminal, `False` none.
Progress: TypeAlias = Callable[[int, int], object] | Literal[False] | None
#: Columns by name.
Columns: TypeAlias = Mapping[str, NDArray[Any]]
#: Form of the files of the table of all runs.
TableForm: TypeAlias = Literal["parquet", "csv", "none"]


class Executor(Protocol):
    """An object that makes calls elsewhere, such as a pool of `concurrent.futures` or a `dask.distributed.Client`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """Begins a call, and returns a future with `result()`."""
