"""Finished records, read one by one, and their cells in a table."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hdbench.authorities.identifiers import Fields
from hdbench.common.jsonio import read_jsonl
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


def finished_records(path: Path) -> Iterator[FinishedRecord]:
    """Yield the records of `hdbench trust finish`.

    Args:
        path: their file.

    Raises:
        HdbenchError: the file cannot be read, or a line is unusable.
    """
    for line in read_jsonl(path):
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
