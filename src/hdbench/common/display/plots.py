"""Figures for a paper or a notebook, drawn from plain rows of numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from hdbench.common.display.scatter import scatter
from hdbench.common.display.style import (
    BLUE,
    GREY,
    ONE_COLUMN,
    ORANGE,
    PALE,
    TEXT,
    TWO_COLUMNS,
    Plot,
    TickNumbers,
    finished,
    label_below,
    longest_label,
    new_plot,
    paper_style,
    short,
)
from hdbench.common.display.words import (
    Cost,
    Dot,
    Point,
    axis_label,
    known,
    listed,
    row_in_words,
    say,
)
from hdbench.common.texts import decimal

__all__ = ["Cost", "Dot", "Plot", "Point", "differences", "dots", "heat_map", "scatter"]

_ROW = 0.17  # inches
_AROUND = 0.58  # inches, of all but the rows and the title
_MAX_NOTE = 16
_ABOVE = -0.75  # the place above the first row

_DIGITS, _PERCENT = 0.25, 0.12  # inches that a cell needs for `0.85`, and for `85`
_UPRIGHT = 12  # columns from which on their labels stand upright
_MANY = 25  # columns from which on the gaps between cells are thin
_DARK = 0.45  # below it, a color needs white letters
_MAX_HEAD = 26


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

    A value without an interval is an open dot if others have one, and the label below says so; a
    missing value is said to be one.

    Args:
        rows: the values, in the order in which they are shown.
        figure: the name of what is drawn, such as `f1_micro`.
        higher_is_better: its direction, which is named below; None if it has none.
        title: the title; none if it is empty.
        line: a value that is drawn across all rows, with its label, such as what people reach.
        notes: the head of the column of notes.
        level: the nominal coverage of the intervals.
        language: one of `hdbench.common.texts.LANGUAGES`.
        width: the width in inches.
    """
    with paper_style():
        plot, axes = _rows(rows, title, notes, language, width)
        of_all = [*rows, line] if line else rows
        _draw(axes, rows)
        if line is not None and (reached := known(line.value)) is not None:
            _line(axes, line, reached)
        _scale(axes, of_all)
        axes.xaxis.set_major_formatter(TickNumbers(language))
        alt = _label(plot, of_all, figure, level, language, higher_is_better=higher_is_better)
        return finished(plot, listed(alt, _in_words(of_all, language), language))


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
    """Draw differences as dots with their intervals, and a line at 0, which is in the middle.

    Args:
        rows: the differences, in the order in which they are shown.
        figure: the name of what differs; empty if the rows name it.
        names: what is compared: the values of the first minus those of the second.
        title: the title; none if it is empty.
        notes: the head of the column of notes.
        level: the nominal coverage of the intervals.
        language: one of `hdbench.common.texts.LANGUAGES`.
        width: the width in inches.
    """
    with paper_style():
        plot, axes = _rows(rows, title, notes, language, width)
        axes.axvline(0, color=TEXT, linewidth=0.8, zorder=1)
        _draw(axes, rows)
        farthest = max((abs(end) for end in _ends(rows)), default=0.0) or 1.0
        axes.set_xlim(-1.08 * farthest, 1.08 * farthest)
        axes.xaxis.set_major_formatter(TickNumbers(language, signed=True))
        minus = say("minus", language, a=short(names[0]), b=short(names[1])) if names else ""
        subject = ": ".join(filter(None, (figure, minus)))
        alt = _label(plot, rows, subject, level, language)
        return finished(plot, listed(alt, _in_words(rows, language), language))


