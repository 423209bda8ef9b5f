"""What was read from files, kept until one of them changes."""

import os
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

_Value = TypeVar("_Value")


def stamp_of(path: Path) -> tuple[int, ...]:
    """Return a value that changes when a file or folder is written; empty if it is not there."""
    try:
        stat = os.stat(path)
    except OSError:
        return ()
    # The time of a change also tells a file apart that was put back with its own time of writing.
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


def stamp_of_run(path: Path) -> tuple[int, ...]:
    """Return the stamp of a file of answers, or that of the newest file of a run's folder."""
    return max(map(stamp_of, [path, *path.iterdir()] if path.is_dir() else [path]))


def stamp_of_runs(paths: Iterable[Path]) -> Hashable:
    """Return a value that changes with the runs."""
    return tuple((path, stamp_of_run(path)) for path in paths)


def is_as_new(stamp: tuple[int, ...], sources: Iterable[tuple[int, ...]]) -> bool:
    """Return whether a file is there, and no older than those that it is made from.

    Args:
        stamp: the file's stamp.
        sources: those of the others; a file that is not there does not count.
    """
    return bool(stamp) and all(source[:1] <= stamp[:1] for source in sources)


class Kept:
    """Values that were read from files, each read again once one of its files has changed."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._values: dict[Hashable, tuple[list[tuple[int, ...]], Any]] = {}

    def get(self, key: Hashable, files: Iterable[Path], read: Callable[[], _Value]) -> _Value:
        """Return a value as the files have it now.

        Args:
            key: tells it from others.
            files: the files that it depends on.
            read: reads it.
        """
        stamps = list(map(stamp_of, files))
        with self._lock:
            if key not in self._values or self._values[key][0] != stamps:
                self._values[key] = stamps, read()
            value: _Value = self._values[key][1]
            return value
