"""Comparing runs on the same items: differences with intervals, tests, and where they differ."""

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from hdbench.common.display.table import Column, Kind, Table, block
from hdbench.common.display.words import Dot
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message, escaped, joined
from hdbench.scoring.metric import Figure, figure_of, judging_figure
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval
from hdbench.statistics.differences import PAIRED, Differences
from hdbench.statistics.failures import (
    ComparedPair,
    Failures,
    PairVerdict,
    figure_without_failures,
    on_common_items,
    pair_verdicts,
)
from hdbench.statistics.resampling import (
    Scored,
    StatisticsTable,
    check_settings,
    rate_names,
    tables,
)
from hdbench.statistics.significance import PermutationTest, holm, permutation_test

if TYPE_CHECKING:
    from hdbench.common.display.style import Plot

POWER = 0.8
APART = 10
"""Number of items shown, those that differ most."""

_SHOWN = 3  # ids in a message


@dataclass(frozen=True)
class Difference:
    """One figure for two runs.

    Attributes:
        a: the first run's value.
        b: the second run's value.
        difference: a - b.
        interval: the interval of the difference; None if there are too few items, if the figure has
            none in one of the runs, or if no draw of items gives another difference.
        why: why it has no interval although there are enough items, if that is because the figure
            has none in one of the runs.
    """

    a: float
    b: float
    difference: float
    interval: Interval | None
    why: str | None = None


@dataclass(frozen=True)
class FieldEffect:
    """The rate of one field in two runs, and their difference a - b.

    A rate is None if no item has the field: neither a ground truth nor an answer of that run.
    """

    a: float | None
    b: float | None
    difference: float | None


