"""The values that people read from the images, and what their readings add up to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import Reading, ValueKey
from hdbench.common.value_text import Case, folded, text_of


class CheckedValues:
    """All readings in a folder that are on disk.

    Args:
        folder: the collection or the dataset.

    Attributes:
        people: what people did there.

    Raises:
        HdbenchError: what people did cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self.people = People(folder)

    def readings(self, plan: str) -> Mapping[ValueKey, tuple[Reading, ...]]:
        """Return the last reading of each person and turn, in their first order, by value.

        Args:
            plan: the hash of the plan.
        """
        return _last_of_each(self._of_plan(plan))

    def readings_among(
        self, plan: str, ids: Collection[str]
    ) -> Mapping[ValueKey, tuple[Reading, ...]]:
        """Return the same of those readings alone that have one of the ids: as it was at a time.

        Args:
            plan: the hash of the plan.
            ids: the ids of the readings.
        """
        known = frozenset(ids)
        return _last_of_each(line for line in self._of_plan(plan) if line.id in known)

    def plans(self) -> set[str]:
        """Return the hashes of the plans that there are readings for."""
        return {reading.plan for reading in self.people.of_kind(Reading)}

    def _of_plan(self, plan: str) -> list[Reading]:
        readings = (each for each in self.people.of_kind(Reading) if each.plan == plan)
        return sorted(readings, key=lambda each: (each.at, each.by))


def _last_of_each(readings: Iterable[Reading]) -> dict[ValueKey, tuple[Reading, ...]]:
    by_value: dict[ValueKey, dict[tuple[str, int], Reading]] = {}
    for reading in readings:
        by_value.setdefault(reading.key, {})[reading.by, reading.turn] = reading
    return {key: tuple(by_turn.values()) for key, by_turn in by_value.items()}


class Settled(NamedTuple):
    """What people's readings of a value add up to.

    Attributes:
        outcome: the common outcome, or `unsettled`.
        value: the value, if that is the outcome; None for nothing.
        readings: how many times it was read.
    """

    outcome: Literal["value", "unreadable", "damaged", "unsettled"]
    value: Any
    readings: int


def settled(readings: Sequence[Reading], case: Case) -> Settled:
    """Return what the readings of a value add up to.

    A single reading counts, and so do the first two if they are the same. If they differ, the first
    further reading decides that is the same as one of the two.

    Args:
        readings: the readings, in their order.
        case: whether upper and lower case count.
    """
    decisive = _decisive(readings, case)
    if decisive is None:
        return Settled("unsettled", None, len(readings))
    value = decisive.value if decisive.what == "value" else None
    return Settled(decisive.what, value, len(readings))


def _decisive(readings: Sequence[Reading], case: Case) -> Reading | None:
    if len(readings) <= 1:
        return readings[0] if readings else None
    first, second, *further = readings
    if is_same(first, second, case):
        return first
    pairs = ((one, other) for other in further for one in (first, second))
    return next((one for one, other in pairs if is_same(one, other, case)), None)


def is_same(one: Reading, other: Reading, case: Case) -> bool:
    """Return whether two readings are the same, to the letter."""
    texts = (folded(text_of(reading.value), case) for reading in (one, other))
    return one.what == other.what and next(texts) == next(texts)


class ReaderAgreement(NamedTuple):
    """How far people agree.

    Attributes:
        twice: the number of values that two or more people read.
        same: the number of these of which the first two people read the same.
    """

    twice: int
    same: int


def reader_agreement(readings_by_value: Iterable[Sequence[Reading]], case: Case) -> ReaderAgreement:
    """Return how far people agree on values.

    Args:
        readings_by_value: the readings of each value, in their order.
        case: whether upper and lower case count.
    """
    pairs = [readings[:2] for readings in readings_by_value if len(readings) > 1]
    pairs = [(one, other) for one, other in pairs if one.by != other.by]
    return ReaderAgreement(len(pairs), sum(is_same(one, other, case) for one, other in pairs))
