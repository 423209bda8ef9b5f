"""The look of all pages, and what stands in their tables: HTML in the page's colors.

It needs no matplotlib.
"""

import base64
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from hdbench.common.display.words import known
from hdbench.common.texts import decimal
from hdbench.errors import escaped

if TYPE_CHECKING:
    from hdbench.common.display.style import Plot


STYLE = Path(__file__).with_name("marks.css")
"""The style of what is here, written with `TOKENS`."""

MAX_NAME = 60
"""Maximum characters of an untrusted name."""

_HUES = 10
_SVG = (
    '<svg class="hdb-mark" aria-hidden="true" focusable="false">'
    '<line class="hdb-mark-scale" x2="100%" y1="50%" y2="50%"/>'
)


def mark(
    value: float | None,
    interval: Sequence[float] | None,
    low: float,
    high: float,
    line: float | None = None,
) -> Markup:
    """Return a value as a dot and its interval as a line, in SVG, for a cell beside the numbers.

    Args:
        value: the value; None for an empty scale.
        interval: both ends of its interval; None if it has none.
        low: the lower end of the scale.
        high: the upper end, above the lower one.
        line: a value that all rows have in common, such as 0 or what people reach.
    """

    def at(place: float) -> str:
        return f"{min(max(100 * (place - low) / (high - low), 0.0), 100.0):.2f}%"

    parts = [_SVG]
    if line is not None:
        parts.append(f'<line class="hdb-mark-line" x1="{at(line)}" x2="{at(line)}" y2="100%"/>')
    if interval is not None:
        left, right = map(at, interval)
        ends = f'x1="{left}" x2="{right}" y1="50%" y2="50%"'
        parts.append(f'<line class="hdb-mark-spread" {ends}/>')
    if (number := known(value)) is not None:
        parts.append(f'<circle class="hdb-mark-value" cx="{at(number)}" cy="50%" r="5"/>')
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704  numbers alone


def heat_table(
    values: Sequence[Sequence[float | None]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    caption: str,
    language: str,
) -> Markup:
    """Return a heat map as a table that can be scrolled sideways: each cell has its number.

    Args:
        values: values from 0 to 1, a row for each of `rows`; None where there is none.
        rows: the rows' labels, such as models: untrusted text.
        columns: the columns' labels, such as fields.
        caption: what it shows.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    top = Markup("").join(
        Markup('<th scope="col"><bdi>{}</bdi></th>').format(_shown(column)) for column in columns
    )
    lines = Markup("\n").join(
        Markup('<tr><th scope="row"><bdi>{}</bdi></th>{}</tr>').format(
            _shown(row), Markup("").join(_cell(value, language) for value in of_row)
        )
        for row, of_row in zip(rows, values, strict=True)
    )
    return Markup(
        '<div class="hdb-scrolled" role="group" tabindex="0" aria-label="{}">\n'
        '<table class="hdb-heat">\n<thead><tr><td></td>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n'
        "</table>\n</div>"
    ).format(caption, top, lines)


def picture(plot: "Plot") -> Markup:
    """Return a figure as an image in a page, drawn on the page's own ground.

    As an image, it can neither run a script nor ask for anything, and its ids are its own.
    """
    data = base64.b64encode(plot.bytes_of("svg", transparent=True)).decode()
    return Markup(
        '<div class="hdb-scrolled" role="group" tabindex="0" aria-label="{}">'
        '<img alt="{}" src="data:image/svg+xml;base64,{}"></div>'
    ).format(plot.alt.partition(":")[0], escaped(plot.alt), data)


def _cell(value: float | None, language: str) -> Markup:
    value = known(value)
    if value is None:
        return Markup("<td>–</td>")
    hue = round(_HUES * min(max(value, 0.0), 1.0))
    return Markup('<td class="h{}">{}</td>').format(hue, decimal(f"{value:.2f}", language))


def _shown(text: str) -> str:
    """Return untrusted text, shortened, with nothing invisible in it."""
    return escaped(text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…")


ICONS = Path(__file__).with_name("icons")
"""Icons of lucide-static as they are; icons/LICENSE is their license."""

TOKENS = Path(__file__).with_name("tokens.css")
"""Colors, sizes and fonts as custom properties, with which every other sheet is written."""

BASE = Path(__file__).with_name("base.css")
"""Rules that all pages of our own have in common."""


@cache
def icon(name: str) -> Markup:
    """Return an icon for a page in one file, which has the color of the text around it.

    Args:
        name: its name in Lucide; the file is in `icons/`.
    """
    drawing = (ICONS / f"{name}.svg").read_text(encoding="utf-8").partition("-->")[2].strip()
    return Markup(f'<span class="icon" aria-hidden="true">{drawing}</span>')  # noqa: S704  own file
