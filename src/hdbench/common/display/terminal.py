"""Tables and untrusted values on a terminal, where they do no harm."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from hdbench.common.display.table import Cell, Drawn, Head, Table
from hdbench.common.texts import translated
from hdbench.errors import Message, escaped

MAX_VALUE = 48
"""Maximum number of characters shown of a value."""

MAX_NOTE = 1_000
"""Maximum number of characters shown of a note or warning."""

MAX_HEADING = 200
"""Maximum number of characters shown of a column's heading from the command line."""

HEADING_WIDTH = 18
"""Maximum number of these in one line."""

_PART = re.compile(r".+?(?:[=_]|\.(?=[^\W\d])| $)")
"""A part of an option in such a heading, up to where it may be broken."""


def printable(value: Any, max_characters: int = MAX_VALUE) -> Text:
    r"""Return an untrusted value as harmless text: escaped, and cut.

    Example:
        >>> printable("\x1b[31mred").plain
        '\\x1b[31mred'
    """
    text = escaped(str(value)[: max_characters + 1])
    return Text(text if len(text) <= max_characters else text[: max_characters - 1] + "…")


def heading(text: str, width: int = HEADING_WIDTH) -> Text:
    r"""Return options as the heading of a column, harmless and broken between words.

    Lines end after commas, and within an option only if it is longer than a line.

    Example:
        >>> heading('normalize=["nfc"],threshold=0.5').plain
        'normalize=["nfc"],\nthreshold=0.5'
        >>> heading("unanswered=empty_object").plain
        'unanswered=empty_\nobject'
    """
    shown = printable(text, MAX_HEADING).plain
    parts = [
        part
        for option in re.split(r"(?<=,)\s*", shown)
        for part in ([f"{option} "] if len(option) <= width else _PART.findall(f"{option} "))
    ]
    return Text("\n".join(line.rstrip() for line in folded(parts, width)))


def folded(parts: Iterable[str], width: int) -> list[str]:
    """Return parts of a text in lines of at most that width; a longer part is a line by itself.

    Example:
        >>> folded(["gpt-", "4o-", "mini"], 7)
        ['gpt-4o-', 'mini']
    """
    lines = [""]
    for part in parts:
        if lines[-1] and cell_len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return lines


def plain_table(title: str | None, *columns: str | Text, right: Iterable[str | Text]) -> RichTable:
    """Return an empty table in the common style, with columns of text and of numbers."""
    table = RichTable(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    for column in right:
        table.add_column(column, justify="right", no_wrap=True)
    return table


MAX_CELL = 64
"""Maximum number of characters of an untrusted text, such as a model's name."""

_HEAD = 14
"""Width from which on the head of numbers is broken between words."""

_LEAST_ROOM = 24
"""Width of names for which columns are left out."""

_NAME_PART = re.compile(r".+?(?:[-/_: ]+|$)")
"""A part of a name, up to where it may be broken."""


def print_table(
    console: Console,
    table: Table,
    language: str,
    *,
    most: int | None = None,
    optional: Sequence[str] = (),
    below: Sequence[str] = (),
) -> list[str]:
    """Print a table; several intervals stand below their figures, a single one beside it.

    Args:
        console: the terminal.
        table: the table; nothing is printed without rows.
        language: one of `hdbench.common.texts.LANGUAGES`.
        most: maximum number of rows.
        optional: columns that are left out, from the right, if the first text has too little room.
        below: for each row, a text below its first text.

    Returns:
        The heads of the columns that were left out.
    """
    if not table:
        return []
    drawn = _stacked(table[:most].drawn(language))
    heads, rows, left_out = [*drawn.heads], [[*row] for row in drawn.rows], list[str]()
    kinds = ("text", "name", "field")
    name = next((place for place, head in enumerate(heads) if head.kind in kinds), 0)
    while heads[-1].name in optional and _room(console, heads, rows, name) < _wanted(rows, name):
        left_out.insert(0, heads.pop().text)
        rows = [row[:-1] for row in rows]
    room = _room(console, heads, rows, name) if optional else None
    shown = _empty(heads, drawn.title)
    for row, extra in zip(rows, below or repeat(""), strict=False):
        cells = [*map(_text, row, heads)]
        if room is not None:
            cells[name] = Text("\n".join(folded(_NAME_PART.findall(cells[name].plain), room)))
        if extra:
            cells[name].append(f"\n{extra}", "dim")
        shown.add_row(*cells)
    if most is not None and len(table) > most:
        shown.add_row(translated(Message("and {count} more", count=len(table) - most), language))
    console.print(shown)
    return left_out


def _stacked(drawn: Drawn) -> Drawn:
    """Return a table with its intervals below their figures if there are several."""
    ends = [place for place, head in enumerate(drawn.heads) if head.name == "interval"]
    if len(ends) <= 1:
        return drawn
    rows = [
        [
            Cell((cell.text, row[place + 1].text)) if place + 1 in ends else cell  # type: ignore[arg-type]
            for place, cell in enumerate(row)
            if place not in ends
        ]
        for row in drawn.rows
    ]
    heads = [head for place, head in enumerate(drawn.heads) if place not in ends]
    return Drawn(drawn.title, heads, rows)


def _empty(heads: Iterable[Head], title: str = "") -> RichTable:
    table = plain_table(title and printable(title, MAX_NOTE).plain, right=())
    for head in heads:
        text = heading(head.text) if "=" in head.text else printable(head.text)
        if head.is_number:
            if "=" not in head.text:
                text = Text(textwrap.fill(text.plain, _HEAD, break_long_words=False))
            table.add_column(text, justify="right", no_wrap=True)
        elif head.kind == "lines":
            table.add_column(text, overflow="fold", ratio=1)
        else:
            table.add_column(text, overflow="fold")
    return table


def _text(cell: Cell, head: Head) -> Text:
    if isinstance(cell.text, tuple):
        return Text("\n").join(printable(line, MAX_NOTE) for line in cell.text)
    # The no-break space before a percent sign, which German has, would be shown as its escape.
    text = cell.text.replace("\N{NO-BREAK SPACE}", " ") if head.is_number else cell.text
    return printable(text, MAX_CELL)


def _room(
    console: Console, heads: Sequence[Head], rows: Sequence[Sequence[Cell]], name: int
) -> int:
    """Return the width that the other columns leave for names."""
    others = _empty(heads)
    for row in rows:
        cells = [*map(_text, row, heads)]
        others.add_row(*cells[:name], "", *cells[name + 1 :])
    width = Measurement.get(console, console.options.update_width(10_000), others).maximum
    return console.width - width + len(heads[name].text)


def _wanted(rows: Sequence[Sequence[Cell]], name: int) -> int:
    """Return the width with which names are easy to read."""
    names = [str(row[name].text) for row in rows]
    parts = (cell_len(part.rstrip()) for text in names for part in _NAME_PART.findall(text))
    return max([min(max(map(cell_len, names)), _LEAST_ROOM), *parts])
