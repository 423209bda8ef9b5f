"""Regular files: what can be read to an end, and replaced by another file."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message, shortened

SPECIAL = Message("is a pipe or a device, not a file")
"""Reason for refusing what is not a regular file."""


def by_numbers(path: Path) -> list[tuple[int, str]]:
    """Return a key to sort by as a person numbered files: `page2` before `page10`.

    Example:
        >>> [path.name for path in sorted(map(Path, ["page10", "Page2"]), key=by_numbers)]
        ['Page2', 'page10']
    """
    parts = re.split(r"(\d+)", path.name.casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


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


class Entries(NamedTuple):
    """Entries of a folder, without hidden ones, numbers as numbers.

    Attributes:
        plain: the files and folders.
        others: links, pipes and devices.
    """

    plain: list[Path]
    others: list[Path]


def entries(folder: Path) -> Entries:
    """Return what is in a folder.

    Raises:
        HdbenchError: it cannot be read.
    """
    listed = Entries([], [])
    with read_errors(folder):
        for path in sorted(folder.iterdir(), key=by_numbers):
            if not path.name.startswith("."):
                mode = path.lstat().st_mode
                is_plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
                (listed.plain if is_plain else listed.others).append(path)
    return listed


def not_opened(names: Sequence[str]) -> Message:
    """Return what a person is told about links, pipes and devices in a folder of images."""
    return Message(
        "1 link, pipe or device is left out: {names}: put the file itself there"
        if len(names) == 1
        else "{count:,} links, pipes or devices are left out: {names}: put the files themselves "
        "there",
        count=len(names),
        names=shortened(names),
    )


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading that is not a pipe or a device, which might never end.

    Raises:
        OSError: it is one, or cannot be read.
    """
    if is_special(path):
        raise OSError(errno.EINVAL, SPECIAL, str(path))
    return path.open("rb")


def read_at_most(path: Path, max_bytes: int) -> bytes:
    """Return what is in a file, without filling the memory with a huge one.

    Args:
        path: the file.
        max_bytes: maximum number of bytes, some MiB.

    Raises:
        OSError: it cannot be read.
        HdbenchError: it is too large.
    """
    with open_regular(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise HdbenchError(
            "{place}: larger than {most} MiB: shorten or divide it",
            place=path,
            most=max_bytes >> 20,
        )
    return data


def read_text(path: Path, max_bytes: int) -> str:
    """Return the text of a file, whose lines end in a line feed, whatever ends them in the file.

    Args:
        path: the file.
        max_bytes: maximum number of bytes, some MiB.

    Raises:
        HdbenchError: it cannot be read, is too large, or is not UTF-8.
    """
    with read_errors(path):
        data = read_at_most(path, max_bytes)
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise HdbenchError(
            "{place}: not UTF-8 (byte {byte}): save as UTF-8", place=path, byte=error.start + 1
        ) from error


def utf8_text(raw: bytes, path: Path) -> str:
    """Return a file's text, whose byte order mark is left out.

    Raises:
        HdbenchError: it is not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HdbenchError(
            "{place}: not UTF-8 (byte {byte})", place=path, byte=error.start + 1
        ) from error


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


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file of any size.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
