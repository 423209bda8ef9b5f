"""Finished records, read one by one, and as a table of one's own columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from hdbench.authorities.identifiers import Fields
from hdbench.common.csv_files import Row, csv_rows
from hdbench.common.jsonio import read_jsonl
from hdbench.common.resuming import NoState, made_from, resumable_files
from hdbench.output.exporting.cells import Cell, cell
from hdbench.output.exporting.columns import ColumnType

ORIGIN = ": origin"
"""What the title of a column with the origins of a field ends with."""


class FinishedRecord(NamedTuple):
    """A record of `hdbench trust finish`.

    Attributes:
        item: the item's id.
        fields: its values.
    """

    item: str
    fields: Fields


def finished_records(path: Path, start: int = 0) -> Iterator[FinishedRecord]:
    """Yield the records of `hdbench trust finish`, from one on.

    Args:
        path: their file.
        start: how many records are before it.

    Raises:
        HdbenchError: the file cannot be read, or a line is unusable.
    """
    for line in islice(read_jsonl(path), start, None):
        yield FinishedRecord(line.value["id"], line.value["fields"])


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


def write_finished_csv(
    records: Path,
    path: Path,
    head: Sequence[str],
    row: Callable[[FinishedRecord], Row],
    *,
    options: str,
    state: BaseModel | None = None,
) -> int:
    """Write a table with a row for each finished record, see `csv_rows`; it is resumable.

    Args:
        records: the `records.jsonl` of `hdbench trust finish`.
        path: the file to write.
        head: the columns' names.
        row: returns the row of a record.
        options: all else that a row depends on, as one text.
        state: what the rows change besides, see `resumable_files`.

    Returns:
        The number of rows.

    Raises:
        HdbenchError: the records cannot be read, or the file cannot be written.
    """
    hash_ = made_from(options, head, files=[records])
    with resumable_files([path], hash_, state or NoState()) as writing:
        add = csv_rows(writing.files[0], head)
        for record in writing.progress(
            finished_records(records, writing.done), "Writing the table"
        ):
            add(row(record))
    return writing.done
