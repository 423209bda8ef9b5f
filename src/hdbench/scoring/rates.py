"""Rates of counts; if there is nothing to divide by, they are 0.0."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to import
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Column = Sequence[float] | Numbers


def ratio(part: float, whole: float) -> float:
    """One number divided by another; 0.0 if the whole is zero."""
    return part / whole if whole else 0.0


def plain(number: float) -> float:
    """A sum of counts as an int, unless weights made it fractional."""
    return int(number) if number == int(number) else number


def f1(true_positives: float, false_positives: float, false_negatives: float) -> float:
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


def ratios(part: "Column", whole: "Column") -> "Numbers":
    """`ratio` of many numbers.

    Example:
        >>> ratios([8, 0], [11, 0]).tolist() == [8 / 11, 0.0]
        True
    """
    import numpy as np  # noqa: PLC0415  slow to import, and not needed for scoring

    parts, wholes = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(parts, wholes, out=np.zeros_like(wholes), where=wholes != 0)


def f1s(
    true_positives: "Column", false_positives: "Column", false_negatives: "Column"
) -> "Numbers":
    """`f1` of many counts, to the last digit.

    Example:
        >>> f1s([8, 0], [3, 0], [3, 0]).tolist() == [8 / 11, 0.0]
        True
    """
    import numpy as np  # noqa: PLC0415  slow to import, and not needed for scoring

    columns = (true_positives, false_positives, false_negatives)
    tp, fp, fn = (np.asarray(column, np.float64) for column in columns)
    precision, recall = ratios(tp, tp + fp), ratios(tp, tp + fn)
    return ratios(2 * precision * recall, precision + recall)


cached_f1 = lru_cache(maxsize=4096)(f1)
"""The same for one item: items have the same few counts again and again."""


def counts_and_rates(
    true_positives: float, false_positives: float, false_negatives: float
) -> dict[str, float]:
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
