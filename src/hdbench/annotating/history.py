"""The histories of a folder: a file for each annotator, only ever appended to."""

import os
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from hdbench.annotating.changes import MAX_CHANGE, Change, as_text, read_change
from hdbench.annotating.own_file import append, only_writer, saving
from hdbench.common.os_errors import read_errors, write_errors
from hdbench.common.regular_files import holds
from hdbench.errors import HdbenchError, Message

HISTORY = "history"
"""The folder with the histories, in a collection's folder."""

SUFFIX = ".jsonl"

MAX_NOTES = 20
"""Maximum number of unusable lines that are named."""


class History:
    """All changes of a folder that are on disk.

    Args:
        folder: the collection's folder.

    Attributes:
        path: the folder with the histories.
        changes: item → id → change.
        own: annotator → the ids of the changes in that file, in its order.
        notes: messages about unusable lines, for the user.

    Raises:
        HdbenchError: a file cannot be read, or is a symbolic link.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self.notes: list[str] = []
        self._begin()
        self.refresh()

    def refresh(self) -> set[str]:
        """Read the changes that were added since; all of them if a file was put back or removed.

        Returns:
            The items that may have other changes than before.
        """
        touched: set[str] = set()
        sizes = {path: _size(path) for path in self._files()}
        known = {path.name: size for path, size in sizes.items()}
        if any(known.get(name, 0) < read for name, read in self._read.items()):
            touched |= self.changes.keys()
            self._begin()
        for path, size in sizes.items():
            if size != self._read.get(path.name, 0):
                with read_errors(path):
                    touched |= self._read_on(path)
        return touched

    def of(self, item: str) -> Collection[Change]:
        """Return all changes of an item."""
        return self.changes[item].values() if item in self.changes else ()

    def file(self, annotator: str) -> Path:
        """Return the file with an annotator's changes."""
        return self.path / f"{annotator}{SUFFIX}"

    def marker(self, annotator: str) -> Path:
        """Return the file that marks that an annotator's changes are made in this folder."""
        return self.path / f".{annotator}.here"

    def is_written_here(self, annotator: str) -> bool:
        """Return whether an annotator's changes are made in this folder, not in a copy of it."""
        marker = self.marker(annotator)
        return marker.is_file() and holds(marker, self._folder_id())

    def note_written_here(self, annotator: str) -> None:
        """Record that an annotator's changes are made in this folder; only with the lock.

        Raises:
            NotSavedError: it cannot be written.
        """
        marker = self.marker(annotator)
        with saving(marker):
            if not self.is_written_here(annotator):
                marker.unlink(missing_ok=True)
                append(marker, self._folder_id())

    def lock(self, annotator: str) -> AbstractContextManager[None]:
        """Keep other processes from writing an annotator's history.

        Raises:
            HdbenchError: another process is writing it, or the folder cannot be written.
        """
        taken = Message(
            "{place}: {name} is annotating this folder already",
            place=self.file(annotator),
            name=annotator,
        )
        return only_writer(self.path, annotator, taken)

    def repair(self, annotator: str) -> None:
        """Cut off an incomplete line that a killed process left; only with the lock."""
        path = self.file(annotator)
        with write_errors(path):
            if path.is_file() and path.stat().st_size != (read := self._read.get(path.name, 0)):
                os.truncate(path, read)
                self.notes.append(
                    Message("{place}: the last line was incomplete and is removed", place=path)
                )

    def append(self, annotator: str, lines: Sequence[bytes]) -> set[str]:
        """Add changes to an annotator's file; when this returns they are on disk.

        Returns:
            The items that have other changes than before.

        Raises:
            HdbenchError: they cannot be written; then none of them is in the file.
        """
        path = self.file(annotator)
        append(path, b"".join(lines))
        return self._read_on(path)

    def _begin(self) -> None:
        self.changes: dict[str, dict[str, Change]] = defaultdict(dict)
        self.own: dict[str, list[str]] = {}
        self._read: dict[str, int] = {}  # file's name → number of bytes read

    def _folder_id(self) -> bytes:
        """Return a value that differs for a copy of the folder, here or on another computer."""
        return b"%d\n" % self.path.stat().st_ino

    def _files(self) -> list[Path]:
        """Return the existing histories."""
        if self.path.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link: put the folder itself there", place=self.path
            )
        paths = []
        if self.path.is_dir():
            for path in sorted(self.path.glob(f"*{SUFFIX}")):
                if path.is_symlink() or not path.is_file():
                    raise HdbenchError("{place}: must be a file, and no symbolic link", place=path)
                paths.append(path)
        return paths

    def _read_on(self, path: Path) -> set[str]:
        """Take in the complete lines that were added to a file."""
        read = self._read.get(path.name, 0)
        touched: set[str] = set()
        own = self.own.setdefault(path.stem, [])
        with path.open("rb") as file:
            file.seek(read)
            while raw := file.readline(MAX_CHANGE + 1):
                if not raw.endswith(b"\n"):
                    if len(raw) <= MAX_CHANGE:
                        break  # still being written, or left by a killed process
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(MAX_CHANGE + 1)
                    raw = b"." * (MAX_CHANGE + 1)
                self._read[path.name] = file.tell()
                if raw.strip() and (change := self._usable(raw, path)):
                    own.append(change.id)
                    if self._add(change):
                        touched.add(change.item)
        return touched

    def _usable(self, raw: bytes, path: Path) -> Change | None:
        try:
            change = read_change(raw, str(path))
            if not change.is_by(path.stem):
                raise HdbenchError("{place}: has a change by {by}", place=path, by=change.by)
        except HdbenchError as error:
            if len(self.notes) < MAX_NOTES:
                self.notes.append(Message("{why}; this line is left out", why=error))
            return None
        return change

    def _add(self, change: Change) -> bool:
        """Take in a change; of two with the same id, always keep the same one, in any order."""
        changes = self.changes[change.item]
        kept = changes.get(change.id)
        if kept is not None and _rank(kept) <= _rank(change):
            return False
        changes[change.id] = change
        return True


def _size(path: Path) -> int:
    with read_errors(path):
        return path.stat().st_size


def _rank(change: Change) -> str:
    return as_text(list(vars(change).values()))
