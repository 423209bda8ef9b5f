"""What people's readings of a value add up to."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from hdbench.collections.truth.events import Reading
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