def _rows(
    rows: Sequence[Dot], title: str, notes: str, language: str, width: float
) -> tuple[Plot, Axes]:
    """Return a figure with a place for each row, and with the notes beside them."""
    plot, axes = new_plot(width, _AROUND + _ROW * max(len(rows), 2), title)
    most = longest_label(width)
    axes.set_yticks(range(len(rows)), [short(row.label, most) for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(len(rows), 2) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=max(5, int(1.4 * width)), steps=[1, 2, 5, 10]))
    axes.grid(axis="x")
    beside: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    for index, row in enumerate(rows):
        if row.note:
            note = short(row.note, _MAX_NOTE)
            axes.annotate(note, (1, index), (8, 0), va="center_baseline", **beside)
        if known(row.value) is None:
            missing = say("no_value", language)
            axes.annotate(missing, (0, index), (3, 0), va="center_baseline", color=GREY, **beside)
    if notes and any(row.note for row in rows):
        axes.annotate(short(notes, _MAX_NOTE), (1, _ABOVE), (8, 0), color=GREY, **beside)
    return plot, axes


def _draw(axes: Axes, rows: Sequence[Dot]) -> None:
    """Draw the dots; those without an interval are open if others have one."""
    placed = [(index, row, known(row.value)) for index, row in enumerate(rows)]
    with_interval = [(index, *row.interval) for index, row, _ in placed if row.interval]
    if with_interval:
        places, lows, highs = zip(*with_interval, strict=True)
        axes.hlines(places, lows, highs, color=BLUE, linewidth=1.6, clip_on=False)
    for face in (BLUE, "white"):
        drawn = [
            (value, index)
            for index, row, value in placed
            if value is not None
            and (face == "white") == bool(with_interval and row.interval is None)
        ]
        if drawn:  # a line without points would take up room at the figure's corner
            axes.plot(
                *zip(*drawn, strict=True),
                "o",
                color=BLUE,
                markerfacecolor=face,
                markersize=3.6,
                clip_on=False,
                zorder=3,
            )


def _line(axes: Axes, line: Dot, value: float) -> None:
    """Draw a value across all rows, with its label above them."""
    if line.interval:
        axes.axvspan(*line.interval, facecolor=ORANGE, alpha=0.2, linewidth=0, zorder=0.5)
    axes.axvline(value, color=ORANGE, linewidth=1.2, linestyle=(0, (4, 2)), zorder=1)
    axes.text(value, _ABOVE, short(line.label, _MAX_NOTE), ha="center")


def _scale(axes: Axes, rows: Sequence[Dot]) -> None:
    """Show all values, but nothing beyond 0 and 1 where all are between."""
    ends = _ends(rows)
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    space = 0.06 * (high - low) or 0.05
    shown = low - space, high + space
    if low >= 0 and high <= 1:
        shown = max(shown[0], -0.01), min(shown[1], 1.01)
    axes.set_xlim(*shown)


def _ends(rows: Sequence[Dot]) -> list[float]:
    """Return all values, and the ends of their intervals."""
    values = [value for row in rows if (value := known(row.value)) is not None]
    return values + [end for row in rows for end in row.interval or ()]


def _label(
    plot: Plot,
    rows: Sequence[Dot],
    figure: str,
    level: float,
    language: str,
    *,
    higher_is_better: bool | None = None,
) -> str:
    """Write what the dots are below them, and return it."""
    some = any(row.interval for row in rows)
    label = axis_label(
        figure, language, level=level if some else None, higher_is_better=higher_is_better
    )
    is_open = some and any(row.value is not None and not row.interval for row in rows)
    label_below(plot, label + (f"\n{say('open_dot', language)}" if is_open else ""))
    return label


