"""Files and folders that may come from a stranger: what can be read to an end, and none outside."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePath
from typing import NamedTuple

from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.errors import HdbenchError, Message, os_reason, shortened, write_reason


@contextmanager
def read_errors(place: Path | str) -> Iterator[None]:
    """Turn an OSError within the block into one line: the file or folder cannot be read.

    Args:
        place: its path, or what messages call it.

    Raises:
        HdbenchError: an OSError was raised.

    Example:
        >>> with read_errors("cards.csv"):
        ...     raise FileNotFoundError(2, "No such file or directory", "/srv/x/cards.csv")
        Traceback (most recent call last):
        hdbench.errors.HdbenchError: cards.csv: cannot be read: No such file or directory
    """
    try:
        yield
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be read: {why}", place=place, why=os_reason(error)
        ) from error


@contextmanager
def write_errors(place: Path | str) -> Iterator[None]:
    """Turn an OSError within the block into one line: the file or folder cannot be written.

    Args:
        place: its path, or what messages call it.

    Raises:
        HdbenchError: an OSError was raised; the line says what to do about it.
    """
    try:
        yield
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be written: {why}", place=place, why=write_reason(error)
        ) from error


@contextmanager
def parents_of(path: Path) -> Iterator[None]:
    """Make the folders that a folder is in; at the end, remove those of them that stayed empty.

    Raises:
        HdbenchError: they cannot be made, or the path is a file.
    """
    new_folders = [folder for folder in path.parents if not folder.exists()]
    try:
        with write_errors(path):
            (path if path.exists() else path.parent).mkdir(parents=True, exist_ok=True)
        yield
    finally:
        with suppress(OSError):  # one that is not empty, as something was written
            for folder in new_folders:
                folder.rmdir()


def is_writable(text: str) -> bool:
    """Return whether a text can be written in UTF-8: half a surrogate pair can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_name(path: Path) -> None:
    """Refuse a file or folder whose name is not UTF-8: no id or file could have it.

    Raises:
        HdbenchError: its name is in another encoding, such as that of an old disk.
    """
    if not is_writable(path.name):
        name = os.fsencode(path).decode(errors="backslashreplace")
        raise HdbenchError("{place}: its name is not in UTF-8: rename it", place=name)


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


PRIVATE = ("people", "ledger.jsonl", "authorities.yaml")
"""Files of a collection that say who read what, or what is suggested to them: they are never a part
of a dataset."""


_NOT_THERE = Message("no such file")


class MissingFileError(HdbenchError):
    """A file is not in its folder.

    Attributes:
        why: what is wrong with it.
    """

    def __init__(self, place: str | Path, why: Message = _NOT_THERE) -> None:
        super().__init__("{place}: {why}", place=place, why=why)
        self.why = why


class RefusedFileError(HdbenchError):
    """A file is outside its folder, or is not a regular one.

    Attributes:
        why: what is wrong with it.
        is_outside: whether it is outside the folder.
    """

    def __init__(self, path: Path, why: Message, *, is_outside: bool = False) -> None:
        super().__init__("{place}: {why}: put the file itself there", place=path, why=why)
        self.why, self.is_outside = why, is_outside


def hub_blobs(folder: Path) -> tuple[Path, ...]:
    """Return where the links of a snapshot lead that the Hub's client has downloaded."""
    repository = folder.absolute().parent.parent
    blobs = repository / "blobs"
    is_snapshot = folder.absolute().parent.name == "snapshots" and not blobs.is_symlink()
    return (blobs,) if is_snapshot else ()


def file_in(folder: Path, name: str | Path, within: Path | None = None) -> Path:
    """Return the path of a file in a folder, after a look at what is really there.

    A link is followed only if it stays in the folder. What is not a regular file is refused before
    anybody opens it: a pipe would wait for ever, and a device never come to an end.

    Args:
        folder: the folder.
        name: the file's path in it, untrusted.
        within: where links may lead, if not into the folder; see `hub_blobs`.

    Raises:
        MissingFileError: there is no such file.
        RefusedFileError: it is outside the folder, is not a regular file, or says who did what.
        HdbenchError: its folder cannot be read.
    """
    path = folder / name
    with read_errors(path):
        try:
            real, root = path.resolve(), folder.resolve()
            blobs = (base.resolve() for base in hub_blobs(folder))
            allowed = [within.resolve()] if within else [root, *blobs]
            is_inside = any(map(real.is_relative_to, allowed))
            mode = real.stat().st_mode if is_inside else 0
        except (FileNotFoundError, NotADirectoryError) as error:
            raise MissingFileError(path) from error
        except (RuntimeError, ValueError) as error:  # links in a circle; a null character
            raise MissingFileError(path) from error
    if not is_inside:
        why = Message("leads out of {folder}", folder=folder)
        raise RefusedFileError(path, why, is_outside=True)
    if not stat.S_ISREG(mode):
        raise RefusedFileError(path, Message("is a folder, a pipe or a device"))
    if real.is_relative_to(root) and is_private(real.relative_to(root)):
        raise RefusedFileError(path, Message("leads to what says who annotated what"))
    return path


def is_private(name: PurePath) -> bool:
    """Return whether a file, by its path in a collection, says who annotated what.

    A folder of images may be called `people`, too.
    """
    first = name.parts[0].casefold()
    return first in PRIVATE and (len(name.parts) == 1 or name.suffix.casefold() == ".jsonl")


def bytes_in(folder: Path, name: str | Path, max_bytes: int = MAX_TEXT_FILE) -> bytes:
    """Return what is in a file of a folder.

    Args:
        folder: the folder.
        name: the file's path in it, untrusted.
        max_bytes: maximum number of bytes, some MiB.

    Raises:
        HdbenchError: see `file_in`; or it cannot be read, or is too large.
    """
    path = file_in(folder, name)
    with read_errors(path):
        return read_at_most(path, max_bytes)


def text_in(folder: Path, name: str | Path, max_bytes: int = MAX_TEXT_FILE) -> str:
    """Return the text of a file of a folder.

    Args:
        folder: the folder.
        name: the file's path in it, untrusted.
        max_bytes: maximum number of bytes, some MiB.

    Raises:
        HdbenchError: see `bytes_in`; or it is not UTF-8.
    """
    return read_text(file_in(folder, name), max_bytes)
