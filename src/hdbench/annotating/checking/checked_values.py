"""The values that people read from the images, in one file to which all of them append."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from filelock import FileLock, Timeout
from pydantic import Field

from hdbench.annotating.changes import is_pseudonym
from hdbench.annotating.own_file import NotSavedError, append, lock_file, saving
from hdbench.answers.letters import folded, text_of
from hdbench.common.checked import Strict, check_file, validate
from hdbench.common.jsonio import is_too_deep, parse_line
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

CHECKED_VALUES = "checked-values.jsonl"
"""File in the folder of a collection or dataset. It is never its ground truth, nor published."""

MAX_LINE = 2**20
"""Maximum number of bytes in a line."""

MAX_FILE = 2**30
"""Maximum number of bytes in the file."""

MAX_DEPTH = 50
"""Maximum depth of a line."""

_PATIENCE = 10.0
"""Maximum number of seconds that a reading waits for those of others to be written."""

Outcome = Literal["value", "unreadable", "damaged"]

StageName = Literal["learn", "verify", "control"]
"""What values are read for: to learn confidence from them, to verify what was learned, or to check
a random sample of those that were accepted."""


class ValueKey(NamedTuple):
    """A value of an item.

    Attributes:
        item: the item's id.
        field: the field's path, such as `publication.year`; a list of plain values is one value.
    """

    item: str
    field: str


class Reading(Strict):
    """What one person read of a value.

    Attributes:
        id: 32 hexadecimal digits.
        plan: the hash of the plan that the value was drawn by.
        stage: what it was read for.
        item: the item's id.
        field: the field's path.
        by: the reader's pseudonym.
        at: the time in UTC.
        what: `value` if it could be read, or if nothing is there.
        value: the value that was read; None for nothing.
        seconds: how long it was on screen and in use.
    """

    id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    plan: str
    stage: StageName
    item: str
    field: str
    by: str
    at: str
    what: Outcome
    value: Any = None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @property
    def key(self) -> ValueKey:
        """Return the value that was read."""
        return ValueKey(self.item, self.field)


class CheckedValues:
    """All readings in a folder that are on disk.

    Args:
        folder: the collection or the dataset.

    Attributes:
        notes: messages about skipped lines, for the user.

    Raises:
        HdbenchError: the file is unusable, or a symbolic link.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / CHECKED_VALUES
        self.notes: list[str] = []
        self._forget()
        self.refresh()

    def _forget(self) -> None:
        self._size = 0  # of the lines that were read, in bytes
        self._lines = 0
        self._plans: dict[str, dict[ValueKey, dict[str, Reading]]] = {}
        self._stages: dict[StageName, set[str]] = {
            "learn": set(),
            "verify": set(),
            "control": set(),
        }

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
            self._forget()
            return
        check_file(self._path, MAX_FILE, Message("a file of checked values"))
        with read_errors(self._path):
            size = self._path.stat().st_size
            if size < self._size:  # another file is there now
                self._forget()
            if size > self._size:
                self._read_on()

    def readings(self, plan: str) -> Mapping[ValueKey, tuple[Reading, ...]]:
        """Return the last reading of each person, in the order of their first ones, by value.

        Args:
            plan: the hash of the plan.
        """
        by_value = self._plans.get(plan, {})
        return {key: tuple(by_person.values()) for key, by_person in by_value.items()}

    def plans(self) -> set[str]:
        """Return the hashes of the plans that there are readings for."""
        return set(self._plans)

    def plans_with(self, stage: StageName) -> set[str]:
        """Return the hashes of the plans of which values of a stage were read."""
        return set(self._stages[stage])

    def add(self, reading: Reading) -> None:
        """Append a reading; when this returns it is on disk.

        Raises:
            NotSavedError: it cannot be written now; then the file is as it was.
            HdbenchError: it is not JSON or too long, or the file is unusable.
        """
        raw = _raw(reading, self._path)
        with self._only_writer():
            self.refresh()  # so that a link or a folder in its place is found out before
            append(self._path, raw)
            self.refresh()

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        with saving(self._path):
            # Any thread must be able to release the lock.
            lock = FileLock(lock_file(self._folder, CHECKED_VALUES), thread_local=False)
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
            while (raw := file.readline(MAX_LINE + 1)).endswith(b"\n"):
                self._lines += 1
                self._size += len(raw)
                self._take(raw, Path(f"{self._path}:{self._lines}"))
        if len(raw) > MAX_LINE:
            raise HdbenchError(
                "{place}: a line is longer than {most} MiB", place=self._path, most=MAX_LINE >> 20
            )

    def _take(self, raw: bytes, where: Path) -> None:
        try:
            data = parse_line(raw, where)
        except HdbenchError as error:
            self.notes.append(Message("{why}; this line is left out", why=error))
            return
        if is_too_deep(data, MAX_DEPTH):
            raise HdbenchError("{place}: nested too deep", place=where)
        reading = validate(Reading, data, where)
        if not is_pseudonym(reading.by):
            raise HdbenchError(
                "{place}: {name!r} is not a pseudonym", place=where, name=reading.by[:100]
            )
        self._stages[reading.stage].add(reading.plan)
        by_value = self._plans.setdefault(reading.plan, {})
        by_value.setdefault(reading.key, {})[reading.by] = reading


