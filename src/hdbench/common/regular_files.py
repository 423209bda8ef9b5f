"""Regular files: what can be read to an end, and replaced by another file."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from hdbench.errors import Message

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


def without_links(path: Path) -> Path:
    """Return a path with its links followed; one whose links lead in a circle stays as it is.

    `Path.resolve` has an exception of its own for such a circle, which is not an OSError.
    """
    return Path(os.path.realpath(path))
