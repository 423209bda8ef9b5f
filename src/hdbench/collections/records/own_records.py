"""Values put into records that a library has already, in MARC21 or MARCXML."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from hdbench.benchmarks.authority_files import Identifiers
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.records.finished_records import LeftList, WrittenRecords, finished_records
from hdbench.collections.records.mapping import ITEM, RecordMapping
from hdbench.collections.records.marc_writing import (
    MAX_RECORD,
    PROVENANCE,
    TOO_LARGE,
    MarcParts,
    Process,
    how_far,
    made_of,
    process_of,
)
from hdbench.collections.truth.marc_reading import own_records
from hdbench.common.csv_and_excel import csv_rows
from hdbench.common.progress import progress
from hdbench.common.value_text import text_of
from hdbench.errors import Message

if TYPE_CHECKING:
    from pymarc import Field, Record

CHANGED = "changed_fields.csv"
"""What became of each field that was changed."""

_LINK = re.compile(r"[0-9]+")


class OwnRecords(NamedTuple):
    """Records of a library.

    Attributes:
        path: their file.
        numbers: item → the number (001) of its record; None if that is the item's id.
        column: the column with these numbers.
    """

    path: Path
    numbers: Mapping[str, object] | None
    column: str

    @classmethod
    def of(cls, path: Path, benchmark: Benchmark, match: str) -> Self:
        """Return the records of a file, each of the item whose number it has.

        Args:
            path: their file.
            benchmark: the items.
            match: the column with these numbers; empty if it is the item's id.

        Raises:
            HdbenchError: there is no such column.
        """
        return cls(path, benchmark.column(match) if match else None, match or ITEM)

    def number(self, item: str) -> str:
        """Return the number of an item's record, empty if it has none."""
        return item if self.numbers is None else text_of(self.numbers.get(item))


def put_into_records(
    records: Path,
    folder: Path,
    *,
    own: OwnRecords,
    applied: Path,
    mapping: RecordMapping,
    identifiers: Identifiers | None = None,
) -> WrittenRecords:
    """Put the values of items into the records that they have.

    A field that a record has stays as it is, unless its tag is in `replace` of the mapping. Fields
    without values, which describe a new record, are not added.

    Args:
        records: the records of `hdbench trust finish`.
        folder: the folder to write into: all of the records, in the form that they came in, what
            has changed, and what is in no record.
        own: the records.
        applied: the folder of `hdbench trust apply`.
        mapping: what goes where.
        identifiers: identifiers of values, for which the mapping has places.

    Raises:
        HdbenchError: a record is damaged.
    """
    process, day, items = process_of(applied)
    people = Process("read by people", None, f"{day:%Y%m%d}")
    given, is_xml = own_records(own.path)
    numbers = Counter(map(_number, given))
    by_number = {_number(record): record for record in given}
    taken: dict[str, str] = {}
    changed = 0
    path = folder / ("records.xml" if is_xml else "records.mrc")
    with LeftList(path) as left, (folder / CHANGED).open("wb") as file:
        add = csv_rows(file, ("id", "001", "field", "before", "after", "by"))
        for each in progress(finished_records(records), "Writing the records", items):
            number = own.number(each.item)
            if why := _unmatched(own, number, numbers, taken):
                left.item(each.item, why)
                continue
            taken[number] = each.item
            parts = made_of(each, mapping, process, identifiers)
            if isinstance(parts, str):
                left.item(each.item, parts)
                continue
            changes = _changed(by_number[number], parts, mapping, people)
            left.values(each, parts.left)
            changed += bool(changes)
            for tag, before, after, by in changes:
                add((each.item, number, tag, before, after, by))
        for number in numbers:
            if number not in taken:
                left.no_item(number, Message("no item has this number"))
    _write(given, path, is_xml=is_xml)
    return left.written._replace(records=changed, given=len(given))


def _number(record: "Record") -> str:
    field = record.get("001")
    return (field.data or "").strip() if field else ""


def _unmatched(
    own: OwnRecords, number: str, numbers: Mapping[str, int], taken: Mapping[str, str]
) -> str:
    """Return why an item has no record of its own, empty if it has one."""
    if not number:
        return Message("no number of a record in the column {column}", column=own.column)
    if number in taken:
        return Message("another item, {item}, has the same record", item=taken[number])
    if numbers.get(number, 0) > 1:
        return Message("several records have the number {number}", number=number)
    return "" if number in numbers else Message("no record has the number {number}", number=number)


def _changed(
    record: "Record", parts: MarcParts, mapping: RecordMapping, people: Process
) -> list[tuple[str, str, str, str]]:
    """Put fields into a record; return tag, fields before and after, and who said so.

    Args:
        record: the record.
        parts: what is made of the item's values; gets what is not put into it, and why.
        mapping: what goes where.
        people: stands for people.
    """
    from pymarc import Field, Indicators, Subfield  # noqa: PLC0415

    kept = Message("field 008, which the record has, is kept")
    parts.left.update(dict.fromkeys(parts.coded, kept))
    before = list(record.fields)
    changes = []
    filled = [field for field in parts.fields if field.names]
    for tag, those in groupby(filled, lambda field: field.tag):
        made = list(those)
        there = record.get_fields(tag)
        if list(map(_shown, there)) == list(map(str, made)):
            continue
        if there and tag not in mapping.replace:
            kept = Message(
                "the record has a field {tag}, which is kept: name it in replace: of the mapping",
                tag=tag,
            )
            parts.left.update({name: kept for field in made for name in field.names})
            continue
        record.remove_field(*there)
        processes = list(dict.fromkeys(by or people for field in made for by in field.by))
        links: list[Subfield] = []
        for process in processes:
            links.insert(0, Subfield("8", rf"{_next_link(record)}\p"))
            first = " " if process is people else how_far(processes)
            pairs = [Subfield(*pair) for pair in process.provenance(links[0].value)]
            record.add_ordered_field(Field(PROVENANCE, Indicators(first, " "), pairs))
        for field in made:
            subfields = [*links, *(Subfield(*pair) for pair in field.subfields)]
            record.add_ordered_field(Field(tag, Indicators(*field.indicators), subfields))
        shown = (" ".join(map(_shown, there)), " ".join(map(str, made)))
        changes.append((tag, *shown, "; ".join(process.name for process in processes)))
    if len(record.as_marc()) > MAX_RECORD:
        record.fields = before
        parts.left.update({name: TOO_LARGE for field in filled for name in field.names})
        return []
    return changes


def _shown(field: "Field") -> str:
    """Return a field without its links to fields 883."""
    parts = [f"${part.code}{part.value}" for part in field.subfields if part.code != "8"]
    indicators = "".join(field.indicators or "").replace(" ", "#")
    return f"{indicators} {''.join(parts)}"


def _next_link(record: "Record") -> int:
    """Return a number that no field of a record is linked by."""
    used = [
        int(match[0])
        for field in record.fields
        if not field.control_field
        for match in map(_LINK.match, field.get_subfields("8"))
        if match
    ]
    return max(used, default=0) + 1


def _write(records: "Iterable[Record]", path: Path, *, is_xml: bool) -> None:
    from pymarc import MARCWriter, XMLWriter  # noqa: PLC0415

    with path.open("wb") as file:
        writer = XMLWriter(file) if is_xml else MARCWriter(file)
        for record in records:
            writer.write(record)
        writer.close(close_fh=False)
