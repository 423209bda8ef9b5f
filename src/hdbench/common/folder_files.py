"""Files of a folder that may come from a stranger: regular ones, and none outside it."""

import stat
from pathlib import Path, PurePath

from hdbench.common.bounds import MAX_TEXT_FILE
from hdbench.common.os_errors import read_errors
from hdbench.common.regular_files import read_at_most, read_text
from hdbench.errors import HdbenchError, Message

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
