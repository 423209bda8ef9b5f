"""Where hdbench keeps what it can fetch or make again."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident

_DIGEST = hashlib.sha256().digest_size


def user_cache() -> Path:
    """`hdbench` in the operating system's cache folder, or the folder that `HDBENCH_CACHE` names.

    It need not exist.
    """
    import platformdirs  # noqa: PLC0415  for few commands

    return Path(os.environ.get("HDBENCH_CACHE") or platformdirs.user_cache_dir("hdbench"))


class FileCache:
    """Cache in files that threads and processes may share, for one user alone.

    Each file begins with the sha256 of its key and of the rest: one that is damaged, that a full
    disk cut off or that got another name counts as not there, and so does another user's.

    Args:
        folder: where they are; created if need be.
        max_entry: the maximum number of bytes of what is kept under one key.

    Raises:
        OSError: the folder cannot be created, or is another user's.
    """

    def __init__(self, folder: Path, *, max_entry: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(folder.stat()):
            raise PermissionError(f"{folder}: belongs to another user")
        self._folder, self._max_entry = folder, max_entry

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key, if it is there and whole."""
        path = self._folder / key
        try:
            status = path.stat()
            if not _is_own(status) or status.st_size > self._max_entry + _DIGEST:
                return None
            content = path.read_bytes()
            os.utime(path)  # what is used stays when old files are deleted
        except OSError:
            return None
        data = content[_DIGEST:]
        return data if _digest(key, data) == content[:_DIGEST] else None

    def add(self, key: str, data: bytes) -> None:
        """Keep something, unless it is too large."""
        if len(data) > self._max_entry:
            return
        path = self._folder / key
        beside = path.with_name(f"{key}-{os.getpid()}-{get_ident()}")
        try:
            beside.write_bytes(_digest(key, data) + data)
            beside.replace(path)
        except OSError:  # a full disk costs time only
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def bound(self, max_bytes: int) -> None:
        """Delete what was not used for longest, until the rest fits."""
        with suppress(OSError), os.scandir(self._folder) as entries:
            files = [(entry.path, entry.stat()) for entry in entries if entry.is_file()]
            total = sum(status.st_size for _, status in files)
            for path, status in sorted(files, key=lambda file: file[1].st_mtime):
                if total <= max_bytes:
                    break
                os.unlink(path)
                total -= status.st_size


def _digest(key: str, data: bytes) -> bytes:
    digest = hashlib.sha256(f"{key}\n".encode())
    digest.update(data)
    return digest.digest()


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()
