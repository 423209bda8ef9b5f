"""Resampling items: statistics added up with numpy, and the metric's figures from the sums."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hdbench.benchmarks.sample import Weighed
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import LESS, Metric, figure_of


class Scored(Protocol):
    """A run whose items have been scored."""

    @property
    def metric(self) -> Metric:
        """The metric with its protocol and options."""

    @property
    def ids(self) -> Sequence[str]:
        """The items' ids."""

    @property
    def statistics(self) -> Mapping[str, Sequence[float]]:
        """Name of a statistic → its value for each item."""

    @property
    def totals(self) -> Mapping[str, float]:
        """Each statistic added up over the items, and their number, `items`."""

    @property
    def rates(self) -> Mapping[str, Any]:
        """The figures; of a sample, the rates are estimates for the whole."""

    @property
    def weighed(self) -> Weighed | None:
        """The weights of the items of a stratified sample, and how they are resampled."""

    @property
    def estimated(self) -> str | None:
        """That the figures are estimates for a whole, if the items are a sample of it."""

    @property
    def headline(self) -> str:
        """The name of the figure used for ranking."""

    @property
    def conditions(self) -> Mapping[str, Any]:
        """What must be the same for figures to be compared, besides the metric and its options."""

    def field_rates(self) -> dict[str, dict[str, Any]]:
        """Field → its counts and rates."""


Array = NDArray[np.float64]
Counts = NDArray[np.int64]

MIN_RESAMPLES = 100
"""With fewer, an interval's ends are chance."""

NOTHING = 1e-12
"""Relative difference of sums that may come from the order of adding alone."""

UNEVEN = 0.75
"""Below this share of effective items, those that add most to a ratio's divisor decide it, and an
unseen one of average size is too small. Above it, intervals of simulated ratios held .93 of the
time or more whichever of the two numbers of items they used."""

_CHUNK = 2**20
"""Approximate number of numbers in memory at once."""

_SORTED = 2**17
"""Number of rows that are sorted at a time."""


class StatisticsTable(NamedTuple):
    """The per-item statistics of a run as a matrix.

    Attributes:
        metric: the metric that makes figures from their sums.
        names: the statistics that are not zero everywhere; for a stratified sample also `items`.
        values: items × names; for a stratified sample with the items' weights, which `items` has
            by themselves.
        groups: the strata within which items are resampled; None if they are not.
    """

    metric: Metric
    names: Sequence[str]
    values: Array
    groups: Counts | None = None

    @property
    def effective(self) -> float:
        """The number of items of equal weight that say as much (Kish, "Survey Sampling", 1965)."""
        return self._worth()

    def support(self, figure: str) -> tuple[int, float]:
        """Count the items that say something about a figure.

        Args:
            figure: its name. If it is made of several ratios, the one that the fewest items say
                something about counts; ratios without any item do not.

        Returns:
            Their number, and the number of items of equal weight that say as much; see `effective`.
            Where they differ so much in what they add to the divisor that this number is less than
            three quarters of theirs, that is their weight.
        """
        declared = figure_of(self.metric, figure)
        numbers = []
        divisors = () if declared is None else declared.divided_by
        for divisor in divisors:
            sizes = self.sizes(divisor)
            counting = np.flatnonzero(sizes)
            if len(counting):
                worth, by_size = self._worth(counting), _effective(sizes)
                numbers.append((len(counting), by_size if by_size < UNEVEN * worth else worth))
            elif len(divisors) == 1:
                return 0, 0.0
        return min(numbers, default=(len(self.values), self.effective))

    def sizes(self, divisor: Sequence[str]) -> Array:
        """Return what each item adds to a divisor; see `Figure.divided_by`."""
        sizes = np.zeros(len(self.values))
        for name in divisor:
            statistic = name.removeprefix(LESS)
            if statistic in self.names:  # those that are zero throughout are left out
                column = self.values[:, self.names.index(statistic)]
                sizes += -column if name.startswith(LESS) else column
        return sizes

    def rests_on_few(self, figure: str) -> bool:
        """Return whether much fewer items say something about a figure than there are."""
        return self.support(figure)[1] < UNEVEN * self.effective

    @property
    def weights(self) -> Array:
        """The weight of each item."""
        return np.ones(len(self.values)) if self.groups is None else self.values[:, -1]

    def _worth(self, items: Counts | None = None) -> float:
        """Return the number of items of equal weight that say as much as some, or all, of them."""
        if self.groups is None:
            return len(self.values) if items is None else len(items)
        return _effective(self.weights if items is None else self.weights[items])

    def strata(self) -> list[slice | NDArray[np.bool_]]:
        """Return the rows of each stratum; all of them if there are none."""
        if self.groups is None:
            return [slice(None)]
        return [self.groups == group for group in np.unique(self.groups)]

    @property
    def independent(self) -> int:
        """The number of items, less one for each stratum after the first."""
        return len(self.values) + 1 - len(self.strata())

    def value(self, figure: str) -> float:
        """Return a figure of all items together."""
        return float(self.figures(self.values.sum(axis=0)[None], [figure])[0, 0])

    def figures(self, totals: Array, wanted: Sequence[str]) -> Array:
        """Return the metric's figures from sums over the same number of items.

        Args:
            totals: rows × names.
            wanted: the names of the figures.

        Returns:
            Rows × wanted; NaN where the metric's rules give a figure no value.
        """
        metric, number = self.metric, len(totals)
        columns: dict[str, Any] = dict.fromkeys(metric.statistics, np.zeros(number))
        columns["items"] = np.full(number, len(self.values))
        columns |= zip(self.names, totals.T, strict=True)
        if metric.vectorized:
            rates = metric.rates(columns)
            rates_wanted = [np.asarray(rates.get(name), np.float64) for name in wanted]
            return np.stack([np.broadcast_to(column, number) for column in rates_wanted], axis=1)
        if list(wanted) == [metric.headline]:
            return np.array(metric.headlines(columns), dtype=np.float64)[:, None]
        rest = dict.fromkeys(metric.statistics, 0.0) | {"items": len(self.values)}
        rows = []
        # With few items, there are few different draws.
        different, row_numbers = np.unique(totals, axis=0, return_inverse=True)
        for sums in different.tolist():
            rates = metric.rates(rest | dict(zip(self.names, sums, strict=True)))
            rows.append([rates.get(name) for name in wanted])
        figures = np.array(rows, dtype=np.float64).reshape(len(rows), len(wanted))
        return figures[row_numbers.ravel()]


