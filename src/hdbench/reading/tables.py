"""Tables of answers, CSV and XLSX, as people and spreadsheet programs write them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message
from hdbench.reading.cells import Cell, text_of
from hdbench.reading.columns import has_id, known
from hdbench.reading.container import InMemory
from hdbench.reading.csv_lines import (
    Line,
    at_most,
    decode_or_cp1252,
    delimiter_of,
    lines,
    without_empty_end,
)
from hdbench.reading.rows import Row, read_rows
from hdbench.reading.schema import AnswerSchema

MAX_CELL = 16 * 2**20
"""Maximum number of characters in a cell of a CSV file."""


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
    text, notes = decode_or_cp1252(data, name)
    with at_most(MAX_CELL):
        delimiter = delimiter_of(text, partial(_rank, schema=schema))
        found = lines(text, delimiter, name)
        header = next(found, None)
        if header is None:
            raise HdbenchError(
                "{place}: empty: needs the column names in the first row", place=name
            )
        if any("\0" in title for title in header[1]):
            raise HdbenchError(
                "{place}: NUL bytes in its first row: save it as CSV in UTF-8", place=name
            )
        rows = (Row(f"{name}:{number}", cells) for number, cells in found)
        return read_rows(without_empty_end(header[1]), rows, name, schema, notes)


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
        header = without_empty_end([text_of(cell) for cell in first])
        if has_id(header):
            chosen.append((sheet.name, header, _places(filled, f"{name}: {sheet.name}")))
        elif header:
            others.append((sheet.name, header))
    if len(chosen) > 1:
        sheets = ", ".join(title for title, _, _ in chosen)
        raise HdbenchError(
            "{place}: several sheets have a column id ({sheets}): keep one of them",
            place=name,
            sheets=sheets,
        )
    if not chosen and not others:
        raise HdbenchError("{place}: empty: needs the column names in the first row", place=name)
    title, header, rows = chosen[0] if chosen else (*others[0], iter(()))
    notes: list[str] = []
    if chosen and others:
        unread = ", ".join(other for other, _ in others)
        told = "{place}: only the sheet {title} was read, as it has ids; not read: {unread}"
        notes.append(Message(told, place=name, title=title, unread=unread))
    return read_rows(header, rows, f"{name}: {title}", schema, notes)


def _places(rows: Iterator[tuple[int, list[Cell]]], name: str) -> Iterator[Row]:
    for number, cells in rows:
        yield Row(Message("{place}, row {number}", place=name, number=number), cells)


def _rank(found: Iterator[Line], schema: AnswerSchema | None) -> tuple[bool, int, int]:
    """How well a delimiter suits: whether its header has an id, and how many known columns."""
    try:
        _, header = next(found, (0, []))
    except HdbenchError:
        return False, 0, 0
    return has_id(header), known(header, schema), len(header)
