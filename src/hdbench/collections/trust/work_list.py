"""Work lists: a table with a row for each value that people look at."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from hdbench.answers.csv_lines import Line, opened_csv
from hdbench.common.csv_and_excel import Row, csv_rows
from hdbench.common.letters import text_of
from hdbench.common.os_errors import read_errors
from hdbench.common.validation import check_file
from hdbench.errors import HdbenchError, Message

MAX_FILE = 2**29
"""Maximum size in bytes of a list."""

MAX_CELL = 2**20
"""Maximum number of characters in a cell."""

COLUMNS = ("id", "field", "value")
"""The first columns of a work list; behind them is what each run says, and why there is doubt."""

NOTHING = "null"
"""What a cell holds if there is nothing: an empty one was not filled in."""

_BETWEEN = "; "


def write_listed(file: BinaryIO, runs: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a work list.

    Args:
        file: where it goes.
        runs: the names of the runs.
        rows: an id, a field, what each run says, see `as_cell`, and the reason for the doubt.
    """
    add = csv_rows(file, (*COLUMNS, *runs, "reason"))
    for item, field, *said in rows:
        add((item, field, None, *said))


def as_cell(value: Any) -> str:
    """Return a value as a cell of a work list, from which it can be read back.

    Example:
        >>> as_cell(["Diss.", "Basel"]), as_cell(["a; b"]), as_cell(False), as_cell(" ")
        ('Diss.; Basel', '["a; b"]', 'false', 'null')
    """
    if isinstance(value, list):
        texts = list(filter(None, map(text_of, value)))
        if any(";" in text or "\n" in text for text in texts):
            return json.dumps(texts, ensure_ascii=False)
        return _BETWEEN.join(texts) or NOTHING
    return text_of(value) or NOTHING


def read_listed(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the items of a work list, each with the fields to look at; none for all.

    A work list is CSV with the columns `id` and `field`; others are ignored. It may have been cut,
    sorted and saved by a spreadsheet program.

    Raises:
        HdbenchError: the file cannot be read, is something else, or has no item.
    """
    check_file(path, MAX_FILE, Message("a list of items"))
    with read_errors(path):
        data = path.read_bytes()
    with opened_csv(data, str(path), MAX_CELL) as (rows, _):
        return _work_list(rows, str(path))


def _work_list(rows: Iterator[Line], name: str) -> dict[str, tuple[str, ...]]:
    header = [title.strip().casefold() for title in next(rows, (0, []))[1]]
    if "id" not in header:
        raise HdbenchError(
            "{place}: not a work list of hdbench trust apply, which has a column {name}",
            place=name,
            name="id",
        )
    columns = [header.index(title) if title in header else None for title in COLUMNS[:2]]
    listed: dict[str, tuple[str, ...]] = {}
    known: dict[str, str] = {}  # so that the name of a field is held once
    for _, cells in rows:
        item_id, field = (
            cells[column].strip() if column is not None and column < len(cells) else ""
            for column in columns
        )
        if item_id:
            field = known.setdefault(field, field)
            listed[item_id] = (*listed.get(item_id, ()), *filter(None, [field]))
    if not listed:
        raise HdbenchError("{place}: lists no items: there is nothing to look at", place=name)
    return listed
