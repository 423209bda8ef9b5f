"""The local folder for the Hub's namespace: each repository in it is complete or absent."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from hdbench.benchmarks.benchmark import LEDGER, PEOPLE
from hdbench.common.files import parents_of
from hdbench.common.writing import full_disk_errors
from hdbench.errors import HdbenchError

MARKER = ".built-by-hdbench"
"""A file in each folder that may be rebuilt: no other folder is ever replaced."""


def is_ours(folder: Path) -> bool:
    """Return whether a folder was written by `writing`."""
    return (folder / MARKER).is_file()


@contextmanager
def writing(out: Path, name: str) -> Iterator[Path]:
    """A new folder to write a repository into; it is put in place when everything is written.

    Args:
        out: the namespace folder, created if it does not exist.
        name: the repository's name in it.

    Raises:
        HdbenchError: a folder with that name exists that hdbench did not make, another process is
            writing it, it cannot be written, or there is no room.
    """
    target, beside = out / name, out / f".{name}.partial"
    if target.exists() and not is_ours(target) and not _is_empty(target):
        raise HdbenchError(
            "{place}: exists already and was not built by hdbench: move it away, or choose "
            "another folder with --out",
            place=target,
        )
    lock = out / f".{name}.lock"
    try:
        with parents_of(target), full_disk_errors(target), FileLock(lock, blocking=False):
            try:
                shutil.rmtree(beside, ignore_errors=True)  # left by a process that was killed
                beside.mkdir()
                yield beside
                (beside / MARKER).touch()
                _replace(target, beside)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
                lock.unlink(missing_ok=True)
    except Timeout as error:
        raise HdbenchError(
            "{place}: another hdbench is building it: wait until it is done", place=target
        ) from error


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _replace(target: Path, beside: Path) -> None:
    old = beside.with_suffix(".old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        if (target / PEOPLE).is_dir():  # what people read is not built, and is kept
            shutil.copytree(target / PEOPLE, beside / PEOPLE, symlinks=True)
        if (target / LEDGER).is_file():
            shutil.copy2(target / LEDGER, beside / LEDGER, follow_symlinks=False)
        target.rename(old)
    beside.rename(target)
    shutil.rmtree(old, ignore_errors=True)
