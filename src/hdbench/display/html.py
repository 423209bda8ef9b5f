"""What a notebook shows of a result: HTML without scripts, from untrusted text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hdbench.common.templates import html_templates

_LONG = 200
"""Maximum characters of a line in a cell."""

_SHORT = 24
"""Maximum characters of a cell that is not broken."""


class Picture(NamedTuple):
    """A small picture in a cell.

    Attributes:
        uri: its content, `data:image/webp;base64,…`.
        alt: what it shows.
    """

    uri: str
    alt: str


class Lines(tuple[str, ...]):
    """Lines of a cell."""

    __slots__ = ()


class HtmlTable(NamedTuple):
    """A table.

    Attributes:
        head: the names of its columns.
        rows: the cells of each row: texts, numbers, lines, pictures, or None.
        title: what stands above it.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""


def block(
    *,
    title: str = "",
    lines: Sequence[str] = (),
    tables: Sequence[HtmlTable] = (),
    below: Sequence[str] = (),
) -> str:
    """Return the HTML of an object in a notebook, in its colours, whether these are light or dark.

    Args:
        title: its first line.
        lines: what stands below it.
        tables: its tables.
        below: what stands below these.
    """
    template = html_templates("hdbench.display").get_template("block.html")
    shown = [
        table._replace(rows=[[_cell(cell) for cell in row] for row in table.rows])
        for table in tables
    ]
    return template.render(title=title, lines=lines, tables=shown, below=below)


def _cell(value: Any) -> dict[str, Any]:
    """Return a cell's lines, or its picture, and whether it is a number."""
    if isinstance(value, Picture):
        return {"picture": value, "lines": [], "is_number": False, "is_short": True}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    lines = [*map(_text, value if isinstance(value, Lines) else [value])]
    is_short = max(map(len, lines), default=0) <= _SHORT
    return {"picture": None, "lines": lines, "is_number": is_number, "is_short": is_short}


def _text(value: Any) -> str:
    text = "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
