"""A result as CSV files for a spreadsheet or a script, with nothing in them that gets executed."""

import csv
import io
import re

from hdbench.errors import escaped
from hdbench.output.report.rows import Cell, Rows, error_rows, field_rows, item_rows
from hdbench.results.result import Result

_FORMULA = re.compile(r"""((?:^|;)[\s"']*)(?=[=+\-@＝＋－＠])""")
"""Where a cell would begin to be a formula; a spreadsheet in a country with decimal commas splits
at semicolons, and takes a quote in the middle of a line literally."""


def csv_files(result: Result) -> dict[str, bytes]:
    r"""The files `fields.csv`, `items.csv` and `errors.csv`.

    UTF-8 with a byte order mark, without which Excel misreads umlauts; commas; lines end in CR LF.
    A text that a spreadsheet might take for a formula, because it begins with one of = + - @ (also
    after a semicolon), gets an apostrophe before that sign, which is not in the data (OWASP, "CSV
    Injection"). Control and invisible characters, line breaks and tabs too, are written as escapes:
    `\n`. Our own numbers are neither quoted nor rounded.

    Args:
        result: a result with details.

    Returns:
        Name → content.

    Raises:
        HdbenchError: the result did not keep the details of every item.
    """
    tables = {"fields": field_rows, "items": item_rows, "errors": error_rows}
    return {f"{name}.csv": csv_bytes(rows(result)) for name, rows in tables.items()}


def csv_bytes(table: Rows) -> bytes:
    """A table as a CSV file, as `csv_files` describes it."""
    data = io.StringIO(newline="")
    writer = csv.writer(data)
    writer.writerow(table.head)
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return data.getvalue().encode("utf-8-sig")


def _cell(value: Cell) -> Cell:
    return _FORMULA.sub(r"\1'", escaped(value)) if isinstance(value, str) else value
