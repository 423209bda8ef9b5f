"""Finished records, read one by one, and the list of what is not in the records of a form."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from hdbench.benchmarks.authority_files import Fields
from hdbench.collections.records.tables import cell
from hdbench.common.csv_and_excel import csv_rows
from hdbench.common.jsonio import read_jsonl
from hdbench.errors import Message

OPEN = Message("still open")


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


class WrittenRecords(NamedTuple):
    """What was written.

    Attributes:
        path: the file of the records.
        records: how many there are, or how many of a library's own have changed.
        left_out: of how many items there is no record.
        values_left: how many values are in no record, besides those.
        left: the list of what is not in the records.
        given: how many records there were already, if values were put into these.
    """

    path: Path
    records: int
    left_out: int
    values_left: int
    left: Path
    given: int | None = None


class LeftList:
    """The list of items without a record, and of values that are in none, each with the reason.

    Args:
        path: the file of the records, beside which it is written.
    """

    def __init__(self, path: Path) -> None:
        self._records = path
        self._list = path.with_name(f"not_in_{path.name}.csv".replace(".csv.csv", ".csv"))
        self._made = self._left_out = self._values = 0

    def __enter__(self) -> Self:
        self._file = self._list.open("wb")
        self._write = csv_rows(self._file, ("id", "field", "value", "why"))
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def item(self, item: str, why: str) -> None:
        """Add an item without a record."""
        self._left_out += 1
        self._write((item, "", "", why))

    def no_item(self, number: str, why: str) -> None:
        """Add a record of a library, by its number, that no item has."""
        self._write(("", "001", number, why))

    def values(self, record: FinishedRecord, reasons: Mapping[str, str]) -> None:
        """Add values of a record that are not in it: open ones, and those that have a reason."""
        for name, state in record.fields.items():
            why = OPEN if state["origin"] == "open" else reasons.get(name)
            if why:
                self._values += 1
                self._write((record.item, name, cell(state.get("value")), why))
        self._made += 1

    @property
    def written(self) -> WrittenRecords:
        """What was written."""
        return WrittenRecords(self._records, self._made, self._left_out, self._values, self._list)
