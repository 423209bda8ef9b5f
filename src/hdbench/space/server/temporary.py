"""Temporary folders of a server, and those that a killed server left behind."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SERVED = "hdbench-served-"
"""Prefix of the name of a folder with uploads and files made from them."""

SCRATCH = "hdbench-scratch-"
"""Prefix of the name of a folder with short-lived files."""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder that this process holds locked, and delete it at the end.

    Args:
        prefix: `SERVED` or `SCRATCH`.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    while (lock := _locked(folder)) is None:  # a starting server took it for one left behind
        folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def all_scratch_in(folder: Path) -> Iterator[None]:
    """Make all temporary files of this process and its child processes in one folder."""
    directory, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = directory
        if variable is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = variable


def remove_left_behind() -> None:
    """Delete the folders of this user's killed servers: no process holds them locked."""
    for prefix in (SERVED, SCRATCH):
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            if (lock := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder of this user; None if a living process has it, or it is no longer there."""
    descriptor = None
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        if status.st_uid == os.getuid() and os.path.samestat(status, os.lstat(folder)):
            return descriptor
    if descriptor is not None:
        os.close(descriptor)
    return None
