"""Ranking models: figures with intervals, and the ranks that the items leave open."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np

from hdbench.errors import HdbenchError
from hdbench.scoring.metric import Figure, judging_figure
from hdbench.statistics.bootstrap import (
    MIN_ITEMS,
    Interval,
    drawn_interval,
    item_ranges,
    why_without,
)
from hdbench.statistics.comparison import check_comparable
from hdbench.statistics.failures import (
    ComparedPair,
    PairVerdict,
    figure_without_failures,
    on_common_items,
    pair_verdicts,
)
from hdbench.statistics.resampling import (
    NOTHING,
    Array,
    Scored,
    StatisticsTable,
    bootstrap,
    check_settings,
    rate_names,
    tables,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Ranks:
    """The ranks that a model may have: the confidence set of its rank.

    Attributes:
        low: the best of them, 1 + the number of models that are significantly better.
        high: the worst, the number of all models - the number that are significantly worse.
    """

    low: int
    high: int

    def shown(self) -> str:
        """Return both ends, or the only rank.

        Example:
            >>> Ranks(1, 3).shown(), Ranks(4, 4).shown()
            ('1–3', '4')
        """
        return f"{self.low}–{self.high}" if self.low < self.high else str(self.low)


@dataclass(frozen=True)
class Standing:
    """One model's place in a ranking.

    Attributes:
        name: the model.
        runs: how many runs it has.
        value: the mean of their headlines.
        judged: the mean of the figure by which they are ranked: the headline, unless it declares
            another (`hdbench.scoring.metric.Figure.judged_by`); None if no run has it.
        interval: the interval of `judged`; None if there are too few items, or it has none.
        spread: the lowest and the highest headline of its runs; None if there is only one run.
        runs_apart: whether two of its runs lie further apart than their intervals allow: these
            do not meet. If there are too few items, the ranges of the single items count instead.
        rank: the ranks that it may have; None where there is no interval.
        better: the names of the models that are significantly better, the best first.
        pair: how the second model compares with the first, if they are compared by their failures
            and the rest; otherwise None, as for all others.
    """

    name: str
    runs: int
    value: float
    judged: float | None
    interval: Interval | None
    spread: tuple[float, float] | None
    runs_apart: bool
    rank: Ranks | None
    better: tuple[str, ...]
    pair: ComparedPair | None = None


class _Model(NamedTuple):
    """A model with its runs.

    Attributes:
        name: its name.
        headlines: the headline of each run.
        judged: the figure by which models are ranked, of each run; NaN if it has none.
        runs: the tables of the runs.
    """

    name: str
    headlines: list[float]
    judged: list[float]
    runs: list[StatisticsTable]


def rank_models(
    models: Mapping[str, Sequence[Scored]],
    *,
    headline: str,
    higher_is_better: bool,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> list[Standing]:
    """Rank models by a figure, as far as the items can tell them apart.

    A model's rank is 1 + the number of models that are truly better, over all items of this kind.
    It cannot be known from a sample, so each model gets the set of ranks that it may have: from 1 +
    the number of models that are significantly better to the number of all models - the number that
    are significantly worse. All pairs are tested together, so that these sets contain the true
    ranks of all models at the same time with a probability of `level` (Mogstad, Romano, Shaikh and
    Wilhelm, "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic
    Achievement across Countries", Review of Economic Studies 91, 2024; without their stepwise
    improvement, which can only make some sets smaller).

    A model's figure is the mean over its runs, which are repetitions on the same items. It has a
    bootstrap interval, same as in `intervals`; the same items are drawn for all runs. The interval
    says what other items would give, not what other runs would give: only the spread says something
    about those. Two runs whose own intervals do not meet differ in more than chance, such as a run
    that broke down: `runs_apart` says so, since their mean then stands for neither.

    If all models are truly equal, the probability that any pair is called different is 1 - level:
    all pairs are tested at once by the single-step maximum of |t| (Westfall and Young,
    "Resampling-based multiple testing", 1993, chapter 2; by the bootstrap it is the first step of
    Romano and Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing",
    Journal of the American Statistical Association 100, 2005). A pair's t is its difference `d`
    divided by `s`, the standard deviation of its drawn differences `d*`. The critical value is the
    quantile, at the level, over the draws, of the largest `|d* - d| / s` of all pairs, so that
    correlated pairs are not counted as if each were a test of its own. Permutation tests of
    thousands of pairs, corrected by Holm, would take hours.

    With n items `s` is too small by `√((n - 1) / n)`, and has an error of its own, about which the
    draws know nothing. So `s` is divided by that, and each `|d* - d| / s` by `√(χ² / (n - 1))`,
    where χ² is drawn anew for each pair and draw, with n - 1 degrees of freedom: for one pair it is
    then Student's t. Out of every 100 of 2,000 simulated data sets with models that are truly
    equal, this many had any pair called different:

        items   2, 10, 40 models   Student's quantile instead of χ²   no correction
           20      5,  6,  5                 5, 7, 10                   7, 20, 49
           57      5,  6,  6                 5, 6,  7                   6, 10, 15
          263      5,  5,  5                 5, 5,  5                   5,  5,  7

    (1,000 draws from each; 1,000 data sets without correction.) Student's quantile at the normal
    tail of the critical value, as in `difference_interval`, is too small if there are many pairs:
    it allows for the error of one `s`, but each pair's `s` has an error of its own, and the more
    pairs there are, the likelier it is that some `s` is much too small and its t too large. The
    models had noise of their own on every item; if they differ in only a few items, fewer are
    called different.

    Where the headline declares another figure by which it is judged, models are sorted and ranked
    by that one. Where that leaves out the items that a run failed on, each pair of models is
    compared as in `compare_runs`: by what neither failed on, and by how many each failed on; an
    item counts as failed if any run of a model failed on it. Models are then sorted by the ranks
    that they may have, and by the headline only among those of the same ranks: the one that reads
    best may fail on every other item.

    Degenerate cases: models that never differ are not different; two that differ by the same amount
    in every draw are. With fewer than 20 items there are no intervals and no ranks: drawing so few
    says too little about others. The best figure's set begins with 1, and every set contains the
    model's place by figure alone. A model with a lower figure can have a set that begins with a
    better rank if its figure varies more. The order of models, runs and items has no influence.

    Args:
        models: name → its runs, one or more.
        headline: the figure used for ranking.
        higher_is_better: its direction.
        resamples: how often items are drawn.
        level: the intervals' nominal coverage; 1 - level is the tests' level.
        seed: the seed of `numpy.random.default_rng`.

    Returns:
        The models, best first by the figure that ranks them; ties are sorted by name.

    Raises:
        HdbenchError: no model is given, or one has no runs; runs differ in metric, protocol,
            options, rules, dataset or items; a run, or a draw of its items, has no such figure; a
            setting is out of range.
    """
    check_settings(resamples, level, seed)
    ranked = _read(models, headline)
    metric = ranked[0].runs[0].metric
    figure = judging_figure(metric, headline)
    without = figure_without_failures(metric, figure)
    values = np.array([_mean(model.judged) for model in ranked])
    runs = [run for model in ranked for run in model.runs]
    independent = runs[0].independent
    # A run that failed on all items says nothing about the others.
    has_intervals = all(why_without(run, figure) is None for run in runs) or (
        without is not None and independent >= MIN_ITEMS
    )
    better = np.zeros((len(ranked), len(ranked)), np.bool_)
    verdicts: dict[tuple[int, int], PairVerdict] = {}
    intervals: Sequence[Interval | None]
    if has_intervals:
        intervals, drawn = _drawn(ranked, figure, resamples, level, seed)
    else:
        results = [result for model in ranked for result in models[model.name]]
        ranges = [item_ranges(result, [figure]).get(figure) for result in results]
        intervals = [*ranges, *(None for _ in ranked)]
    if without is not None:
        verdicts = _verdicts(ranked, without, resamples, level, seed)
        for pair, verdict in verdicts.items():
            if verdict.better is not None:
                better[pair[1 - verdict.better], pair[verdict.better]] = True
    elif has_intervals:
        apart = values[:, None] - values
        ahead = apart < 0 if higher_is_better else apart > 0  # of the row's model
        margins = _margins(values, drawn, independent, level, seed)
        better = ahead & (abs(apart) > np.maximum(margins, NOTHING))
    low = 1 + better.sum(axis=1)
    high = len(ranked) - better.sum(axis=0)
    headlines = np.array([_mean(model.headlines) for model in ranked])
    by, sets = (values, []) if without is None else (headlines, [high, low])
    order = np.lexsort([-by if higher_is_better else by, *sets])
    ranges_of_runs = _by_model(ranked, intervals)
    standings = []
    for position in order:
        model = ranked[position]
        ahead_of_it = tuple(ranked[other].name for other in order if better[position, other])
        rank = Ranks(int(low[position]), int(high[position]))
        standings.append(
            Standing(
                name=model.name,
                runs=len(model.headlines),
                value=float(headlines[position]),
                judged=None if np.isnan(values[position]) else float(values[position]),
                interval=intervals[len(runs) + position],
                spread=_spread(model.headlines),
                runs_apart=_apart(ranges_of_runs[position]),
                rank=rank if has_intervals or without is not None else None,
                better=ahead_of_it,
            )
        )
    if without is not None and verdicts:
        a, b = sorted(order[:2])
        models_of = [ranked[a].runs, ranked[b].runs]
        common = on_common_items(models_of, without, resamples=resamples, level=level, seed=seed)
        names = ranked[a].name, ranked[b].name
        items = len(runs[0].values)
        compared = ComparedPair(names, items, without.name, common, verdicts[a, b])
        standings[1] = replace(standings[1], pair=compared)
    return standings


def _read(models: Mapping[str, Sequence[Scored]], headline: str) -> list[_Model]:
    """Return the models by name, their runs by their contents, however they were ordered."""
    if not models:
        raise HdbenchError("no runs to rank: name at least one")
    labels: list[str] = []
    results: list[Scored] = []
    for name, runs in sorted(models.items()):
        if not runs:
            raise HdbenchError("{name!r} has no runs to rank", name=name)
        labels += [f"{name}, run {n}" if len(runs) > 1 else name for n in range(1, len(runs) + 1)]
        results += runs
    for label, result in zip(labels, results, strict=True):
        check_comparable(labels[0], results[0], label, result)
    figure = judging_figure(results[0].metric, headline)
    headlines: list[float] = []
    for label, result in zip(labels, results, strict=True):
        rates = result.rates
        if headline not in rate_names(result.metric, rates):
            raise HdbenchError(
                "headline: {label!r} has no figure {headline!r}", label=label, headline=headline
            )
        headlines.append(rates[headline])
    judged = [math.nan if (rate := result.rates[figure]) is None else rate for result in results]
    every = zip(headlines, judged, tables(results, sorted(results[0].ids)), strict=True)
    read = []
    for name, own in sorted(models.items()):
        order = sorted(
            (next(every) for _ in own), key=lambda run: (run[0], run[2].values.tobytes())
        )
        read.append(_Model(name, *(list(column) for column in zip(*order, strict=True))))
    return read


def _drawn(
    models: Sequence[_Model], figure: str, resamples: int, level: float, seed: int
) -> tuple[list[Interval | None], Array]:
    """Return how figures vary over drawn items.

    Returns:
        The intervals of all runs and then of all models, and models × draws.
    """
    groups = _groups(models)
    runs = [run for [run] in groups[: -len(models)]]
    columns = [drawn[:, 0] for drawn in bootstrap(runs, [figure], resamples, seed)]
    if (
        any(np.isnan(column).any() for column in columns)
        and figure_without_failures(runs[0].metric, figure) is None
    ):
        raise HdbenchError(
            "headline: {headline!r} has no value for some items: choose another", headline=figure
        )
    drawn = np.array([sum(own) / len(own) for own in _by_model(models, columns)])
    rows = zip(groups, [*columns, *drawn], strict=True)
    found = [
        None
        if any(why_without(run, figure) is not None for run in group)
        else drawn_interval(group, figure, row, level, seed)
        for group, row in rows
    ]
    return found, drawn


def _mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there is none."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _spread(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if len(values) > 1 else None


def _groups(models: Sequence[_Model]) -> list[list[StatisticsTable]]:
    """Return what has an interval: each run by itself, and then the runs of each model."""
    return [*([run] for model in models for run in model.runs), *(model.runs for model in models)]


def _by_model(models: Sequence[_Model], of_runs: Iterable[T]) -> list[list[T]]:
    """Return values of the runs of all models, a list for each model."""
    values = iter(of_runs)
    return [[next(values) for _ in model.runs] for model in models]


def _verdicts(
    models: Sequence[_Model], figure: Figure, resamples: int, level: float, seed: int
) -> dict[tuple[int, int], PairVerdict]:
    """Return how each pair of models compares by its failures and the rest; see `rank_models`."""
    pairs = list(combinations(range(len(models)), 2))
    found = pair_verdicts(
        [model.runs for model in models],
        figure,
        permutations=max(resamples, math.ceil(2 * len(pairs) / (1 - level))),
        level=level,
        seed=seed,
    )
    return dict(zip(pairs, found, strict=True))


def _apart(ranges: Sequence[Interval | None]) -> bool:
    """Return whether two of them do not meet."""
    intervals = [interval for interval in ranges if interval is not None]
    highest_low = max((interval.low for interval in intervals), default=0.0)
    return highest_low > min((interval.high for interval in intervals), default=0.0)


def _margins(values: Array, drawn: Array, items: int, level: float, seed: int) -> Array:
    """Return by how much pairs of models must differ to do so significantly: models × models.

    See `rank_models`.
    """
    rng = np.random.default_rng((seed, 1))  # not the numbers with which items were drawn
    around = drawn - values[:, None]
    spread = np.zeros((len(values), len(values)))
    highest = np.zeros(drawn.shape[1])  # |t| of each draw
    for one in range(len(values) - 1):  # the pairs of one model at a time, to bound the memory
        moved = around[one + 1 :] - around[one]
        deviation = moved.std(axis=1, ddof=1)
        varies = deviation > NOTHING
        spread[one, one + 1 :] = spread[one + 1 :, one] = np.where(varies, deviation, 0)
        if varies.any():
            t = abs(moved[varies]) / deviation[varies, None]
            t /= np.sqrt(rng.chisquare(items - 1, t.shape) / (items - 1))
            np.maximum(highest, t.max(axis=0), out=highest)
    critical = math.sqrt(items / (items - 1)) * np.quantile(highest, level)
    margins: Array = critical * spread
    return margins