@dataclass(frozen=True)
class ItemDifference:
    """The figure of one item in two runs."""

    id: str
    a: float
    b: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two runs on the same items.

    Attributes:
        a: the first run's name.
        b: the second run's name.
        items: the number of items.
        headline: the figure that was asked for.
        judged_by: the figure that is tested: the headline, unless it declares another
            (`hdbench.scoring.metric.Figure.judged_by`).
        higher_is_better: the direction of both.
        figures: each rate that both have, the headline among them.
        p: the two-sided p value of the tested figure's difference, by the paired permutation test.
        p_holm: the same, corrected for all pairs that were compared.
        comparisons: how many pairs that were.
        permutations: the number of exchanges from which `p` was computed; 0 if it is that of a
            normal distribution.
        exact: whether these were all possible exchanges.
        separable: whether the two can be told apart.
        better: the name of the better run, if they can, and neither is better in one question and
            worse in the other.
        why: why they can or cannot, in a sentence or two.
        detectable: the smallest difference in the tested figure that would be found with a
            probability of 0.8 in one comparison; None if there are too few items.
        fields: field → its rates.
        item_figure: the figure of one item, higher is better; see `Metric`.
        items_apart: the items in which that differs most, at most ten.
        resamples: how often items were drawn for the intervals.
        method: how the intervals are computed.
        level: the intervals' nominal coverage; 1 - level is the tests' level.
        seed: the seed of the random generators.
        failures: the items that either run failed on, if it is compared on the others; see
            `hdbench.statistics.failures`.
        estimated: that the figures are estimates for a whole, if the items are a sample of it.
    """

    a: str
    b: str
    items: int
    headline: str
    judged_by: str
    higher_is_better: bool
    figures: dict[str, Difference]
    p: float
    p_holm: float
    comparisons: int
    permutations: int
    exact: bool
    separable: bool
    better: str | None
    why: str
    detectable: float | None
    fields: dict[str, FieldEffect]
    item_figure: str
    items_apart: list[ItemDifference]
    resamples: int
    method: str
    level: float
    seed: int
    failures: Failures | None = None
    estimated: str | None = None

    @property
    def verdict(self) -> str:
        """Return which of them is better, or that they cannot be told apart."""
        if self.better is None and self.separable:
            return Message("one reads better, the other fails less: neither is better")
        if self.better is None:
            return Message("not separable")
        return Message("{better} is better", better=self.better)

    def __repr__(self) -> str:
        """Return the verdict, and why."""
        return (
            f"<Comparison of {escaped(self.a)} and {escaped(self.b)} on {self.items:,} items\n"
            f" {self.judged_by}: {escaped(self.verdict)}: {self.why}>"
        )

    def _repr_html_(self) -> str:
        lines = [f"A: {self.a}", f"B: {self.b}", self.why]
        title = f"{self.judged_by}: {self.verdict}"
        return block(title=title, lines=lines, tables=[self.table.drawn()])

    @property
    def table(self) -> Table:
        """A row for each figure: its values, their difference, and the interval of that."""
        rows = [
            {"figure": name, **_of_difference(difference)}
            for name, difference in self.figures.items()
        ]
        return Table(rows, [Column("figure", "name", Message("figure")), *_columns("figure")])

    @property
    def field_table(self) -> Table:
        """A row for each field: its rates, and their difference."""
        rows = [{"field": name, **vars(effect)} for name, effect in self.fields.items()]
        columns = [Column("field", "field", Message("field")), *_columns("rate", ends=None)]
        return Table(rows, columns, Message("Fields"))

    @property
    def item_table(self) -> Table:
        """A row for each of the items in which they differ most: its figures."""
        columns = [Column("id", title=Message("id")), *_columns("rate")[:2]]
        title = Message("Items that differ most ({figure})", figure=self.item_figure)
        return Table([vars(item) for item in self.items_apart], columns, title)

    def plot(self, *, language: str = "en") -> "Plot":
        """Draw the differences a - b with their intervals.

        Args:
            language: one of `hdbench.common.texts.LANGUAGES`.

        Raises:
            HdbenchError: matplotlib is not installed.
        """
        with needed("plots", "plots need"):
            from hdbench.common.display.plots import differences  # noqa: PLC0415  imports matplotlib

        rows = [
            Dot(name, figure.difference, *(figure.interval.ends if figure.interval else ()))
            for name, figure in self.figures.items()
        ]
        return differences(rows, names=(self.a, self.b), level=self.level, language=language)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return asdict(self)

    def to_pandas(self) -> Any:
        """Return `table` as a `pandas.DataFrame`."""
        return self.table.to_pandas()


def pair_table(comparisons: Sequence[Comparison]) -> Table:
    """Return a row for each two runs: their difference in the figure that compares them, and p."""
    rows: list[dict[str, Any]] = []
    for pair in comparisons:
        verdict = pair.verdict
        if pair.better is not None:
            verdict = Message("{better} is better", better="A" if pair.better == pair.a else "B")
        of_figure = _of_difference(pair.figures.get(pair.judged_by))
        rows.append(of_figure | {"a": pair.a, "b": pair.b, "p": pair.p_holm, "verdict": verdict})
    return Table(
        rows,
        [
            *(Column(name, title=name.upper()) for name in ("a", "b")),
            *_columns("figure")[2:],
            Column("p", "figure"),
            Column("verdict", "word", " "),
        ],
        Message("Pairs ({figure})", figure=comparisons[0].judged_by),
    )


def _columns(kind: Kind, ends: tuple[str, str] | None = ("low", "high")) -> list[Column]:
    return [
        Column("a", kind, "A"),
        Column("b", kind, "B"),
        Column("difference", "difference", "A - B", ends),
    ]


def _of_difference(difference: Difference | None) -> dict[str, Any]:
    """Return the cells of a figure for two runs."""
    interval = difference and difference.interval
    return {name: getattr(difference, name, None) for name in ("a", "b", "difference")} | {
        end: interval and getattr(interval, end) for end in ("low", "high")
    }


def compare(
    a: Scored,
    b: Scored,
    *,
    headline: str,
    higher_is_better: bool,
    names: tuple[str, str] = ("A", "B"),
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compare two runs: `compare_runs` for one pair.

    Args:
        a: a result.
        b: a result on the same items.
        headline: see `compare_runs`, as for all the rest.
        higher_is_better: the headline's direction.
        names: the names of the two runs, which must differ.
        resamples: the number of draws of items, and of exchanges in the test.
        level: the nominal coverage.
        seed: the seed of the random generators.

    Raises:
        HdbenchError: see `compare_runs`.
    """
    [comparison] = compare_runs(
        dict(zip(names, (a, b), strict=True)),
        headline=headline,
        higher_is_better=higher_is_better,
        resamples=resamples,
        level=level,
        seed=seed,
    )
    return comparison


