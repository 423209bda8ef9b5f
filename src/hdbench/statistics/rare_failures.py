"""Bounds for failures that are too rare to be resampled: a sample may have none of them.

A model that is stuck in a loop on one page in a hundred looks perfect on most samples of 20 pages.
Whatever is drawn from such a sample has no loop either, so any interval and any test that resamples
items is too sure of itself. A metric that has such failures makes their share a figure of its own
(`Figure.share_of`), which has exact bounds, and adds a figure that is 1.0 in such an item, and
below in all others (`Figure.worst_share`). That figure is the share plus the rest, the mean over
items of what the others have. Its interval joins two parts, each at a level of 1 - (1 - level) / 2,
so that both hold together at the level (Bonferroni): that of the rest is resampled, and that of the
share is by Clopper and Pearson ("The use of confidence or fiducial limits", Biometrika 26, 1934).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hdbench.scoring.metric import Metric, figure_of
from hdbench.statistics.resampling import Array, Counts, StatisticsTable
from hdbench.statistics.share_bounds import weighted_bounds_of_share

_POINTS = 1_000
_HALVINGS = 40  # of a range of 2, down to 2e-12


def joined_level(level: float) -> float:
    """Return the level at which two intervals hold together at a level (Bonferroni).

    Example:
        >>> joined_level(0.95)
        0.975
    """
    return (1 + level) / 2


class Parts(NamedTuple):
    """The two parts of a figure that is at its worst in some items.

    Attributes:
        figure: its name.
        share: the figure that is the share of these items.
        statistic: the statistic, 0 or 1 for each item, whose mean that is.
    """

    figure: str
    share: str
    statistic: str


def parts_of(metric: Metric, figure: str) -> Parts | None:
    """Return the parts of a figure; None if it does not declare that it has any.

    Args:
        metric: the metric.
        figure: the figure's name.
    """
    declared = figure_of(metric, figure)
    share = declared and declared.worst_share and figure_of(metric, declared.worst_share)
    return Parts(figure, share.name, share.share_of) if share and share.share_of else None


class Rest(StatisticsTable):
    """A table whose figures are the rests of those that are at their worst in some items."""

    def figures(self, totals: Array, wanted: Sequence[str]) -> Array:
        """Return figures less the shares of the items in which they are 1.0, if they have any."""
        rest = super().figures(totals, wanted)
        for column, name in enumerate(wanted):
            if parts := parts_of(self.metric, name):
                rest[:, column] -= super().figures(totals, [parts.share])[:, 0]
        return rest


def share_bounds(
    runs: Sequence[StatisticsTable], statistic: str, level: float
) -> tuple[float, float]:
    """Return the bounds of a share of items.

    If a model has several runs, an item counts by the share of its runs.

    Args:
        runs: the runs of a model, with the same items in the same order.
        statistic: 0 or 1 for each item.
        level: the nominal coverage of both bounds together.
    """
    bounds = weighted_bounds_of_share(
        _mean_column(runs, statistic), *_weights(runs[0]), (1 + level) / 2
    )
    return bounds.lower, bounds.upper


def share_difference_bounds(
    a: Sequence[StatisticsTable], b: Sequence[StatisticsTable], statistic: str, level: float
) -> tuple[float, float]:
    """Return the bounds of the difference between two models' shares of items.

    It follows from the items that count for one of them only: their two shares are bounded together
    by melding Clopper and Pearson's bounds (Fay, Proschan and Brittain, "Combining one-sample
    confidence procedures for inference in the two-sample case", Biometrics 71, 2015).

    Args:
        a: the runs of a model, with the same items in the same order.
        b: those of another, on the same items.
        statistic: see `share_bounds`.
        level: the nominal coverage of both bounds together.
    """
    apart = _mean_column(a, statistic) - _mean_column(b, statistic)
    weights, _ = _weights(a[0])
    worth = a[0].effective
    only_a, only_b = (
        float(weights @ np.maximum(0.0, part) / weights.sum()) * worth for part in (apart, -apart)
    )
    tail = (1 - level) / 2
    return -_melded(only_b, only_a, worth, tail), _melded(only_a, only_b, worth, tail)


def _mean_column(runs: Sequence[StatisticsTable], statistic: str) -> Array:
    """Return the mean of a statistic over runs, for each item."""
    weights, _ = _weights(runs[0])
    total = np.zeros(len(weights))
    for run in runs:
        if statistic in run.names:  # those that are zero throughout are left out
            total += run.values[:, run.names.index(statistic)] / weights
    return total / len(runs)


def _weights(table: StatisticsTable) -> tuple[Array, Counts]:
    """Return the items' weights and strata."""
    if table.groups is None:
        return np.ones(len(table.values)), np.zeros(len(table.values), np.int64)
    return table.values[:, -1], table.groups


@lru_cache(maxsize=4096)
def _melded(more: float, less: float, items: float, tail: float) -> float:
    """Return the upper bound of the difference of two shares of items.

    It is the quantile of U - L. U has the beta distribution whose quantile is the upper bound of
    the first share, L that whose quantile is the lower bound of the second.

    Args:
        more: how many items count for the first only.
        less: how many count for the second only.
        items: of how many.
        tail: the probability with which the difference may be above the bound.
    """
    from scipy import special  # noqa: PLC0415  slow to import

    if more >= items:
        return 1.0
    lower = np.zeros(1)
    if less > 0:
        points = (np.arange(_POINTS) + 0.5) / _POINTS
        lower = special.betaincinv(less, items - less + 1, points)
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = special.betainc(more + 1, items - more, np.clip(middle + lower, 0.0, 1.0))
        low, high = (low, middle) if below.mean() >= 1 - tail else (middle, high)
    return high
