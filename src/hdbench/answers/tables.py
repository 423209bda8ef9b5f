"""Tables of answers, CSV and XLSX, as people and spreadsheet programs write them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.bounds import MAX_CELLS, too_many_cells
from hdbench.answers.cells import DATES, FAULTS, MISSING, Cell, OddCells, structured_of, text_of
from hdbench.answers.columns import Columns, Field, count_known, has_id, is_mapped
from hdbench.answers.container import AnswerEntry, AnswersSource, InMemory
from hdbench.answers.csv_lines import Line, opened_csv, without_empty_end
from hdbench.answers.fields import about, put
from hdbench.answers.json_files import read_whole
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.sheets.answers import sheet_answers
from hdbench.answers.sheets.table import Table, csv_table, table_of, workbook_table
from hdbench.answers.sheets.table_header import TableRow
from hdbench.answers.sheets.totals import is_total, place_of
from hdbench.answers.spreadsheet import read_sheets
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
    with opened_csv(data, name, partial(_rank, schema=schema), MAX_CELL) as (numbered, notes):
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
    """Return the answers in an XLSX workbook: in its one visible sheet with a column `id`.

    The columns are those of `read_csv`. If no sheet has such a column, the one with the most filled
    cells is read.

    Raises:
        HdbenchError: it is unusable; the message names the sheet and row.
        MissingExtraError: python-calamine is not installed.
    """
    file, name, schema, _, ids = source
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


DIGITS = re.compile(r"[0-9]{1,15}")
SECONDS = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,9})?")

MISSING_VALUES = Message("cells with #N/A, read as empty")
UNNAMED = Message("cells in columns without a name, not read")
DATES_AS_TEXT = Message("dates from a spreadsheet program, read as text")
MADE_DATES = Message(
    "values that a spreadsheet program may have turned into dates, such as 3-5 into 2026-05-03 "
    "(check)"
)


Runs = dict[str | None, dict[str, list[TableRow]]]


def read_rows(
    header: Sequence[str],
    rows: Iterable[TableRow],
    name: str,
    schema: AnswerSchema | None,
    notes: list[str],
) -> InMemory:
    """Return the answers in a table.

    Args:
        header: the names of the columns.
        rows: the other rows; blank ones are skipped.
        name: what messages call the file.
        schema: what records look like.
        notes: what was assumed so far.

    Raises:
        HdbenchError: the columns are unusable, a row has no id or more cells than the header, or
            an id occurs twice.
    """
    columns = Columns(header, name, schema)
    reader = _Reader(columns)
    runs = reader.runs(rows)
    if not any(runs.values()):
        raise HdbenchError("{place}: no answers in this table, only column names", place=name)
    notes = [*notes, *columns.notes, *reader.odd.notes(name)]
    if schema and "text" in columns.about and not columns.lists:
        notes += _decide_text(columns, runs, schema, name)
    notes += columns.divide(partial(_texts, runs))
    entries: dict[str | None, dict[str, AnswerEntry]] = {}
    for model, items in runs.items():
        entries[model] = {}
        for item_id, item_rows in items.items():
            if len(item_rows) > 1 and not columns.lists:
                raise HdbenchError(
                    "{place}: a second answer for id {id!r}, the first is in {first}: keep one",
                    place=item_rows[1].place,
                    id=item_id,
                    first=item_rows[0].place,
                )
            entries[model][item_id] = AnswerEntry(item_rows[0].place, reader.answer(item_rows))
            item_rows.clear()  # the cells of a large table need not be held along with its records
    return InMemory(entries, notes)


def _decide_text(columns: Columns, runs: Runs, schema: AnswerSchema, name: str) -> list[str]:
    """Decide whether `text` as the only field is a model's raw answer or a field of one object.

    It is an object's field if an id has several rows and no text looks like JSON.
    """
    if columns.fields or not schema.list_of_objects:
        return []
    field, index = schema.list_of_objects[0], columns.about["text"]
    groups = [rows for items in runs.values() for rows in items.values()]
    is_json = any(
        str(row.cells[index]).lstrip().startswith(("{", "[", "`"))
        for rows in groups
        for row in rows
    )
    if is_json:
        return []
    if any(len(rows) > 1 for rows in groups):
        columns.lists = field
        columns.fields.append(columns.text_field(schema))
        template = "{place}: an id has several rows: each row was read as one of its {field}"
    else:
        template = (
            "{place}: each text was read as a model's whole answer; to give each of the {field} a "
            "row, add columns with their fields"
        )
    return [Message(template, place=name, field=field)]


def _texts(runs: Runs, column: int) -> Iterator[str]:
    """Yield the cells of a column as text."""
    for items in runs.values():
        for rows in items.values():
            for row in rows:
                yield text_of(row.cells[column])


class _Reader:
    """Reads rows.

    Attributes:
        odd: the odd cells among theirs, to be reported.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._titles = columns.titles
        self.odd = OddCells()

    def runs(self, rows: Iterable[TableRow]) -> Runs:
        """Model → id → rows.

        Raises:
            HdbenchError: a row is unusable.
        """
        runs: Runs = {}
        models: dict[str | None, str] = {}
        columns, width = self._columns.about, len(self._titles)
        for number, row in enumerate(rows, start=1):
            if number * width > MAX_CELLS:
                raise too_many_cells(row.place)
            cells = self._clean(row)
            if not any(cell != "" for cell in cells):
                continue
            item_id = text_of(cells[columns["id"]]).strip()
            where = row.place
            if not item_id or is_total(item_id):
                where = place_of(where, list(map(text_of, cells)), columns["id"])
            if not item_id:
                raise HdbenchError("{place}: has no id: enter it, or delete the row", place=where)
            model = text_of(cells[columns["model"]]).strip() or None if "model" in columns else None
            models.setdefault(model, row.place)
            runs.setdefault(model, {}).setdefault(item_id, []).append(TableRow(where, cells))
        if None in models and len(models) > 1:
            raise HdbenchError(
                "{place}: names no model, but other rows do: enter it", place=models[None]
            )
        return runs

    def _clean(self, row: TableRow) -> list[Cell]:
        """Return as many cells as columns: dates as text, marks for missing values as empty.

        Raises:
            HdbenchError: there are more cells, or one of them holds a formula's error.
        """
        cells, width = list(row.cells), len(self._titles)
        if len(cells) > width:
            if any(cell != "" for cell in cells[width:]):
                raise HdbenchError(
                    "{place}: has {cells} cells, and the header {width}: name every column, and "
                    "quote cells that hold the delimiter",
                    place=row.place,
                    cells=len(cells),
                    width=width,
                )
            del cells[width:]
        cells += [""] * (width - len(cells))
        for index, cell in enumerate(cells):
            if isinstance(cell, str):
                if not cell or cell.isspace():
                    cells[index] = ""
                elif cell[0] == "#" and cell in MISSING:
                    cells[index] = ""
                    self.odd.add(MISSING_VALUES, partial(self._place, row, index))
                elif cell[0] == "#" and cell in FAULTS:
                    raise HdbenchError(
                        "{place}: holds the error {cell}: enter the value, or empty the cell",
                        place=self._place(row, index),
                        cell=cell,
                    )
            elif isinstance(cell, DATES):
                cells[index] = text_of(cell)
                is_date = "date" in self._titles[index].casefold()
                kind = DATES_AS_TEXT if is_date else MADE_DATES
                self.odd.add(kind, partial(self._place, row, index, text_of(cell)))
            if not self._titles[index] and cells[index] != "":
                self.odd.add(UNNAMED, partial(self._place, row, index))
        return cells

    def _place(self, row: TableRow, index: int, text: str = "") -> Message:
        column = self._titles[index] or index + 1
        place = Message("{place}, column {column}", place=row.place, column=column)
        return Message("{place}: {text}", place=place, text=text) if text else place

    def answer(self, rows: Sequence[TableRow]) -> WrittenAnswer:
        """Return the answer in the rows of one id, as `Container.load` returns it."""
        columns, first = self._columns, rows[0]
        cells = {name: first.cells[index] for name, index in columns.about.items()}
        answer = about({name: _number(cell) for name, cell in cells.items()})
        if columns.lists:
            filled = [row for row in rows if not self._is_blank(row)]
            if filled or "error" not in answer:
                objects = [_record(columns.fields, row.cells) for row in filled]
                answer["prediction"] = self._beside(first) | {columns.lists: objects}
            return answer
        for name in ("text", "prediction"):
            if name in columns.about:
                answer[name] = text_of(first.cells[columns.about[name]])
        if answer.get("prediction") == "":
            answer["prediction"] = None
        if columns.fields and not self._is_blank(first):  # a row with only an id is not an answer
            answer["prediction"] = _record(columns.fields, first.cells)
        if "text" not in answer and "prediction" not in answer:
            answer["prediction"] = None
        return answer

    def _beside(self, row: TableRow) -> dict[str, Any]:
        """Return the fields beside the list of objects, as the JSON in a column of their own."""
        index = self._columns.about.get("other_fields")
        others = None if index is None else structured_of(row.cells[index])
        if not isinstance(others, dict):
            return {}
        return {name: value for name, value in others.items() if name in self._columns.beside}

    def _is_blank(self, row: TableRow) -> bool:
        return all(row.cells[field.column] == "" for field in self._columns.fields)


def _number(cell: Cell) -> int | float | str:
    """Return a count of tokens, or seconds with a decimal point or comma; other text as it is."""
    text = text_of(cell).strip()
    if DIGITS.fullmatch(text):
        return int(text)
    return float(text.replace(",", ".")) if SECONDS.fullmatch(text) else text


def _record(fields: Sequence[Field], cells: Sequence[Cell]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for field in fields:
        put(record, field.path, field.value(cells[field.column]))
    return record
