"""Untrusted values and tables on a terminal."""

import re
import textwrap
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from hdbench.errors import escaped

MAX_VALUE = 48
"""Maximum number of characters shown of a value."""

MAX_HEADING = 200
"""How many characters are shown of a column's heading that was given on the command line."""

HEADING_WIDTH = 18
"""How many of them stand in one line."""


def printable(value: Any, most: int = MAX_VALUE) -> Text:
    r"""An untrusted value as harmless text: control and invisible characters escaped, and cut.

    Example:
        >>> printable("\x1b[31mred").plain
        '\\x1b[31mred'
    """
    text = escaped(str(value)[: most + 1])
    return Text(text if len(text) <= most else text[: most - 1] + "…")


def heading(text: str) -> Text:
    r"""Options as the heading of a column: harmless, and in several lines, broken after commas.

    Example:
        >>> heading('normalize=["nfc"],threshold=0.5').plain
        'normalize=["nfc"],\nthreshold=0.5'
    """
    shown = printable(text, MAX_HEADING).plain
    return Text("\n".join(textwrap.wrap(re.sub(r",\s*", ", ", shown), HEADING_WIDTH)))


def plain_table(title: str | None, *columns: str | Text, right: Iterable[str | Text]) -> Table:
    """An empty table in the common style: its title, columns of text, and columns of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    for column in right:
        table.add_column(column, justify="right", no_wrap=True)
    return table
