"""Files that long work writes item by item, and resumes after it was killed."""

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Generic, TypeVar, cast

from pydantic import BaseModel, Field, ValidationError

from hdbench import __version__
from hdbench.common.appending import append
from hdbench.common.checked import Strict
from hdbench.common.os_errors import write_errors
from hdbench.common.progress import progress, tell
from hdbench.common.regular_files import SPECIAL, file_sha256, is_special
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

EVERY = 5_000
"""Number of items between two checkpoints: a process that is killed loses no more of them."""

MAX_CHECKPOINTS = 64 * 2**20
"""Maximum size in bytes of the file with the checkpoints."""

Element = TypeVar("Element")


class NoState(BaseModel):
    """State of work that has none besides its files."""


State = TypeVar("State", bound=BaseModel)


def made_from(*values: object, files: Iterable[Path] = ()) -> str:
    """Return a hash of what files are made from, by this version of hdbench.

    Args:
        values: plain data.
        files: files; one that does not exist counts as well.

    Raises:
        OSError: one of them cannot be read.
    """
    hashes = [file_sha256(path) if path.is_file() else None for path in files]
    return hashlib.sha256(json.dumps([__version__, *values, *hashes]).encode()).hexdigest()


class _Written(Strict):
    """The size and the sha256 of a file at a checkpoint."""

    size: Annotated[int, Field(ge=0)]
    sha256: str


class _Checkpoint(Strict):
    """A line of the file of checkpoints.

    Attributes:
        made_from: what the files are made from.
        done: how many items are in them.
        state: what else the work has to know to resume.
        files: the files, in their order.
    """

    made_from: str
    done: Annotated[int, Field(ge=1)]
    state: dict[str, Any]
    files: list[_Written]


class _Part(RawIOBase):
    """The beginning of a file, beside its destination.

    What is written while it is mute was written before, and is ignored.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._part = path.with_name(f".{path.name}.part")
        self._digest = hashlib.sha256()
        self._is_mute = False

    def begin(self) -> None:
        """Begin with an empty file."""
        self._file: BinaryIO = self._part.open("xb")

    def resumes(self, written: _Written) -> bool:
        """Open what was written up to a checkpoint; return False if it is not there any more."""
        if self._part.is_symlink() or not self._part.is_file():
            return False
        self._file = self._part.open("r+b")
        self._file.truncate(written.size)
        while block := self._file.read(2**20):
            self._digest.update(block)
        self._is_mute = True
        return self.written() == written

    def unmute(self) -> None:
        """Write from now on."""
        self._is_mute = False

    def write(self, data: "ReadableBuffer", /) -> int:
        """Add to the file, unless that was done before."""
        if not self._is_mute:
            self._digest.update(data)
            self._file.write(data)
        return memoryview(data).nbytes

    def written(self) -> _Written:
        """Return what is on the disk once all of it is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return _Written(size=self._file.tell(), sha256=self._digest.hexdigest())

    def close(self) -> None:
        """Leave what is written for the next time."""
        super().close()
        if hasattr(self, "_file"):
            self._file.close()

    def replace(self) -> None:
        """Give the file its name."""
        self._part.replace(self._path)

    def remove(self) -> None:
        """Remove what is written."""
        self._part.unlink(missing_ok=True)


class ResumableFiles(Generic[State]):
    """Files that are written item by item, see `resumable_files`.

    Attributes:
        done: how many items are in them.
        state: what else the work has to know to resume; it may be changed.
    """

    def __init__(self, paths: Sequence[Path], hash_: str, state: State) -> None:
        self.done = 0
        self.state = state
        self._made_from = hash_
        self._checkpoints = paths[0].with_name(f".{paths[0].name}.checkpoints")
        self._parts = [_Part(path) for path in paths]
        last = self._last()
        if last is not None and all(map(_Part.resumes, self._parts, last.files)):
            self.done = last.done
            for name, value in type(state).model_validate(last.state):
                setattr(state, name, value)
            return
        self.remove()
        self._parts = [_Part(path) for path in paths]
        for part in self._parts:
            part.begin()

    def _last(self) -> _Checkpoint | None:
        """Return the last checkpoint; None if the files begin anew."""
        path = self._checkpoints
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_CHECKPOINTS:
            return None
        lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
        try:
            last = _Checkpoint.model_validate_json(lines[-1] if lines else b"")
            type(self.state).model_validate(last.state)
        except ValidationError:
            return None
        is_of_these = last.made_from == self._made_from and len(last.files) == len(self._parts)
        return last if is_of_these else None

    @property
    def files(self) -> list[BinaryIO]:
        """Return the files, in the order of their paths; write them as if from the beginning."""
        return cast("list[BinaryIO]", self._parts)

    def progress(
        self, elements: Iterable[Element], title: str, total: int | None = None
    ) -> Iterator[Element]:
        """Yield items, with their progress; what is written of each is soon safe from a kill.

        Args:
            elements: the items that are not `done` yet.
            title: see `progress`.
            total: how many items there are, with those that are done.
        """
        if self.done:
            tell(Message("resumes at item {number:,}", number=self.done + 1))
        for part in self._parts:
            part.unmute()
        for element in progress(elements, title, None if total is None else total - self.done):
            yield element
            self.done += 1
            if self.done % EVERY == 0:
                self._save()

    def _save(self) -> None:
        checkpoint = _Checkpoint(
            made_from=self._made_from,
            done=self.done,
            state=self.state.model_dump(),
            files=[part.written() for part in self._parts],
        )
        append(self._checkpoints, checkpoint.model_dump_json().encode() + b"\n")

    def complete(self) -> None:
        """Give the files their names, in their order."""
        for part in self._parts:
            part.written()
            part.close()
        for part in self._parts:
            part.replace()
        self._checkpoints.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove what is written."""
        for part in self._parts:
            part.close()
            part.remove()
        self._checkpoints.unlink(missing_ok=True)


@contextmanager
def resumable_files(
    paths: Sequence[Path], hash_: str, state: State
) -> Iterator[ResumableFiles[State]]:
    """Files to write item by item that replace those of these names when the block ends.

    If the process is killed or interrupted, or the disk is full, the next call finds the files as
    they were at the last checkpoint, and `done` says how many items are in them. What begins a
    file is written again then, and ignored. Only one process may do so at a time.

    Args:
        paths: the files, in one folder, in the order in which they get their names.
        hash_: the hash of all that they are made from, by `made_from`: if it has changed, they
            begin anew.
        state: what else the work has to know to resume, as it is at the beginning; it becomes what
            it was at the checkpoint.

    Raises:
        HdbenchError: a file cannot be written, or is a pipe or a device, which would be replaced.
    """
    with write_errors(paths[0]), ExitStack() as stack:
        if any(map(is_special, paths)):
            raise OSError(errno.EINVAL, SPECIAL)
        writing = ResumableFiles(paths, hash_, state)
        for file in writing.files:
            stack.callback(file.close)
        try:
            yield writing
        except HdbenchError:  # of what they are made from: nobody will resume these
            writing.remove()
            raise
        writing.complete()