def _effective(weights: Array) -> float:
    """Kish's effective number of items with these weights."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def mean_column(runs: Sequence[StatisticsTable], statistic: str) -> Array:
    """Return the mean of a statistic over the runs of a model, for each item, without its weight.

    Args:
        runs: runs with the same items in the same order.
        statistic: its name.
    """
    total = np.sum([run.sizes([statistic]) for run in runs], axis=0)
    mean: Array = total / runs[0].weights / len(runs)
    return mean


class Means(StatisticsTable):
    """A table whose figures are the means of its statistics over the items."""

    def figures(self, totals: Array, wanted: Sequence[str]) -> Array:
        """Return means from sums over the same number of items; see `StatisticsTable.figures`."""
        items = (
            totals[:, [self.names.index("items")]] if "items" in self.names else len(self.values)
        )
        means: Array = totals[:, [self.names.index(name) for name in wanted]] / items
        return means


def tables(results: Sequence[Scored], ids: Sequence[str]) -> list[StatisticsTable]:
    """Return the statistics of results of one metric, all with the items in the same order.

    Args:
        results: results that have the same items.
        ids: the items in the order wanted.
    """
    all_names = results[0].metric.figure_statistics
    # Most of a metric's many statistics are zero throughout; their sums need not be computed.
    names = [name for name in all_names if any(any(result.statistics[name]) for result in results)]
    return _tables(results, ids, names)


def mean_table(result: Scored, name: str) -> Means:
    """One statistic of a result, whose mean is wanted."""
    [table] = _tables([result], result.ids, [name])
    return Means(*table)


def _tables(
    results: Sequence[Scored], ids: Sequence[str], names: Sequence[str]
) -> list[StatisticsTable]:
    """Return some of the statistics of results; see `tables`."""
    result_tables = []
    for result in results:
        order: slice | list[int] = slice(None)
        if list(result.ids) != list(ids):
            positions = {item: position for position, item in enumerate(result.ids)}
            order = [positions[item] for item in ids]
        values = np.empty((len(names), len(ids)), np.float64)
        for column, name in zip(values, names, strict=True):
            column[:] = np.array(result.statistics[name], np.float64)[order]
        values = values.T
        if result.weighed is None:
            result_tables.append(StatisticsTable(result.metric, names, values))
            continue
        weights = np.array(result.weighed.weights)[order, None]
        values = np.hstack([values, np.ones_like(weights)]) * weights
        groups = np.array(result.weighed.groups)[order]
        result_tables.append(StatisticsTable(result.metric, [*names, "items"], values, groups))
    return result_tables


def rate_names(metric: Metric, rates: Mapping[str, Any]) -> list[str]:
    """Return the figures of a run that are rates or errors, and have a value.

    Args:
        metric: the run's metric.
        rates: the run's figures.
    """
    names = (figure.name for figure in metric.figures if figure.is_rate)
    return [name for name in names if rates.get(name) is not None]


def bootstrap(
    runs: Sequence[StatisticsTable], wanted: Sequence[str], resamples: int, seed: int
) -> list[Array]:
    """Return figures of items drawn with replacement, as many as there are, the same for every run.

    Items with equal statistics in every run are drawn together, from the multinomial distribution:
    this is the same bootstrap, is fast for catalogues, and does not depend on the items' order.

    Items of a stratified sample are drawn within their strata, one item less than each has, and
    count accordingly more: with as many as there are, figures would vary too little by that factor,
    which matters in strata of a few items (Rao and Wu, "Resampling inference with complex survey
    data", Journal of the American Statistical Association 83, 1988).

    Args:
        runs: at least one run, with the same items in the same order, at least one.
        wanted: the names of the figures.
        resamples: how often items are drawn.
        seed: the seed of `numpy.random.default_rng`.

    Returns:
        For each run, resamples × wanted.
    """
    values = runs[0].values if len(runs) == 1 else np.hstack([run.values for run in runs])
    strata = [_Stratum(*distinct(values[rows])) for rows in runs[0].strata()]
    rng = np.random.default_rng(seed)
    width = len(runs[0].names)
    drawn: list[list[Array]] = [[] for _ in runs]
    for size in chunks(resamples, max(max(stratum.rows.shape) for stratum in strata)):
        totals = strata[0].draw(rng, size, alone=len(strata) == 1)
        for stratum in strata[1:]:
            totals += stratum.draw(rng, size, alone=False)
        for position, run in enumerate(runs):
            columns = totals[:, position * width : (position + 1) * width]
            drawn[position].append(run.figures(columns, wanted))
    return [np.concatenate(parts) for parts in drawn]


class _Stratum(NamedTuple):
    """The distinct items of a stratum, and how often each occurs."""

    rows: Array
    times: Counts

    def draw(self, rng: np.random.Generator, size: int, *, alone: bool) -> Array:
        """Return sums over drawn items."""
        items = int(self.times.sum())
        number = items if alone else items - 1
        times = rng.multinomial(number, self.times / items, size=size)
        sums: Array = times @ self.rows * (items / number)
        return sums


def check_settings(resamples: int, level: float, seed: int) -> None:
    """Reject settings with which nothing can be computed.

    Raises:
        HdbenchError: there are fewer than 100 resamples, the level is not between 0 and 1, or the
            seed is negative.
    """
    if resamples < MIN_RESAMPLES:
        raise HdbenchError(
            "resamples: {resamples} are too few: take {least} or more",
            resamples=resamples,
            least=MIN_RESAMPLES,
        )
    if not 0 < level < 1:
        raise HdbenchError("level: {level} is not between 0 and 1, as 0.95 is", level=level)
    if seed < 0:
        raise HdbenchError("seed: {seed} is negative", seed=seed)


def expanded_tail(items: int, level: float) -> float:
    """Return the share of draws below an expanded percentile interval; see `difference_interval`.

    Args:
        items: how many were drawn each time, at least 2.
        level: the nominal coverage.
    """
    from scipy.special import stdtrit  # noqa: PLC0415  slow to import, and not needed for scoring

    student = float(stdtrit(items - 1, (1 + level) / 2))
    return NormalDist().cdf(-math.sqrt(items / (items - 1)) * student)


def distinct(values: Array) -> tuple[Array, Counts]:
    """Return the distinct rows, and how often each occurs."""
    if not values.shape[1]:  # numpy finds none in this case
        return values[:1], np.array([len(values)])
    # Of some rows at a time: sorting takes several times the memory of what is sorted.
    parts = (values[start : start + _SORTED] for start in range(0, max(1, len(values)), _SORTED))
    sorted_parts = [np.unique(part, axis=0, return_counts=True) for part in parts]
    rows, positions = np.unique(
        np.concatenate([rows for rows, _ in sorted_parts]), axis=0, return_inverse=True
    )
    times = np.zeros(len(rows), np.int64)
    np.add.at(times, positions.ravel(), np.concatenate([times for _, times in sorted_parts]))
    return rows, times


def chunks(rows: int, width: int) -> Iterator[int]:
    """Yield sizes that add up to that many rows, each within the bound on memory."""
    size = max(1, _CHUNK // max(1, width))
    for start in range(0, rows, size):
        yield min(size, rows - start)
