"""Reading a work sheet that people filled in."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.answers.cells import DATES, FAULTS, MISSING, text_of
from hdbench.errors import HdbenchError, Message
from hdbench.trust.sheet.fields import sheet_fields
from hdbench.trust.sheet.layout import Column, key_of, means_nothing, shown_text
from hdbench.trust.sheet.open_values import open_keys, open_values
from hdbench.trust.sheet.rows import SheetRow, read_rows
from hdbench.trust.working import AppliedWorkList

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
