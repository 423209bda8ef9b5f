"""What a table says in its heads and cells, whichever way it is drawn."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hdbench.common.texts import numbers_of, translated
from hdbench.errors import Message

Kind = Literal[
    "text",
    "word",
    "name",
    "field",
    "value",
    "lines",
    "image",
    "number",
    "figure",
    "rate",
    "difference",
    "share",
    "price",
    "seconds",
]
"""Kind of the cells of a column: untrusted text; words of our own, which are translated; the name
of a figure; the path of a field; a value of a record; messages, one below the other; the path of an
image; and numbers, which `FORMS` rounds."""

FORMS: Mapping[Kind, str] = {
    "number": ",.3f",
    "figure": ".4f",
    "rate": ".3f",
    "difference": "+.4f",
    "share": ".0%",
    "price": ".2f",
    "seconds": ".1f",
}
"""Kind of a number → how it is written: figures of one run by themselves, rates of many fields or
models beside each other."""

Names = Callable[[str], str]
"""The name of a figure, or the path of a field → what it is called."""


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: its name for programs.
        kind: what its cells are.
        title: its head for readers: a message, what gives it in a language, or the name of a
            figure, which otherwise is that of the column.
        ends: the names of the columns with both ends of its figure's interval, if it has any.
    """

    name: str
    kind: Kind = "text"
    title: str | Callable[[str], str] = ""
    ends: tuple[str, str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers."""
        return self.kind in FORMS

    def head(self, language: str, figures: Names = str) -> str:
        """Return its head in a language."""
        if callable(self.title):
            return self.title(language)
        if isinstance(self.title, Message):
            return translated(self.title, language)
        return figures(self.title or self.name)

    def text(
        self, value: Any, language: str, figures: Names = str, fields: Names = str
    ) -> str | tuple[str, ...]:
        """Return a cell's text, or its lines."""
        if value is None:
            return ""
        if self.is_number:
            return number_text(value, self.kind, language)
        match self.kind:
            case "lines":
                return tuple(translated(line, language) for line in value)
            case "word":
                return translated(value if isinstance(value, Message) else Message(value), language)
            case "name" | "field" as kind:
                return (figures if kind == "name" else fields)(value)
        return translated(value, language) if isinstance(value, str) else value_text(value) or ""


class Cell(NamedTuple):
    """A cell as it is drawn: its text or its lines, and the number or path behind it."""

    text: str | tuple[str, ...]
    value: Any = None


class Head(NamedTuple):
    """The head of a column as it is drawn."""

    name: str
    text: str
    kind: Kind

    @property
    def is_number(self) -> bool:
        """Whether numbers stand below it."""
        return self.kind in FORMS


class Drawn(NamedTuple):
    """A table as all renderers have it: no empty columns, each interval behind its figure."""

    title: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[Cell]]


def number_text(value: float, kind: Kind, language: str) -> str:
    """Return a number as it is written in a language.

    Example:
        >>> number_text(0.25, "figure", "de"), number_text(1200, "number", "en")
        ('0,2500', '1,200')
    """
    form = ",.0f" if kind == "number" and value == round(value) else FORMS[kind]
    return numbers_of(language).written(format(value, form))


def interval_text(low: float | None, high: float | None, kind: Kind, language: str) -> str:
    """Return an interval as it is written in a language; nothing if there is none."""
    if low is None or high is None:
        return ""
    ends = {name: number_text(end, kind, language) for name, end in (("low", low), ("high", high))}
    return translated(Message("{low} to {high}", **ends), language)


def value_text(value: Any) -> str | None:
    """Return a record's value for people: a text as it is, anything else as JSON, nothing as None.

    Example:
        >>> value_text("Müller"), value_text(["S.", 12]), value_text(None)
        ('Müller', '["S.", 12]', None)
    """
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
