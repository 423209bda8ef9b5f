"""Which values can be accepted unseen: bounds on the share that is wrong, from a random sample.

All functions take counts by item: how many of its values pass a threshold, and how many of these
are wrong. Values of one item go wrong together: items are the units, never values.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

CONFIDENCE = 0.9
"""The only confidence for which `MIN_EFFECT` has been calibrated."""

MIN_EFFECT = 3.0
"""The least design effect: a sample with few errors may not show how they cluster."""

GRID: tuple[float, ...] = (
    *(1.0, 0.98, 0.96, 0.94, 0.92, 0.9, 0.875, 0.85, 0.8),
    *(0.75, 0.7, 0.65, 0.6, 0.5, 0.4, 0.25, 0.0),
)
"""Thresholds on the trust score, from strict to loose."""

ROUNDING = 1e-9
"""By how much a score may be below a threshold and still reach it."""


@dataclass(frozen=True)
class ShareBounds:
    """Bounds of a share, each 0.0 to 1.0."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Step:
    """Result of one threshold.

    Attributes:
        threshold: the least trust score of values that pass, 0.0 to 1.0.
        items: how many items have a value that passes.
        passing: how many values pass.
        wrong: how many of these are wrong.
        bound: what the verdict is based on: the upper bound of the share of wrong values (lower is
            better), or the capital won by betting that the share is below the limit (higher is
            better).
        accepted: whether the threshold passes.
    """

    threshold: float
    items: int
    passing: int
    wrong: int
    bound: float
    accepted: bool


def least_items(limit: float, confidence: float = CONFIDENCE) -> int:
    """Return how many items without any error show, at least, that a share is below a limit.

    Args:
        limit: the share, above 0.0 and below 1.0.
        confidence: above 0.0 and below 1.0.

    Example:
        >>> least_items(0.05), least_items(0.02)
        (45, 114)
    """
    return math.ceil(math.log(1 - confidence) / math.log(1 - limit))


def upper_bound(passing: Counts, wrong: Counts, confidence: float = CONFIDENCE) -> float:
    """Return the upper bound of the share of wrong values among those that pass; lower is better.

    After Korn and Graubard ("Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data", 1998): Clopper and Pearson's bound for the number
    of independent values that is worth as much as these. Different from them, the design effect is
    at least `MIN_EFFECT`, also if no value is wrong.

    Args:
        passing: how many values of each item pass.
        wrong: how many of these are wrong.
        confidence: above 0.0 and below 1.0.

    Returns:
        0.0 to 1.0; 1.0 where nothing is known: fewer than 2 items, no value passes, or all are
        wrong.

    Example:
        >>> five, none = np.full(100, 5), np.zeros(100, dtype=int)
        >>> round(upper_bound(five, none), 4)
        0.0139
    """
    from scipy import special  # noqa: PLC0415  slow to import

    items, total, errors = len(passing), int(passing.sum()), int(wrong.sum())
    if items < 2 or total in (0, errors):  # noqa: PLR2004
        return 1.0
    rate = errors / total
    effect = MIN_EFFECT
    if errors:
        residuals = wrong - rate * passing
        variance = items / (items - 1) * float(residuals @ residuals) / total**2
        effect = max(effect, variance / (rate * (1 - rate) / total))
    # Of the t and of the normal distribution; scipy.stats has them too, but is slow.
    quantiles = special.stdtrit(items - 1, confidence) / special.ndtri(confidence)
    worth = total / effect / quantiles**2
    return float(special.betaincinv(rate * worth + 1, worth - rate * worth, confidence))


