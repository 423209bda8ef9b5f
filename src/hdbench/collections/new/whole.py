"""The population that a sample is drawn from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.answers.cells import FAULTS, MISSING
from hdbench.answers.tables import Table
from hdbench.collections.new.truth_files import open_truth
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError, Message

MAX_ITEMS = 1_000_000
"""Maximum number of items of a population."""

MAX_ID = 1_000
"""Maximum number of characters in an id."""

ID_TITLES = ("id", "file_name", "filename", "file", "datei", "dateiname", "image", "bild", "scan")
"""Titles of the column that has the ids, in this order; without any of them it is the first."""


class Whole(NamedTuple):
    """Population of items.

    Attributes:
        name: what messages call it.
        ids: the items' ids.
        columns: title → the value of each item, an empty text where there is none.
        notes: what was assumed, one line each.
    """

    name: str
    ids: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    notes: Sequence[str]


def read_whole(path: Path, header_rows: str | None = None) -> Whole:
    """Return the items of a table with one row per item.

    Args:
        path: the table.
        header_rows: see `open_truth`.

    Raises:
        HdbenchError: it cannot be read, has no items or too many, or an id is missing, too long, or
            occurs twice.
    """
    with read_errors(path):
        population = _table(path, header_rows)
    if len(population.ids) > MAX_ITEMS:
        raise HdbenchError(
            "{place}: more than {most:,} items: draw from parts of it", place=path, most=MAX_ITEMS
        )
    return population


def _table(path: Path, header_rows: str | None) -> Whole:
    table = open_truth(path, header_rows=header_rows)
    if not isinstance(table, Table):
        raise HdbenchError("--by: needs --sample, and the columns of a table in --truth")
    titles = table.header
    column = _id_column(titles)
    note = Message(
        "{place}: the ids are in the column {column!r}", place=path, column=titles[column]
    )
    notes = [*table.notes, note]
    first_rows: dict[str, str] = {}
    values: list[list[str]] = [[] for _ in titles]
    for where, cells in table.rows:
        texts = [_value(cell) for cell in cells]
        if not any(texts):
            continue
        item_id = texts[column]
        if not item_id:
            raise HdbenchError(
                "{place}: no id in the column {column!r}", place=where, column=titles[column]
            )
        _check_id(item_id, where)
        if item_id in first_rows:
            raise HdbenchError(
                "{place}: the id {id!r} occurs twice, first in {first}: the table needs one "
                "row per item",
                place=where,
                id=item_id,
                first=first_rows[item_id],
            )
        first_rows[item_id] = where
        for index, column_values in enumerate(values):
            column_values.append(texts[index])
    if not first_rows:
        raise HdbenchError("{place}: no items in this table, only column names", place=path)
    columns = dict(zip(titles, values, strict=True))
    return Whole(path.name, list(first_rows), columns, notes)


def _id_column(titles: Sequence[str]) -> int:
    folded = [title.casefold() for title in titles]
    return next((folded.index(title) for title in ID_TITLES if title in folded), 0)


def _value(cell: str) -> str:
    """Return a cell as text; empty for a mark of a missing value or of a failed formula."""
    text = cell.strip()
    return "" if text in MISSING or text in FAULTS else text


def _check_id(item_id: str, where: str) -> None:
    if len(item_id) > MAX_ID or not item_id.isprintable():
        raise HdbenchError(
            "{place}: {id!r} cannot be an id: shorten or rename it", place=where, id=item_id[:100]
        )
