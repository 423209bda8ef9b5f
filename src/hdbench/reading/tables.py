"""Tables of answers, CSV and XLSX, as people and spreadsheet programs write them."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from hdbench.common.extras import needed
from hdbench.errors import HdbenchError
from hdbench.reading.cells import Cell, text_of
from hdbench.reading.columns import has_id, known
from hdbench.reading.container import InMemory
from hdbench.reading.encodings import UTF16_MARKS, decode
from hdbench.reading.rows import Row, read_rows
from hdbench.reading.schema import AnswerSchema

MAX_CELL = 16 * 2**20
"""Maximum number of characters in a cell of a CSV file."""

DELIMITERS = ",;\t"

SEPARATOR = re.compile("sep=([,;\t|])[\r\n]")
"""The first line with which a CSV file tells Excel its delimiter."""


def read_csv(data: bytes, name: str, schema: AnswerSchema | None) -> InMemory:
    r"""The answers in a CSV file.

    The encoding is UTF-8, UTF-16 with a byte order mark, or otherwise cp1252; the delimiter is a
    comma, a semicolon or a tab. The columns are `id`, with `text` (a model's raw answer),
    `prediction` (JSON) or the fields of the record with dots between their names, and optionally
    `model`, `tokens_input`, `tokens_output`, `seconds` and `error`.

    Args:
        data: the file.
        name: what messages call it.
        schema: what records look like; without it, every value is text.

    Raises:
        HdbenchError: it is unusable; the message names the line.

    Example:
        >>> table = read_csv("id;publication.title\n0001;Müller\n".encode("cp1252"), "a.csv", None)
        >>> table.load(table.runs[None]["0001"])
        {'prediction': {'publication': {'title': 'Müller'}}}
    """
    text, notes = _decode(data, name)
    before = csv.field_size_limit(MAX_CELL)
    try:
        lines = _lines(text, _delimiter(text, name, schema), name)
        header = next(lines, None)
        if header is None:
            raise HdbenchError(f"{name}: empty: needs the column names in the first row")
        if any("\0" in title for title in header[1]):
            raise HdbenchError(f"{name}: NUL bytes in its first row: save it as CSV in UTF-8")
        rows = (Row(f"{name}:{number}", cells) for number, cells in lines)
        return read_rows(_trimmed(header[1]), rows, name, schema, notes)
    finally:
        csv.field_size_limit(before)


def read_xlsx(file: Path, name: str, schema: AnswerSchema | None) -> InMemory:
    """The answers in an XLSX workbook: in its one visible sheet with a column `id`.

    The columns are those of `read_csv`.

    Args:
        file: the workbook.
        name: what messages call it.
        schema: what records look like; without it, numbers stay numbers.

    Raises:
        HdbenchError: it is unusable; the message names the sheet and row.
        MissingExtraError: python-calamine is not installed.
    """
    with needed("excel", "Excel files need"):
        from hdbench.reading.spreadsheet import read_sheets  # noqa: PLC0415

    chosen: list[tuple[str, list[str], Iterator[Row]]] = []
    others: list[tuple[str, list[str]]] = []
    for sheet in read_sheets(file, name):
        filled = ((number, cells) for number, cells in sheet.rows if any(c != "" for c in cells))
        _, first = next(filled, (0, []))
        header = _trimmed([text_of(cell) for cell in first])
        if has_id(header):
            chosen.append((sheet.name, header, _places(filled, f"{name}: {sheet.name}")))
        elif header:
            others.append((sheet.name, header))
    if len(chosen) > 1:
        sheets = ", ".join(title for title, _, _ in chosen)
        raise HdbenchError(f"{name}: several sheets have a column id ({sheets}): keep one of them")
    if not chosen and not others:
        raise HdbenchError(f"{name}: empty: needs the column names in the first row")
    title, header, rows = chosen[0] if chosen else (*others[0], iter(()))
    notes = []
    if chosen and others:
        unread = ", ".join(other for other, _ in others)
        notes.append(f"{name}: only the sheet {title} was read, as it has ids; not read: {unread}")
    return read_rows(header, rows, f"{name}: {title}", schema, notes)


def _places(rows: Iterator[tuple[int, list[Cell]]], name: str) -> Iterator[Row]:
    for number, cells in rows:
        yield Row(f"{name}, row {number}", cells)


def _trimmed(header: list[str]) -> list[str]:
    """A header without the empty cells at its end that spreadsheet programs leave."""
    filled = [index for index, title in enumerate(header) if title.strip()]
    return header[: filled[-1] + 1] if filled else []


def _decode(data: bytes, name: str) -> tuple[str, list[str]]:
    """The text, and what was assumed about it."""
    try:
        return decode(data, name), []
    except HdbenchError:
        if data.startswith((*UTF16_MARKS, codecs.BOM_UTF8)):
            raise
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise HdbenchError(f"{name}:{line}: neither UTF-8 nor cp1252: save as UTF-8") from error
    return text, [f"{name}: not UTF-8, read as cp1252: check that its umlauts are right"]


def _delimiter(text: str, name: str, schema: AnswerSchema | None) -> str:
    """The delimiter that gives the header an id and the most known columns."""
    named = SEPARATOR.match(text)
    if named:
        return named[1]

    def rank(delimiter: str) -> tuple[bool, int, int]:
        try:
            _, header = next(_lines(text, delimiter, name), (0, []))
        except HdbenchError:
            return False, 0, 0
        return has_id(header), known(header, schema), len(header)

    return max(DELIMITERS, key=rank)


def _lines(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of the line in which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for cells in reader:
            is_separator = begin == 1 and cells == ["sep=", ""]
            if any(cell and not cell.isspace() for cell in cells) and not is_separator:
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        reason = (
            f"a cell of more than {MAX_CELL >> 20} million characters"
            if "field larger" in str(error)
            else f"not CSV: {error}; a quote in a quoted cell is written twice"
        )
        raise HdbenchError(f"{name}:{begin}: {reason}") from error