def capital(
    passing: Counts, wrong: Counts, fields: int, limit: float, confidence: float = CONFIDENCE
) -> float:
    """Return the highest win of betting against "more than the limit are wrong"; higher is better.

    Each item's wrong values in excess of the limit are a game in which nobody can expect to win if
    the claim is true: to win 1 / (1 - confidence) then has at most the probability
    1 - confidence, whatever the values are like (Waudby-Smith and Ramdas, "Estimating means of
    bounded random variables by betting", 2023). Items must be drawn independently: from many more
    than there are in the sample.

    Args:
        passing: how many values of each item pass, in the order in which items were drawn.
        wrong: how many of these are wrong.
        fields: how many values an item can have.
        limit: the share, above 0.0 and below 1.0.
        confidence: above 0.0 and below 1.0.

    Returns:
        At least 0.0; 1.0 is what the player starts with.
    """
    items = len(passing)
    if items == 0:
        return 1.0
    losses = (wrong + limit * (fields - passing)) / fields
    count = np.arange(1, items + 1)
    means = (0.5 + np.cumsum(losses)) / (count + 1)
    variances = (0.25 + np.cumsum((losses - means) ** 2)) / (count + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    stakes = np.sqrt(2 * math.log(1 / (1 - confidence)) / (items * before))
    stakes = np.minimum(stakes, 0.999 / (1 - limit))
    won = np.cumsum(np.log1p(stakes * (limit - losses)))
    return float(np.exp(min(max(0.0, float(won.max())), 700.0)))


def bounds_of_share(errors: float, total: float, confidence: float = CONFIDENCE) -> ShareBounds:
    """Clopper and Pearson's lower and upper bound of a share, each one-sided at the confidence.

    They are exact for one value from each item.

    Args:
        errors: how many are wrong.
        total: of how many; both may be the numbers of independent values that are worth as much.
        confidence: above 0.0 and below 1.0.

    Example:
        >>> bounds_of_share(0, 45).upper < 0.05 < bounds_of_share(0, 44).upper
        True
    """
    from scipy import special  # noqa: PLC0415  slow to import

    lower = special.betaincinv(errors, total - errors + 1, 1 - confidence) if errors else 0.0
    upper = special.betaincinv(errors + 1, total - errors, confidence) if errors < total else 1.0
    return ShareBounds(float(lower), float(upper))


def weighted_bounds_of_share(
    column: Array, weights: Array, groups: Counts, confidence: float = CONFIDENCE
) -> ShareBounds:
    """Return Clopper and Pearson's bounds of a share of items that may differ in weight.

    With strata or weights, they are those for the number of independent items that is worth as
    much, at most as many as there are (Korn and Graubard; see `upper_bound`).

    Args:
        column: whether each item counts, 0.0 or 1.0; the bounds are wider than they need be for
            numbers between.
        weights: the items' weights.
        groups: the items' strata.
        confidence: of each bound, above 0.0 and below 1.0.

    Example:
        >>> column = np.array([1.0] * 5 + [0.0] * 45)
        >>> weighted_bounds_of_share(column, np.ones(50), np.zeros(50)) == bounds_of_share(5, 50)
        True
    """
    items = len(column)
    share = min(1.0, float(weights @ column / weights.sum()))
    worth = float(items)
    strata = np.unique(groups)
    if len(strata) > 1 or np.ptp(weights) > 0:
        from scipy import special  # noqa: PLC0415  slow to import

        effect = items * float(weights @ weights) / float(weights.sum()) ** 2
        if 0 < share < 1:
            spread = weights * (column - share) * (items / weights.sum())
            parts = [spread[groups == group] for group in strata]
            variance = sum(len(part) * float(part.var(ddof=1)) for part in parts if len(part) > 1)
            effect = variance / items**2 / (share * (1 - share) / (items - 1))
        free = max(1, items - len(strata))
        quantiles = special.stdtrit([items - 1, free], confidence)
        worth *= float(quantiles[0] / quantiles[1]) ** 2 / max(1.0, effect)
    return bounds_of_share(share * worth, worth, confidence)


Verdict = Callable[[Counts, Counts], tuple[float, bool]]
"""From the counts of passing and of wrong values by item: what it is based on, and whether the
threshold passes."""


def by_rule(limit: float, confidence: float = CONFIDENCE) -> Verdict:
    """Return the verdict by the upper bound of the share of wrong values; see `upper_bound`."""

    def verdict(passing: Counts, wrong: Counts) -> tuple[float, bool]:
        bound = upper_bound(passing, wrong, confidence)
        return bound, bound <= limit

    return verdict


def by_betting(fields: int, limit: float, confidence: float = CONFIDENCE) -> Verdict:
    """Return the exact verdict; see `capital`."""

    def verdict(passing: Counts, wrong: Counts) -> tuple[float, bool]:
        won = capital(passing, wrong, fields, limit, confidence)
        return won, won >= 1 / (1 - confidence)

    return verdict


def walk(
    scores: NDArray[np.float64],
    wrong: NDArray[np.bool_],
    verdict: Verdict,
    *,
    least: int,
    grid: Sequence[float] = GRID,
) -> list[Step]:
    """Go from strict thresholds to loose ones, and stop at the first that fails.

    In this order, testing one threshold after the other needs no correction (Angelopoulos et al.,
    "Learn then Test", 2021: fixed sequence testing): the last that passes holds.

    Args:
        scores: the trust score of each item (row) and field (column), 0.0 to 1.0; NaN, which never
            passes, for a missing value. Rows are in the order in which items were drawn.
        wrong: whether each value is wrong.
        verdict: function that decides, given the numbers of passing and wrong values per item.
        least: the minimum number of items with a passing value; see `least_items`.
        grid: the thresholds, from strict to loose.

    Returns:
        One step for each threshold that was looked at; only the last one can have failed.
    """
    steps = []
    for threshold in grid:
        passes = scores >= threshold - ROUNDING
        passing = passes.sum(axis=1)
        errors = (passes & wrong).sum(axis=1)
        bound, holds = verdict(passing, errors)
        items = int((passing > 0).sum())
        accepted = holds and items >= least
        steps.append(Step(threshold, items, int(passing.sum()), int(errors.sum()), bound, accepted))
        if not accepted:
            break
    return steps


def last_accepted(steps: Sequence[Step]) -> Step | None:
    """Return the loosest threshold that passed; None if none did."""
    accepted = [step for step in steps if step.accepted]
    return accepted[-1] if accepted else None
