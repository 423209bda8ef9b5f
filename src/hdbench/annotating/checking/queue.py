"""Who reads which value: all are read once, a tenth twice, and a third person settles disputes."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hdbench.annotating.checking.checked_values import settled
from hdbench.annotating.events import Reading, StageName, ValueKey

TWICE = 10
"""One of so many values is read by two people: as the order is random, a random share of them."""

Readings = Mapping[ValueKey, Sequence[Reading]]
"""The readings of each value, one of each person, in the order of their first ones."""


class ReadingStage(NamedTuple):
    """Values that are read before anything is made of them.

    Attributes:
        name: what they are read for.
        values: the values in random order.
    """

    name: StageName
    values: Sequence[ValueKey]


def offered(stage: ReadingStage, readings: Readings, person: str) -> list[int]:
    """Return the positions of the values that a person should still read.

    Values that nobody has read come first, then those that lack a second reading, then disputes.
    To keep people apart, each goes through the list in an order of their own: where all take the
    same one, whoever comes up to another reads what that one has before them, value by value.

    Args:
        stage: the values.
        readings: their readings.
        person: the person's pseudonym.
    """
    positions = [
        position
        for position in _lacking(stage, readings)
        if _may_read(stage, readings, position, person)
    ]
    return sorted(
        positions,
        key=lambda position: (
            min(len(readings.get(stage.values[position], ())), 2),
            _place(person, position),
        ),
    )


def is_complete(stage: ReadingStage, readings: Readings) -> bool:
    """Return whether every value has been read."""
    return all(readings.get(key) for key in stage.values)


def waits_for_others(stage: ReadingStage, readings: Readings) -> int:
    """Return the number of values that lack a further reading which somebody can give.

    That is somebody who has read other values, and not this one.

    Args:
        stage: the values.
        readings: the readings of all stages.
    """
    people = {reading.by for by_person in readings.values() for reading in by_person}
    return sum(
        any(_may_read(stage, readings, position, person) for person in people)
        for position in _lacking(stage, readings)
        if readings.get(stage.values[position])
    )


def _lacking(stage: ReadingStage, readings: Readings) -> list[int]:
    """Return the positions of the values that lack a first, second or third reading."""
    return [
        position
        for position, key in enumerate(stage.values)
        if _lacks(position, readings.get(key, ()))
    ]


def _lacks(position: int, readings: Sequence[Reading]) -> bool:
    wanted = 2 if position % TWICE == 0 else 1
    return len(readings) < wanted or settled(readings).outcome == "unsettled"


def _may_read(stage: ReadingStage, readings: Readings, position: int, person: str) -> bool:
    return all(reading.by != person for reading in readings.get(stage.values[position], ()))


def _place(person: str, position: int) -> bytes:
    """Return where a position stands in a person's own order, the same in every process."""
    return hashlib.sha256(f"{position} {person}".encode()).digest()