def _in_words(rows: Sequence[Dot], language: str) -> list[str]:
    return [
        row_in_words(short(row.label), known(row.value), row.interval, language, row.note)
        for row in rows
    ]


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
    """Draw values as colors, with the numbers in the cells.

    Colors go from 0 to 1, or to the highest value if that is above 1. A dash stands where there is
    no value. If there are more columns than rows, they are exchanged, so that the figure gets
    longer, not its cells narrower. Cells that are too narrow for two decimals have percent, and
    even narrower ones only their color, which a bar beside them explains.

    Args:
        values: a row of values for each of `rows`; None where there is none.
        rows: the rows' labels, such as fields: untrusted text.
        columns: the columns' labels, such as models.
        figure: the name of what is drawn.
        higher_is_better: its direction, which is named below; None if it has none.
        title: the title; none if it is empty.
        language: one of `hdbench.common.texts.LANGUAGES`.
        width: the width in inches.
    """
    cells = [[known(value) for value in row] for row in values]
    if len(columns) > max(len(rows), _UPRIGHT):
        cells = [list(column) for column in zip(*cells, strict=True)]
        rows, columns = columns, rows
    with paper_style():
        most = longest_label(width)
        names = [short(row, most) for row in rows]
        heads = [short(column, _MAX_HEAD) for column in columns]
        longest = max(map(len, heads), default=0)
        plot, axes = new_plot(width, 0.5 + 0.055 * longest + _ROW * max(len(rows), 2), title)
        table = np.array([[np.nan if v is None else v for v in row] for row in cells], np.float64)
        table = table.reshape(len(rows), len(columns))
        top = max(1.0, float(np.nanmax(table)) if np.isfinite(table).any() else 1.0)
        colors = ScalarMappable(Normalize(0, top), colormaps["Greens"])
        axes.set_facecolor(PALE)
        axes.pcolormesh(
            np.ma.masked_invalid(table),
            cmap="Greens",
            vmax=top,
            vmin=0,
            edgecolors="white",
            linewidth=0.8 if len(columns) <= _MANY else 0.3,
        )
        _frame(axes, names, heads)
        room = (width - 0.15 - 0.065 * max(map(len, names), default=0)) / max(len(columns), 1)
        if room >= _PERCENT:
            _numbers(axes, cells, colors, language, percent=room < _DIGITS)
        else:
            bar = plot.colorbar(colors, ax=axes, shrink=0.6, pad=0.01, format=TickNumbers(language))
            bar.outline.set_visible(False)
        label = axis_label(figure, language, level=None, higher_is_better=higher_is_better)
        in_percent = f", {say('percent', language)}" if _PERCENT <= room < _DIGITS else ""
        label_below(plot, label + in_percent)
        said = (
            row_in_words(f"{short(row)}, {short(column)}:", value, None, language)
            for row, of_row in zip(rows, cells, strict=True)
            for column, value in zip(columns, of_row, strict=True)
        )
        return finished(plot, listed(label, list(said), language))


def _frame(axes: Axes, names: Sequence[str], heads: Sequence[str]) -> None:
    """Name the rows and the columns, these above the cells."""
    axes.set_yticks(np.arange(len(names)) + 0.5, names)
    axes.set_xticks(np.arange(len(heads)) + 0.5, heads)
    upright = len(heads) > _UPRIGHT
    axes.tick_params(length=0)
    axes.tick_params(axis="x", labelbottom=False, labeltop=True)
    for text in axes.get_xticklabels():
        text.set(
            rotation=90 if upright else 45,
            ha="center" if upright else "left",
            va="bottom",
            rotation_mode="default" if upright else "anchor",
        )
    axes.set_ylim(max(len(names), 1), 0)
    axes.spines[:].set_visible(False)


def _numbers(
    axes: Axes,
    cells: Sequence[Sequence[float | None]],
    colors: ScalarMappable,
    language: str,
    *,
    percent: bool,
) -> None:
    size = 5 if percent else 6
    for y, row in enumerate(cells):
        for x, value in enumerate(row):
            if value is None:
                text, ink = "–", "black"
            else:
                text = f"{100 * value:.0f}" if percent else decimal(f"{value:.2f}", language)
                red, green, blue, _ = colors.to_rgba(np.array(value))
                ink = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < _DARK else "black"
            axes.text(
                x + 0.5,
                y + 0.5,
                text,
                ha="center",
                va="center",
                color=ink,
                size=size,
            )
