"""CSV as people and spreadsheet programs write it: its encoding, its delimiter and its lines."""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from hdbench.answers.forms import UTF16_MARKS, decode
from hdbench.common.bounds import MAX_CELL
from hdbench.common.csv_and_excel import as_it_was
from hdbench.errors import HdbenchError, Message


class Row(NamedTuple):
    """A row: its number, or that of its first line; its place for messages; its cells as text."""

    number: int
    place: str
    cells: list[str]


class RawTable(NamedTuple):
    """A table as its file has it.

    Attributes:
        name: what messages call it.
        rows: its rows, also those whose cells are blank.
        notes: what was assumed, one line each.
    """

    name: str
    rows: Iterator[Row]
    notes: list[str]


FIRST_ROWS = 50
"""Number of rows by which the delimiter and the header are recognized."""

csv.field_size_limit(MAX_CELL)  # a model's answer can be longer than what Python allows


def decode_or_cp1252(data: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text of a file in UTF-8, UTF-16 with a mark, or else cp1252, and what was assumed.

    Args:
        data: the file.
        name: what messages call it.

    Raises:
        HdbenchError: it is in none of them; the message names the line.

    Example:
        >>> decode_or_cp1252("Zürich".encode("cp1252"), "a.csv")[0]
        'Zürich'
    """
    try:
        return decode(data, name), []
    except HdbenchError:
        if not data.startswith((*UTF16_MARKS, codecs.BOM_UTF8)):
            note = "{place}: not UTF-8, read as cp1252: check that its umlauts are right"
            with suppress(UnicodeDecodeError):
                return data.decode("cp1252"), [Message(note, place=name)]
        raise


def _evenness(text: str, delimiter: str) -> tuple[int, int]:
    widths: Counter[int] = Counter()
    with suppress(HdbenchError):  # what comes before tells the delimiter of a damaged file, too
        widths.update(len(row.cells) for row in islice(lines(text, delimiter, ""), FIRST_ROWS))
    del widths[1]
    return max(((rows, width) for width, rows in widths.items()), default=(0, 0))


def lines(text: str, delimiter: str, name: str) -> Iterator[Row]:
    r"""Yield the rows, without lines that have no character.

    An apostrophe before what would be a formula is not part of a text: see `as_it_was`.

    Args:
        text: the file.
        delimiter: what separates its cells.
        name: what messages call it.

    Raises:
        HdbenchError: it is not CSV, or a cell is too long.

    Example:
        >>> [row.cells for row in lines("id;Titel\n\n1;'Die Ehe'\n", ";", "a.csv")]
        [['id', 'Titel'], ['1', "'Die Ehe'"]]
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for cells in reader:
            if cells and cells != ["sep=", ""]:  # by which Excel is told the delimiter
                yield Row(begin, f"{name}:{begin}", [*map(as_it_was, cells)])
            begin = reader.line_num + 1
    except csv.Error as error:
        raise HdbenchError(
            "{place}:{line}: not CSV: {why}; a quote in a quoted cell is written twice",
            place=name,
            line=begin,
            why=error,
        ) from error


def read_csv(data: bytes, name: str) -> RawTable:
    """Return the table in a CSV file: in UTF-8, in UTF-16 with a mark, or otherwise in cp1252.

    Args:
        data: the file.
        name: what messages call it.
    """
    text, notes = decode_or_cp1252(data, name)
    # It divides the text evenly: into several cells, as many in as many rows as possible.
    delimiter = max(",;\t", key=lambda sign: _evenness(text, sign))
    return RawTable(name, lines(text, delimiter, name), notes)
