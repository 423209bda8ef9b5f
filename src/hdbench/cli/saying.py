"""What the command line says, in the language that was asked for."""

import typer

from hdbench.common.texts import in_terminal
from hdbench.common.told import spoken, told
from hdbench.errors import Message, escaped


def said(template: str, /, **values: object) -> str:
    """A line in the language that is spoken, with control characters escaped.

    Args:
        template: the line in English, as `Message` takes it; its translations are in `messages/`.
        values: same as in `Message`.
    """
    return shown(template if isinstance(template, Message) else Message(template, **values))


def shown(text: str) -> str:
    """A text for a terminal: a message in the language that is spoken, any other as it is.

    Control characters are escaped. The no-break space before a percent sign, which German has, is
    a space, as it would be escaped, too; others, as in a name of a file, are seen.
    """
    text = told(text, spoken())
    return escaped(text if spoken() == "en" else text.replace("\N{NO-BREAK SPACE}%", " %"))


def number(value: float, form: str) -> str:
    """A number in a format such as `.4f`, as the language that is spoken writes it."""
    return in_terminal(value, form, spoken())


def ends(low: float, high: float, *, form: str) -> str:
    """Both ends of an interval, as `number` writes them."""
    return said("{low} to {high}", low=number(low, form), high=number(high, form))


def say(template: str, /, *, err: bool = False, **values: object) -> None:
    """Print a line, as `said` makes it.

    Args:
        template: same as in `said`.
        err: print it to standard error.
        values: same as in `said`.
    """
    typer.echo(said(template, **values), err=err)
