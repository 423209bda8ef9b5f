"""A heat map: values as colors, with the numbers in the cells."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from hdbench.common.display.style import (
    PALE,
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
from hdbench.common.display.words import axis_label, known, listed, row_in_words, say
from hdbench.common.texts import decimal

_ROW = 0.17  # inches
_DIGITS, _PERCENT = 0.25, 0.12  # inches that a cell needs for `0.85`, and for `85`
_UPRIGHT = 12  # columns from which on their labels stand upright
_MANY = 25  # columns from which on the gaps between cells are thin
_DARK = 0.45  # below it, a color needs white letters
_MAX_HEAD = 26


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
