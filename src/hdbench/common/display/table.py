"""One table: rows, and columns of kinds. Terminals, notebooks, pages and files only draw it."""

import io
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

from hdbench.common.csv_and_excel import csv_rows
from hdbench.common.texts import numbers_of, translated
from hdbench.errors import HdbenchError, Message, escaped

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


_SHOWN = 20
"""Maximum number of rows that a notebook shows."""

MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in r"\`*_{}[]<>#|"})

INTERVAL = Message("95% interval")


class Table(Sequence[Mapping[str, Any]]):
    """A sequence of rows, each column → value, that shows itself in notebooks.

    Args:
        rows: the rows.
        columns: the columns, in order.
        title: what stands above it for readers.
        interval: the head of its intervals.

    Example:
        >>> table = Table([{"field": "title", "f1": 0.9}], [Column("field"), Column("f1", "rate")])
        >>> table
        <Table of 1 row: field, f1>
        >>> table[0]["f1"]
        0.9
        >>> print(table.to_markdown())
        | field   |    f1 |
        |:--------|------:|
        | title   | 0.900 |
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        columns: Sequence[Column],
        title: str = "",
        *,
        interval: str = INTERVAL,
    ) -> None:
        self._rows, self.columns = rows, tuple(columns)
        self.title, self.interval = title, interval

    @property
    def names(self) -> list[str]:
        """The names of the columns for programs; an interval's ends stand behind its figure."""
        return [name for each in self.columns for name in (each.name, *(each.ends or ()))]

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> "Table": ...

    def __getitem__(self, index: int | slice) -> "Mapping[str, Any] | Table":
        """Return a row, or some rows as a table."""
        if isinstance(index, slice):
            return Table(self._rows[index], self.columns, self.title, interval=self.interval)
        return self._rows[index]

    def without(self, names: Collection[str]) -> "Table":
        """Return the table without some of its columns."""
        columns = [each for each in self.columns if each.name not in names]
        return Table(self._rows, columns, self.title, interval=self.interval)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        """Return whether columns and rows are the same."""
        if not isinstance(other, Table):
            return NotImplemented
        return (self.names, [*self]) == (other.names, [*other])

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __repr__(self) -> str:
        """Return the number of rows, and the columns."""
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        return f"<Table of {rows}: {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        more = [f"{len(self) - _SHOWN:,} more rows"] if len(self) > _SHOWN else []
        return block(tables=[self[:_SHOWN].drawn()], below=more)

    def drawn(self, language: str = "en", figures: Names = str, fields: Names = str) -> Drawn:
        """Return its heads and cells as readers see them; columns without any text are left out.

        Args:
            language: one of `hdbench.common.texts.LANGUAGES`.
            figures: name of a figure → what it is called.
            fields: path of a field → what it is called.
        """
        drawn: list[tuple[Head, list[Cell]]] = []
        for column in self.columns:
            values = [row.get(column.name) for row in self]
            head = Head(column.name, column.head(language, figures), column.kind)
            cells = [Cell(column.text(value, language, figures, fields), value) for value in values]
            drawn.append((head, cells))
            if column.ends:
                low, high = column.ends
                pairs = [(row.get(low), row.get(high)) for row in self]
                texts = [interval_text(*pair, column.kind, language) for pair in pairs]
                head = Head("interval", translated(self.interval, language), column.kind)
                drawn.append((head, [*map(Cell, texts, (pair[0] for pair in pairs))]))
        if self:
            drawn = [each for each in drawn if any(cell.text for cell in each[1])] or drawn[:1]
        rows = list(zip(*(cells for _, cells in drawn), strict=True))
        return Drawn(translated(self.title, language), [head for head, _ in drawn], rows)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`: `to_pandas().to_latex()` is a table for a paper."""
        import pandas as pd  # noqa: PLC0415  slow to import

        frame = pd.DataFrame([*self], columns=self.names)
        for column in self.columns:
            if column.kind == "value":  # 1957 beside a missing value does not become 1957.0
                values = [row.get(column.name) for row in self]
                frame[column.name] = pd.Series(values, dtype=object)
        return frame

    def to_csv(self) -> bytes:
        r"""Return a CSV file in which nothing is executed; see `csv_rows`. It has no images.

        Control and invisible characters, line breaks and tabs too, are written as escapes: `\n`.
        Numbers are neither quoted nor rounded.
        """
        images = {column.name for column in self.columns if column.kind == "image"}
        names = [name for name in self.names if name not in images]
        data = io.BytesIO()
        add = csv_rows(data, names)
        for row in self:
            values = (row.get(name) for name in names)
            add(
                [
                    value
                    if value is None or isinstance(value, int | float)
                    else escaped(value_text(value) or "")
                    for value in values
                ]
            )
        return data.getvalue()

    def to_markdown(self, language: str = "en") -> str:
        """Return a table in Markdown, in which nothing untrusted is markup."""
        from tabulate import tabulate  # noqa: PLC0415  slow to import

        drawn = self.drawn(language)
        cells = [
            ["; ".join(text) if isinstance(text, tuple) else text for text, _ in row]
            for row in drawn.rows
        ]
        return tabulate(
            [[escaped(text).translate(MARKDOWN) for text in row] for row in cells],
            [head.text for head in drawn.heads],
            tablefmt="pipe",
            disable_numparse=True,
            colalign=["right" if head.is_number else "left" for head in drawn.heads],
        )


_LONG = 200
"""Maximum characters of a line in a cell."""

_SHORT = 24
"""Maximum characters of a cell that is not broken."""


def block(
    *,
    title: str = "",
    lines: Sequence[str] = (),
    tables: Sequence[Drawn] = (),
    below: Sequence[str] = (),
) -> str:
    """Return the HTML of an object in a notebook, in its colours, whether these are light or dark.

    Args:
        title: its first line.
        lines: what stands below it.
        tables: its tables.
        below: what stands below these.
    """
    from hdbench.common.templates import html_templates  # noqa: PLC0415  slow to import

    template = html_templates("hdbench.common.display").get_template("block.html")
    drawn = [
        {
            "title": table.title,
            "columns": table.heads,
            "rows": [[*map(_cell, row, table.heads)] for row in table.rows],
        }
        for table in tables
    ]
    return template.render(title=title, lines=lines, tables=drawn, below=below)


def _cell(cell: Cell, head: Head) -> dict[str, Any]:
    """Return a cell's lines, or its picture, and whether it is a number."""
    if head.kind == "image":
        name = Path(cell.value or "").stem
        picture = {"picture": _picture(cell.value), "alt": name}
        return picture | {"lines": [], "is_number": False, "is_short": True}
    texts = cell.text if isinstance(cell.text, tuple) else (cell.text,)
    lines = [text if len(text) <= _LONG else f"{text[:_LONG]}…" for text in texts]
    is_short = max(map(len, lines), default=0) <= _SHORT
    is_number = head.is_number
    return {"picture": None, "lines": lines, "is_number": is_number, "is_short": is_short}


def _picture(path: str | None) -> str:
    """Return an image as an address in itself; an empty one if it cannot be shown."""
    from hdbench.common.pictures import thumbnail  # noqa: PLC0415  it needs pillow

    try:
        return (path and thumbnail(Path(path), width=256)) or ""
    except HdbenchError:  # a damaged image, which a report names
        return ""
