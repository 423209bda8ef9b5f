"""Answers as files in which nothing that a model wrote is executed."""

import datetime
import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from hdbench.common.csv_files import write_csv
from hdbench.common.excel import workbook_into, write_text
from hdbench.common.jsonio import whole_file
from hdbench.common.translation import current_language, translated
from hdbench.errors import HdbenchError, Message
from hdbench.output.exporting.cells import Cell

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
"""Maximum number of rows in an Excel sheet, including its header."""

PARQUET_COLUMNS = ("id", "model", "status", "prediction", "text", "error")
ROW_GROUP = 10_000
"""Number of rows of a Parquet file that are in memory at a time."""

_NARROWEST = 10
_CREATED = datetime.datetime(1980, 1, 1)  # the current time would make each export different


def write_jsonl(path: Path, values: Iterable[Any]) -> int:
    """Write JSON values, one per line; a lone surrogate in a model's text becomes a JSON escape.

    Returns:
        The number of lines.
    """
    lines = 0
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for value in values:
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
            lines += 1
    return lines


def write_parquet(path: Path, lines: Iterable[dict[str, Any]]) -> int:
    """Write the objects of JSON Lines as Parquet, a group of rows at a time.

    Every column is text, and a prediction is its JSON: what a model writes has no fixed type. A
    lone surrogate becomes a JSON escape, as in JSON Lines.

    Returns:
        The number of rows.
    """
    import pyarrow as pa  # noqa: PLC0415  slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([(name, pa.string()) for name in PARQUET_COLUMNS])
    rows, remaining = 0, iter(lines)
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        while group := [_as_texts(line) for line in islice(remaining, ROW_GROUP)]:
            file.write_table(pa.Table.from_pylist(group, schema))
            rows += len(group)
    return rows


def _as_texts(line: dict[str, Any]) -> dict[str, str]:
    texts = {
        name: json.dumps(value, ensure_ascii=False) if name == "prediction" else value
        for name, value in line.items()
        if value is not None
    }
    return {name: text.encode(errors="backslashreplace").decode() for name, text in texts.items()}


def write_table(
    path: Path,
    form: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    widths: Sequence[int],
) -> None:
    """Write a table as CSV or XLSX; the whole file or nothing.

    Args:
        path: the file.
        form: `csv` or `xlsx`.
        head: the columns' names.
        rows: the same number of cells each.
        widths: the columns' widths in a workbook, in characters.

    Raises:
        HdbenchError: the file cannot be written.
    """
    with whole_file(path) as beside:
        if form == "csv":
            write_csv(beside, head, rows)
        else:
            _write_xlsx(beside, head, rows, widths)


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
