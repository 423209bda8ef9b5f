"""CSV as people and spreadsheet programs write it: its encoding, its delimiter and its lines."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from hdbench.answers.forms import UTF16_MARKS, decode
from hdbench.common.bounds import MAX_CELL
from hdbench.common.csv_and_excel import as_it_was
from hdbench.errors import HdbenchError, Message

Line = tuple[int, list[str]]
"""The number of the line in which a row begins, and its cells."""

DELIMITERS = ",;\t"

FIRST_ROWS = 50
"""Number of rows by which the delimiter and the header are recognized."""

SEPARATOR = re.compile("sep=([,;\t|])[\r\n]")
"""The first line with which a CSV file tells Excel its delimiter."""

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
        if data.startswith((*UTF16_MARKS, codecs.BOM_UTF8)):
            raise
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise HdbenchError(
            "{place}:{line}: neither UTF-8 nor cp1252: save as UTF-8", place=name, line=line
        ) from error
    note = "{place}: not UTF-8, read as cp1252: check that its umlauts are right"
    return text, [Message(note, place=name)]


def delimiter_of(text: str) -> str:
    """Return the delimiter that the text names for Excel, else the one that divides it evenly.

    That is into several cells, as many in as many of the first rows as possible.
    """
    match = SEPARATOR.match(text)
    return match[1] if match else max(DELIMITERS, key=lambda sign: _evenness(text, sign))


def _evenness(text: str, delimiter: str) -> tuple[bool, bool, int, int]:
    widths: Counter[int] = Counter()
    with suppress(HdbenchError):  # what comes before tells the delimiter of a damaged file, too
        for _, cells in islice(lines(text, delimiter, ""), FIRST_ROWS):
            widths[len(cells)] += 1
    width, rows = max(widths.items(), key=lambda entry: (entry[1], entry[0]), default=(0, 0))
    return width > 1, max(widths, default=0) > 1, rows, width


def lines(text: str, delimiter: str, name: str, *, blank: bool = False) -> Iterator[Line]:
    r"""Yield the rows that are not blank, each with the number of the line in which it begins.

    An apostrophe before what would be a formula is not part of a text: see `as_it_was`.

    Args:
        text: the file.
        delimiter: what separates its cells.
        name: what messages call it.
        blank: also rows whose cells are all blank, but not lines without any character.

    Raises:
        HdbenchError: it is not CSV, or a cell is too long.

    Example:
        >>> list(lines("id;Titel\n\n1;'Die Ehe'\n", ";", "a.csv"))
        [(1, ['id', 'Titel']), (3, ['1', "'Die Ehe'"])]
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for cells in reader:
            is_separator = begin == 1 and cells == ["sep=", ""]
            is_filled = any(cell and not cell.isspace() for cell in cells)
            if (is_filled or (blank and cells)) and not is_separator:
                yield begin, [*map(as_it_was, cells)]
            begin = reader.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error):
            raise HdbenchError(
                "{place}:{line}: a cell of more than {most} million characters",
                place=name,
                line=begin,
                most=MAX_CELL >> 20,
            ) from error
        raise HdbenchError(
            "{place}:{line}: not CSV: {why}; a quote in a quoted cell is written twice",
            place=name,
            line=begin,
            why=error,
        ) from error


def read_csv(data: bytes, name: str, *, blank: bool = False) -> tuple[Iterator[Line], list[str]]:
    """Return the rows of a CSV file in UTF-8, UTF-16 or cp1252, and what was assumed.

    Args:
        data: the file.
        name: what messages call it.
        blank: see `lines`.
    """
    text, notes = decode_or_cp1252(data, name)
    return lines(text, delimiter_of(text), name, blank=blank), notes
