"""Files to which all who work in a folder append, line by line."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from filelock import FileLock, Timeout

from hdbench.annotating.changes import is_pseudonym
from hdbench.annotating.own_file import NotSavedError, append, lock_file, saving
from hdbench.common.checked import Strict, check_file, validate
from hdbench.common.jsonio import is_too_deep, parse_line
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

MAX_LINE = 2**20
"""Maximum number of bytes in a line."""

MAX_FILE = 2**30
"""Maximum number of bytes in a file."""

MAX_DEPTH = 50
"""Maximum depth of a line."""

_PATIENCE = 10.0
"""Maximum number of seconds that lines wait for those of others to be written."""

Line = TypeVar("Line", bound=Strict)


class SharedFile(ABC, Generic[Line]):
    """A file of lines, of which all that are on disk are known.

    Args:
        path: the file.
        kind: what it is, such as `a plan`.
        model: the model of a line.

    Attributes:
        notes: messages about skipped lines, for the user.

    Raises:
        HdbenchError: the file is unusable, or a symbolic link.
    """

    def __init__(self, path: Path, kind: str, model: type[Line]) -> None:
        self._path = path
        self._kind = kind
        self._model = model
        self.notes: list[str] = []
        self._begin()
        self.refresh()

    @abstractmethod
    def _forget(self) -> None:
        """Begin with no line."""

    @abstractmethod
    def _take(self, line: Line, where: Path) -> None:
        """Take in a line.

        Raises:
            HdbenchError: it makes the file unusable.
        """

    def refresh(self) -> None:
        """Read what others have appended since.

        Raises:
            HdbenchError: the file is unusable.
        """
        if self._path.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link: put the file itself there", place=self._path
            )
        if not self._path.exists():
            self._begin()
            return
        check_file(self._path, MAX_FILE, self._kind)
        with read_errors(self._path):
            size = self._path.stat().st_size
            if size < self._size:  # another file is there now
                self._begin()
            if size > self._size:
                self._read_on()

    def _append(self, lines: Sequence[Line]) -> None:
        """Append lines; when this returns they are on disk.

        Raises:
            NotSavedError: they cannot be written now; then the file is as it was.
            HdbenchError: one is not JSON or too long, or the file is unusable.
        """
        raw = b"".join(raw_line(line, self._path) for line in lines)
        with self._only_writer():
            self.refresh()  # so that a link or a folder in its place is found out before
            append(self._path, raw)
            self.refresh()

    def _begin(self) -> None:
        self._size = 0  # of the lines that were read, in bytes
        self._lines = 0
        self._forget()

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        with saving(self._path):
            self._path.parent.stat()  # otherwise the lock would make a folder that is gone anew
            # Any thread must be able to release the lock.
            lock = FileLock(lock_file(self._path.parent, self._path.name), thread_local=False)
            try:
                lock.acquire(timeout=_PATIENCE)
            except Timeout as error:
                raise NotSavedError(
                    "{place}: not saved: another process has been writing it for {seconds:.0f} s",
                    place=self._path,
                    seconds=_PATIENCE,
                ) from error
        try:
            yield
        finally:
            lock.release()

    def _read_on(self) -> None:
        """Read the complete lines behind those that were read.

        A line that a killed process left incomplete is not one yet. If something was written
        behind it nevertheless, that line is skipped.
        """
        with self._path.open("rb") as file:
            file.seek(self._size)
            for raw in complete_lines(file, self._path):
                # First: an unusable line is an error every time, until somebody mends the file.
                where = Path(f"{self._path}:{self._lines + 1}")
                line = parsed_line(raw, where, self._model, self.notes)
                if line is not None:
                    self._take(line, where)
                self._lines += 1
                self._size += len(raw)


def complete_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the lines of an opened file, without one that a killed process left incomplete.

    Raises:
        HdbenchError: a line is too long.
    """
    while (raw := file.readline(MAX_LINE + 1)).endswith(b"\n"):
        yield raw
    if len(raw) > MAX_LINE:
        raise HdbenchError(
            "{place}: a line is longer than {most} MiB", place=path, most=MAX_LINE >> 20
        )


def parsed_line(raw: bytes, where: Path, model: type[Line], notes: list[str]) -> Line | None:
    """Return a line; None, with a note, if it is not JSON.

    Raises:
        HdbenchError: it is nested too deep, or is not a line of this kind.
    """
    try:
        data = parse_line(raw, where)
    except HdbenchError as error:
        notes.append(Message("{why}; this line is left out", why=error))
        return None
    if is_too_deep(data, MAX_DEPTH):
        raise HdbenchError("{place}: nested too deep", place=where)
    return validate(model, data, where)


def check_author(name: str, where: Path) -> None:
    """Refuse the author of a line if the name is not a pseudonym.

    Raises:
        HdbenchError: it is not.
    """
    if not is_pseudonym(name):
        raise HdbenchError("{place}: {name!r} is not a pseudonym", place=where, name=name[:100])


def raw_line(line: Strict, path: Path) -> bytes:
    """Return a line as it is written to a file.

    Raises:
        HdbenchError: it is not JSON, nested too deep or too long.
    """
    data: dict[str, Any] = line.model_dump(exclude_unset=True)
    if is_too_deep(data, MAX_DEPTH):
        raise HdbenchError("{place}: nested too deep", place=path)
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise HdbenchError("{place}: not saved: the value is not JSON", place=path) from error
    raw = f"{text}\n".encode("utf-8", errors="backslashreplace")
    if len(raw) > MAX_LINE:
        raise HdbenchError(
            "{place}: not saved: longer than {most} MiB", place=path, most=MAX_LINE >> 20
        )
    return raw
