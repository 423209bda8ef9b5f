"""Figures for a paper or a notebook, drawn from plain rows of numbers."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from hdbench.display.style import ONE_COLUMN, TWO_COLUMNS, Plot


class Dot(NamedTuple):
    """A value with its interval.

    Attributes:
        label: what it is a value of, such as a field or a model: untrusted text.
        value: the value; None if there is none.
        low: the lower end of its interval; None if it has none.
        high: the upper end.
        note: a text in a column of its own, such as a range of ranks.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


class Point(NamedTuple):
    """A value against what it costs.

    Attributes:
        label: what it is a value of, such as a model: untrusted text.
        value: the value.
        x: its price or seconds; None if that is not known.
        low: the lower end of the value's interval; None if it has none.
        high: the upper end.
    """

    label: str
    value: float
    x: float | None
    low: float | None = None
    high: float | None = None


Cost = Literal["price", "seconds"]


def dots(
    rows: Sequence[Dot],
    *,
    figure: str,
    higher_is_better: bool | None = None,
    title: str = "",
    line: Dot | None = None,
    notes: str = "",
    level: float = 0.95,
    language: str = "en",
    width: float = ONE_COLUMN,
) -> Plot:
    """Draw values as dots with their intervals, a row for each, the first at the top.

    Args:
        rows: the values, in the order in which they are shown.
        figure: the name of what is drawn, such as `f1_micro`.
        higher_is_better: its direction, which the axis names; None if it has none.
        title: the title; none if it is empty.
        line: a value that is drawn across all rows, with its label, such as what people reach.
        notes: the head of the column of notes.
        level: the nominal coverage of the intervals.
        language: one of `hdbench.common.texts.LANGUAGES`.
        width: the width in inches.
    """
    raise NotImplementedError


def differences(
    rows: Sequence[Dot],
    *,
    figure: str = "",
    names: tuple[str, str] | None = None,
    title: str = "",
    notes: str = "",
    level: float = 0.95,
    language: str = "en",
    width: float = ONE_COLUMN,
) -> Plot:
    """Draw differences as dots with their intervals, and a line at 0.

    Args:
        rows: the differences, in the order in which they are shown.
        figure: the name of what differs; empty if the rows name it.
        names: the two that are compared: a positive difference is in favor of... the first's value
            minus the second's.
        title: same as in `dots`, as for the rest.
        notes: see `dots`.
        level: see `dots`.
        language: see `dots`.
        width: see `dots`.
    """
    raise NotImplementedError


def scatter(
    points: Sequence[Point],
    *,
    figure: str,
    cost: Cost,
    higher_is_better: bool = True,
    title: str = "",
    line: Dot | None = None,
    level: float = 0.95,
    language: str = "en",
    width: float = TWO_COLUMNS,
) -> Plot:
    """Draw values against price or seconds, with the Pareto line of those that none beats in both.

    Args:
        points: the values; those whose price or seconds are not known are named below.
        figure: the name of what is drawn.
        cost: what it is drawn against: US dollars per 1,000 items, or seconds per item.
        higher_is_better: the direction of the values; lower costs are always better.
        title: same as in `dots`, as for the rest.
        line: see `dots`.
        level: see `dots`.
        language: see `dots`.
        width: see `dots`.
    """
    raise NotImplementedError


def heat_map(
    values: Sequence[Sequence[float | None]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    figure: str,
    higher_is_better: bool | None = None,
    title: str = "",
    language: str = "en",
    width: float = TWO_COLUMNS,
) -> Plot:
    """Draw values between 0 and 1 as colors, with the numbers in the cells.

    Args:
        values: a row of values for each of `rows`; None where there is none.
        rows: the rows' labels, such as fields: untrusted text.
        columns: the columns' labels, such as models.
        figure: the name of what is drawn.
        higher_is_better: same as in `dots`, as for the rest.
        title: see `dots`.
        language: see `dots`.
        width: see `dots`.
    """
    raise NotImplementedError
