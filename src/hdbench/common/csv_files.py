"""Tables as CSV that a spreadsheet opens and in which nothing is executed."""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

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
