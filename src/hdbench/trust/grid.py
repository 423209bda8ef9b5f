"""The thresholds of a plan whose trust scores are the user's own."""

import math

import numpy as np

from hdbench.errors import HdbenchError
from hdbench.statistics.acceptance import ROUNDING, least_items, upper_bound
from hdbench.trust.given_scores import GivenScores
from hdbench.trust.wish import PlanOptions

PERCENT = range(25, 101, 5)
"""How many percent of all values reach the thresholds."""

LIKELY = 0.95
"""How probable it must be that enough items of the sample reach the first threshold."""

DIGITS = 6
"""Decimals of a threshold."""


def grid_of(scores: GivenScores, wish: PlanOptions, fields: int) -> tuple[float, ...]:
    """Thresholds that 25, 30, … 100 % of the values of all items reach, from strict to loose.

    Scores of the user's own may lie anywhere between 0 and 1, and few of them may reach the
    thresholds that suit the agreement of runs. What a walk needs is that it begins where enough of
    the sample passes. This follows from the scores of all items, whose truth nobody knows yet, so
    that no promise depends on it.

    Args:
        scores: of all items.
        wish: what was asked for.
        fields: how many values an item has.

    Raises:
        HdbenchError: no value has a score.
    """
    values = scores.by_value(fields)
    known = np.sort(values[~np.isnan(values)])[::-1]
    if not len(known):
        raise HdbenchError("{place}: no item has a score", place=wish.scores)
    places = [-(-percent * len(known) // 100) - 1 for percent in PERCENT]
    scale = 10**DIGITS
    found = sorted({math.floor(known[place] * scale) / scale for place in places}, reverse=True)
    enough = [threshold for threshold in found if _is_enough(values, threshold, wish)]
    return tuple(enough) or (found[-1],)


def _is_enough(values: np.ndarray, threshold: float, wish: PlanOptions) -> bool:
    """Return whether a sample in which one value is wrong would most likely be accepted."""
    from scipy import special  # noqa: PLC0415  slow to import

    passes = values >= threshold - ROUNDING
    items = float(passes.any(axis=1).mean())
    least = least_items(wish.limit, wish.confidence)
    has_items = special.betainc(least, wish.number - least + 1, items) >= LIKELY
    passing = np.zeros(wish.number, dtype=np.int64)
    passing[0] = int(passes.sum(axis=1).mean() * wish.number)
    wrong = np.zeros_like(passing)
    wrong[0] = 1  # with so few errors the least design effect counts, wherever they are
    return bool(has_items and upper_bound(passing, wrong, wish.confidence) <= wish.limit)
