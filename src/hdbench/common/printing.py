"""Untrusted values and tables on a terminal."""

import re
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from hdbench.errors import escaped

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


def plain_table(title: str | None, *columns: str | Text, right: Iterable[str | Text]) -> Table:
    """Return an empty table in the common style, with columns of text and of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    for column in right:
        table.add_column(column, justify="right", no_wrap=True)
    return table
