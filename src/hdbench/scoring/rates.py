"""Rates of counts; if there is nothing to divide by, they are 0.0."""

from functools import lru_cache


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
