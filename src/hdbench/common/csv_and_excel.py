"""Tables that spreadsheets open, as CSV or Excel: untrusted text is shown in them, never run."""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from hdbench.common.bounds import MAX_EXCEL_CELL
from hdbench.common.extras import needed
from hdbench.errors import escaped

_WITHIN_CODE = re.compile(r"(?<=_)(?=x[0-9a-fA-F]{4}_)")
_OVERLAP = re.compile(r"(?<=_x[0-9a-fA-F]{4})_(?=x[0-9a-fA-F]{4}_)")


def xlsx_writer() -> Any:
    """Return the module xlsxwriter.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needed("excel", "Excel files need"):
        import xlsxwriter  # noqa: PLC0415
    return xlsxwriter


@contextmanager
def workbook_into(target: Any, options: Mapping[str, Any]) -> Iterator[Any]:
    """Write a workbook with xlsxwriter.

    Args:
        target: the file, a name or a buffer.
        options: xlsxwriter's.

    Raises:
        MissingExtraError: xlsxwriter is not installed.
        OSError: the file cannot be written.
    """
    writer = xlsx_writer()
    try:
        with writer.Workbook(target, dict(options)) as book:
            yield book
    except writer.exceptions.FileCreateError as error:  # which holds the error of the system
        raise error.args[0] from error


def write_text(
    sheet: Any, row: int, column: int, value: str, look: Any, *, is_plain: bool = False
) -> None:
    """Write untrusted text into a cell of an xlsxwriter sheet, as text and nothing else."""
    cell = cell_text(value, is_plain=is_plain)
    if cell:
        write_cell(sheet, row, column, cell, look)


def write_cell(sheet: Any, row: int, column: int, text: str, look: Any) -> None:
    """Write a text that fits in a cell, even if xlsxwriter would take it for its own markup."""
    if text.startswith("<r>") and text.endswith("</r>"):
        # xlsxwriter would copy such a string into the file as it is, so the text is written in
        # pieces. In these it would escape a character code (`_x0041_`) twice, unless the code is
        # split between two of them.
        pieces = _WITHIN_CODE.split(text[2:])
        sheet.write_rich_string(row, column, text[0], text[1], *pieces, look)
    else:
        sheet.write_string(row, column, text, look)


def cell_text(value: str, *, is_plain: bool = False) -> str:
    r"""Return a text that fits in a cell: escaped except for line breaks, and cut with a note.

    Args:
        value: the text.
        is_plain: whether it has no control characters, so that nothing is escaped.

    Example:
        >>> cell_text("a\nb\x00\ud800")
        'a\nb\\x00\\ud800'
    """
    shown = value[:MAX_EXCEL_CELL]  # escapes only make it longer
    if not (is_plain or shown.isprintable()):
        shown = "\n".join(map(escaped, shown.split("\n")))
    # Excel reads `_x0041_` as the code of a character, so xlsxwriter escapes such text. But of two
    # codes that share an underscore (`_x0041_x0042_`) it escapes only the first, so that underscore
    # is written as `\x5f`.
    shown = _OVERLAP.sub(r"\\x5f", shown)
    units = shown.encode("utf-16-le")
    if len(value) <= MAX_EXCEL_CELL and len(units) <= 2 * MAX_EXCEL_CELL:
        return shown
    note = f"… [cut: {len(value)} characters]"
    return units[: 2 * (MAX_EXCEL_CELL - len(note))].decode("utf-16-le", "ignore") + note


# CSV

_FORMULA = re.compile(r"""((?:^|;)[\s"']*)(?=[=+\-@＝＋－＠])""")
_APOSTROPHE = re.compile(r"""((?:^|;)[\s"']*)'(?=[=+\-@＝＋－＠])""")
_DASHES = re.compile("-+")


Row = Sequence[str | int | float | None]
"""The cells of a row: texts, which may be hostile, and numbers."""


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table as CSV, row by row; see `csv_rows`.

    Args:
        path: the file.
        head: the columns' names.
        rows: the same number of cells each.
    """
    with path.open("wb") as file:
        add = csv_rows(file, head)
        for row in rows:
            add(row)


def csv_rows(file: BinaryIO, head: Sequence[str]) -> Callable[[Row], None]:
    """Begin a CSV file, and return what adds a row to it at once.

    UTF-8 with a byte order mark, without which Excel misreads umlauts; commas; lines end in CR LF.
    A text that a spreadsheet might take for a formula, because it begins with one of = + - @ (also
    after a semicolon), gets an apostrophe before that sign, as OWASP advises ("CSV Injection"); so
    does the text "-2", which is one with the cell behind it where semicolons are expected. A
    number, and a dash for an empty field, stay as they are. A lone surrogate, which a model's text
    can hold, becomes a JSON escape.

    Args:
        file: where it goes.
        head: the columns' names.
    """
    writer = csv.writer(codecs.getwriter("utf-8-sig")(file, "backslashreplace"))

    def add(row: Row) -> None:
        writer.writerow([_harmless(value) for value in row])

    add(head)
    return add


def as_it_was(cell: str) -> str:
    """Return a cell of a CSV file without the apostrophes that `csv_rows` adds, or a person did.

    Example:
        >>> as_it_was("'=2+3a"), as_it_was("Ma'=")
        ('=2+3a', "Ma'=")
    """
    return _APOSTROPHE.sub(r"\1", cell) if "'" in cell else cell


def _harmless(value: str | int | float | None) -> str | int | float | None:
    if not isinstance(value, str) or _DASHES.fullmatch(value):
        return value
    return _FORMULA.sub(r"\1'", value)
