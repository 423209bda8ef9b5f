"""What a terminal shows: lines, numbers, tables and untrusted values, in the current language."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from hdbench.common.display.table import Cell, Drawn, Head, Table
from hdbench.common.texts import current_language, in_terminal, translated
from hdbench.errors import HdbenchError, Message, escaped, is_full, os_reason, write_reason

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


def localized(template: str, /, **values: object) -> str:
    """Return a line in the current language, with control characters escaped.

    Args:
        template: the line in English, as `Message` takes it; its translations are in `messages/`.
        values: same as in `Message`.
    """
    return shown(template if isinstance(template, Message) else Message(template, **values))


def shown(text: str) -> str:
    """Return a text for a terminal: a message in the current language, any other as it is.

    Control characters are escaped. The no-break space before a percent sign, which German has, is
    written as a space, since it would be escaped too; others, as in a file's name, are shown.
    """
    text = translated(text, current_language())
    return escaped(
        text if current_language() == "en" else text.replace("\N{NO-BREAK SPACE}%", " %")
    )


def number(value: float, form: str) -> str:
    """Return a number in a format such as `.4f`, as it is written in the current language."""
    return in_terminal(value, form, current_language())


def ends(low: float, high: float, *, form: str) -> str:
    """Return both ends of an interval, as `number` writes them."""
    return localized("{low} to {high}", low=number(low, form), high=number(high, form))


def say(template: str, /, *, err: bool = False, **values: object) -> None:
    """Print a line, as `localized` makes it.

    Args:
        template: same as in `localized`.
        err: print it to standard error.
        values: same as in `localized`.
    """
    typer.echo(localized(template, **values), err=err)


def say_notes(notes: Iterable[str]) -> None:
    """Print notes to standard error, a line for each."""
    for note in notes:
        say("note: {note}", note=note, err=True)


def page_language() -> str | None:
    """Return the language of pages that are served; None, for English, lets a browser decide."""
    return None if current_language() == "en" else current_language()


def say_error(error: Exception) -> None:
    """Print an error as one line, as every command ends with."""
    typer.echo(f"{localized('error')}: {one_line(error)}", err=True)


def one_line(error: Exception) -> str:
    """Return an error as one line for a terminal."""
    if isinstance(error, HdbenchError):
        return localized(error.message)
    if isinstance(error, OSError) and error.strerror:
        reason = write_reason(error) if is_full(error) else os_reason(error)
        if not error.filename:
            return localized(reason)
        return localized("{place}: {why}", place=error.filename, why=reason)
    return escaped(str(error))


def localized_table(
    title: str | None, *columns: str | Text, right: Iterable[str | Text]
) -> RichTable:
    """Return a `plain_table` with title and headings as `localized` makes them; a `Text` stays."""
    heads = [_heading(text) for text in right]
    return plain_table(title and localized(title), *map(_heading, columns), right=heads)


def _heading(heading: str | Text) -> str | Text:
    if isinstance(heading, Text):
        return heading
    # It may have several lines.
    return "\n".join(map(shown, translated(Message(heading), current_language()).split("\n")))


def print_line(console: Console, text: str, *, style: str = "") -> None:
    """Print a message or a ready text in one line, which the terminal breaks."""
    console.print(printable(shown(text), MAX_NOTE), style=style, soft_wrap=True)


def print_marked(console: Console, mark: str, text: str, *, style: str = "bold yellow") -> None:
    """Print a message or a ready text after a mark, such as `warning: `."""
    line = Text.assemble((localized(mark), style), printable(shown(text), MAX_NOTE))
    console.print(line, soft_wrap=True)


STAYS = Message("History, comments and annotators of a collection stay on this computer")
"""The notice of what is never published."""


def in_bytes(size: int) -> str:
    """Return a size for people, in powers of 1,000."""
    if size < 10_000:  # noqa: PLR2004
        return f"{number(size, ',')} B"
    return f"{number(size / 1000, ',.0f')} kB"


FIELD_WIDTH = 30
"""Maximum characters of a field's path in one line."""
