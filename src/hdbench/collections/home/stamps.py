"""What was read from files, kept until one of them changes."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


def stamp_of(path: Path) -> tuple[int, ...]:
    """Return a value that changes when a file or folder is written; empty if it is not there."""
    try:
        stat = os.stat(path)
    except OSError:
        return ()
    # The time of a change also tells a file apart that was put back with its own time of writing.
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


def is_as_new(stamp: tuple[int, ...], sources: Iterable[tuple[int, ...]]) -> bool:
    """Return whether a file is there, and no older than those that it is made from.

    Args:
        stamp: the file's stamp.
        sources: those of the others; a file that is not there does not count.
    """
    return bool(stamp) and all(source[:1] <= stamp[:1] for source in sources)


class Stamped(Generic[_Value]):
    """A value that is read from files, again only when one of them has changed.

    Args:
        read: reads the value.
        files: the files that it depends on.
    """

    def __init__(self, read: Callable[[], _Value], files: Sequence[Path]) -> None:
        self._read, self._files = read, files
        self._lock = Lock()
        self._kept: tuple[list[tuple[int, ...]], _Value] | None = None

    def get(self) -> _Value:
        """Return the value as the files have it now."""
        stamps = list(map(stamp_of, self._files))
        with self._lock:
            if self._kept is None or self._kept[0] != stamps:
                self._kept = stamps, self._read()
            return self._kept[1]
