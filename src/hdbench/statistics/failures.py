"""Transcriptions compared: on the items that both runs read, and by those that they failed on.

One page on which a model is stuck in a loop outweighs all others in a micro error rate, and a
sample often has no such page. So runs are compared by two questions. How well do they read the
items that neither failed on? And how many did each of them fail on? A metric declares the figure
that answers the first with `Figure.leaves_out`, which names the one that answers the second.

Both are answered by a paired test over items: if it makes no difference which run gave which
answer, the sign of each item's difference is as likely to be the other one. Failures are then
compared by McNemar's exact test ("Note on the sampling error of the difference between correlated
proportions or percentages", Psychometrika 12, 1947), on the items that one of both failed on. The
p of all tests are corrected together (Holm), without those of so few failures that they could not
be significant anyway (Tarone, "A modified Bonferroni method for discrete data", Biometrics 46,
1990).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, compress

import numpy as np

from hdbench.scoring.metric import Figure, Metric, figure_of
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval, share_interval
from hdbench.statistics.differences import difference_interval
from hdbench.statistics.resampling import Array, StatisticsTable, bootstrap, mean_column
from hdbench.statistics.significance import PermutationTest, holm, sign_flip_tests


@dataclass(frozen=True)
class Failures:
    """The items that two runs failed on.

    Attributes:
        a: on how many the first run failed.
        b: on how many the second run failed.
        one_only: on how many only one of them did.
        read: on how many neither did.
        p: the two-sided p of the difference.
        p_holm: the same, corrected for the number of tests.
        not_excluded: the share of failures that is not excluded for each run: the upper end of its
            95% interval (Clopper and Pearson).
    """

    a: int
    b: int
    one_only: int
    read: int
    p: float
    p_holm: float
    not_excluded: tuple[float, float]


@dataclass(frozen=True)
class PairVerdict:
    """Two models compared by both questions.

    Attributes:
        test: the test of their difference on items that neither failed on.
        p_holm: its p, corrected for the number of tests.
        tests: how many these are.
        failures: what they failed on.
        reads_better: 0 or 1, the model that is significantly better on these items; None if none.
        fails_less: 0 or 1, the model that fails on significantly fewer items; None if none.
    """

    test: PermutationTest
    p_holm: float
    tests: int
    failures: Failures
    reads_better: int | None
    fails_less: int | None

    @property
    def better(self) -> int | None:
        """The better model, 0 or 1; None if neither is, or each is better in one."""
        answers = {self.reads_better, self.fails_less} - {None}
        return answers.pop() if len(answers) == 1 else None


def figure_without_failures(metric: Metric, name: str) -> Figure | None:
    """Return a figure, if it leaves out what a run failed on; otherwise None."""
    figure = figure_of(metric, name)
    return figure if figure is not None and figure.leaves_out is not None else None


@dataclass(frozen=True)
class OnCommonItems:
    """A figure of two models on the items that no run of theirs failed on.

    Attributes:
        a: the first one's, the mean over its runs; None if there is no such item.
        b: the second one's.
        interval: that of a - b; None with fewer than 20 such items, or if no draw gives another.
        spread: the standard deviation of the drawn differences; None without an interval.
    """

    a: float | None
    b: float | None
    interval: Interval | None
    spread: float | None


@dataclass(frozen=True)
class ComparedPair:
    """Two models by both questions, for the sentences that say how they compare.

    Attributes:
        names: theirs.
        items: the number of items.
        figure: the name of the figure on items that neither failed on.
        common: its values on these.
        verdict: what the tests say.
    """

    names: tuple[str, str]
    items: int
    figure: str
    common: OnCommonItems
    verdict: PairVerdict


def on_common_items(
    models: Sequence[Sequence[StatisticsTable]],
    figure: Figure,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> OnCommonItems:
    """Return a figure of two models on the items that neither failed on.

    Args:
        models: the runs of both, with the same items in the same order.
        figure: from `figure_without_failures`.
        resamples: how often items are drawn.
        level: the nominal coverage of the interval.
        seed: the seed of the random numbers.
    """
    runs = [run for of_model in models for run in of_model]
    failed = mean_column(runs, _statistic(runs[0], figure)) > 0
    if failed.all():
        return OnCommonItems(None, None, None, None)
    tables = []
    for run in runs:
        values = np.where(failed[:, None], 0.0, run.values)
        if run.groups is not None:
            values[:, -1] = run.weights
        tables.append(run._replace(values=values))
    first = len(models[0])
    rates = [table.value(figure.name) for table in tables]
    one, other = float(np.mean(rates[:first])), float(np.mean(rates[first:]))
    if np.sum(~failed) < MIN_ITEMS:
        return OnCommonItems(one, other, None, None)
    of_runs = [draws[:, 0] for draws in bootstrap(tables, [figure.name], resamples, seed)]
    drawn = np.mean(of_runs[:first], axis=0) - np.mean(of_runs[first:], axis=0)
    interval = difference_interval(drawn, runs[0].independent, level)
    return OnCommonItems(one, other, interval, float(np.nanstd(drawn, ddof=1)))


def pair_verdicts(
    models: Sequence[Sequence[StatisticsTable]],
    figure: Figure,
    *,
    permutations: int,
    level: float = 0.95,
    seed: int = 0,
) -> list[PairVerdict]:
    """Return what both questions say of each pair of models.

    Args:
        models: the runs of each, with the same items in the same order.
        figure: from `figure_without_failures`; lower is better.
        permutations: the maximum number of changes of signs.
        level: 1 - level is the tests' level.
        seed: the seed of the random numbers.

    Returns:
        The pairs: first and second, first and third, ….
    """
    pairs = list(combinations(range(len(models)), 2))
    if not pairs:
        return []
    statistic = _statistic(models[0][0], figure)
    errors = [np.mean([_numerators(run, figure) for run in runs], axis=0) for runs in models]
    failed = [mean_column(runs, statistic) for runs in models]
    bounds = [share_interval(runs, statistic, level).high for runs in models]
    read = np.array([(failed[a] == 0) & (failed[b] == 0) for a, b in pairs])
    apart = np.array([errors[a] - errors[b] for a, b in pairs]) * read
    more = np.array([failed[a] - failed[b] for a, b in pairs])
    tests = sign_flip_tests(apart, permutations, seed)
    of_failures = [test.p for test in sign_flip_tests(more, permutations, seed)]
    # A test of few failures that cannot be significant needs no correction (Tarone).
    bound = (1 - level) / (2 * len(pairs))
    counts = [2.0 ** (1 - np.count_nonzero(row)) <= bound for row in more]
    every = [test.p for test in tests] + list(compress(of_failures, counts))
    in_turn = iter(holm(every))
    corrected = (
        [next(in_turn) for _ in tests],
        [
            next(in_turn) if count else min(1.0, 2 * len(pairs) * p)
            for p, count in zip(of_failures, counts, strict=True)
        ],
    )
    found = []
    for pair, (a, b) in enumerate(pairs):
        better = [
            int(each[pair].sum() > 0) if p[pair] < 1 - level else None
            for each, p in zip((apart, more), corrected, strict=True)
        ]
        failures = Failures(
            a=int(np.sum(failed[a] > 0)),
            b=int(np.sum(failed[b] > 0)),
            one_only=int(np.count_nonzero(more[pair])),
            read=int(read[pair].sum()),
            p=of_failures[pair],
            p_holm=corrected[1][pair],
            not_excluded=(bounds[a], bounds[b]),
        )
        found.append(PairVerdict(tests[pair], corrected[0][pair], len(every), failures, *better))
    return found


def _statistic(run: StatisticsTable, figure: Figure) -> str:
    share = figure_of(run.metric, str(figure.leaves_out))
    if share is None or share.share_of is None:
        raise ValueError(f"{figure.name}: {figure.leaves_out} is no share of items")
    return share.share_of


def _numerators(run: StatisticsTable, figure: Figure) -> Array:
    """Return what each item adds to the dividend of a ratio, 0.0 if it says nothing."""
    [divisor] = figure.divided_by
    rates = np.nan_to_num(run.figures(run.values, [figure.name])[:, 0])
    sizes: Array = rates * run.sizes(divisor)
    return sizes
