"""Errors of the operating system as one line that says which file it is, and why."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hdbench.errors import HdbenchError, os_reason, write_reason


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
