"""Tables and lines in the language that is spoken."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hdbench.cli.saying import said, shown
from hdbench.common.printing import MAX_NOTE, plain_table, printable
from hdbench.common.told import spoken, told
from hdbench.errors import Message


def said_table(title: str | None, *columns: str | Text, right: Iterable[str | Text]) -> Table:
    """Same as `plain_table`, with title and headings as `said` makes them; a `Text` stays."""
    heads = [_said(each) for each in right]
    return plain_table(title and said(title), *map(_said, columns), right=heads)


def _said(heading: str | Text) -> str | Text:
    if isinstance(heading, Text):
        return heading
    # It may have several lines.
    return "\n".join(map(shown, told(Message(heading), spoken()).split("\n")))


def print_line(console: Console, text: str, *, style: str = "") -> None:
    """Print a message or a ready text in one line, which the terminal breaks."""
    console.print(printable(shown(text), MAX_NOTE), style=style, soft_wrap=True)


def print_marked(console: Console, mark: str, text: str, *, style: str = "bold yellow") -> None:
    """Print a message or a ready text after a mark, such as `warning: `."""
    line = Text.assemble((said(mark), style), printable(shown(text), MAX_NOTE))
    console.print(line, soft_wrap=True)
