"""What people's readings of values add up to, and who reads which value.

All are read once, a tenth twice, and again where readings contradict what models say.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hdbench.collections.truth.events import Reading, StageName, ValueKey
from hdbench.common.value_text import Case, folded, text_of


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


TWICE = 10
"""One of so many values is read by two people: as the order is random, a random share of them."""

MOST_READINGS = 3
"""Number of readings of a chosen value at most: if all of them differ, it is wrong."""

AGAIN = 20
"""Number of values that a person reads before one of them comes again."""

Readings = Mapping[ValueKey, Sequence[Reading]]
"""The readings of each value, one of each person and turn, in the order of their first ones."""


class ReadingStage(NamedTuple):
    """Values that are read before anything is made of them.

    Attributes:
        name: what they are read for.
        values: the values in random order.
        case: whether upper and lower case count.
        chosen: the mark of what models say of each, see `mark_of`: a reading that contradicts it is
            followed by a second one, and by a third if these two differ. Without any, people settle
            what they do not agree on.
    """

    name: StageName
    values: Sequence[ValueKey]
    case: Case
    chosen: Sequence[str] = ()

    @property
    def turns(self) -> int:
        """Return how many times one person may read a value, at most."""
        return MOST_READINGS if self.chosen else 1

    def is_contradicted(self, position: int, readings: Sequence[Reading]) -> bool:
        """Return whether one of the readings of a value is not what models say."""
        return bool(self.chosen) and any(
            reading.what != "value"
            or mark_of(text_of(reading.value), self.case) != self.chosen[position]
            for reading in readings
        )

    def lacks(self, position: int, readings: Sequence[Reading]) -> bool:
        """Return whether a value lacks a first, second or third reading."""
        is_twice = position % TWICE == 0 or self.is_contradicted(position, readings)
        if len(readings) < 1 + is_twice:
            return True
        is_over = self.chosen and len(readings) >= MOST_READINGS
        return not is_over and settled(readings, self.case).outcome == "unsettled"

    def to_read(self, readings: Readings) -> list[ValueKey]:
        """Return the values that lack a reading without which nothing can be made of them."""
        return [
            key
            for position, key in enumerate(self.values)
            if not (read := readings.get(key, ()))
            or (self.is_contradicted(position, read) and self.lacks(position, read))
        ]


def mark_of(text: str, case: Case) -> str:
    """Return what is the same for texts that are the same to the letter, and shows none of them."""
    letters = folded(text, case).encode("utf-8", "surrogatepass")
    return hashlib.sha256(letters).hexdigest()[:16]


def offered(stage: ReadingStage, readings: Readings, person: str) -> list[int]:
    """Return the positions of the values that a person should still read.

    To keep people apart, each goes through the list in an order of their own: where all take the
    same one, whoever comes up to another reads what that one has before them, value by value.
    Before anything is learned, values that nobody has read come first, then those that lack a
    second reading, then disputes. Later, all stand among each other, so that a value does not show
    by its place that somebody contradicted it. What this person has read comes again some values
    later, and at the end if fewer are left.

    Args:
        stage: the values.
        readings: the readings of all stages.
        person: the person's name.
    """
    people = _people(readings)
    times = [read.at for by_value in readings.values() for read in by_value if read.by == person]

    def order(position: int) -> tuple[bool, int, bytes]:
        read = readings.get(stage.values[position], ())
        own = max((reading.at for reading in read if reading.by == person), default=None)
        is_early = own is not None and sum(at > own for at in times) < AGAIN
        return is_early, 0 if stage.chosen else min(len(read), 2), _place(person, position)

    positions = (
        position
        for position in _lacking(stage, readings)
        if _may_read(stage, readings, position, person, people)
    )
    return sorted(positions, key=order)


def waits_for_others(stage: ReadingStage, readings: Readings) -> int:
    """Return the number of values that lack a further reading which somebody can give.

    That is somebody who has read other values.

    Args:
        stage: the values.
        readings: the readings of all stages.
    """
    people = _people(readings)
    return sum(
        any(_may_read(stage, readings, position, person, people) for person in people)
        for position in _lacking(stage, readings)
        if readings.get(stage.values[position])
    )


def _people(readings: Readings) -> set[str]:
    return {reading.by for of_value in readings.values() for reading in of_value}


def _lacking(stage: ReadingStage, readings: Readings) -> list[int]:
    return [
        position
        for position, key in enumerate(stage.values)
        if stage.lacks(position, readings.get(key, ()))
    ]


def _may_read(
    stage: ReadingStage, readings: Readings, position: int, person: str, people: set[str]
) -> bool:
    """Return whether a person may read a value: once, or again if nobody else is there to do so."""
    read = readings.get(stage.values[position], ())
    by = {reading.by for reading in read}
    return person not in by or (people <= by and stage.is_contradicted(position, read))


def _place(person: str, position: int) -> bytes:
    """Return where a position stands in a person's own order, the same in every process."""
    return hashlib.sha256(f"{position} {person}".encode()).digest()
