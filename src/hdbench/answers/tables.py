"""Tables of answers, CSV and XLSX, as people and spreadsheet programs write them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.cells import Cell, text_of
from hdbench.answers.columns import count_known, has_id, is_mapped
from hdbench.answers.container import AnswersSource, InMemory
from hdbench.answers.csv_lines import (
    Line,
    at_most,
    decode_or_cp1252,
    delimiter_of,
    lines,
    without_empty_end,
)
from hdbench.answers.json_files import read_whole
from hdbench.answers.rows import read_rows
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.sheets.answers import sheet_answers
from hdbench.answers.sheets.table import Table, csv_table, table_of, workbook_table
from hdbench.answers.sheets.table_header import TableRow
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError, Message

MAX_CELL = 16 * 2**20
"""Maximum number of characters in a cell of a CSV file."""


def open_csv(source: AnswersSource) -> InMemory:
    """Return the answers in a CSV file; see `read_csv`."""
    data = read_whole(source.path, source.name)
    return read_csv(data, source.name, source.schema, source.ids)


def read_csv(
    data: bytes, name: str, schema: AnswerSchema | None, ids: Iterable[str] = ()
) -> InMemory:
    r"""Return the answers in a CSV file.

    The encoding is UTF-8, UTF-16 with a byte order mark, or otherwise cp1252; the delimiter is a
    comma, a semicolon or a tab. The columns are `id`, with `text` (a model's raw answer),
    `prediction` (JSON) or the fields of the record with dots between their names, and optionally
    `model`, `tokens_input`, `tokens_output`, `seconds` and `error`. If they are called otherwise,
    as in a table that a person keeps, it is read as ground truths are; see `sheet_answers`.

    Args:
        data: the file.
        name: what messages call it.
        schema: what records look like; without it, every value is text.
        ids: the ids of the items, for a table whose column of ids is called otherwise.

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
        numbered = lines(text, delimiter, name)
        header = next(numbered, None)
        if header is None:
            raise HdbenchError(
                "{place}: empty: needs the column names in the first row", place=name
            )
        if any("\0" in title for title in header[1]):
            raise HdbenchError(
                "{place}: NUL bytes in its first row: save it as CSV in UTF-8", place=name
            )
        if schema is not None and not is_mapped(header[1], schema):
            mapped = _mapped(partial(csv_table, data, name), header[1], schema, ids)
            if mapped is not None:
                return mapped
        rows = (TableRow(f"{name}:{number}", cells) for number, cells in numbered)
        return read_rows(without_empty_end(header[1]), rows, name, schema, notes)


def open_xlsx(source: AnswersSource) -> InMemory:
    """Return the answers in an XLSX workbook; see `read_xlsx`."""
    return read_xlsx(source.path, source.name, source.schema, source.ids)


def read_xlsx(
    file: Path, name: str, schema: AnswerSchema | None, ids: Iterable[str] = ()
) -> InMemory:
    """Return the answers in an XLSX workbook: in its one visible sheet with a column `id`.

    The columns are those of `read_csv`. If no sheet has such a column, the one with the most filled
    cells is read.

    Args:
        file: the workbook.
        name: what messages call it.
        schema: what records look like; without it, numbers stay numbers.
        ids: the ids of the items, for a table whose column of ids is called otherwise.

    Raises:
        HdbenchError: it is unusable; the message names the sheet and row.
        MissingExtraError: python-calamine is not installed.
    """
    with needed("excel", "Excel files need"):
        from hdbench.answers.spreadsheet import read_sheets  # noqa: PLC0415

    chosen: list[_Worksheet] = []
    others: list[_Worksheet] = []
    for sheet in read_sheets(file, name):
        filled = ((number, cells) for number, cells in sheet.rows if any(c != "" for c in cells))
        rows = _places(filled, f"{name}: {sheet.name}")
        first = next(rows, TableRow("", []))
        header = without_empty_end([text_of(cell) for cell in first.cells])
        if header:
            (chosen if has_id(header) else others).append(
                _Worksheet(sheet.name, header, first, rows)
            )
    if len(chosen) > 1:
        raise HdbenchError(
            "{place}: several sheets have a column id ({sheets}): keep one of them",
            place=name,
            sheets=", ".join(sheet.title for sheet in chosen),
        )
    if not chosen and not others:
        raise HdbenchError("{place}: empty: needs the column names in the first row", place=name)
    title, header, first, rows = (chosen or others)[0]
    where = f"{name}: {title}"
    notes: list[str] = []
    if chosen and others:
        unread = ", ".join(sheet.title for sheet in others)
        template = "{place}: only the sheet {title} was read, as it has ids; not read: {unread}"
        notes.append(Message(template, place=name, title=title, unread=unread))
    if schema is not None and not is_mapped(header, schema):
        read: Callable[[], Table] = partial(workbook_table, file, name)
        if chosen:
            remaining = list(rows)
            read = partial(table_of, where, iter([first, *remaining]), notes)
            rows = iter(remaining)
        mapped = _mapped(read, header, schema, ids)
        if mapped is not None:
            return mapped
    return read_rows(header, rows, where, schema, notes)


class _Worksheet(NamedTuple):
    """A worksheet: its title, the names of its columns, and its rows, the first of them apart."""

    title: str
    header: list[str]
    first: TableRow
    rows: Iterator[TableRow]


def _mapped(
    read: Callable[[], Table], header: Sequence[str], schema: AnswerSchema, ids: Iterable[str]
) -> InMemory | None:
    """Return the answers in a table as a person keeps it; None if it is not one."""
    try:
        table = read()
    except HdbenchError:
        if has_id(header):
            raise
        return None  # what is missing is an id
    return sheet_answers(table, schema, ids)


def _places(rows: Iterator[tuple[int, list[Cell]]], name: str) -> Iterator[TableRow]:
    for number, cells in rows:
        yield TableRow(Message("{place}, row {number}", place=name, number=number), cells)


def _rank(csv_lines: Iterator[Line], schema: AnswerSchema | None) -> tuple[bool, int, int]:
    """Return how well a delimiter suits: if the header has an id, and how many known columns."""
    try:
        _, header = next(csv_lines, (0, []))
    except HdbenchError:
        return False, 0, 0
    return has_id(header), count_known(header, schema), len(header)
