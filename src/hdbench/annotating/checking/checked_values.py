"""The values that people read from the images, in one file to which all of them append."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from hdbench.annotating.shared_file import SharedFile, check_author
from hdbench.benchmarks.benchmark import CHECKED_VALUES
from hdbench.common.checked import Strict
from hdbench.common.letters import folded, text_of
from hdbench.errors import Message

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


def _tuples(
    by_value: Mapping[ValueKey, Mapping[str, Reading]],
) -> dict[ValueKey, tuple[Reading, ...]]:
    return {key: tuple(by_person.values()) for key, by_person in by_value.items()}


class CheckedValues(SharedFile[Reading]):
    """All readings in a folder that are on disk.

    Args:
        folder: the collection or the dataset.

    Raises:
        HdbenchError: the file is unusable, or a symbolic link.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / CHECKED_VALUES, Message("a file of checked values"), Reading)

    def _forget(self) -> None:
        self._plans: dict[str, dict[ValueKey, dict[str, Reading]]] = {}
        self._by_plan: dict[str, list[Reading]] = defaultdict(list)
        self._stages: dict[StageName, set[str]] = {
            "learn": set(),
            "verify": set(),
            "control": set(),
        }

    def readings(self, plan: str) -> Mapping[ValueKey, tuple[Reading, ...]]:
        """Return the last reading of each person, in the order of their first ones, by value.

        Args:
            plan: the hash of the plan.
        """
        return _tuples(self._plans.get(plan, {}))

    def readings_among(
        self, plan: str, ids: Collection[str]
    ) -> Mapping[ValueKey, tuple[Reading, ...]]:
        """Return the same of those lines alone that have one of the ids: as it was at a time.

        Args:
            plan: the hash of the plan.
            ids: the ids of the lines.
        """
        known = frozenset(ids)
        by_value: dict[ValueKey, dict[str, Reading]] = {}
        for line in self._by_plan[plan]:
            if line.id in known:
                by_value.setdefault(line.key, {})[line.by] = line
        return _tuples(by_value)

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
        self._append([reading])

    def _take(self, line: Reading, where: Path) -> None:
        check_author(line.by, where)
        self._stages[line.stage].add(line.plan)
        self._by_plan[line.plan].append(line)
        by_value = self._plans.setdefault(line.plan, {})
        by_value.setdefault(line.key, {})[line.by] = line


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
