"""Files that one person at a time appends to, line by line."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hdbench.annotating.changes import check_pseudonym
from hdbench.common import appending
from hdbench.common.os_errors import write_errors
from hdbench.errors import HdbenchError, Message, write_reason


@contextmanager
def only_writer(folder: Path, annotator: str, taken: str) -> Iterator[None]:
    """Keep other processes from writing an annotator's file.

    Args:
        folder: the folder of the file, which is made if necessary.
        annotator: the pseudonym.
        taken: the error message if another process is writing it.

    Raises:
        HdbenchError: another process is writing it, the folder cannot be written, or the pseudonym
            is not usable.
    """
    check_pseudonym(annotator)
    with write_errors(folder):
        folder.mkdir(exist_ok=True)
        # Any thread must be able to release the lock.
        lock = FileLock(lock_file(folder, annotator), blocking=False, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise HdbenchError(
                "{taken}: go on in that window, or close that program first", taken=taken
            ) from error
    try:
        yield
    finally:
        lock.release()


class NotSavedError(HdbenchError):
    """Something was not written, but can be once there is space, or the folder is back."""


class ChangedError(HdbenchError):
    """Another window of the same person changed something first.

    Args:
        state: its current state.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(Message("changed in another window"))
        self.state = state


def append(path: Path, data: bytes) -> None:
    """Add lines to a file; when this returns, they are on the disk. Only with the lock.

    Raises:
        NotSavedError: they cannot be written; then the file is as it was.
    """
    with saving(path):
        appending.append(path, data)


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Raise `NotSavedError` where the system fails to save something.

    Args:
        path: the file.

    Raises:
        NotSavedError: an `OSError` was raised.
    """
    try:
        yield
    except OSError as error:
        raise NotSavedError(
            "{place}: not saved: {why}", place=path, why=write_reason(error)
        ) from error


def lock_file(folder: Path, name: str) -> Path:
    """Return the lock file for something in a folder.

    Raises:
        HdbenchError: it is a symbolic link: locking would empty its target.
    """
    lock = folder / f".{name}.lock"
    if lock.is_symlink():
        raise HdbenchError("{place}: is a symbolic link: remove it", place=lock)
    return lock


def now() -> str:
    """Return the current time in UTC, in milliseconds, as in lines."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
