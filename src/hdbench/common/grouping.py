"""The values of a column as a few groups: many numbers or dates are cut into ranges."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from hdbench.errors import Message

MAX_VALUES = 12
"""Maximum number of different numbers that are each a group of their own."""

GROUPS = 5
"""Maximum number of groups that more numbers are cut into."""

NUMBERS = 0.9
"""Share of a column's values that must be numbers or dates for it to be cut into ranges: a
column of years also has `[1912?]`."""

_NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,]\d{1,15})?", re.ASCII)
_DATE = re.compile(r"(\d{4})-\d{2}(?:-\d{2}.*)?", re.ASCII)


class Grouped(NamedTuple):
    """The values of a column as groups.

    Attributes:
        labels: the group of each value; None for one that is missing or, among ranges, no number.
        order: the different groups in order, None last.
        note: how the values were cut into ranges; None if each value is a group of its own.
    """

    labels: list[str | None]
    order: list[str | None]
    note: str | None


def grouped(values: Sequence[Any]) -> Grouped:
    """Return the group of each value of a column.

    A column with more than 12 different numbers, or dates, which count by their year, is cut into
    up to 5 ranges of about the same number of items, with bounds as round as that allows. In any
    other column, each value is a group.

    Args:
        values: texts, numbers, lists of texts, and None or blank texts for what is missing.

    Example:
        >>> grouped(["de", "fr", "", "de"])
        Grouped(labels=['de', 'fr', None, 'de'], order=['de', 'fr', None], note=None)
        >>> grouped(range(1701, 1951)).order
        ['< 1750', '1750–1799', '1800–1849', '1850–1899', '≥ 1900']
    """
    texts = [_text(value) for value in values]
    present = [text for text in texts if text is not None]
    numbers = [None if text is None else _number(text) for text in texts]
    numeric = [number for number in numbers if number is not None]
    if len(set(numeric)) > MAX_VALUES and len(numeric) >= NUMBERS * len(present):
        return _ranges(numbers, numeric, len(present) - len(numeric))
    if len(numeric) == len(present):
        order = sorted(set(present), key=lambda text: (_number(text) or 0, text))
    else:
        order = sorted(set(present))
    return Grouped(texts, [*order, *([None] if None in texts else [])], None)


def _text(value: Any) -> str | None:
    """Return a value as text; None if it is missing."""
    if isinstance(value, list | tuple):
        value = " | ".join(map(str, value))
    elif isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, float):
        value = _shown(value) if math.isfinite(value) else None
    text = "" if value is None else " ".join(str(value).split())
    return text or None


def _number(text: str) -> float | None:
    """Return the number that a text is, or the year of a date."""
    if _NUMBER.fullmatch(text):
        return float(text.replace(",", "."))
    date = _DATE.fullmatch(text)
    return float(date[1]) if date else None


def _ranges(numbers: Sequence[float | None], numeric: Sequence[float], others: int) -> Grouped:
    bounds = _bounds(sorted(numeric))
    order = list(_names(bounds, whole=all(number.is_integer() for number in numeric)))
    labels = [None if number is None else order[bisect_right(bounds, number)] for number in numbers]
    note = Message(
        "{count} different numbers in {number} groups: {groups}",
        count=len(set(numeric)),
        number=len(order),
        groups=", ".join(order),
    )
    if others == 1:
        note = Message("{note}; 1 value is not a number", note=note)
    elif others:
        note = Message("{note}; {others} values are not numbers", note=note, others=others)
    return Grouped(labels, [*order, *([None] if None in labels else [])], note)


def _bounds(ordered: Sequence[float]) -> list[float]:
    """Where numbers are cut: their quantiles, rounded as far as no group becomes too small."""
    cuts = {ordered[len(ordered) * part // GROUPS] for part in range(1, GROUPS)} - {ordered[0]}
    for step in _steps(ordered[-1] - ordered[0]):
        # Rounded once more, since 3 * 0.1 is more than 0.3.
        bounds = sorted({round(round(cut / step) * step, 9) for cut in cuts})
        positions = [0, *(bisect_left(ordered, bound) for bound in bounds), len(ordered)]
        smallest = min(end - start for start, end in pairwise(positions))
        if len(bounds) == len(cuts) and smallest * 2 * GROUPS >= len(ordered):
            return bounds
    return sorted(cuts)


def _steps(spread: float) -> Iterator[float]:
    """Round steps from the coarsest to the finest: 50, 25, 20, 10, 5, ….

    Example:
        >>> list(_steps(90))[:5]
        [50.0, 25.0, 20.0, 10.0, 5.0]
    """
    highest = math.floor(math.log10(spread))
    for exponent in range(highest, highest - 6, -1):
        for factor in (5, 2.5, 2, 1):
            step = factor * 10.0**exponent
            # 25 is a round step, and 2.5 is none: between whole numbers it would be no bound.
            if factor != 2.5 or step.is_integer():  # noqa: PLR2004
                yield step


def _names(bounds: Sequence[float], *, whole: bool) -> Iterator[str]:
    yield f"< {_shown(bounds[0])}"
    for low, high in pairwise(bounds):
        if whole and high.is_integer() and low.is_integer():
            last = high - 1
            yield _shown(low) if low == last else f"{_shown(low)}–{_shown(last)}"
        else:
            yield f"{_shown(low)} to < {_shown(high)}"
    yield f"≥ {_shown(bounds[-1])}"


def _shown(number: float) -> str:
    return str(int(number)) if number.is_integer() else format(number, ".12g")
