"""Locks: only one process writes to a run's folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from hdbench.errors import HdbenchError, write_reason

PEEKING = 0.5
"""Seconds after which a folder is taken for locked: `is_locked` holds the lock for a moment."""


def lock_of(run: Path) -> Path:
    """Return the file that a process which writes to a run's folder holds locked."""
    folder = run.resolve()
    return folder.with_name(f".{folder.name}.lock")  # beside it: the folder may be untrusted


@contextmanager
def alone(run: Path) -> Iterator[None]:
    """Be the only process that writes to a run's folder.

    Raises:
        HdbenchError: another process is writing to it, or it cannot be written.
    """
    lock = lock_of(run)
    try:
        with FileLock(lock, timeout=PEEKING):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
    except Timeout as error:
        raise HdbenchError(
            "{run}: another hdbench is writing to this folder: wait until it is done, or choose "
            "another folder",
            run=run,
        ) from error
    except OSError as error:
        raise HdbenchError(
            "{run}: cannot be written: {why}; what was answered is kept: run again then, the "
            "command resumes where it stopped",
            run=run,
            why=write_reason(error),
        ) from error


def is_locked(path: Path) -> bool:
    """Return whether a process here, or where locks are shared, holds a file locked.

    The file is not changed: it may belong to someone else and be anything.
    """
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ModuleNotFoundError:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
