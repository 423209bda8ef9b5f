"""Lists of items that people look at, and of their doubtful fields."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hdbench.answers.csv_lines import Line, opened_csv
from hdbench.common.checked import check_file
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

MAX_FILE = 256 * 2**20
"""Maximum size in bytes of a list; a work list of a million items is a tenth of that."""

MAX_CELL = 2**20
"""Maximum number of characters in a cell."""

_QUOTED = re.compile(r'[,"\r\n]')


def read_listed(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the items of a work list, each with the fields to look at; none for all.

    A work list is CSV with the columns `id` and `fields`, see `as_cell`; others are ignored. It may
    have been cut, sorted and saved by a spreadsheet program.

    Raises:
        HdbenchError: the file cannot be read, is something else, or has no item.
    """
    check_file(path, MAX_FILE, Message("a list of items"))
    with read_errors(path):
        data = path.read_bytes()
    with opened_csv(data, str(path), _width, MAX_CELL) as (rows, _):
        return _work_list(rows, str(path))


def as_cell(names: Sequence[str]) -> str:
    """Return names of fields as a cell of a work list, separated by commas.

    A name that has a comma, a quotation mark or a line break is quoted as in CSV.

    Example:
        >>> print(as_cell(["title", "place, year"]))
        title, "place, year"
    """
    return ", ".join(
        '"{}"'.format(name.replace('"', '""')) if _QUOTED.search(name) else name for name in names
    )


def _names_in(cell: str, where: str) -> tuple[str, ...]:
    try:
        names = next(csv.reader([cell], skipinitialspace=True), [])
    except csv.Error as error:
        raise HdbenchError(
            "{place}: fields: cannot be read: {why}", place=where, why=error
        ) from error
    return tuple(filter(None, (name.strip() for name in names)))


def _width(rows: Iterator[Line]) -> int:
    return len(next(rows, (0, []))[1])


def _work_list(rows: Iterator[Line], name: str) -> dict[str, tuple[str, ...]]:
    header = [title.strip().casefold() for title in next(rows, (0, []))[1]]
    if "id" not in header:
        raise HdbenchError(
            "{place}: not a work list of hdbench trust apply, which has a column id",
            place=name,
        )
    columns = [header.index(title) if title in header else None for title in ("id", "fields")]
    fields_by_id = {}
    for number, cells in rows:
        item_id, fields = (
            cells[column] if column is not None and column < len(cells) else ""
            for column in columns
        )
        if item_id:
            fields_by_id[item_id] = _names_in(fields, f"{name}:{number}")
    if not fields_by_id:
        raise HdbenchError("{place}: lists no items: there is nothing to look at", place=name)
    return fields_by_id
