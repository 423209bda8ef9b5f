"""Lines, tables and numbers in the current language."""

from collections.abc import Iterable

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hdbench.common.display.terminal import MAX_NOTE, plain_table, printable
from hdbench.common.texts import current_language, in_terminal, translated
from hdbench.errors import HdbenchError, Message, escaped, is_full, os_reason, write_reason


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


def localized_table(title: str | None, *columns: str | Text, right: Iterable[str | Text]) -> Table:
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
