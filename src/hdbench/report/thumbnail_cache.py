"""Thumbnails that are kept, so that the next report of the same images need not make them."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident

_DIGEST = hashlib.sha256().digest_size


class ThumbnailCache:
    """Thumbnails in files of their own, which threads and processes may share.

    Each file begins with the sha256 of the rest: one that was damaged, or that a full disk cut
    off, counts as not there.

    Args:
        folder: where they are; created if need be, for this user alone.

    Raises:
        OSError: the folder cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        """The thumbnail with that key, if it is kept and whole."""
        path = self._folder / key
        try:
            os.utime(path)  # those that are used stay when old files are deleted
            kept = path.read_bytes()
        except OSError:
            return None
        digest, data = kept[:_DIGEST], kept[_DIGEST:]
        return data if hashlib.sha256(data).digest() == digest else None

    def add(self, key: str, data: bytes) -> None:
        """Keep a thumbnail."""
        path = self._folder / key
        beside = path.with_name(f"{key}-{os.getpid()}-{get_ident()}")
        with suppress(OSError):  # a full disk costs time only
            beside.write_bytes(hashlib.sha256(data).digest() + data)
            beside.replace(path)

    def bound(self, max_bytes: int) -> None:
        """Delete those that were not used for longest, until the others fit."""
        with suppress(OSError), os.scandir(self._folder) as entries:
            files = [(entry.path, entry.stat()) for entry in entries]
            total = sum(found.st_size for _, found in files)
            for path, found in sorted(files, key=lambda file: file[1].st_mtime):
                if total <= max_bytes:
                    break
                os.unlink(path)
                total -= found.st_size
