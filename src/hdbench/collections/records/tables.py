"""Tables of records, which can be read back, and in which nothing is executed."""

import datetime
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.cells import FAULTS, MISSING, SEPARATORS
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.authority_files import Fields
from hdbench.benchmarks.titles import without_titles
from hdbench.common.csv_and_excel import workbook_into, write_csv, write_text
from hdbench.common.texts import current_language, translated
from hdbench.errors import HdbenchError, Message

ORIGIN = ": origin"
"""What the title of a column with the origins of a field ends with."""

Cell = str | int | float

_WHOLE = re.compile(r"-?[1-9][0-9]{0,14}|0")
_MAX_WHOLE = 10**15
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SIGNS, _DELETE = 0x2400, 0x7F


class ColumnType(NamedTuple):
    """The type of a column, from the schema.

    Attributes:
        is_list: whether its cell holds several texts, with `|` between them.
        is_number: whether it is a number, and not a text.
    """

    is_list: bool
    is_number: bool


def cell(value: Any, field: ColumnType | None = None) -> Cell:
    """Return a value as a cell; nothing and null give an empty cell.

    Numbers stay numbers; a text becomes one only in a field of the schema that is a number, and
    only if it is written as one. Objects and lists become JSON.

    Args:
        value: a JSON value.
        field: the schema's field, if the column is one.

    Example:
        >>> cell("1957", ColumnType(is_list=False, is_number=True)), cell("0012"), cell(None)
        (1957, '0012', '')
        >>> cell(["Christ", "Paravicini"], ColumnType(is_list=True, is_number=False))
        'Christ | Paravicini'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        is_whole = field is not None and field.is_number and _WHOLE.fullmatch(value)
        return int(value) if is_whole else plain(value)
    is_list = isinstance(value, list) and field is not None and field.is_list
    if is_list and not any(isinstance(part, dict) for part in value):
        parts = [part for part in (str(cell(part)).strip() for part in value) if part]
        # Where no cell of a column has a `|`, its lists are divided by semicolons or the like.
        is_alone = len(parts) == 1 and any(sign in parts[0] for sign in SEPARATORS)
        return f"{parts[0]} |" if is_alone else " | ".join(parts)
    if isinstance(value, float):
        # Excel keeps 15 digits.
        is_kept = math.isfinite(value) and float(format(value, ".15g")) == value
        return value if is_kept else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _MAX_WHOLE else str(value)
    return as_json(value)


def as_json(value: Any) -> str:
    """Return a value as JSON that a table can hold."""
    return plain(json.dumps(value, ensure_ascii=False))


def plain(text: str) -> str:
    r"""Return a text that any table can hold, in the same number of characters.

    Control characters, which XML cannot have, become the symbols that Unicode has for them, or
    U+FFFD; a line break is `\n`. What a spreadsheet shows for a missing value or a failed formula
    (`#N/A`) gets an apostrophe before it, since it could not be read back.

    Example:
        >>> plain("a\r\nb\x00")
        'a\nb␀'
    """
    return "'" + text if text in FAULTS or text in MISSING else visible(text)


def visible(text: str) -> str:
    r"""Return a text that XML can hold: what it cannot is replaced as in `plain`.

    Example:
        >>> visible("#N/A\x07\ud800")
        '#N/A␇\ufffd'
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NO_TEXT.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "␡" if code == _DELETE else chr(_SIGNS + code) if code < ord(" ") else "\ufffd"


def field_columns(schema: AnswerSchema) -> dict[str, ColumnType]:
    """Return the columns of a record's fields, in the schema's order, each with its type.

    If the record has but one field, a list of objects, they are the objects' fields. A field that
    only holds another form of the record, such as `metadata` in letters, has no column.
    """
    prefix = (schema.list_of_objects[0], "[]") if schema.list_of_objects else ()
    alternatives = [without_titles(alternative) for alternative in schema.alternatives]
    wrappers = {
        name
        for alternative in alternatives
        for name, inner in alternative.get("properties", {}).items()
        if len(alternative["properties"]) == 1 and inner in alternatives
    }
    records = [schema.list_of_objects[1]] if schema.list_of_objects else schema.alternatives
    fields: dict[str, ColumnType] = {}
    for path in (path for alternative in records for path in _leaves(alternative)):
        if path[0] not in wrappers:
            types = schema.type_of((*prefix, *path))
            items = schema.type_of((*prefix, *path, "[]"))
            is_list = "array" in types and "string" in items
            is_number = not types & {"string", "object"} and bool(types & {"integer", "number"})
            fields.setdefault(".".join(path), ColumnType(is_list, is_number))
    return fields


def _leaves(schema: dict[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict) and "properties" in inner:
            yield from _leaves(inner, (*prefix, name))
        else:
            yield (*prefix, name)


def values_and_origins(
    values: Fields, fields: Iterable[str], columns: Mapping[str, ColumnType]
) -> list[Cell]:
    """Return the cells of a record: of each field its value, unless that is open, and its origin.

    Args:
        values: the record's values.
        fields: the fields.
        columns: the types of those that the schema has.
    """
    cells: list[Cell] = []
    for name in fields:
        value = values[name]
        shown = None if value["origin"] == "open" else value["value"]
        cells += [cell(shown, columns.get(name)), value["origin"]]
    return cells


MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
"""Maximum number of rows in an Excel sheet, including its header."""

_NARROWEST = 10
_CREATED = datetime.datetime(1980, 1, 1)  # the current time would make each export different


def write_table(
    path: Path,
    form: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    widths: Sequence[int],
) -> None:
    """Write a table as CSV or XLSX.

    Args:
        path: the file.
        form: `csv` or `xlsx`.
        head: the columns' names.
        rows: the same number of cells each.
        widths: the columns' widths in a workbook, in characters.
    """
    if form == "csv":
        write_csv(path, head, rows)
    else:
        _write_xlsx(path, head, rows, widths)


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
