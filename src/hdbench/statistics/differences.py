"""How the difference between two runs on the same items varies."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from hdbench.scoring.metric import figure_of
from hdbench.statistics.bootstrap import Interval, why_without
from hdbench.statistics.delta import covariances, is_large, spread_of_difference
from hdbench.statistics.rare_failures import (
    Parts,
    Rest,
    joined_level,
    parts_of,
    share_difference_bounds,
)
from hdbench.statistics.resampling import NOTHING, Array, Table, bootstrap, expanded_tail


class Differences(ABC):
    """The differences of the runs' figures, with their intervals.

    Attributes:
        method: how the intervals are computed.
        resamples: how often items are drawn; 0 by the delta method.

    Args:
        runs: runs with the same items in the same order.
        wanted: the names of the figures.
    """

    method: ClassVar[str]
    resamples: int

    def __init__(self, runs: Sequence[Table], wanted: Sequence[str]) -> None:
        self._runs = runs
        self._wanted = wanted
        self._independent = runs[0].independent
        every = (parts_of(runs[0].metric, name) for name in wanted)
        self._parts = {each.figure: each for each in every if each is not None}

    def interval(
        self, a: int, b: int, figure: int, difference: float, level: float
    ) -> Interval | None:
        """Return the interval of a difference.

        That of a share of items is by Clopper and Pearson. That of a figure which is at its worst
        in some items joins two: Student's interval of the difference of the rests, and the bounds
        of the difference of the shares of these items; see `hdbench.statistics.rare_failures`.

        Args:
            a: the place of a run.
            b: the place of another run.
            figure: the place of a figure.
            difference: the figure of a less that of b.
            level: the nominal coverage.

        Returns:
            None if the figure has no interval in one of the runs (see `why_without`), or does not
            vary.
        """
        name, pair = self._wanted[figure], [self._runs[a], self._runs[b]]
        if any(why_without(run, name) is not None for run in pair):
            return None
        known = figure_of(pair[0].metric, name)
        if known is not None and known.share_of is not None:
            return Interval(*share_difference_bounds(pair[:1], pair[1:], known.share_of, level))
        parts = self._parts.get(name)
        if parts is None:
            return self._resampled(a, b, figure, difference, level)
        each, rests = joined_level(level), [Rest(*run) for run in pair]
        one, other = (run.figures(run.values.sum(axis=0)[None], [name])[0, 0] for run in rests)
        margin = _student(self._independent, each) * self._spread_of_rest(a, b, parts)
        low, high = share_difference_bounds(pair[:1], pair[1:], parts.statistic, each)
        middle = float(one - other)
        return Interval(middle - margin + low, middle + margin + high)

    @abstractmethod
    def spread(self, a: int, b: int, figure: int) -> float:
        """Return the standard error of a difference."""

    @abstractmethod
    def _resampled(
        self, a: int, b: int, figure: int, difference: float, level: float
    ) -> Interval | None:
        """The interval of the difference of a figure that is resampled as a whole."""

    @abstractmethod
    def _spread_of_rest(self, a: int, b: int, parts: Parts) -> float:
        """The standard error of the difference between the rests of a figure."""


class DrawnDifferences(Differences):
    """The differences of the runs' figures on drawn items.

    Args:
        runs: see `Differences`.
        wanted: see there.
        resamples: how often items are drawn.
        seed: the seed of `numpy.random.default_rng`.
    """

    method: ClassVar = "paired bootstrap over items, expanded percentile intervals"

    def __init__(
        self, runs: Sequence[Table], wanted: Sequence[str], resamples: int, seed: int
    ) -> None:
        super().__init__(runs, wanted)
        self.resamples = resamples
        self._names = [*wanted, *(each.share for each in self._parts.values())]
        self._drawn = bootstrap(runs, self._names, resamples, seed)

    def spread(self, a: int, b: int, figure: int) -> float:
        """Return the standard deviation of the drawn differences."""
        return float(np.nanstd(self._apart(a, b, figure), ddof=1))

    def _resampled(
        self, a: int, b: int, figure: int, difference: float, level: float
    ) -> Interval | None:
        """The expanded percentile interval; see `difference_interval`."""
        return difference_interval(self._apart(a, b, figure), self._independent, level)

    def _spread_of_rest(self, a: int, b: int, parts: Parts) -> float:
        whole, share = (
            self._apart(a, b, self._names.index(name)) for name in (parts.figure, parts.share)
        )
        return float((whole - share).std(ddof=1))

    def _apart(self, a: int, b: int, figure: int) -> Array:
        return self._drawn[a][:, figure] - self._drawn[b][:, figure]


class NormalDifferences(Differences):
    """The same by the delta method.

    Args:
        runs: see `Differences`.
        wanted: see there.
    """

    method: ClassVar = "delta method over items, normal intervals"
    resamples: int = 0

    def __init__(self, runs: Sequence[Table], wanted: Sequence[str]) -> None:
        super().__init__(runs, wanted)
        self._covariances = covariances(runs, wanted)
        rests = [Rest(*run) for run in runs]
        self._of_rests = {name: covariances(rests, [name])[0] for name in self._parts}

    def spread(self, a: int, b: int, figure: int) -> float:
        """Return the standard error by the delta method."""
        return spread_of_difference(self._covariances[figure], a, b)

    def _resampled(
        self, a: int, b: int, figure: int, difference: float, level: float
    ) -> Interval | None:
        """The interval of `difference_interval` for normal draws."""
        spread = self.spread(a, b, figure)
        if spread < NOTHING:
            return None
        margin = -NormalDist().inv_cdf(expanded_tail(self._independent, level)) * spread
        return Interval(difference - margin, difference + margin)

    def _spread_of_rest(self, a: int, b: int, parts: Parts) -> float:
        return spread_of_difference(self._of_rests[parts.figure], a, b)


def differences(
    runs: Sequence[Table], wanted: Sequence[str], resamples: int, seed: int
) -> Differences:
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
    tail = expanded_tail(items, level)
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _student(items: int, level: float) -> float:
    """Student's quantile, for a standard deviation of draws, which is too small by √(1 - 1 / n)."""
    from scipy.special import stdtrit  # noqa: PLC0415  slow to import, and not needed for scoring

    return math.sqrt(items / (items - 1)) * float(stdtrit(items - 1, (1 + level) / 2))
