"""Writing files: whole or line by line, so that they survive a full disk, and through no link.

A file is opened by its name in the folder that it is in, whose descriptor is held meanwhile, so
that nobody can put a link there in between.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from hdbench.common.files import SPECIAL, is_special, write_errors
from hdbench.errors import HdbenchError, is_full

_BLOCK = 4096
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd  # not on Windows


class _Folder(NamedTuple):
    """A folder that is open.

    Attributes:
        path: what stands before a name in it.
        descriptor: its descriptor; None where there are none.
    """

    path: Path
    descriptor: int | None

    def open(self, name: str, flags: int) -> int:
        """Open a file of it, which is no link."""
        return os.open(self.path / name, flags | _NO_LINK, 0o666, dir_fd=self.descriptor)


def refuse_links(path: Path, within: Path | None = None) -> None:
    """Refuse a path that is a symbolic link, or that leads through one.

    Args:
        path: the path.
        within: the folder below which no link is followed; by default, that which it is in.

    Raises:
        HdbenchError: it is one, or leads through one.
    """
    below = path.relative_to(within or path.parent).parts
    base = Path(*path.parts[: len(path.parts) - len(below)])
    for number in range(len(below)):
        part = base.joinpath(*below[: number + 1])
        if part.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link, and nothing is written through one: put there what "
                "it leads to",
                place=part,
            )


@contextmanager
def _opened(path: Path, within: Path | None) -> Iterator[_Folder]:
    """The folder that a file is in, below one whose own path may have links."""
    refuse_links(path, within)
    if not _HAS_DESCRIPTORS:
        yield _Folder(path.parent, None)
        return
    base = within or path.parent
    with ExitStack() as stack:
        folder = os.open(base, _FOLDER)
        stack.callback(os.close, folder)
        for name in path.parent.relative_to(base).parts:
            folder = os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
            stack.callback(os.close, folder)
        yield _Folder(Path(), folder)


def opened_file(path: Path, mode: str, within: Path | None = None) -> Any:
    """Open a file as `open` does, but through no link.

    Args:
        path: the file.
        mode: see `open`.
        within: see `refuse_links`.

    Raises:
        OSError: it cannot be opened.
        HdbenchError: it is a link, or leads through one.
    """
    with _opened(path, within) as folder:
        return open(path, mode, opener=lambda _, flags: folder.open(path.name, flags))


def make_folder(path: Path, within: Path | None = None) -> None:
    """Make a folder in one that is there, unless it is there.

    Raises:
        OSError: it cannot be made.
        HdbenchError: it is a link, or leads through one.
    """
    with _opened(path, within) as folder, suppress(FileExistsError):
        os.mkdir(folder.path / path.name, dir_fd=folder.descriptor)


def move(given: Path, path: Path, within: Path | None = None) -> None:
    """Give a file, or a folder, another place on the same disk; a file there is replaced.

    Raises:
        OSError: it cannot be moved.
        HdbenchError: a link is there, or leads there.
    """
    with _opened(path, within) as folder:
        os.replace(given, folder.path / path.name, dst_dir_fd=folder.descriptor)


def lock(path: Path, within: Path | None = None) -> FileLock:
    """Return the lock that a file is, which any thread may release.

    Raises:
        HdbenchError: it is a link, or leads through one.
    """
    refuse_links(path, within)
    return FileLock(path, thread_local=False)


def append(path: Path, lines: bytes, within: Path | None = None) -> None:
    """Add whole lines to a file; when this returns, they are on the disk.

    Only one process at a time may add to a file. What stands behind its last whole line, which
    a process left that was killed, is cut off first.

    Args:
        path: the file; created if it does not exist.
        lines: one or more lines, each with its end.
        within: see `refuse_links`.

    Raises:
        OSError: they cannot be written; then nothing of them is in the file. Where not even that
            can be undone, the next call cuts off the line that is not whole.
        HdbenchError: it is a link, or leads through one.
    """
    # Unbuffered: what Python would keep in a buffer is written when the file is closed, behind the
    # end that was restored.
    with _opened(path, within) as folder:
        file = folder.open(path.name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            whole = _cut_off_rest(file)
            try:
                rest = memoryview(lines)
                while rest:
                    rest = rest[os.write(file, rest) :]
                os.fsync(file)  # some file systems only say here that they are full
                if whole == 0 and folder.descriptor is not None:
                    os.fsync(folder.descriptor)  # a new file survives a power cut
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


@contextmanager
def whole_file(path: Path, within: Path | None = None) -> Iterator[Any]:
    """A binary file to write, which gets its name when the block ends: all or nothing.

    Args:
        path: the file.
        within: see `refuse_links`.

    Raises:
        HdbenchError: the file cannot be written; or it is a link, or leads through one; or it is a
            pipe or a device, which would be replaced.
    """
    with write_errors(path), ExitStack() as stack:
        if is_special(path):
            raise OSError(errno.EINVAL, SPECIAL)
        folder = stack.enter_context(_opened(path, within))
        beside = f"{_unfinished(path)}{secrets.token_hex(4)}"
        create = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        ends = {"src_dir_fd": folder.descriptor, "dst_dir_fd": folder.descriptor}
        try:
            with os.fdopen(folder.open(beside, create), "wb") as file:
                yield file
                file.flush()
                os.fsync(file)  # otherwise a power cut could leave the new name empty
            os.replace(folder.path / beside, folder.path / path.name, **ends)
        except BaseException:
            with suppress(OSError):
                os.unlink(folder.path / beside, dir_fd=folder.descriptor)
            raise


def write_whole(path: Path, data: bytes, within: Path | None = None) -> None:
    """Write a file next to its destination and rename it: the whole file or nothing.

    Raises:
        HdbenchError: see `whole_file`.
    """
    with whole_file(path, within) as file:
        file.write(data)


def remove_unfinished(path: Path) -> None:
    """Remove what `whole_file` left beside a file in processes that were killed."""
    for unfinished in path.parent.glob(f"{_unfinished(path)}*"):
        unfinished.unlink(missing_ok=True)


def _unfinished(path: Path) -> str:
    return f".{path.name[:100]}-"


@contextmanager
def full_disk_errors(path: Path) -> Iterator[None]:
    """Say in one line that there was no room while something was written.

    Args:
        path: what is being written.

    Raises:
        HdbenchError: there was no room; any other OSError stays as it is.
    """
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        with write_errors(path):
            raise
