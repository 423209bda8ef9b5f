"""Readings and verdicts of reviewers, saved line by line: nothing is overwritten."""

import os
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from hdbench.annotating.changes import is_pseudonym
from hdbench.annotating.own_file import append, now, only_writer
from hdbench.annotating.reviewing.review_list import Entry
from hdbench.annotating.shared_file import complete_lines, parsed_line, raw_line
from hdbench.common.checked import Strict, validate
from hdbench.common.os_errors import read_errors, write_errors
from hdbench.errors import HdbenchError, Message
from hdbench.scoring.analysis.forms import text_of

LOOKS = ".looks"
"""Ending of the folder with everybody's reviews beside a list."""

MAX_EVIDENCE = 2_000
"""Maximum number of characters in the evidence for a verdict."""

Verdict = Literal["slip", "convention", "models_err", "undecided"]


class ReviewAction(Strict):
    """One action of a reviewer.

    Attributes:
        id: 32 hexadecimal digits.
        entry: the key of the entry.
        by: the reviewer's pseudonym.
        at: the time in UTC.
        what: a reading of the value, a verdict, or an undo of one of them.
        after: the id of the same person's previous line for the entry.
        value: the value that was read; None for nothing.
        blind: whether it was read before any value was shown.
        verdict: the kind of the difference.
        new: the right value, if the ground truth is wrong.
        evidence: the evidence for it.
        undoes: the id of the line that is undone.
    """

    id: str
    entry: str
    by: str
    at: str
    what: Literal["reading", "verdict", "undo"]
    after: str | None = None
    value: Any = None
    blind: bool = False
    verdict: Verdict | None = None
    new: Any = None
    evidence: Annotated[str, Field(max_length=MAX_EVIDENCE)] = ""
    undoes: str | None = None


class Look(NamedTuple):
    """One person's current look at one entry.

    Attributes:
        reading: the reading, if any.
        verdict: the verdict, if any.
        last: the id of the last line; None if there is none.
        seen: whether the values were already shown, so that further readings are not blind.
    """

    reading: ReviewAction | None = None
    verdict: ReviewAction | None = None
    last: str | None = None
    seen: bool = False


@dataclass
class _File:
    lines: list[ReviewAction] = field(default_factory=list)
    size: int = 0  # of complete lines, in bytes
    notes: list[str] = field(default_factory=list)


class ReviewLog:
    """All looks at a list that are on disk.

    Args:
        path: the list; the looks are beside it.

    Attributes:
        folder: the folder with a file for each person.
        notes: messages about skipped lines, for the user.

    Raises:
        HdbenchError: a file is unusable, or a symbolic link.
    """

    def __init__(self, path: Path) -> None:
        self.folder = path.with_name(f"{path.stem}{LOOKS}")
        self.notes: list[str] = []
        self._files: dict[str, _File] = {}
        if self.folder.is_symlink():
            raise HdbenchError(
                "{place}: is a symbolic link: put the folder itself there", place=self.folder
            )
        for file in sorted(self.folder.glob("*.jsonl")):
            if file.is_symlink() or not file.is_file() or not is_pseudonym(file.stem):
                raise HdbenchError(
                    "{place}: must be a file with the looks of one person", place=file
                )
            self._files[file.stem] = read = _read(file)
            self.notes += read.notes

    @property
    def people(self) -> list[str]:
        """Return the pseudonyms of the people who looked."""
        return sorted(self._files)

    def of(self, entry: str, annotator: str) -> Look:
        """Return one person's look at an entry."""
        lines = [line for line in self._lines(annotator) if line.entry == entry]
        return _fold(lines) if lines else Look()

    def all_of(self, annotator: str) -> dict[str, Look]:
        """Return one person's looks by entry."""
        by_entry: dict[str, list[ReviewAction]] = defaultdict(list)
        for line in self._lines(annotator):
            by_entry[line.entry].append(line)
        return {entry: _fold(lines) for entry, lines in by_entry.items()}

    @contextmanager
    def lock(self, annotator: str) -> Iterator[None]:
        """Keep other processes from writing a person's looks, and cut off an incomplete line.

        Raises:
            HdbenchError: another process is writing them, or the folder cannot be written.
        """
        file = self._file(annotator)
        taken = Message(
            "{place}: {name} is looking through this list already", place=file, name=annotator
        )
        with only_writer(self.folder, annotator, taken):
            with write_errors(file):
                if file.is_file():
                    read = self._files[annotator] = _read(file)
                    if file.stat().st_size != read.size:
                        os.truncate(file, read.size)
                        self.notes.append(
                            Message(
                                "{place}: the last line was incomplete and is removed", place=file
                            )
                        )
            yield

    def add(self, annotator: str, entry: str, what: str, **values: Any) -> None:
        """Add a line; when this returns it is on disk. Only with the lock.

        Raises:
            HdbenchError: it cannot be written, or is invalid; then the file is as it was.
        """
        file = self._file(annotator)
        data = {
            "id": uuid.uuid4().hex,
            "entry": entry,
            "by": annotator,
            "at": now(),
            "what": what,
            "after": self.of(entry, annotator).last,
            **values,
        }
        line = validate(ReviewAction, data, file)
        append(file, raw_line(line, file))
        self._files.setdefault(annotator, _File()).lines.append(line)

    def _lines(self, annotator: str) -> list[ReviewAction]:
        return self._files[annotator].lines if annotator in self._files else []

    def _file(self, annotator: str) -> Path:
        return self.folder / f"{annotator}.jsonl"


def confirms(entry: Entry, look: Look) -> bool:
    """Return whether a reading is equal to the ground truth, so that there is nothing to judge."""
    return look.reading is not None and is_same(look.reading.value, entry.truth)


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, such as 5 and 5.0."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return text_of(one) == text_of(other)


def _read(file: Path) -> _File:
    """Return the complete lines of a file, without one that a killed process left incomplete.

    If something was written after an incomplete line, that line is skipped.
    """
    content = _File()
    with read_errors(file), file.open("rb") as opened:
        for raw in complete_lines(opened, file):
            content.size += len(raw)
            where = Path(f"{file}:{len(content.lines) + len(content.notes) + 1}")
            line = parsed_line(raw, where, ReviewAction, content.notes)
            if line is None:
                continue
            if line.by != file.stem:
                raise HdbenchError(
                    "{place}: is by {by!r}, not by {name}",
                    place=where,
                    by=line.by[:100],
                    name=file.stem,
                )
            content.lines.append(line)
    return content


def _fold(lines: list[ReviewAction]) -> Look:
    """Return the look that lines about one entry add up to."""
    undone = {line.undoes for line in lines if line.what == "undo"}
    valid = (line for line in lines if line.what != "undo" and line.id not in undone)
    last = {line.what: line for line in valid}
    reading = last.get("reading")
    seen = any(line.what == "reading" for line in lines)
    return Look(reading, last.get("verdict") if reading else None, lines[-1].id, seen)
