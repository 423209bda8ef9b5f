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
    template = html_templates("hdbench.common.display").get_template("block.html")
    return template.render(
        title=title, lines=lines, tables=[_table(table) for table in tables], below=below
    )


def _table(table: HtmlTable) -> dict[str, Any]:
    """Return a table's title, its columns, and the cells of its rows."""
    places = range(len(table.head))
    are_numbers = [_are_numbers([row[place] for row in table.rows]) for place in places]
    columns = [
        {"name": name, "is_number": is_number}
        for name, is_number in zip(table.head, are_numbers, strict=True)
    ]
    rows = [
        [_cell(value, is_number) for value, is_number in zip(row, are_numbers, strict=True)]
        for row in table.rows
    ]
    return {"title": table.title, "columns": columns, "rows": rows}


def _are_numbers(values: Sequence[Any]) -> bool:
    """Return whether the cells of a column are numbers, apart from empty ones."""
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in present
    )


def _cell(value: Any, is_number: bool) -> dict[str, Any]:
    """Return a cell's lines, or its picture, and whether it is a number."""
    if isinstance(value, Picture):
        return {"picture": value, "lines": [], "is_number": False, "is_short": True}
    if is_number and isinstance(value, float):
        value = f"{value:.3f}"
    lines = [*map(_text, value if isinstance(value, Lines) else [value])]
    is_short = max(map(len, lines), default=0) <= _SHORT
    return {"picture": None, "lines": lines, "is_number": is_number, "is_short": is_short}


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
