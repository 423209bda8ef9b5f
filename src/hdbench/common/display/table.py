"""One table: rows, and columns of kinds. Terminals, notebooks, pages and files only draw it."""

import io
from collections.abc import Collection, Mapping, Sequence
from typing import Any, overload

from hdbench.common.csv_and_excel import csv_rows
from hdbench.common.display.cells import Cell, Column, Drawn, Head, Names, interval_text, value_text
from hdbench.common.texts import translated
from hdbench.errors import Message, escaped

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
        from hdbench.common.display.html import block  # noqa: PLC0415  it needs pillow

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
