"""Tables as sheets of an Excel workbook, in which whatever a model wrote is plain text."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from hdbench.common.csv_and_excel import write_text
from hdbench.common.display.table import Column, Names, Table
from hdbench.common.texts import translated
from hdbench.errors import Message

MAX_ROWS = 100_000
"""Maximum rows below a sheet's header: a sheet can have 1,048,576, but is hardly usable then."""

SheetValue = str | float | None
"""Untrusted text, one of our numbers, or nothing."""

_NARROW, _WIDE = 13, 48
_BANDS = (
    (">=", 1.0, "#A9D8B8"),
    (">=", 0.8, "#DDEFD5"),
    (">=", 0.5, "#FFEB9C"),
    ("<", 0.5, "#F5BBA0"),
)

TITLE, LEAD, HEAD, TEXT = "title", "lead", "head", "text"
"""The looks of rows."""


class Sheets:
    """The sheets of one workbook, in the order in which they are asked for.

    Args:
        book: the workbook, of xlsxwriter.
        language: one of `hdbench.common.texts.LANGUAGES`.
        figures: name of a figure → what it is called.
        fields: path of a field → what it is called.
    """

    def __init__(self, book: Any, language: str, figures: Names, fields: Names) -> None:
        self._book = book
        self._language, self._figures, self._fields = language, figures, fields
        # Without the mark Excel would turn such a text into a formula as soon as it is edited.
        base = {"quote_prefix": True, "text_wrap": True, "valign": "top"}
        self._looks = {
            TEXT: book.add_format(base),
            HEAD: book.add_format(base | {"bold": True, "bottom": 1, "bg_color": "#E7E9ED"}),
            TITLE: book.add_format(base | {"bold": True, "font_size": 14, "text_wrap": False}),
            LEAD: book.add_format(base | {"text_wrap": False}),
        }
        self._count = book.add_format({"valign": "top", "align": "left", "num_format": "0"})
        self._rate = book.add_format({"valign": "top", "align": "left", "num_format": "0.0000"})
        self._bands = [
            {
                "type": "cell",
                "criteria": criterion,
                "value": value,
                "format": book.add_format({"bg_color": colour}),
                "stop_if_true": True,
            }
            for criterion, value, colour in _BANDS
        ]

    def table(self, table: Table, *, bands: Sequence[str] = ()) -> None:
        """Add a sheet with a header that stays in view, a filter, and at most `MAX_ROWS` rows.

        It has no images, and numbers are not rounded.

        Args:
            table: the table.
            bands: the columns, if any, that are colored by their value.
        """
        columns = [each for each in table.columns if each.kind != "image"]
        heads, widths, names = list[str](), list[int](), list[str]()
        for column in columns:
            names += [column.name, *(column.ends or ())]
            heads.append(column.head(self._language, self._figures))
            widths.append(_NARROW if column.is_number or column.kind == "word" else _WIDE)
            if column.ends:
                what = translated(table.interval, self._language)
                ends = Message("{what} from", what=what), Message("{what} to", what=what)
                heads += [translated(end, self._language) for end in ends]
                widths += [_NARROW, _NARROW]
        sheet = self._sheet(table.title, widths)
        self._write(sheet, 0, heads, HEAD)
        last = min(len(table), MAX_ROWS)
        for number, row in enumerate(table[:MAX_ROWS], start=1):
            cells = [cell for each in columns for cell in self._cells(each, row)]
            self._write(sheet, number, cells)
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, last, len(heads) - 1)
        for place, name in enumerate(names):
            for band in self._bands if last and name in bands else ():
                # An empty cell would count as 0.
                blank = {"type": "blanks", "stop_if_true": True}
                sheet.conditional_format(1, place, last, place, blank)
                sheet.conditional_format(1, place, last, place, band)
        if more := len(table) - last:
            left_over = Message("and {count} more rows, which are in the CSV file", count=more)
            self._write(sheet, last + 1, [translated(left_over, self._language)], HEAD)

    def _cells(self, column: Column, row: Mapping[str, Any]) -> list[SheetValue]:
        """Return the cell of a column, and the ends of its interval."""
        if column.is_number:
            return [row.get(name) for name in (column.name, *(column.ends or ()))]
        value = row.get(column.name)
        shown = column.text(value, self._language, fields=self._fields)
        return [None if value is None else str(shown)]

    def summary(self, name: str, rows: Iterable[tuple[str, Sequence[SheetValue]]]) -> None:
        """Add a sheet of rows, each with its look and its cells."""
        sheet = self._sheet(name, [32, 64, _NARROW, _NARROW, 18])
        for number, (look, row) in enumerate(islice(rows, MAX_ROWS)):
            self._write(sheet, number, row, look)

    def _sheet(self, name: str, widths: Sequence[int]) -> Any:
        sheet = self._book.add_worksheet(translated(name, self._language))
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{MAX_ROWS + 2}"})
        return sheet

    def _write(self, sheet: Any, number: int, row: Sequence[SheetValue], look: str = TEXT) -> None:
        for column, value in enumerate(row):
            if isinstance(value, str):
                write_text(sheet, number, column, value, self._looks[look])
            elif value is not None:
                kind = self._rate if isinstance(value, float) else self._count
                sheet.write_number(number, column, value, kind)
