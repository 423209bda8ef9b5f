"""Reading a work sheet that people filled in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.answers.cells import DATES, FAULTS, MISSING, Cell, column_letter, text_of
from hdbench.answers.csv_lines import Line, opened_csv
from hdbench.answers.json_files import read_whole
from hdbench.answers.spreadsheet import read_sheets
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.table import is_workbook
from hdbench.trust.sheet.fields import sheet_fields
from hdbench.trust.sheet.layout import (
    HEADINGS,
    Column,
    column_called,
    key_of,
    means_nothing,
    shown_text,
)
from hdbench.trust.working import AppliedWorkList, open_keys, open_values

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


CellPlace = Callable[[str, int, int, str], str]
"""Gives the place of a cell from its sheet, its row, its column (from 1) and its heading."""


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
        data = read_whole(path, name)
        with opened_csv(data, name, _number_of_headings, MAX_CELL) as (csv_lines, notes):
            rows = _rows_of(name, csv_lines, _in_csv)
        if rows is None:
            raise _not_a_work_sheet(name)
        return SheetRows(rows, notes)
    found: dict[str, list[SheetRow]] = {}
    for title, cells in read_sheets(path, name):
        where = f"{name}: {title}"
        rows = _rows_of(where, iter(cells), _in_workbook)
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


def _rows_of(
    name: str, rows: Iterator[tuple[int, Sequence[Cell]]], cell_place: CellPlace
) -> list[SheetRow] | None:
    """Return the rows below the headings of a sheet; None if it has no column of keys.

    Raises:
        HdbenchError: a column that is needed is missing, or one is there twice.
    """
    for number, cells in rows:
        headings = [text_of(cell) for cell in cells]
        columns = [column_called(heading) for heading in headings]
        if "key" in columns:
            break
        if number > FIRST_ROWS:
            return None
    else:
        return None
    _check_headings(columns, name)
    positions = {column: place for place, column in enumerate(columns) if column is not None}

    def place(row: int, column: Column) -> str:
        position = positions.get(column, 0)
        return cell_place(name, row, position + 1, headings[position])

    return [
        SheetRow(
            {
                column: cells[position] if position < len(cells) else ""
                for column, position in positions.items()
            },
            partial(place, row),
        )
        for row, cells in rows
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


MAX_REMARK = 10_000
"""Maximum number of characters of a remark."""

MAX_SHOWN = 100
"""Maximum number of characters of a cell that a message shows."""


class FilledRow(NamedTuple):
    """A row in which somebody said what the value is.

    Attributes:
        key: the value that was looked at.
        value: what it is; None for nothing.
        run: the run that says so too; None if none does.
        remark: the remark; empty without one.
        place: where the value stands in the sheet.
    """

    key: ValueKey
    value: Any
    run: str | None
    remark: str
    place: str


class SheetReading(NamedTuple):
    """What a work sheet says.

    Attributes:
        filled: the rows with a value, in the sheet's order.
        blank: how many rows have none.
        lost_remarks: how many of these have a remark.
        problems: what does not fit, with its place; nothing may be taken in then.
        notes: what was assumed.
    """

    filled: list[FilledRow]
    blank: int
    lost_remarks: int
    problems: list[Message]
    notes: list[str]


def read_sheet(path: Path, work_list: AppliedWorkList) -> SheetReading:
    """Return what a work sheet says.

    Args:
        path: the sheet, see `read_rows`.
        work_list: the work list that it was written for.

    Raises:
        HdbenchError: it is not a work sheet.
    """
    sheet = read_rows(path)
    rows: dict[str, SheetRow] = {}
    problems: list[Message] = []
    for row in sheet.rows:
        if not any(text_of(cell).strip() for cell in row.cells.values()):
            continue
        key = text_of(row.cells["key"]).strip()
        if not key and not _is_filled(row):
            continue  # something that people wrote below the table
        if not key:
            why = Message("a value, but the row has no key: restore the key, or delete the value")
            problems.append(_problem(row, "value", why))
        elif key in rows:
            first = rows[key].place("key")
            why = Message("the same row as {first}: delete one of them", first=first)
            problems.append(_problem(row, "key", why))
        else:
            rows[key] = row
    by_key = {
        name: key for key in open_keys(work_list) if (name := key_of(work_list.seal, key)) in rows
    }
    reader = _RowReader(work_list)
    filled, blank, lost_remarks = [], 0, 0
    for name, row in rows.items():
        if name not in by_key:
            why = Message(
                "not a key of {folder}: restore it, delete the row, or write a new sheet",
                folder=work_list.out,
            )
            problems.append(_problem(row, "key", why))
            continue
        try:
            reader.check_cells(row, by_key[name])
            if _is_filled(row):
                filled.append(reader.read(row, by_key[name]))
                continue
        except _CellError as error:
            problems.append(error.message)
            continue
        blank += 1
        lost_remarks += bool(_text(row, "remark"))
    return SheetReading(filled, blank, lost_remarks, problems, sheet.notes)


class _CellError(HdbenchError):
    """A cell does not fit."""


class _RowReader:
    """Reads rows.

    Args:
        work_list: the work list.
    """

    def __init__(self, work_list: AppliedWorkList) -> None:
        self._work_list = work_list
        self._fields = sheet_fields(work_list.benchmark)
        self._last: tuple[str, Mapping[str, Sequence[Any]]] = ("", {})

    def check_cells(self, row: SheetRow, key: ValueKey) -> None:
        """Refuse a row whose cells belong to different rows.

        Raises:
            _CellError: they do.
        """
        item, title = _text(row, "item"), _text(row, "field")
        if item != shown_text(key.item).strip():
            raise _CellError(_problem(row, "item", _moved(item, key.item)))
        if not self._fields[key.field].is_called(title):
            raise _CellError(_problem(row, "field", _moved(title, key.field)))

    def read(self, row: SheetRow, key: ValueKey) -> FilledRow:
        """Return what a row says.

        Raises:
            _CellError: its value is none of the field.
        """
        cell, remark = row.cells["value"], _text(row, "remark")
        _check_kind(row, "value")
        _check_kind(row, "remark")
        if len(remark) > MAX_REMARK:
            why = Message("longer than {most:,} characters: shorten it", most=MAX_REMARK)
            raise _CellError(_problem(row, "remark", why))
        place = row.place("value")
        if means_nothing(text_of(cell)):
            return FilledRow(key, None, None, remark, place)
        candidates = dict(zip(self._work_list.names, self._candidates(key), strict=True))
        try:
            value, run = self._fields[key.field].value_in(cell, candidates)
        except HdbenchError as error:
            raise _CellError(_problem(row, "value", error.message)) from error
        return FilledRow(key, value, run, remark, place)

    def _candidates(self, key: ValueKey) -> Sequence[Any]:
        if self._last[0] != key.item:
            values = open_values(self._work_list, key.item)
            self._last = key.item, {value.key.field: value.candidates for value in values}
        return self._last[1][key.field]


def _check_kind(row: SheetRow, column: Column) -> None:
    """Refuse a cell of which it is uncertain what was entered.

    Raises:
        _CellError: it is a date of the spreadsheet program, or a formula that failed.
    """
    if isinstance(row.cells.get(column), DATES):
        why = Message(
            "a date of the spreadsheet program, which hides what was entered: format the cell as "
            "text, and enter it again"
        )
        raise _CellError(_problem(row, column, why))
    if _text(row, column) in FAULTS | MISSING:
        why = Message("a formula that failed: enter the text itself in its place")
        raise _CellError(_problem(row, column, why))


def _is_filled(row: SheetRow) -> bool:
    return bool(_text(row, "value"))


def _text(row: SheetRow, column: Column) -> str:
    return text_of(row.cells.get(column, "")).strip()


def _moved(text: str, expected: str) -> Message:
    return Message(
        "{text!r} instead of {expected!r}: cells were changed, or sorted without the others: "
        "restore them, or write a new sheet",
        text=text[:MAX_SHOWN],
        expected=expected[:MAX_SHOWN],
    )


def _problem(row: SheetRow, column: Column, why: Message) -> Message:
    return Message("{place}: {why}", place=row.place(column), why=why)