class Settled(NamedTuple):
    """What people's readings of a value add up to.

    Attributes:
        outcome: the common outcome, or `unsettled`.
        value: the value, if that is the outcome; None for nothing.
        readings: how many people read it.
    """

    outcome: Literal["value", "unreadable", "damaged", "unsettled"]
    value: Any
    readings: int


def settled(readings: Sequence[Reading]) -> Settled:
    """Return what the readings of a value add up to.

    A single reading counts, and so does what the first two people read if it is the same. If they
    differ, the first further reading decides that is the same as one of the two.

    Args:
        readings: one of each person, in their order.
    """
    decisive = _decisive(readings)
    if decisive is None:
        return Settled("unsettled", None, len(readings))
    value = decisive.value if decisive.what == "value" else None
    return Settled(decisive.what, value, len(readings))


def _decisive(readings: Sequence[Reading]) -> Reading | None:
    if len(readings) <= 1:
        return readings[0] if readings else None
    first, second, *further = readings
    if is_same(first, second):
        return first
    pairs = ((one, other) for other in further for one in (first, second))
    return next((one for one, other in pairs if is_same(one, other)), None)


def is_same(one: Reading, other: Reading) -> bool:
    """Return whether two people read the same, to the letter."""
    return one.what == other.what and folded(text_of(one.value)) == folded(text_of(other.value))


class ReaderAgreement(NamedTuple):
    """How far people agree.

    Attributes:
        twice: the number of values that two or more people read.
        same: the number of these of which the first two people read the same.
    """

    twice: int
    same: int


def reader_agreement(readings_by_value: Iterable[Sequence[Reading]]) -> ReaderAgreement:
    """Return how far people agree on values.

    Args:
        readings_by_value: the readings of each value, one of each person, in their order.
    """
    pairs = [readings[:2] for readings in readings_by_value if len(readings) > 1]
    return ReaderAgreement(len(pairs), sum(is_same(one, other) for one, other in pairs))


def _raw(reading: Reading, path: Path) -> bytes:
    if is_too_deep(reading.value, MAX_DEPTH - 1):
        raise HdbenchError("{place}: nested too deep", place=path)
    try:
        text = json.dumps(
            reading.model_dump(exclude_unset=True), ensure_ascii=False, allow_nan=False
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise HdbenchError("{place}: not saved: the value is not JSON", place=path) from error
    raw = f"{text}\n".encode("utf-8", errors="backslashreplace")
    if len(raw) > MAX_LINE:
        raise HdbenchError(
            "{place}: not saved: longer than {most} MiB", place=path, most=MAX_LINE >> 20
        )
    return raw
