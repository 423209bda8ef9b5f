"""Folders above what is written, which do not stay if nothing is."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hdbench.common.os_errors import write_errors


@contextmanager
def parents_of(path: Path) -> Iterator[None]:
    """Make the folders that a folder is in; at the end, remove those of them that stayed empty.

    Raises:
        HdbenchError: they cannot be made, or the path is a file.
    """
    made = [folder for folder in path.parents if not folder.exists()]
    try:
        with write_errors(path):
            (path if path.exists() else path.parent).mkdir(parents=True, exist_ok=True)
        yield
    finally:
        with suppress(OSError):  # one that is not empty, as something was written
            for folder in made:
                folder.rmdir()
