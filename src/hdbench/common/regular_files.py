"""Regular files: what can be read to an end, and replaced by another file."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from hdbench.errors import HdbenchError, Message

SPECIAL = Message("is a pipe or a device, not a file")
"""Reason for refusing what is not a regular file."""


def is_special(path: Path) -> bool:
    """Return whether a pipe, a socket or a device is at a path, also through a link.

    Raises:
        OSError: the path cannot be looked at.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading that is not a pipe or a device, which might never end.

    Raises:
        OSError: it is one, or cannot be read.
    """
    if is_special(path):
        raise OSError(errno.EINVAL, SPECIAL, str(path))
    return path.open("rb")


def read_at_most(path: Path, most: int) -> bytes:
    """Return what is in a file, without filling the memory with a huge one.

    Args:
        path: the file.
        most: maximum number of bytes, some MiB.

    Raises:
        OSError: it cannot be read.
        HdbenchError: it is too large.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise HdbenchError(
            "{place}: larger than {most} MiB: shorten it", place=path, most=most >> 20
        )
    return data


def holds(path: Path, data: bytes) -> bool:
    """Return whether a file has these bytes and no others.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(data) + 1) == data


def without_links(path: Path) -> Path:
    """Return a path with its links followed; one whose links lead in a circle stays as it is.

    `Path.resolve` has an exception of its own for such a circle, which is not an OSError.
    """
    return Path(os.path.realpath(path))
