"""Files that one person at a time appends to, line by line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from hdbench.annotating.changes import check_pseudonym
from hdbench.errors import HdbenchError, os_reason


@contextmanager
def only_writer(folder: Path, annotator: str, taken: str) -> Iterator[None]:
    """Keep other processes from writing an annotator's file.

    Args:
        folder: where the file is; made if it is not there.
        annotator: the pseudonym.
        taken: what is the matter if another process is writing it.

    Raises:
        HdbenchError: another process is writing it, the folder cannot be written, or the pseudonym
            is not usable.
    """
    check_pseudonym(annotator)
    try:
        folder.mkdir(exist_ok=True)
        # Whichever thread is done has to be able to give the lock back.
        lock = FileLock(lock_file(folder, annotator), blocking=False, thread_local=False)
        lock.acquire()
    except Timeout as error:
        raise HdbenchError(
            "{taken}: go on in that window, or close that program first", taken=taken
        ) from error
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be written: {why}", place=folder, why=os_reason(error)
        ) from error
    try:
        yield
    finally:
        lock.release()


def append(path: Path, data: bytes) -> None:
    """Add to a file; when this returns, it is on the disk. Only with the lock.

    Raises:
        HdbenchError: it cannot be written; then nothing of it is in the file.
    """
    is_new = not path.exists()
    try:
        with path.open("ab") as file:
            before = file.tell()
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.truncate(path, before)
                raise
        if is_new:
            _sync_folder(path.parent)
    except OSError as error:
        raise HdbenchError(
            "{place}: not saved: {why}: make room, then try again",
            place=path,
            why=os_reason(error),
        ) from error


def lock_file(folder: Path, name: str) -> Path:
    """The lock file for something in a folder.

    Raises:
        HdbenchError: it is a symbolic link: locking would empty what it leads to.
    """
    lock = folder / f".{name}.lock"
    if lock.is_symlink():
        raise HdbenchError("{place}: is a symbolic link: remove it", place=lock)
    return lock


def now() -> str:
    """The time in UTC, to the millisecond, as lines have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sync_folder(path: Path) -> None:
    """Have a folder's new file survive a power cut, where the system can."""
    if os.name == "posix":
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
