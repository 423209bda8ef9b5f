"""Intervals for a run's figures, by bootstrapping its items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from hdbench.errors import Message, joined
from hdbench.scoring.metric import EFFORT, Corrected, figure_of
from hdbench.statistics.resampling import (
    Array,
    Counts,
    Scored,
    StatisticsTable,
    bootstrap,
    check_settings,
    mean_column,
    mean_table,
    rate_names,
    tables,
)

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
