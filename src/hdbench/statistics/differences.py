"""How the difference between two runs on the same items varies."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from hdbench.statistics.bootstrap import Interval
from hdbench.statistics.delta import covariances, is_large, spread_of_difference
from hdbench.statistics.resampling import NOTHING, Array, Table, bootstrap


class DrawnDifferences:
    """The differences of the runs' figures on drawn items.

    Args:
        runs: runs with the same items in the same order.
        wanted: the names of the figures.
        resamples: how often items are drawn.
        seed: the seed of `numpy.random.default_rng`.
    """

    method: ClassVar = "paired bootstrap over items, expanded percentile intervals"

    def __init__(
        self, runs: Sequence[Table], wanted: Sequence[str], resamples: int, seed: int
    ) -> None:
        self.resamples = resamples
        self._drawn = bootstrap(runs, wanted, resamples, seed)
        self._independent = runs[0].independent

    def interval(
        self, a: int, b: int, figure: int, difference: float, level: float
    ) -> Interval | None:
        """See `difference_interval`; the figure and the runs are named by their places."""
        return difference_interval(self._apart(a, b, figure), self._independent, level)

    def spread(self, a: int, b: int, figure: int) -> float:
        """The standard error of a difference."""
        return float(np.nanstd(self._apart(a, b, figure), ddof=1))

    def _apart(self, a: int, b: int, figure: int) -> Array:
        return self._drawn[a][:, figure] - self._drawn[b][:, figure]


class NormalDifferences:
    """The same by the delta method.

    Args:
        runs: see `DrawnDifferences`.
        wanted: see there.
    """

    method: ClassVar = "delta method over items, normal intervals"
    resamples: ClassVar = 0

    def __init__(self, runs: Sequence[Table], wanted: Sequence[str]) -> None:
        self._covariances = covariances(runs, wanted)
        self._independent = runs[0].independent

    def interval(
        self, a: int, b: int, figure: int, difference: float, level: float
    ) -> Interval | None:
        """The interval of `difference_interval` for normal draws; None if it does not vary."""
        spread = self.spread(a, b, figure)
        if spread < NOTHING:
            return None
        margin = -NormalDist().inv_cdf(_tail(self._independent, level)) * spread
        return Interval(difference - margin, difference + margin)

    def spread(self, a: int, b: int, figure: int) -> float:
        """The standard error of a difference."""
        return spread_of_difference(self._covariances[figure], a, b)


def differences(
    runs: Sequence[Table], wanted: Sequence[str], resamples: int, seed: int
) -> DrawnDifferences | NormalDifferences:
    """How the runs' figures differ: drawn, or by the delta method if that would take too long.

    Args:
        runs: see `DrawnDifferences`, as for all the rest.
        wanted: the names of the figures.
        resamples: how often items are drawn.
        seed: the seed of the draws.
    """
    if is_large(runs):
        return NormalDifferences(runs, wanted)
    return DrawnDifferences(runs, wanted, resamples, seed)


def difference_interval(drawn: Array, items: int, level: float) -> Interval | None:
    """The expanded percentile interval of a difference between two runs on the same items.

    It lies between the quantiles `p` and `1 - p` of the drawn differences (Hesterberg, "What
    teachers should know about the bootstrap", The American Statistician 69, 2015), where `p =
    Φ(-√(n / (n - 1)) · t)` and t is Student's quantile of the level with n - 1 degrees of freedom:
    plain percentiles are too narrow if n is small. It has no unseen item, since the paired test
    reported with it says whether the difference may be chance.

    Args:
        drawn: the difference in each draw, NaN where it has no value.
        items: how many were drawn each time, or the independent ones; see `Table`. At least 2.
        level: the nominal coverage.

    Returns:
        None if the difference is the same in every draw: then the draws say nothing about its
        spread.
    """
    known = drawn[~np.isnan(drawn)]
    if np.ptp(known) < NOTHING:
        return None
    tail = _tail(items, level)
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _tail(items: int, level: float) -> float:
    """The share of draws below an expanded percentile interval."""
    from scipy.special import stdtrit  # noqa: PLC0415  slow to import, and not needed for scoring

    student = float(stdtrit(items - 1, (1 + level) / 2))
    return NormalDist().cdf(-math.sqrt(items / (items - 1)) * student)
