"""Lines added to a file so that an unfinished one never stays, nor is added to."""

import os
from contextlib import suppress
from pathlib import Path

_BLOCK = 4096
_FLAGS = (
    os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


def append(path: Path, lines: bytes) -> None:
    """Add whole lines to a file; when this returns, they are on the disk.

    Only one process at a time may add to a file. What stands behind its last whole line, which
    a process left that was killed, is cut off first.

    Args:
        path: the file; created if it does not exist.
        lines: one or more lines, each with its end.

    Raises:
        OSError: they cannot be written; then nothing of them is in the file. Where not even that
            can be undone, the next call cuts off the line that is not whole.
    """
    # Unbuffered: what Python would keep in a buffer is written when the file is closed, behind the
    # end that was restored.
    file = os.open(path, _FLAGS, 0o666)
    try:
        whole = _cut_off_rest(file)
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)  # some file systems only say here that they are full
            if whole == 0:
                _sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(file, whole)
            raise
    finally:
        with suppress(OSError):  # all that counts is on the disk already
            os.close(file)


def _cut_off_rest(file: int) -> int:
    """Cut off what is behind the last whole line; return where that ends."""
    size = end = os.fstat(file).st_size
    while end:
        start = max(0, end - _BLOCK)
        os.lseek(file, start, os.SEEK_SET)
        line_end = os.read(file, end - start).rfind(b"\n")
        end = start + line_end + 1
        if line_end >= 0:
            break
    if end < size:
        os.ftruncate(file, end)
    return end


def _sync_folder(path: Path) -> None:
    """Have a folder's new file survive a power cut, where the system can."""
    if os.name == "posix":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