def compare_runs(
    results: Mapping[str, Scored],
    *,
    headline: str,
    higher_is_better: bool,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> list[Comparison]:
    """Compare every pair of runs on the same items.

    Differences have paired bootstrap intervals: the same items are drawn for both runs; see
    `difference_interval`. The headline's difference is tested by exchanging the two runs' answers
    item by item (`permutation_test`; Edgington and Onghena, "Randomization tests", 2007), and the p
    values are corrected for the number of pairs (`holm`). Two runs are separable if the corrected p
    is below 1 - level and there are at least 20 items: with fewer, drawing items says too little
    about others, and there are no intervals either. As p is at least 1 / (permutations + 1), many
    pairs need many permutations: if `resamples` is less than twice the number of pairs / (1 -
    level), that many are taken.

    Where the headline declares another figure by which it is judged, that figure is tested. Where
    that one leaves out the items that a run failed on, there are two questions, and a test for
    each: how well both read the items that neither failed on, and how many each failed on; see
    `hdbench.statistics.failures`. One run is better if it is significantly better in one of them,
    and not significantly worse in the other. These tests hold for any number of items.

    A ratio about which much fewer items say something in one of the runs than there are, as the
    precision of a run with few answers, is not exchanged fairly: item by item, both runs then have
    about as many answers, and vary less than the one with few of them does. So its difference has
    an interval with one unseen item for each run, as in `bootstrap.intervals`, and two runs are
    separable only if that excludes 0, too, at a level corrected for the number of pairs. The same
    holds where a few items make up most of a ratio; see `StatisticsTable.support`. Of two models
    with the same precision, one of which answered 21 of 263 items and the other all, the test alone
    called .14 to .40 different; with the interval, .03 or less are
    (`tests/speed/ratio_coverage.py`).

    The detectable difference is `(z(1 - α/2) + z(0.8)) · s` (Bloom, "Minimum detectable effects",
    Evaluation Review 19, 1995): α is 1 - level, z the normal distribution's quantile, and s the
    standard deviation of the drawn differences, which is `sd / √n` if the headline is a mean. Where
    intervals are joined, half their width takes the place of `z(1 - α/2) · s`.

    Args:
        results: name → result, at least two.
        headline: the figure that is tested, or that declares the one which is.
        higher_is_better: its direction.
        resamples: how often items are drawn, and the minimum number of exchanges, unless all are
            tried.
        level: the nominal coverage, between 0 and 1.
        seed: the seed of `numpy.random.default_rng`.

    Returns:
        The pairs, in the order of `results`: first and second, first and third, ….

    Raises:
        HdbenchError: there are fewer than two results; they differ in metric, protocol, options,
            rules, dataset or items; none has the headline; a setting is out of range.
    """
    check_settings(resamples, level, seed)
    names, scored = list(results), list(results.values())
    if len(names) < 2:  # noqa: PLR2004
        raise HdbenchError("{count} run: name at least two to compare", count=len(names))
    first = scored[0]
    for name, other in results.items():
        check_comparable(names[0], first, name, other)
    rates = [result.rates for result in scored]
    wanted = rate_names(first.metric, rates[0])
    if any(headline not in rate_names(first.metric, run) for run in rates):
        raise HdbenchError(
            "headline: no figure {headline!r}: choose one of {names}",
            headline=headline,
            names=", ".join(wanted),
        )
    tested = judging_figure(first.metric, headline)
    runs = tables(scored, first.ids)
    items = len(first.ids)
    apart = Differences(runs, wanted, resamples, seed) if items >= MIN_ITEMS else None
    pairs = list(combinations(range(len(names)), 2))
    permutations = max(resamples, math.ceil(2 * len(pairs) / (1 - level)))
    drawing = _Drawing(apart, resamples, permutations, level, seed)
    every = [
        _differences(rates[a], rates[b], wanted, apart, pair=(a, b), level=level) for a, b in pairs
    ]
    without = figure_without_failures(first.metric, tested)
    if without is not None:
        # In the order of the ids, so that their order in the first run has no influence.
        by_id = tables(scored, sorted(first.ids))
        answers = _by_failures(by_id, names, without, every, drawing)
    else:
        answers = _by_figure(runs, tested, higher_is_better, every, drawing)

    comparisons = []
    for (a, b), figures, answer in zip(pairs, every, answers, strict=True):
        better = None if answer.better is None else names[(a, b)[answer.better]]
        comparisons.append(
            Comparison(
                a=names[a],
                b=names[b],
                items=items,
                headline=headline,
                judged_by=tested,
                higher_is_better=higher_is_better,
                figures=figures,
                p=answer.test.p,
                p_holm=answer.p_holm,
                comparisons=len(pairs),
                permutations=answer.test.permutations,
                exact=answer.test.exact,
                separable=answer.separable,
                better=better,
                why=answer.why,
                detectable=answer.detectable,
                fields=_field_effects(scored[a], scored[b]),
                item_figure=scored[a].metric.item_figure,
                items_apart=_items_apart(scored[a], scored[b]),
                resamples=resamples,
                method=PAIRED if apart is None else apart.method,
                level=level,
                seed=seed,
                failures=answer.failures,
                estimated=scored[a].estimated,
            )
        )
    return comparisons


class _Drawing(NamedTuple):
    """How items are drawn, and answers exchanged; see `compare_runs`."""

    apart: Differences | None
    resamples: int
    permutations: int
    level: float
    seed: int


class _Answer(NamedTuple):
    """Whether two runs can be told apart; see `Comparison`. `better` is 0 for a, 1 for b."""

    test: PermutationTest
    p_holm: float
    separable: bool
    better: int | None
    why: str
    detectable: float | None
    failures: Failures | None = None


def _by_figure(
    runs: Sequence[StatisticsTable],
    tested: str,
    higher_is_better: bool,
    every: Sequence[Mapping[str, Difference]],
    drawing: _Drawing,
) -> Iterator[_Answer]:
    """Tell runs apart by one figure."""
    apart, _, permutations, level, seed = drawing
    declared = figure_of(runs[0].metric, tested)
    has_verdict = declared is None or declared.has_interval
    pairs = list(combinations(range(len(runs)), 2))
    tests = [permutation_test(runs[a], runs[b], tested, permutations, seed) for a, b in pairs]
    corrected = holm([test.p for test in tests])
    for (a, b), figures, test, p_holm in zip(pairs, every, tests, corrected, strict=True):
        figure = figures[tested]
        fewest = min(runs[run].support(tested)[0] for run in (a, b))
        is_doubtful, detectable = False, None
        if apart is not None:
            position, joined = list(figures).index(tested), None
            if apart.rests_on_few(a, b, position):
                joined, of_all = figure.interval, 1 - (1 - level) / len(pairs)
                ends = apart.interval(a, b, position, of_all)
                is_doubtful = ends is None or ends.low <= 0 <= ends.high
            detectable = _detectable(apart.spread(a, b, position), level, joined)
        separable = has_verdict and fewest >= MIN_ITEMS and p_holm < 1 - level and not is_doubtful
        why: str = Message("one item can outweigh all others: nothing is called separable")
        if has_verdict:
            why = _why(fewest, p_holm, len(pairs), level, figure=tested, is_doubtful=is_doubtful)
        better = int((figure.difference > 0) != higher_is_better)
        yield _Answer(test, p_holm, separable, better if separable else None, why, detectable)


def _by_failures(
    runs: Sequence[StatisticsTable],
    names: Sequence[str],
    figure: Figure,
    every: Sequence[dict[str, Difference]],
    drawing: _Drawing,
) -> Iterator[_Answer]:
    """Tell runs apart on what they read and by what they failed on; enters that difference."""
    _, resamples, permutations, level, seed = drawing
    found = pair_verdicts(
        [[run] for run in runs], figure, permutations=permutations, level=level, seed=seed
    )
    pairs = combinations(range(len(runs)), 2)
    for (a, b), figures, verdict in zip(pairs, every, found, strict=True):
        common = on_common_items(
            [[runs[a]], [runs[b]]], figure, resamples=resamples, level=level, seed=seed
        )
        figures.pop(figure.name, None)
        if common.a is not None and common.b is not None:
            difference = Difference(common.a, common.b, common.a - common.b, common.interval)
            figures[figure.name] = difference
        pair = ComparedPair((names[a], names[b]), len(runs[a].values), figure.name, common, verdict)
        yield _Answer(
            verdict.test,
            verdict.p_holm,
            verdict.reads_better is not None or verdict.fails_less is not None,
            verdict.better,
            two_sentences(pair),
            None if common.spread is None else _detectable(common.spread, level, None),
            verdict.failures,
        )


def two_sentences(pair: ComparedPair) -> Message:
    """Return how two compare: on the items that neither failed on, and in what they failed on."""
    return joined([_on_items_read(pair), _on_failures(pair)], " ")


def _on_items_read(pair: ComparedPair) -> Message:
    """Return how well both read the items on which neither failed."""
    common, verdict = pair.common, pair.verdict
    if common.a is None or common.b is None:
        return Message("One run or the other failed on every item.")
    apart = Message("{difference:+.4f}", difference=common.a - common.b)
    if common.interval is not None:
        apart = Message(
            "{difference:+.4f} (interval {low:+.4f} to {high:+.4f})",
            difference=common.a - common.b,
            low=common.interval.low,
            high=common.interval.high,
        )
    return Message(
        "On the only item that neither failed on, {figure} is {rate_a:.4f} for {a} and "
        "{rate_b:.4f} for {b}: a difference of {apart}, p = {p:.2g}{corrected}.",
        plural="On the {count:,} items that neither failed on, {figure} is {rate_a:.4f} for {a} "
        "and {rate_b:.4f} for {b}: a difference of {apart}, p = {p:.2g}{corrected}.",
        count=verdict.failures.read,
        figure=pair.figure,
        a=pair.names[0],
        rate_a=common.a,
        b=pair.names[1],
        rate_b=common.b,
        apart=apart,
        p=verdict.p_holm,
        corrected=_of_tests(verdict),
    )


def _on_failures(pair: ComparedPair) -> Message:
    """Return what both failed on, and what is not excluded."""
    failures = pair.verdict.failures
    a, b = failures.not_excluded
    if not failures.a and not failures.b:
        return Message(
            "Neither failed on the only item; up to {upper:.1f} % is not excluded.",
            plural="Neither failed on any of {count:,} items; up to {upper:.1f} % is not excluded.",
            count=pair.items,
            upper=100 * a,
        )
    return Message(
        "Of {items:,} items, {a} failed on {count_a:,} (up to {upper_a:.1f} % is not excluded), "
        "{b} on {count_b:,} (up to {upper_b:.1f} %); on {one_only:,} of them only one did, "
        "p = {p:.2g}{corrected}.",
        items=pair.items,
        a=pair.names[0],
        count_a=failures.a,
        upper_a=100 * a,
        b=pair.names[1],
        count_b=failures.b,
        upper_b=100 * b,
        one_only=failures.one_only,
        p=failures.p_holm,
        corrected=_of_tests(pair.verdict),
    )


def _of_tests(verdict: PairVerdict) -> Message:
    if verdict.tests == 1:
        return Message("")
    return Message(", corrected for {count} tests", count=verdict.tests)


def _corrected(comparisons: int) -> Message:
    if comparisons == 1:
        return Message("")
    return Message(", corrected for {count} comparisons,", count=comparisons)


def check_comparable(name: str, result: Scored, other_name: str, other: Scored) -> None:
    """Reject two results whose figures do not measure the same thing."""
    one, two = result.metric, other.metric
    sides = {
        "metric": (one.name, two.name),
        "protocol": (one.protocol, two.protocol),
        "options": (one.options, two.options),
        "rules": (one.rules, two.rules),
        **{name: (value, other.conditions[name]) for name, value in result.conditions.items()},
    }
    for aspect, (value, other_value) in sides.items():
        if value != other_value:
            raise HdbenchError(
                "{what}: {name!r} has {left}, {other!r} {right}: score both in the "
                "same way to compare them",
                what=aspect,
                name=name,
                left=repr(value),
                other=other_name,
                right=repr(other_value),
            )
    missing, more = set(result.ids) - set(other.ids), set(other.ids) - set(result.ids)
    if missing or more:
        raise HdbenchError(
            "{name!r} and {other!r} do not have the same items: {first_only} only "
            "in the first, {second_only} only in the second",
            name=name,
            other=other_name,
            first_only=_listed(missing),
            second_only=_listed(more),
        )


def _listed(ids: set[str]) -> str:
    shown = ", ".join(map(repr, sorted(ids)[:_SHOWN]))
    return f"{len(ids)} ({shown}{', …' if len(ids) > _SHOWN else ''})" if ids else Message("none")


def _why(
    items: int, p_holm: float, comparisons: int, level: float, *, figure: str, is_doubtful: bool
) -> str:
    if items < MIN_ITEMS:
        return Message(
            "{items} independent item, fewer than {least}: nothing is called separable"
            if items == 1
            else "{items} independent items, fewer than {least}: nothing is called separable",
            items=items,
            least=MIN_ITEMS,
        )
    values = {"p": p_holm, "corrected": _corrected(comparisons), "level": 1 - level}
    if p_holm >= 1 - level:
        return Message("p = {p:.2g}{corrected} is not below {level:.2g}", **values)
    if is_doubtful:
        return Message(
            "p = {p:.2g}{corrected} is below {level:.2g}, but {figure} rests on so few items that "
            "one more could make up for the difference",
            figure=figure,
            **values,
        )
    return Message("p = {p:.2g}{corrected} is below {level:.2g}", **values)


def _differences(
    rates_a: Mapping[str, float],
    rates_b: Mapping[str, float],
    names: Sequence[str],
    apart: Differences | None,
    *,
    pair: tuple[int, int],
    level: float,
) -> dict[str, Difference]:
    """Return name → difference of each figure that both runs have."""
    figures = {}
    for position, name in enumerate(names):
        a, b = rates_a.get(name), rates_b.get(name)
        if a is None or b is None:
            continue
        interval = why = None
        if apart is not None:
            interval = apart.interval(*pair, position, level)
            why = apart.why_without(*pair, position)
        figures[name] = Difference(a, b, a - b, interval, why)
    return figures


def _detectable(spread: float, level: float, joined: Interval | None) -> float:
    """Return the smallest difference that is found with a probability of `POWER`."""
    normal = NormalDist()
    margin = normal.inv_cdf((1 + level) / 2) * spread
    if joined is not None:
        margin = (joined.high - joined.low) / 2
    return margin + normal.inv_cdf(POWER) * spread


def _field_effects(a: Scored, b: Scored) -> dict[str, FieldEffect]:
    rates_a, rates_b = a.field_rates(), b.field_rates()
    effects = {}
    for name in sorted(rates_a.keys() | rates_b.keys()):
        one, other = _main_rate(rates_a.get(name)), _main_rate(rates_b.get(name))
        difference = None if one is None or other is None else one - other
        effects[name] = FieldEffect(one, other, difference)
    return effects


def _main_rate(rates: Mapping[str, float] | None) -> float | None:
    """Return the rate by which a metric compares fields: F1 of counts, else accuracy."""
    return None if rates is None else rates["f1" if "f1" in rates else "accuracy"]


def _items_apart(a: Scored, b: Scored) -> list[ItemDifference]:
    column = a.metric.item_figure
    others = dict(zip(b.ids, b.statistics[column], strict=True))
    items = (
        ItemDifference(item, value, others[item])
        for item, value in zip(a.ids, a.statistics[column], strict=True)
        if value != others[item]
    )
    return heapq.nsmallest(APART, items, key=lambda item: -abs(item.a - item.b))
