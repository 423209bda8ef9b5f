"""Hashes of files."""

import hashlib
from pathlib import Path


def file_sha256(path: Path) -> str:
    """The sha256 of a file of any size.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
