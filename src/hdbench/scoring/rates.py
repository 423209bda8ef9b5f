"""Rates of counts; if there is nothing to divide by, they are 0.0.

Where a metric is `vectorized`, each number may be an array of them, as many as there are totals.
"""

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:  # slow to import
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Column = Sequence[float] | Numbers

Amount = TypeVar("Amount", float, "Numbers")
"""A number, or an array of them."""

_NUMBER = (int, float, Real)  # also those of numpy


def ratio(part: Amount, whole: Amount, empty: float = 0.0) -> Amount:
    """Divide one number by another, or the numbers of an array by those of another.

    Args:
        part: the dividend.
        whole: the divisor.
        empty: what it is where the divisor is zero.

    Example:
        >>> ratio(8, 11) == 8 / 11, ratio(0, 0)
        (True, 0.0)
        >>> import numpy as np
        >>> ratio(np.array([8.0, 0.0]), np.array([11.0, 0.0])).tolist() == [8 / 11, 0.0]
        True
    """
    if isinstance(whole, _NUMBER):
        return part / whole if whole else empty
    import numpy as np  # noqa: PLC0415  slow to import, and not needed for scoring

    out = np.full(np.shape(whole), empty, np.float64)
    return np.divide(part, whole, out=out, where=whole != 0)


@overload
def only_if(whole: float, rate: float) -> float | None: ...
@overload
def only_if(whole: "Numbers", rate: "Numbers") -> "Numbers": ...
def only_if(whole: Amount, rate: Amount) -> Amount | None:
    """Give a rate, or the rates in an array, where there is anything; otherwise None, or NaN.

    Example:
        >>> only_if(3, 0.5), only_if(0, 0.0)
        (0.5, None)
    """
    if isinstance(whole, _NUMBER):
        return rate if whole else None
    import numpy as np  # noqa: PLC0415  see `ratio`

    return np.where(whole != 0, rate, np.nan)


def plain(number: Amount) -> Amount:
    """Give a sum of counts as an int, unless weights made it fractional; an array as it is."""
    if isinstance(number, _NUMBER):
        return int(number) if number == int(number) else number
    return number


@overload
def truncated(number: float) -> int: ...
@overload
def truncated(number: "Numbers") -> "Numbers": ...
def truncated(number: "float | Numbers") -> "int | Numbers":
    """Cut off what weights made fractional in a count, or in an array of counts.

    Example:
        >>> truncated(2.7)
        2
    """
    if isinstance(number, _NUMBER):
        return int(number)
    import numpy as np  # noqa: PLC0415  see `ratio`

    return np.trunc(number)


def rounded(number: Amount, digits: int) -> Amount:
    """Round a number, or those in an array, as Python does; numpy multiplies first, which rounds.

    Example:
        >>> rounded(2.675, 2)
        2.67
    """
    if isinstance(number, _NUMBER):
        return round(number, digits)
    import numpy as np  # noqa: PLC0415  see `ratio`

    return np.array([round(value, digits) for value in number.tolist()])


def added(parts: Sequence[Amount]) -> Amount:
    """Add numbers, or arrays number by number, and round once.

    Example:
        >>> added([0.1] * 10)
        1.0
    """
    if isinstance(parts[0], _NUMBER):
        return math.fsum(parts)
    if len(parts) == 1:
        return parts[0]
    import numpy as np  # noqa: PLC0415  see `ratio`

    rows = zip(*(part.tolist() for part in parts), strict=True)
    return np.array([math.fsum(row) for row in rows])


def is_any(number: "float | Numbers") -> bool:
    """Tell whether a number, or any of those in an array, is not zero."""
    return bool(number) if isinstance(number, _NUMBER) else bool(number.any())


@overload
def mean(values: Collection[float], empty: float = 0.0) -> float: ...
@overload
def mean(values: "Collection[Numbers]", empty: float = 0.0) -> "float | Numbers": ...
def mean(values: Collection[Any], empty: float = 0.0) -> "float | Numbers":
    """Average numbers, or arrays number by number without NaN, and round the sum once.

    Args:
        values: the numbers or arrays.
        empty: what it is where there are none.

    Example:
        >>> mean([0.5, 1.0]), mean([])
        (0.75, 0.0)
        >>> import numpy as np
        >>> mean([np.array([0.5, np.nan]), np.array([1.0, np.nan])]).tolist()
        [0.75, 0.0]
    """
    rows = list(values)
    if not rows or isinstance(rows[0], _NUMBER):
        return math.fsum(rows) / len(rows) if rows else empty
    import numpy as np  # noqa: PLC0415  see `ratio`

    is_number = ~np.isnan(rows)
    sums: Numbers = added([*np.where(is_number, rows, 0.0)])
    counts: Numbers = is_number.sum(axis=0)
    return ratio(sums, counts, empty)


def f1(true_positives: Amount, false_positives: Amount, false_negatives: Amount) -> Amount:
    """The harmonic mean of precision and recall, 0.0 to 1.0; 0.0 if it is undefined.

    Example:
        >>> f1(8, 3, 3) == 8 / 11
        True
        >>> f1(0, 0, 0)
        0.0
    """
    # From the two rates, not from the counts, so that published figures agree to the last digit.
    precision = ratio(true_positives, true_positives + false_positives)
    recall = ratio(true_positives, true_positives + false_negatives)
    return ratio(2 * precision * recall, precision + recall)


def numbers(column: "Column") -> list[float]:
    """A column as a list of Python's numbers, with which single figures are computed faster.

    Example:
        >>> numbers((8, 0.5))
        [8.0, 0.5]
    """
    import numpy as np  # noqa: PLC0415  slow to import, and not needed for scoring

    found: list[float] = np.asarray(column).tolist()
    return found


cached_f1 = lru_cache(maxsize=4096)(f1)
"""The same for one item: items have the same few counts again and again."""


def counts_and_rates(
    true_positives: Amount, false_positives: Amount, false_negatives: Amount
) -> dict[str, Amount]:
    """Counts with their precision, recall and F1, each from 0.0 to 1.0, by name.

    Example:
        >>> counts_and_rates(8, 3, 3)["precision"] == 8 / 11
        True
    """
    return {
        "true_positives": true_positives,
        "false_positives": false_positives,
        "false_negatives": false_negatives,
        "precision": ratio(true_positives, true_positives + false_positives),
        "recall": ratio(true_positives, true_positives + false_negatives),
        "f1": f1(true_positives, false_positives, false_negatives),
    }
