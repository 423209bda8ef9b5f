"""Figures by the values of a column of the benchmark: per century, script or language."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hdbench.answers.answer import LOST
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.display.table import Column, Table
from hdbench.common.grouping import grouped
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.evaluation.parts import WarningText, in_words, message
from hdbench.evaluation.result import Result
from hdbench.scoring.metric import judging_figure
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval, intervals
from hdbench.statistics.differences import Differences
from hdbench.statistics.failures import figure_without_failures, on_common_items
from hdbench.statistics.resampling import tables

MAX_GROUPS = 50
"""Maximum number of groups: a column with more values names items, and does not group them."""

RESAMPLES, LEVEL = 10_000, 0.95
"""Same as in `compare_runs`."""


@dataclass(frozen=True)
class Group:
    """The items with one value, or range of values, and their figures.

    Attributes:
        value: the value; None if the items have none.
        items: the number of items.
        figures: of one run `answered`, `unanswered` and `unparsable`, how many answers could be
            read, are missing or could not be read, with the headline and the figure that judges; of
            two runs that figure as `a` and `b`, and their `difference`, a - b. None for a figure
            that has no value for these items.
        interval: the interval of the last one; None if there are too few items or, of two runs, if
            no draw of items gives another difference.
    """

    value: str | None
    items: int
    figures: dict[str, float | None]
    interval: Interval | None


@dataclass(frozen=True)
class ByColumn:
    """Figures by the values of a column.

    Attributes:
        column: the column.
        judged_by: the figure by which runs are compared, of which intervals and differences are:
            the headline, unless it declares another.
        groups: its values in order.
        note: how numbers were cut into ranges, if they were.
    """

    column: str
    judged_by: str
    groups: list[Group]
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
        names = [name for name in self.groups[0].figures if name not in LOST]
        title = Message("By {column}", column=self.column)
        if "difference" in names:
            title = Message("{figure} by {column}", figure=self.judged_by, column=self.column)
        rows = [
            group.figures
            | {"value": Message("(none)") if group.value is None else group.value}
            | {"items": group.items}
            | {end: group.interval and getattr(group.interval, end) for end in ("low", "high")}
            for group in self.groups
        ]
        columns = [_COLUMNS.get(name, Column(name, "figure")) for name in names]
        columns[-1] = columns[-1]._replace(ends=("low", "high"))
        first = [Column("value", title=self.column), Column("items", "number", Message("items"))]
        return Table(rows, first + columns, title)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        groups = [
            {"value": group.value, "items": group.items, **group.figures}
            | {"interval": group.interval and group.interval.ends}
            for group in self.groups
        ]
        warning = self.warning
        warnings = [] if warning is None else [{"message": in_words(**warning), **warning}]
        return {"column": self.column, "note": self.note, "groups": groups, "warnings": warnings}


_COLUMNS = {
    "answered": Column("answered", "number", Message("answered")),
    "a": Column("a", "figure", "A"),
    "b": Column("b", "figure", "B"),
    "difference": Column("difference", "difference", "A - B"),
}


def by_column(result: Result, benchmark: Benchmark, column: str) -> ByColumn:
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
        figures = {
            "answered": part.answered,
            "unanswered": part.status["unanswered"],
            "unparsable": part.status["unparsable"],
            part.headline: part.rates.get(part.headline),
            judged_by: judged,
        }
        interval = None if computed is None else computed.figures.get(judged_by)
        return Group(value, len(part.ids), figures, interval)

    return _by(result, benchmark, column, group)


def differences_by_column(
    a: Result, b: Result, benchmark: Benchmark, column: str, *, seed: int = 0
) -> ByColumn:
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

    def group(value: str | None, part: Result) -> Group:
        items, parts = len(part.ids), (part, b.filter(part.ids))
        without = figure_without_failures(a.metric, judged_by)
        if without is not None:
            common = on_common_items(
                [[table] for table in tables(parts, parts[0].ids)], without, seed=seed
            )
            difference = None if common.a is None else common.a - (common.b or 0.0)
            figures = {"a": common.a, "b": common.b, "difference": difference}
            return Group(value, items, figures, common.interval)
        one, other = (part.rates.get(judged_by) for part in parts)
        if one is None or other is None:
            return Group(value, items, {"a": one, "b": other, "difference": None}, None)
        interval = None
        if items >= MIN_ITEMS:
            both = tables(parts, parts[0].ids)
            apart = Differences(both, [judged_by], RESAMPLES, seed)
            interval = apart.interval(0, 1, 0, LEVEL)
        return Group(value, items, {"a": one, "b": other, "difference": one - other}, interval)

    return _by(a, benchmark, column, group)


def _by(
    result: Result,
    benchmark: Benchmark,
    column: str,
    group: Callable[[str | None, Result], Group],
) -> ByColumn:
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
    return ByColumn(column, judged_by, groups, grouping.note)
