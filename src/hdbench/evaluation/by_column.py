"""Figures by the values of a column of the benchmark: per century, script or language."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.display.cells import Column
from hdbench.common.display.table import Table
from hdbench.common.grouping import grouped
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.evaluation.result import Result
from hdbench.evaluation.warning_texts import WarningText, in_words, message
from hdbench.scoring.metric import judging_figure
from hdbench.statistics.bootstrap import MIN_ITEMS, Differences, Interval, intervals
from hdbench.statistics.failures import figure_without_failures, on_common_items
from hdbench.statistics.resampling import tables

MAX_GROUPS = 50
"""Maximum number of groups: a column with more values names items, and does not group them."""

RESAMPLES, LEVEL = 10_000, 0.95
"""Same as in `compare_runs`."""


@dataclass(frozen=True)
class Group:
    """The items with one value, or range of values, and one run's primary metric on them.

    Attributes:
        value: the value; None if the items have none.
        items: the number of items.
        answered: how many have an answer that could be read.
        unanswered: how many have none.
        unparsable: how many have one without a record.
        figure: the headline's value; None if it has none for these items.
        judged: that of the figure by which runs are compared; see `Figure.judged_by`.
        interval: the interval of `judged`; None if there are too few items.
    """

    value: str | None
    items: int
    answered: int
    unanswered: int
    unparsable: int
    figure: float | None
    judged: float | None
    interval: Interval | None


@dataclass(frozen=True)
class GroupDifference:
    """The items with one value, or range of values, and the figure by which two runs are compared.

    Attributes:
        value: the value; None if the items have none.
        items: the number of items.
        a: the first run's figure; None if it has none for these items.
        b: the second run's.
        difference: a - b.
        interval: its paired interval; None if there are too few items, or if no draw of items gives
            another difference.
    """

    value: str | None
    items: int
    a: float | None
    b: float | None
    difference: float | None
    interval: Interval | None


G = TypeVar("G", Group, GroupDifference)


@dataclass(frozen=True)
class ByColumn(Generic[G]):
    """Figures by the values of a column.

    Attributes:
        column: the column.
        headline: the headline.
        judged_by: the figure by which runs are compared, of which intervals and differences are:
            the headline, unless it declares another.
        groups: its values in order.
        note: how numbers were cut into ranges, if they were.
    """

    column: str
    headline: str
    judged_by: str
    groups: list[G]
    note: str | None

    @property
    def warning(self) -> WarningText | None:
        """A warning that groups are too small, as data for `in_words`; None if none is."""
        small = [group.items for group in self.groups if group.items < MIN_ITEMS]
        if not small:
            return None
        return message(
            "small_groups",
            count=len(small),
            groups=len(self.groups),
            column=escaped(self.column),
            least=MIN_ITEMS,
        )

    @property
    def table(self) -> Table:
        """A row for each group: its items, and its figures, of one run or of two side by side."""
        title = Message("{figure} by {column}", figure=self.judged_by, column=self.column)
        figures = [
            Column("a", "figure", "A"),
            Column("b", "figure", "B"),
            Column("difference", "difference", "A - B", ("low", "high")),
        ]
        if self.groups and isinstance(self.groups[0], Group):
            title = Message("By {column}", column=self.column)
            figures = [
                Column("answered", "number", Message("answered")),
                Column("figure", "figure", self.headline),
                Column("judged", "figure", self.judged_by, ("low", "high")),
            ]
            if self.judged_by == self.headline:
                del figures[1]
        rows = [
            vars(group)
            | {"value": Message("(none)") if group.value is None else group.value}
            | {end: group.interval and getattr(group.interval, end) for end in ("low", "high")}
            for group in self.groups
        ]
        columns = [Column("value", title=self.column), Column("items", "number", Message("items"))]
        return Table(rows, columns + figures, title)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, with a group's `figure` and `judged` under their own names."""
        groups = []
        for group in self.groups:
            values = dict(vars(group))
            if "figure" in values:
                values[self.judged_by] = values.pop("judged")
                values[self.headline] = values.pop("figure")
            ends = values.pop("interval")
            values["interval"] = None if ends is None else [ends.low, ends.high]
            groups.append(values)
        warning = self.warning
        warnings = [] if warning is None else [{"message": in_words(**warning), **warning}]
        return {"column": self.column, "note": self.note, "groups": groups, "warnings": warnings}


def by_column(result: Result, benchmark: Benchmark, column: str) -> ByColumn[Group]:
    """Return the headline, its interval and the coverage of a run for each value of a column.

    Args:
        result: the result.
        benchmark: what was scored.
        column: one of the benchmark's columns; numbers with many values are cut into ranges.

    Raises:
        HdbenchError: there is no such column, or it has too many values.
    """

    def group(value: str | None, part: Result) -> Group:
        judged_by = judging_figure(part.metric, part.headline)
        judged = part.rates.get(judged_by)
        computed = None if judged is None else intervals(part, only=judged_by)
        return Group(
            value,
            items=len(part.ids),
            answered=part.answered,
            unanswered=part.status["unanswered"],
            unparsable=part.status["unparsable"],
            figure=part.rates.get(part.headline),
            judged=judged,
            interval=None if computed is None else computed.figures.get(judged_by),
        )

    return _by(result, benchmark, column, group)


def differences_by_column(
    a: Result, b: Result, benchmark: Benchmark, column: str, *, seed: int = 0
) -> ByColumn[GroupDifference]:
    """Return the difference of two runs in the figure that compares them, by a column's values.

    The intervals are those of `compare_runs`. Nothing is tested: with many groups, some differ by
    chance.

    Args:
        a: a result.
        b: a result on the same items.
        benchmark: what was scored.
        column: one of the benchmark's columns.
        seed: the seed of the random numbers.

    Raises:
        HdbenchError: see `by_column`.
    """
    judged_by = judging_figure(a.metric, a.headline)

    def group(value: str | None, part: Result) -> GroupDifference:
        items, parts = len(part.ids), (part, b.filter(part.ids))
        without = figure_without_failures(a.metric, judged_by)
        if without is not None:
            common = on_common_items(
                [[table] for table in tables(parts, parts[0].ids)], without, seed=seed
            )
            difference = None if common.a is None else common.a - (common.b or 0.0)
            return GroupDifference(value, items, common.a, common.b, difference, common.interval)
        one, other = (part.rates.get(judged_by) for part in parts)
        if one is None or other is None:
            return GroupDifference(value, items, one, other, None, None)
        interval = None
        if items >= MIN_ITEMS:
            both = tables(parts, parts[0].ids)
            apart = Differences(both, [judged_by], RESAMPLES, seed)
            interval = apart.interval(0, 1, 0, LEVEL)
        return GroupDifference(value, items, one, other, one - other, interval)

    return _by(a, benchmark, column, group)


def _by(
    result: Result,
    benchmark: Benchmark,
    column: str,
    group: Callable[[str | None, Result], G],
) -> ByColumn[G]:
    """Return the groups of a result's items, in order."""
    values = benchmark.column(column)
    # Of all items, so that runs on some of them have the same ranges.
    grouping = grouped(list(values.values()))
    if len(grouping.order) > MAX_GROUPS:
        raise HdbenchError(
            "{benchmark}: {column}: has {count} different values, and at most {most} can be "
            "shown: choose a column that groups the items",
            benchmark=benchmark.id,
            column=column,
            count=len(grouping.order),
            most=MAX_GROUPS,
        )
    groups = [group(value, part) for value, part in result.by(values).items()]
    judged_by = judging_figure(result.metric, result.headline)
    return ByColumn(column, result.headline, judged_by, groups, grouping.note)
