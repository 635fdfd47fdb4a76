"""Where results go: a directory, or a URL of fsspec."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ._extras import optional
from ._types import Path

#: The runs that are kept, so that the next call goes on.
RUNS = "runs.log"
#: Files of a sweep, besides the parts of its table.
FILES = ("index.html", "sweep.json")


class Directory:
    """A directory of this machine, or none."""

    def __init__(self, path: Path | None) -> None:
        self.folder = self.path = None if path is None else os.fspath(path)

    def complete(self) -> None:
        """The files are in their places."""


class Remote:
    """A URL: the files are written here, and then sent."""

    def __init__(self, url: str, folder: str) -> None:
        fsspec = optional("fsspec", "cluster")
        self.path, self.folder = url, folder
        self.system, self.root = fsspec.core.url_to_fs(url)
        self.try_to_write()
        log = f"{self.root}/{RUNS}"
        if self.system.exists(log):
            self.system.get_file(log, os.path.join(folder, RUNS))

    def try_to_write(self) -> None:
        trial = f"{self.root}/.trial"
        try:
            self.system.makedirs(self.root, exist_ok=True)
            self.system.pipe_file(trial, b"")
            self.system.rm_file(trial)
        except Exception as error:
            raise OSError(f"{self.path}: cannot be written: {error}") from error

    def send(self, name: str) -> None:
        self.system.put_file(os.path.join(self.folder, *name.split("/")), f"{self.root}/{name}")

    def keep(self) -> None:
        """Sends the runs that were made, for the next call."""
        if os.path.getsize(os.path.join(self.folder, RUNS)):
            self.send(RUNS)

    def complete(self) -> None:
        """Sends the files. Former pages go first and new ones come last, so that they never stand beside another table."""
        parts = sorted(os.listdir(os.path.join(self.folder, "table")))
        table = f"{self.root}/table"
        self.system.makedirs(table, exist_ok=True)
        self.send(RUNS)
        for name in FILES:
            if self.system.exists(f"{self.root}/{name}"):
                self.system.rm_file(f"{self.root}/{name}")
        for part in parts:
            self.send(f"table/{part}")
        for path in self.system.ls(table, detail=False):
            name = path.rstrip("/").rpartition("/")[2]
            if name.startswith("part-") and name not in parts:
                self.system.rm_file(path)
        for name in FILES:
            self.send(name)


@contextmanager
def destination(out: Path | None) -> Iterator[Directory | Remote]:
    """The place of the results: a directory, a URL of fsspec, or none."""
    if not isinstance(out, str) or "://" not in out:
        yield Directory(out)
        return
    with tempfile.TemporaryDirectory(prefix="weir-") as folder:
        remote = Remote(out.rstrip("/"), folder)
        try:
            yield remote
        except BaseException as error:
            if os.path.exists(os.path.join(folder, RUNS)):
                try:
                    remote.keep()
                except Exception as other:
                    error.add_note(f"{remote.path}: the runs that were made cannot be kept: {other}")
            raise
