"""The rows of a work sheet as a spreadsheet program saved it, XLSX or CSV, with their places."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.cells import Cell, column_letter, text_of
from hdbench.answers.csv_lines import Line, at_most, decode_or_cp1252, delimiter_of, lines
from hdbench.answers.json_files import read_whole
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.table import is_workbook
from hdbench.trust.sheet.layout import HEADINGS, Column, column_called

ACCEPTED = Message("a work sheet is XLSX or CSV")

MAX_CELL = 2**20
"""Maximum number of characters in a cell of a CSV file."""

FIRST_ROWS = 50
"""Number of rows among which the headings are looked for."""

NEEDED: tuple[Column, ...] = ("item", "field", "value", "key")


class SheetRow(NamedTuple):
    """A row of a work sheet.

    Attributes:
        cells: column → its cell, empty where the row is shorter; without a column that the sheet
            does not have.
        place: gives the place of a column's cell.
    """

    cells: dict[Column, Cell]
    place: Callable[[Column], str]


class _Sheet(NamedTuple):
    """A sheet, or a CSV file.

    Attributes:
        name: what messages call it.
        rows: number → cells.
        place: gives the place of a cell from its row, its column (from 1) and its heading.
    """

    name: str
    rows: Iterator[tuple[int, Sequence[Cell]]]
    place: Callable[[int, int, str], str]


class SheetRows(NamedTuple):
    """The rows of a work sheet.

    Attributes:
        rows: the rows below the headings.
        notes: what was assumed.
    """

    rows: list[SheetRow]
    notes: list[str]


def read_rows(path: Path) -> SheetRows:
    """Return the rows of a work sheet.

    Of a workbook, the visible sheet that has the headings is read. Columns may have been added,
    moved or hidden, and rows sorted or deleted.

    Args:
        path: XLSX, or CSV in UTF-8, UTF-16 or cp1252 with any delimiter.

    Raises:
        HdbenchError: it cannot be read, or is not a work sheet.
        MissingExtraError: it is XLSX, and python-calamine is not installed.
    """
    name = str(path)
    if not is_workbook(path, name, ACCEPTED):
        text, notes = decode_or_cp1252(read_whole(path, name), name)
        with at_most(MAX_CELL):
            delimiter = delimiter_of(text, _number_of_headings)
            rows = _rows_of(_Sheet(name, lines(text, delimiter, name), partial(_in_csv, name)))
        if rows is None:
            raise _not_a_work_sheet(name)
        return SheetRows(rows, notes)
    with needed("excel", "Excel files need"):
        from hdbench.answers.spreadsheet import read_sheets  # noqa: PLC0415

    found: dict[str, list[SheetRow]] = {}
    for title, cells in read_sheets(path, name):
        where = f"{name}: {title}"
        rows = _rows_of(_Sheet(where, iter(cells), partial(_in_workbook, where)))
        if rows is not None:
            found[title] = rows
    if len(found) > 1:
        raise HdbenchError(
            "{place}: several sheets have a column {key} ({sheets}): keep one of them",
            place=name,
            key=HEADINGS["key"],
            sheets=", ".join(found),
        )
    if not found:
        raise _not_a_work_sheet(name)
    return SheetRows(next(iter(found.values())), [])


def _rows_of(sheet: _Sheet) -> list[SheetRow] | None:
    """Return the rows below the headings of a sheet; None if it has no column of keys.

    Raises:
        HdbenchError: a column that is needed is missing, or one is there twice.
    """
    for number, cells in sheet.rows:
        headings = [text_of(cell) for cell in cells]
        columns = [column_called(heading) for heading in headings]
        if "key" in columns:
            break
        if number > FIRST_ROWS:
            return None
    else:
        return None
    _check_headings(columns, sheet.name)
    positions = {column: place for place, column in enumerate(columns) if column is not None}

    def place(row: int, column: Column) -> str:
        position = positions.get(column, 0)
        return sheet.place(row, position + 1, headings[position])

    return [
        SheetRow(
            {
                column: cells[position] if position < len(cells) else ""
                for column, position in positions.items()
            },
            partial(place, row),
        )
        for row, cells in sheet.rows
    ]


def _check_headings(columns: Sequence[Column | None], name: str) -> None:
    for column, heading in HEADINGS.items():
        if columns.count(column) > 1:
            raise HdbenchError(
                "{place}: several columns are called {heading}: rename those that you added",
                place=name,
                heading=heading,
            )
        if column in NEEDED and column not in columns:
            raise HdbenchError(
                "{place}: has no column {heading}: give it its heading again",
                place=name,
                heading=heading,
            )


def _number_of_headings(csv_lines: Iterator[Line]) -> int:
    """Return how many of the headings a delimiter gives in the first rows."""
    most = 0
    try:
        for number, cells in csv_lines:
            most = max(most, sum(column_called(cell) is not None for cell in cells))
            if most > 1 or number > FIRST_ROWS:
                break
    except HdbenchError:
        return most
    return most


def _not_a_work_sheet(name: str) -> HdbenchError:
    return HdbenchError(
        "{place}: not a work sheet of hdbench trust sheet: has no column {key}",
        place=name,
        key=HEADINGS["key"],
    )


def _in_workbook(name: str, row: int, column: int, _: str) -> str:
    return f"{name}!{column_letter(column)}{row}"


def _in_csv(name: str, row: int, _: int, heading: str) -> str:
    place = Message("{place}:{line}", place=name, line=row)
    return Message("{place}, column {column}", place=place, column=heading)
