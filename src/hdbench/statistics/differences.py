"""The differences of two runs on the same items, with intervals from the same draws."""

from collections.abc import Sequence

import numpy as np

from hdbench.errors import Message
from hdbench.scoring.metric import figure_of
from hdbench.statistics.bootstrap import OF_FEWER, Interval, why_without, with_unseen
from hdbench.statistics.resampling import NOTHING, Array, StatisticsTable, bootstrap, expanded_tail

PAIRED = "paired bootstrap over items, expanded percentile intervals"


class Differences:
    """The differences of the runs' figures on drawn items, with their intervals.

    Attributes:
        method: how the intervals are computed.

    Args:
        runs: runs with the same items in the same order.
        wanted: the names of the figures.
        resamples: how often items are drawn.
        seed: the seed of `numpy.random.default_rng`.
    """

    def __init__(
        self, runs: Sequence[StatisticsTable], wanted: Sequence[str], resamples: int, seed: int
    ) -> None:
        self._runs = runs
        self._wanted = wanted
        self._seed = seed
        fewer = any(run.rests_on_few(name) for run in runs for name in wanted)
        self.method = PAIRED + (OF_FEWER if fewer else "")
        self._independent = runs[0].independent
        self._drawn = bootstrap(runs, wanted, resamples, seed)

    def interval(self, a: int, b: int, figure: int, level: float) -> Interval | None:
        """Return the interval of a difference.

        That of a ratio about which few items say something in either run has one unseen item for
        each run, as the intervals of `hdbench.statistics.bootstrap.intervals` do.

        Args:
            a: the place of a run.
            b: the place of another run.
            figure: the place of a figure.
            level: the nominal coverage.

        Returns:
            None if the figure has no interval in one of the runs (see `why_without`), or does not
            vary.
        """
        if self.why_without(a, b, figure) is not None:
            return None
        if self.rests_on_few(a, b, figure):
            return self._with_unseen(a, b, figure, level)
        return difference_interval(self._apart(a, b, figure), self._independent, level)

    def why_without(self, a: int, b: int, figure: int) -> str | None:
        """Say why a difference has no interval, as either figure has none; None if both have one.

        Args:
            a: the place of a run.
            b: the place of another run.
            figure: the place of a figure.
        """
        name = self._wanted[figure]
        declared = figure_of(self._runs[a].metric, name)
        if declared is not None and declared.share_of is not None:
            return Message("no interval of a difference of shares: the test says how sure it is")
        reasons = (why_without(self._runs[run], name) for run in (a, b))
        return next((why for why in reasons if why is not None), None)

    def rests_on_few(self, a: int, b: int, figure: int) -> bool:
        """Return whether, in either run, few of the items say something about a figure.

        Args:
            a: the place of a run.
            b: the place of another run.
            figure: the place of a figure.
        """
        return any(self._runs[run].rests_on_few(self._wanted[figure]) for run in (a, b))

    def _with_unseen(self, a: int, b: int, figure: int, level: float) -> Interval:
        """Return the interval of a difference with one unseen item for each run."""
        name, ends = self._wanted[figure], []
        for run in (a, b):
            drawn = self._drawn[run][:, figure]
            rng = np.random.default_rng((self._seed, 5, run))
            _, worth = self._runs[run].support(name)
            ends.append(with_unseen(drawn, rng.beta(1, worth, len(drawn))))
        one, other = ends
        return difference_with_unseen(one, other, level)

    def spread(self, a: int, b: int, figure: int) -> float:
        """Return the standard deviation of the drawn differences."""
        return float(np.nanstd(self._apart(a, b, figure), ddof=1))

    def _apart(self, a: int, b: int, figure: int) -> Array:
        return self._drawn[a][:, figure] - self._drawn[b][:, figure]


def difference_interval(drawn: Array, items: int, level: float) -> Interval | None:
    """Return the expanded percentile interval of a difference between two runs on the same items.

    It lies between the quantiles `p` and `1 - p` of the drawn differences (Hesterberg, "What
    teachers should know about the bootstrap", The American Statistician 69, 2015), where `p =
    Φ(-√(n / (n - 1)) · t)` and t is Student's quantile of the level with n - 1 degrees of freedom:
    plain percentiles are too narrow if n is small. It has no unseen item, since the paired test
    reported with it says whether the difference may be chance.

    Args:
        drawn: the difference in each draw, NaN where it has no value.
        items: how many were drawn each time, or the independent ones; see `StatisticsTable`. At
            least 2.
        level: the nominal coverage.

    Returns:
        None if the difference is the same in every draw: then the draws say nothing about its
        spread.
    """
    defined = drawn[~np.isnan(drawn)]
    if np.ptp(defined) < NOTHING:
        return None
    tail = expanded_tail(items, level)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high))


def difference_with_unseen(
    a: tuple[Array, Array], b: tuple[Array, Array], level: float
) -> Interval:
    """Return the interval of the difference of two rates, each with an unseen item of its own.

    Args:
        a: what `with_unseen` gives for a rate.
        b: the same for another; the same place in both is the same draw, if they are paired.
        level: the nominal coverage.
    """
    tail = (1 - level) / 2
    return Interval(
        float(np.nanquantile(a[0] - b[1], tail)), float(np.nanquantile(a[1] - b[0], 1 - tail))
    )
