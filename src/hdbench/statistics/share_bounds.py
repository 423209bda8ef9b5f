"""Bounds of a share, from a random sample."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

CONFIDENCE = 0.9
"""The confidence of a bound by default."""


@dataclass(frozen=True)
class ShareBounds:
    """Bounds of a share, each 0.0 to 1.0."""

    lower: float
    upper: float


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
    much, at most as many as there are (Korn and Graubard, "Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data", 1998).

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
