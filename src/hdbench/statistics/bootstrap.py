"""Intervals for a run's figures, by bootstrapping its items."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hdbench.benchmarks.sample import Weighed
from hdbench.errors import HdbenchError, Message, joined
from hdbench.scoring.metric import EFFORT, LESS, Corrected, Metric, figure_of


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


METHOD = "bootstrap over items and one unseen item, percentile intervals"
WITHIN_STRATA = ", within strata"
OF_SHARES = "; shares of items by Clopper and Pearson"
OF_FEWER = "; ratios over the items that say something about them"

MIN_ITEMS = 20
"""With fewer, there is no interval and no rank, and nothing is called separable: too few items say
too little about others."""


@dataclass(frozen=True)
class Interval:
    """The range in which a figure may lie."""

    low: float
    high: float

    @property
    def ends(self) -> list[float]:
        """Both ends, for JSON."""
        return [self.low, self.high]

    def shown(self, digits: int) -> str:
        """Return both ends, rounded.

        Example:
            >>> Interval(0.25, 1.0).shown(3)
            '0.250 to 1.000'
        """
        return Message(
            "{low:.{digits}f} to {high:.{digits}f}", low=self.low, high=self.high, digits=digits
        )


@dataclass(frozen=True)
class Intervals:
    """The intervals of a run's rates, with everything needed to compute them again.

    Attributes:
        items: the number of items; these are what was drawn.
        resamples: how often they were drawn.
        level: the nominal share of such intervals that contain the true figure.
        seed: the seed of the random generator.
        figures: rate → its interval, if it has one; empty if there are too few items.
        item_ranges: rate → from the lowest to the highest that one item has by itself; empty if
            there are intervals, and with fewer than two items.
        why: why there are no intervals; None if there are.
        method: how they are computed.
        without: rate → why it has no interval although others have one.
    """

    items: int
    resamples: int
    level: float
    seed: int
    figures: dict[str, Interval]
    item_ranges: dict[str, Interval]
    why: str | None
    method: str = METHOD
    without: dict[str, str] = field(default_factory=dict)

    def range_of(self, figure: str) -> Interval | None:
        """Return the interval of a figure or, if there is none, its range over single items."""
        return (self.figures if self.why is None else self.item_ranges).get(figure)

    def describe(self, figure: str, digits: int = 3) -> str:
        """Return the interval of a figure in words, or why there is none, and the items' range."""
        if self.why is None and figure in self.without:
            return self.without[figure]
        if self.why is None:
            level = 100 * self.level
            return Message(
                "{level:g}% interval {ends}", level=level, ends=self.figures[figure].shown(digits)
            )
        item_range = self.item_ranges.get(figure)
        if item_range is None:
            return self.why
        return Message("{why}; single items {ends}", why=self.why, ends=item_range.shown(digits))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data: the settings, and figure → both ends."""
        settings = {
            "method": self.method,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "figures": _ends(self.figures),
            **({"without": self.without} if self.without else {}),
        }
        if self.why is None:
            return settings
        return settings | {"why": self.why, "item_ranges": _ends(self.item_ranges)}


def _ends(ranges: Mapping[str, Interval]) -> dict[str, list[float]]:
    return {name: interval.ends for name, interval in ranges.items()}


def intervals(
    result: Scored,
    *,
    only: str | None = None,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Intervals:
    """Return the intervals of a result's rates, by the bootstrap where they can be.

    Items are drawn with replacement, as many as there are, and the figures are computed from their
    statistics (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13). An item
    is drawn whole, with all its fields or advertisements: within a card, letter or page, errors
    come together, and fields drawn one by one would give intervals that are too narrow. So
    Avisblatt has five pages to draw from, not 103 advertisements.

    The items drawn know nothing about what the sample happens to lack, such as the one answer in
    fifty that a model never gives. Near 0 and 1, and wherever items are much alike, any bootstrap
    then falls short: 20 items that are all right would give the single point 1. So each draw also
    has one unseen item, which is as bad as possible for the lower end and as good as possible for
    the upper one. Its share of the draw is random, from the beta distribution with parameters 1 and
    n. The ends are the 2.5 % and 97.5 % quantiles of the drawn figures. For items that are either
    right or wrong, this is nearly the exact interval of Clopper and Pearson ("The use of confidence
    or fiducial limits", Biometrika 26, 1934), which it extends to figures between 0 and 1
    (Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable", Mathematical Methods of Statistics 14, 2005; Learned-Miller and Thomas,
    "A new confidence interval for the mean of a bounded random variable", arXiv 1905.06208). They
    weight the items by a Dirichlet distribution, while whole items are drawn here. In a figure that
    is not a mean, such as micro F1, the unseen item counts as much as an average one.

    With fewer than 20 items there is no interval. For good runs over newspaper pages, intervals
    called "95 %" held 47 % of the time with 2 pages, 70 % with 3 and 90 % with 5; with an unseen
    item they would be too wide to say anything. `item_ranges` says how far apart the items
    themselves are, and promises nothing.

    How often 95% intervals of micro F1 held the true value in 1,000 samples, and their mean width,
    next to the expanded percentile interval, which has no unseen item (Hesterberg, "What teachers
    should know about the bootstrap", The American Statistician 69, 2015):

        items drawn from                    n    without unseen     with it
        1 card in 100 wrong                20    .19 (width .03)   1.00 (.18)
                                          263    .91 (.02)          .99 (.03)
        3 cards in 100 without an answer   57    .87 (.09)          .99 (.12)
                                          263    .95 (.04)          .97 (.05)
        half of the cards wrong            57    .94 (.26)          .96 (.27)
        the best recorded run, 0.893       20    .93 (.11)          .98 (.21)
                                           57    .95 (.06)          .98 (.09)
                                          263    .94 (.03)          .97 (.03)

    So it holds at least 95 % of the time, and more if nothing rare lurks: that is the price of not
    knowing. BCa intervals (DiCiccio and Efron, "Bootstrap confidence intervals", Statistical
    Science 11, 1996) have no unseen item either, and are undefined if all draws are on one side of
    the figure, as at 1.0.

    In a stratified sample, whose rates are estimates for the whole, items are drawn within strata,
    with their weights; see `bootstrap`. The unseen item's share is then from the distribution with
    parameters 1 and the effective number of items, which is smaller than n if weights differ.
    That a sample may be a large part of the whole is not allowed for: intervals are then too wide.

    Three kinds of rates differ, as `Figure` declares:

    - One in which a single item can outweigh all others has no interval. For 20, 50, 150 and 263
      simulated pages with one endless answer in a hundred, that of micro CER held .15, .39, .70 and
      .83 of the time.
    - A share of items has the exact interval of Clopper and Pearson.
    - A ratio about which few items say something, such as the precision of a run with few answers,
      has an interval only if these are at least 20, and the unseen item is one of these, not of all
      items. If they differ much in what they add to the divisor, as lists of very different
      length do, it is one of as many as say as much; see `StatisticsTable.support`. If a figure is
      made of several ratios, the one with the fewest items counts.

    In a draw with nothing to divide by, a figure is what the metric's rules say; if they give it no
    value, that draw is left out of its interval.

    Args:
        result: any result; its per-item statistics are what is drawn.
        only: the one rate that is wanted, for which this takes less time.
        resamples: how often items are drawn.
        level: the nominal coverage, between 0 and 1.
        seed: the seed of `numpy.random.default_rng`.

    Raises:
        HdbenchError: a setting is out of range.
    """
    check_settings(resamples, level, seed)
    items = len(result.ids)
    names = [only] if only is not None else rate_names(result.metric, result.rates)
    if items < MIN_ITEMS:
        ranges, method = item_ranges(result, names), method_of([result])
        return Intervals(items, resamples, level, seed, {}, ranges, too_few(items), method)
    [table] = tables([result], result.ids)
    without = {name: why for name in names if (why := why_without(table, name)) is not None}
    names = [name for name in names if name not in without]
    figures = {}
    if names:
        [drawn] = bootstrap([table], names, resamples, seed)
        for name, column in zip(names, drawn.T, strict=True):
            figures[name] = drawn_interval([table], name, column, level, seed)
    for name in names:
        figure = figure_of(result.metric, name)
        if figure is not None and figure.share_of is not None:
            figures[name] = share_interval([table], figure.share_of, level)
    method = method_of([result]) + _adapted(table, names)
    return Intervals(items, resamples, level, seed, figures, {}, None, method, without)


def why_without(table: StatisticsTable, name: str) -> str | None:
    """Say why a rate has no interval although there are enough items; None if it has one.

    Args:
        table: the run.
        name: the rate.
    """
    figure = figure_of(table.metric, name)
    if figure is not None and not figure.has_interval:
        return Message(
            "no interval, as one item can outweigh all others"
            if figure.judged_by is None
            else "no interval, as one item can outweigh all others: see {figure}",
            figure=figure.judged_by,
        )
    items, _ = table.support(name)
    if items < MIN_ITEMS:
        return Message(
            "{items} item says something about it: too few for an interval"
            if items == 1
            else "{items} items say something about it: too few for an interval",
            items=items,
        )
    return None


def drawn_interval(
    runs: Sequence[StatisticsTable], figure: str, drawn: Array, level: float, seed: int
) -> Interval:
    """Return the interval of a rate, or of its mean over runs, from drawn items.

    Args:
        runs: one run, or several of a model, with the same items in the same order.
        figure: the rate's name.
        drawn: the rate in each draw.
        level: the nominal coverage.
        seed: the seed of the draws.
    """
    return figure_interval(drawn, min(run.support(figure)[1] for run in runs), level, seed)


def share_interval(runs: Sequence[StatisticsTable], statistic: str, level: float) -> Interval:
    """Return the interval of a share of items, by Clopper and Pearson.

    If a model has several runs, an item counts by the share of its runs.

    Args:
        runs: the runs of a model, with the same items in the same order.
        statistic: 0 or 1 for each item.
        level: the nominal coverage.
    """
    first = runs[0]
    groups = np.zeros(len(first.values), np.int64) if first.groups is None else first.groups
    column = mean_column(runs, statistic)
    return weighted_bounds_of_share(column, first.weights, groups, (1 + level) / 2)


def _adapted(table: StatisticsTable, names: Sequence[str]) -> str:
    """Return what differs in the method, as the declarations of the rates demand."""
    figures = [figure for name in names if (figure := figure_of(table.metric, name)) is not None]
    shares = any(figure.share_of for figure in figures)
    fewer = any(table.support(name)[1] < table.effective for name in names)
    return (OF_SHARES if shares else "") + (OF_FEWER if fewer else "")


def method_in_words(method: str) -> Message:
    """Return what a `method` of intervals says, as a message."""
    return joined([Message(part) for part in method.split("; ")], "; ")


def method_of(results: Sequence[Scored]) -> str:
    """Return how intervals of figures on the items of these results are computed."""
    is_plain = all(result.weighed is None for result in results)
    return METHOD if is_plain else METHOD + WITHIN_STRATA


def too_few(items: int) -> str:
    """Return why there is no interval for fewer than `MIN_ITEMS` items.

    Example:
        >>> too_few(5)
        '5 items: too few for an interval'
    """
    return Message(
        "{items} item: too few for an interval"
        if items == 1
        else "{items} items: too few for an interval",
        items=items,
    )


def item_ranges(result: Scored, names: Sequence[str]) -> dict[str, Interval]:
    """Return the range from the lowest to the highest rate that one item has by itself.

    Args:
        result: any result.
        names: the rates wanted.

    Returns:
        Rate → its range, if any item has a value; empty with fewer than two items.
    """
    if len(result.ids) < 2:  # noqa: PLR2004  for one item it is the figure itself
        return {}
    rates = []
    for position in range(len(result.ids)):
        item = {name: column[position] for name, column in result.statistics.items()}
        rates.append(result.metric.rates(item | {"items": 1}))
    ranges = {}
    for name in names:
        values = [item_rates[name] for item_rates in rates if item_rates.get(name) is not None]
        if values:
            ranges[name] = Interval(min(values), max(values))
    return ranges


def figure_interval(drawn: Array, items: float, level: float, seed: int) -> Interval:
    """Return the interval of a rate of 0 or more: that of `intervals`, with one unseen item.

    Args:
        drawn: the rate in each draw, NaN where it has no value. A rate that can exceed 1, as an
            error rate may, is as bad as possible where it is highest among the draws.
        items: how many were drawn each time, or the effective number; see `StatisticsTable`.
        level: the nominal coverage.
        seed: the seed of the draws; the unseen item's share has random numbers of its own.
    """
    low, high = with_unseen(drawn, _unseen(items, len(drawn), seed))
    tail = (1 - level) / 2
    return Interval(float(np.nanquantile(low, tail)), float(np.nanquantile(high, 1 - tail)))


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


def with_unseen(drawn: Array, unseen: Array) -> tuple[Array, Array]:
    """Return a rate of 0 or more in each draw with one unseen item, at worst and at best.

    Args:
        drawn: see `figure_interval`.
        unseen: the unseen item's share in each draw.
    """
    low = (1 - unseen) * drawn
    return low, low + unseen * max(1.0, float(np.nanmax(drawn)))


@lru_cache(maxsize=8)
def _unseen(items: float, draws: int, seed: int) -> Array:
    """Return the unseen item's share in each draw: the same for all runs that are ranked."""
    shares: Array = np.random.default_rng((seed, 2)).beta(1, items, draws)
    shares.flags.writeable = False
    return shares


CONFIDENCE = 0.9
"""The confidence of a bound by default."""


def bounds_of_share(errors: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """Clopper and Pearson's lower and upper bound of a share, each one-sided at the confidence.

    They are exact for one value from each item.

    Args:
        errors: how many are wrong.
        total: of how many; both may be the numbers of independent values that are worth as much.
        confidence: above 0.0 and below 1.0.

    Example:
        >>> bounds_of_share(0, 45).high < 0.05 < bounds_of_share(0, 44).high
        True
    """
    from scipy import special  # noqa: PLC0415  slow to import

    lower = special.betaincinv(errors, total - errors + 1, 1 - confidence) if errors else 0.0
    upper = special.betaincinv(errors + 1, total - errors, confidence) if errors < total else 1.0
    return Interval(float(lower), float(upper))


def weighted_bounds_of_share(
    column: Array, weights: Array, groups: Counts, confidence: float = CONFIDENCE
) -> Interval:
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


@dataclass(frozen=True)
class Effort:
    """Number of values of an item that need a correction, on average.

    Attributes:
        corrected: what the values are.
        corrections: how many of them need a correction, 0.0 or more, lower is better.
        values: how many there are to look at.
        interval: the interval of `corrections`; None with too few items, and for characters.
    """

    corrected: Corrected
    corrections: float
    values: float
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "corrected": self.corrected,
            "corrections": self.corrections,
            "values": self.values,
            **({} if self.interval is None else {"interval": self.interval.ends}),
        }


def effort(
    result: Scored, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> Effort | None:
    """Return how many values of an item need a correction; of a sample, an estimate for the whole.

    The interval is made as those of the rates are (`hdbench.statistics.bootstrap.intervals`): at
    worst, in the unseen item all values of an average item need one. It has draws of its own, so
    that those of the rates stay what they were before this was counted. There is none for
    characters: one answer that repeats itself without end can need more than all others together.

    Args:
        result: any result.
        resamples: how often items are drawn.
        level: the nominal coverage, between 0 and 1.
        seed: the seed of `numpy.random.default_rng`.

    Returns:
        None if the metric does not count them, or did not when the answers were scored.
    """
    corrected = result.metric.corrected
    if corrected is None or not any(result.statistics["values"]):
        return None
    name, looked_at = EFFORT
    table, others = mean_table(result, name), mean_table(result, looked_at)
    mean, values = table.value(name), others.value(looked_at)
    if len(result.ids) < MIN_ITEMS or corrected == "character":
        return Effort(corrected, mean, values, None)
    [drawn] = bootstrap([table], [name], resamples, seed)
    share = figure_interval(drawn[:, 0] / values, table.effective, level, seed)
    return Effort(corrected, mean, values, Interval(share.low * values, share.high * values))
