"""Tables as files in which nothing that a model wrote is executed."""

import datetime
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

from hdbench.collections.records.cells import Cell
from hdbench.common.csv_and_excel import workbook_into, write_csv, write_text
from hdbench.common.texts import current_language, translated
from hdbench.errors import HdbenchError, Message

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
"""Maximum number of rows in an Excel sheet, including its header."""

_NARROWEST = 10
_CREATED = datetime.datetime(1980, 1, 1)  # the current time would make each export different


def write_table(
    path: Path,
    form: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    widths: Sequence[int],
) -> None:
    """Write a table as CSV or XLSX.

    Args:
        path: the file.
        form: `csv` or `xlsx`.
        head: the columns' names.
        rows: the same number of cells each.
        widths: the columns' widths in a workbook, in characters.
    """
    if form == "csv":
        write_csv(path, head, rows)
    else:
        _write_xlsx(path, head, rows, widths)


def _write_xlsx(
    path: Path, head: Sequence[str], rows: Iterable[Sequence[Cell]], widths: Sequence[int]
) -> None:
    """Write a table as an Excel workbook of one sheet, row by row.

    Texts are text cells, never formulas, links or numbers; numbers are numbers. What is too long
    for a cell is cut, and says so. The header stays in view and has a filter.
    """
    # Row by row into a file: the whole sheet is never in memory, only what it is packed to. If
    # xlsxwriter had the file to write to, it would leave it open where there is no more room.
    packed = BytesIO()
    with workbook_into(packed, {"constant_memory": True}) as book:
        book.set_properties({"created": _CREATED})
        # Without the mark Excel would turn such a text into a formula as soon as it is edited.
        base = {"quote_prefix": True, "text_wrap": True, "valign": "top"}
        text = book.add_format(base)
        bold = book.add_format(base | {"bold": True, "bottom": 1, "bg_color": "#E7E9ED"})
        number = book.add_format({"valign": "top", "align": "left"})
        sheet = book.add_worksheet(translated(Message("Answers"), current_language()))
        for column, (title, width) in enumerate(zip(head, widths, strict=True)):
            sheet.set_column(column, column, max(_NARROWEST, width, len(title)) + 3)
        sheet.freeze_panes(1, 1)
        last = 0
        for column, title in enumerate(head):
            write_text(sheet, 0, column, title, bold, is_plain=True)
        for last, row in enumerate(rows, start=1):
            for column, value in enumerate(row):
                if isinstance(value, str):
                    write_text(sheet, last, column, value, text, is_plain=True)
                else:
                    sheet.write_number(last, column, value, number)
        sheet.autofilter(0, 0, last, len(head) - 1)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{last + 1}"})
    path.write_bytes(packed.getbuffer())


def check_size(rows: int, columns: int) -> None:
    """Refuse a table that an Excel sheet cannot hold.

    Raises:
        HdbenchError: it has too many rows or columns.
    """
    if rows + 1 > MAX_ROWS or columns > MAX_COLUMNS:
        raise HdbenchError(
            "{rows:,} rows and {columns:,} columns are more than an Excel sheet can hold: "
            "use --format csv",
            rows=rows,
            columns=columns,
        )
