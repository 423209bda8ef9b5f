"""The delta method, for more items than can be drawn: sums and cross products only."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from hdbench.scoring.metric import figure_of
from hdbench.statistics.resampling import NOTHING, Array, StatisticsTable

LARGE = 50_000
"""With more distinct items than this, drawing them takes minutes, and the delta method is used."""

HIGHEST = 4
"""An error that can exceed 1 is at worst that many standard errors above its value: about the
highest of 10,000 draws."""

_CHUNK = 2**16  # items at once, to bound the memory
_FAR = 30.0  # from there on, the first terms of a series are exact
_STEPS = 100  # of a bisection: more than a float has bits


def is_large(runs: Sequence[StatisticsTable]) -> bool:
    """Return whether there are too many distinct items to draw: then the delta method is used.

    Rounded figures are not smooth functions of sums, so the bootstrap is used whatever it takes.

    Args:
        runs: runs with the same items in the same order.
    """
    items = len(runs[0].values)
    if items <= LARGE or runs[0].metric.rounds:
        return False
    # Distinct items have distinct random sums, for which sorting is fast. Term by term, so that
    # equal items have equal sums: BLAS may add up in another order at the end of a block.
    rng = np.random.default_rng(0)
    sums = np.zeros(items)
    for run in runs:
        for column in run.values.T:
            sums += rng.random() * column
    return len(np.unique(sums)) > LARGE


def covariances(runs: Sequence[StatisticsTable], wanted: Sequence[str]) -> Array:
    """Return the variances and covariances of the runs' figures, over samples of as many items.

    A figure g of the totals T varies as its linear part does: with J, the derivatives of g by T,
    and S, the covariance matrix of T, its covariances are JᵀSJ (Cramér, "Mathematical Methods of
    Statistics", 1946, chapter 28). S is what `bootstrap` draws from, also within strata: the cross
    products of the items' statistics around their mean.

    Each derivative is the difference of g half a standard error of one total above and below,
    divided by that standard error. As an item's statistics are 0 or more, a standard error is at
    most the total: no total becomes negative, nor zero, and what had a value has one there too.

    Args:
        runs: runs with the same items in the same order; their figures are not rounded.
        wanted: the names of the figures, which have a value in every run.

    Returns:
        Wanted × runs × runs.
    """
    spread = _covariance_of_totals(runs)
    width = len(runs[0].names)
    slopes = np.zeros((len(wanted), len(spread), len(runs)))
    for position, run in enumerate(runs):
        own = slice(position * width, (position + 1) * width)
        totals = run.values.sum(axis=0)
        slopes[:, own, position] = _slopes(run, totals, np.sqrt(np.diag(spread)[own]), wanted).T
    matrices: Array = slopes.transpose(0, 2, 1) @ spread @ slopes
    return matrices


def spread_of_difference(covariance: Array, one: int, other: int) -> float:
    """Return the standard error of the difference of two runs' figures; 0.0 if it does not vary.

    Args:
        covariance: runs × runs.
        one: a run.
        other: another run.
    """
    variances = covariance[one, one] + covariance[other, other]
    variance = variances - 2 * covariance[one, other]
    return math.sqrt(variance) if variance > NOTHING * variances else 0.0


def spread_of_exchanges(a: StatisticsTable, b: StatisticsTable, figure: str) -> float:
    """Return the standard error of a figure's difference if answers to items are exchanged.

    Exchanging the answers to an item or not, as likely as not, moves both runs' totals from their
    mean, by half the difference of that item's statistics up or down. The difference of the figures
    then varies around 0 with the variance Σ (J · (aᵢ - bᵢ))², where J are the derivatives of the
    figure by the totals at that mean.

    Args:
        a: a run.
        b: a run on the same items in the same order.
        figure: the figure's name.
    """
    products = np.zeros((len(a.names),) * 2)
    for part in _parts(len(a.values)):
        apart = a.values[part] - b.values[part]
        products += apart.T @ apart
    middle = (a.values.sum(axis=0) + b.values.sum(axis=0)) / 2
    slope = _slopes(a, middle, np.sqrt(np.diag(products)), [figure])[:, 0]
    return math.sqrt(max(0.0, float(slope @ products @ slope)))


def interval_ends(
    table: StatisticsTable, figure: str, value: float, spread: float, level: float
) -> tuple[float, float]:
    """Return the ends of a figure's interval, with one unseen item as in `bootstrap.intervals`.

    The figure varies as `value + spread · Z`, where Z is standard normal. The unseen item takes a
    share u of it, which has the beta distribution with parameters 1 and n: with this many items, u
    is E / n, where E has the exponential distribution with mean 1. At worst the item is worth 0 and
    the figure is lower by `u · value`; at best it is worth 1 and the figure is higher by `u · (1 -
    value)`.
    So the ends are the quantiles of a normal variable less, or plus, an exponential one, which
    `_quantile` computes without drawing. They are moved by E / n at most, some 0.00007 for 50,000
    items, and by less where `spread` is larger than that.

    Args:
        table: the run.
        figure: the figure's name.
        value: its value.
        spread: its standard error.
        level: the nominal coverage.
    """
    declared = figure_of(table.metric, figure)
    best = 1.0
    # A mean of counts is not a figure of the metric.
    if declared is None or declared.kind == "error":
        best = max(1.0, value + HIGHEST * spread)
    tail = (1 - level) / 2
    _, items = table.support(figure)
    low = value + _quantile(spread, value / items, tail)
    high = value - _quantile(spread, (best - value) / items, tail)
    return max(0.0, low), min(best, high)


def _quantile(spread: float, mean: float, tail: float) -> float:
    """Return the x for which `spread · Z - mean · E` is at most x with the probability `tail`.

    Z is standard normal and E exponential with mean 1.
    """
    normal = NormalDist()
    if mean <= NOTHING:
        return spread * normal.inv_cdf(tail)
    if spread <= NOTHING:
        return mean * math.log(tail)
    low = spread * normal.inv_cdf(tail / 2) + mean * math.log(tail / 2)
    high = spread * normal.inv_cdf(tail)
    for _ in range(_STEPS):
        x = (low + high) / 2
        if normal.cdf(x / spread) + _above(x / spread, spread / mean) < tail:
            low = x
        else:
            high = x
    return high


def _above(z: float, ratio: float) -> float:
    """Return how likely Z is above z, and the exponential variable is at least `ratio · (Z - z)`.

    It is `exp(z · ratio + ratio² / 2) · (1 - Φ(z + ratio))`. For large numbers this is written as
    φ(z) times Mills' ratio (1 - Φ) / φ, of which the first terms of its series are enough.
    """
    normal, x = NormalDist(), z + ratio
    if x > _FAR:
        return normal.pdf(z) * (1 - 1 / x**2 + 3 / x**4) / x
    return math.exp(z * ratio + ratio**2 / 2) * math.erfc(x / math.sqrt(2)) / 2


def _slopes(run: StatisticsTable, totals: Array, steps: Array, wanted: Sequence[str]) -> Array:
    """Return the derivatives of figures by totals: names × wanted."""
    moved = np.diag(steps) / 2
    apart = run.figures(totals + moved, wanted) - run.figures(totals - moved, wanted)
    slopes: Array = np.divide(
        apart, steps[:, None], out=np.zeros_like(apart), where=steps[:, None] > 0
    )
    return slopes


def _covariance_of_totals(runs: Sequence[StatisticsTable]) -> Array:
    """Return the covariance matrix of the totals of all runs, side by side, of drawn items."""
    width = sum(len(run.names) for run in runs)
    spread = np.zeros((width, width))
    for rows in runs[0].strata():
        values = [run.values[rows] for run in runs]
        mean = np.concatenate([own.mean(axis=0) for own in values])
        items = len(values[0])
        products = np.zeros((width, width))
        for part in _parts(items):
            around = np.hstack([own[part] for own in values]) - mean
            products += around.T @ around
        # One item less is drawn in each of several strata: see `bootstrap`.
        spread += products if runs[0].groups is None else products * items / (items - 1)
    return spread


def _parts(items: int) -> Iterator[slice]:
    for start in range(0, items, _CHUNK):
        yield slice(start, start + _CHUNK)
