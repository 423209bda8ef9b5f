"""Tables of ground truths or answers, CSV and XLSX, before they are mapped to fields."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from hdbench.answers.bounds import MAX_CELLS, too_many_cells
from hdbench.answers.cells import DATES, OddCells
from hdbench.answers.csv_lines import (
    Line,
    at_most,
    decode_or_cp1252,
    delimiter_of,
    lines,
    without_empty_end,
)
from hdbench.answers.fields import shown
from hdbench.answers.sheets.table_header import TableRow, find_header, is_empty, texts_of, titles_of
from hdbench.answers.spreadsheet import read_sheets
from hdbench.errors import HdbenchError, Message

MAX_CELL = 2**20
"""Maximum number of characters in a cell."""

MAX_ROWS = 2**20
"""Maximum number of rows: what a sheet of Excel can have."""

FIRST_ROWS = 50
"""Number of rows by which the delimiter and the header are recognized."""

DATES_READ = Message(
    "dates of the spreadsheet program, read in ISO form (check: it also makes dates of values such "
    "as 3-5)"
)
STRIPPED = Message("cells with white space around their value, read without it")

DELIMITER_NAMES = {
    ";": Message("semicolons"),
    "\t": Message("tabs"),
    "|": Message("vertical bars"),
}


@dataclass(frozen=True)
class Table:
    """A table before it is mapped.

    Attributes:
        name: what messages call it.
        header: the columns' names, each of them once.
        rows: the place of each row, such as `wahrheit.csv:12`, and its cells as text, as many as
            the header has. Rows within the table may be empty.
        notes: what was assumed, one line each.
    """

    name: str
    header: list[str]
    rows: list[tuple[str, list[str]]]
    notes: list[str]


def csv_table(data: bytes, name: str) -> Table:
    """Return the table in a CSV file.

    Args:
        data: the file.
        name: what messages call it.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
    """
    text, notes = decode_or_cp1252(data, name)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise HdbenchError(
            "{place}:{line}: has NUL bytes: save it as CSV in UTF-8", place=name, line=line
        )
    with at_most(MAX_CELL):
        delimiter = delimiter_of(text, _evenness)
        if delimiter in DELIMITER_NAMES:
            notes.append(
                Message(
                    "{place}: cells are separated by {delimiter}",
                    place=name,
                    delimiter=DELIMITER_NAMES[delimiter],
                )
            )
        rows = lines(text, delimiter, name, blank=True)
        return table_of(name, (TableRow(f"{name}:{line}", cells) for line, cells in rows), notes)


def _evenness(csv_lines: Iterator[Line]) -> tuple[bool, int, int]:
    """Return how well a delimiter suits: several columns, in rows of the same number of cells."""
    widths: Counter[int] = Counter()
    with suppress(HdbenchError):  # what comes before tells the delimiter of a damaged file, too
        for _, cells in islice(csv_lines, FIRST_ROWS):
            widths[len(cells)] += 1
    width, rows = max(widths.items(), key=lambda entry: (entry[1], entry[0]), default=(0, 0))
    return width > 1, rows, width


def workbook_table(path: Path, name: str) -> Table:
    """Return the table in an XLSX workbook: its visible sheet with the most filled cells.

    Args:
        path: the workbook.
        name: what messages call it.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
        MissingExtraError: python-calamine is not installed.
    """
    # One at a time: only the largest sheet so far is held.
    best: tuple[int, str, list[TableRow]] = (0, "", [])
    sheets: list[str] = []
    for sheet in read_sheets(path, name):
        where = f"{name}: {sheet.name}"
        rows = [
            TableRow(Message("{place}, row {number}", place=where, number=number), cells)
            for number, cells in sheet.rows
        ]
        filled = sum(not is_empty(cell) for row in rows for cell in row.cells)
        if filled:
            sheets.append(sheet.name)
        best = max(best, (filled, sheet.name, rows), key=lambda candidate: candidate[0])
    _, title, rows = best
    others = [sheet for sheet in sheets if sheet != title]
    notes: list[str] = []
    if others:
        notes.append(
            Message(
                "{place}: only the sheet {title} was read, which has the most filled cells; not "
                "read: {names} (to read another one, hide or delete {title})",
                place=name,
                title=title,
                names=shown(others),
            )
        )
    return table_of(f"{name}: {title}" if title else name, iter(rows), notes)


def table_of(name: str, rows: Iterator[TableRow], notes: list[str]) -> Table:
    """Return a table from its rows, with or without a title above the header.

    Args:
        name: what messages call it.
        rows: all rows that are not blank.
        notes: what was assumed so far.

    Raises:
        HdbenchError: it is unusable or has no names of columns; the message names the row.
    """
    rows = _numbered(rows)
    begin = list(islice(rows, FIRST_ROWS))
    titles, header = find_header(name, begin)
    above = " ".join(
        word for row in begin[:titles] for text in texts_of(row) for word in text.split()
    )
    if above:
        notes.append(
            Message(
                "{place}: read as a title above the table, not as data: {title}",
                place=name,
                title=above[:100],
            )
        )
    texts = without_empty_end([" ".join(text.split()) for text in texts_of(header)])
    columns = titles_of(texts, header.place, notes)
    read = _Cells(columns, header.place)
    body = [(row.place, read.cells(row)) for row in chain(begin[titles + 1 :], rows)]
    while body and not any(body[-1][1]):
        body.pop()
    if not body:
        raise HdbenchError("{place}: has no rows, only names of columns", place=name)
    table = Table(name, columns, body, notes + read.odd.notes(name))
    return _without_empty(table, [index for index, text in enumerate(texts) if not text])


def _numbered(rows: Iterable[TableRow]) -> Iterator[TableRow]:
    """Yield the rows, while they are not too many.

    Raises:
        HdbenchError: there are more than `MAX_ROWS`.
    """
    for number, row in enumerate(rows, start=1):
        if number > MAX_ROWS:
            raise HdbenchError(
                "{place}: more than {rows:,} rows: split the table", place=row.place, rows=MAX_ROWS
            )
        yield row


class _Cells:
    """Makes text of cells.

    Attributes:
        odd: the odd ones, to be reported.
    """

    def __init__(self, header: list[str], place: str) -> None:
        self._header = header
        self._place = place
        self._number = 0
        self.odd = OddCells()

    def cells(self, row: TableRow) -> list[str]:
        """Return as many texts as the header has.

        Raises:
            HdbenchError: there are more cells, one is too long, or the table is too large.
        """
        texts, width = texts_of(row), len(self._header)
        self._number += width  # also for a row that has fewer
        if self._number > MAX_CELLS:
            raise too_many_cells(row.place)
        if any(texts[width:]):
            raise HdbenchError(
                "{place}: has {count} cells, and the header ({header}) {width}: name every "
                "column, and quote cells that hold the delimiter",
                place=row.place,
                count=len(texts),
                header=self._place,
                width=width,
            )
        texts = texts[:width] + [""] * (width - len(texts))
        for index, (cell, text) in enumerate(zip(row.cells, texts, strict=False)):
            if len(text) > MAX_CELL:
                raise HdbenchError(
                    "{place}: a cell of more than {most} million characters",
                    place=self._where(row, index),
                    most=MAX_CELL >> 20,
                )
            if text == cell:  # most are
                continue
            if isinstance(cell, DATES):
                self.odd.add(DATES_READ, partial(self._where, row, index, text))
            elif isinstance(cell, str) and text:
                self.odd.add(STRIPPED, partial(self._where, row, index))
        return texts

    def _where(self, row: TableRow, index: int, text: str = "") -> Message:
        place = Message("{place}, column {column}", place=row.place, column=self._header[index])
        return Message("{place}: {text}", place=place, text=text) if text else place


def _without_empty(table: Table, unnamed: list[int]) -> Table:
    """Return the table without the columns that have neither a name nor a value."""
    empty = {index for index in unnamed if not any(cells[index] for _, cells in table.rows)}
    filled = [table.header[index] for index in unnamed if index not in empty]
    notes: list[str] = []
    if filled:
        notes.append(
            Message(
                "{place}: columns that have values and no name are called {names}",
                place=table.name,
                names=shown(filled),
            )
        )
    if not empty:
        return Table(table.name, table.header, table.rows, table.notes + notes)
    kept = [index for index in range(len(table.header)) if index not in empty]
    dropped = shown(table.header[index] for index in sorted(empty))
    notes.append(
        Message(
            "{place}: dropped, without name and values: {names}", place=table.name, names=dropped
        )
    )
    header = [table.header[index] for index in kept]
    rows = [(place, [cells[index] for index in kept]) for place, cells in table.rows]
    return Table(table.name, header, rows, table.notes + notes)
