"""Hashes of files."""

import hashlib
from pathlib import Path

from hdbench.common.regular_files import open_regular


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file of any size.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
