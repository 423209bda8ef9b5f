"""Values put into records that a library has already, in MARC21 or MARCXML."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hdbench.collections.records.finished_rows import FinishedRecord, LeftList, WrittenRecords
from hdbench.collections.records.marc_making import (
    ITEM,
    MAX_RECORD,
    PROVENANCE,
    TOO_LARGE,
    LeftOut,
    MadeFields,
    Process,
    how_far,
    provenance,
)
from hdbench.collections.truth.marc import own_records
from hdbench.collections.truth.marc_templates import NewRecords
from hdbench.common.csv_and_excel import csv_rows
from hdbench.common.letters import text_of
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

    def number(self, item: str) -> str:
        """Return the number of an item's record, empty if it has none."""
        return item if self.numbers is None else text_of(self.numbers.get(item))


def put_into_records(
    finished: Iterable[FinishedRecord],
    folder: Path,
    *,
    own: OwnRecords,
    mapping: NewRecords,
    fields_of: Callable[[FinishedRecord], MadeFields | LeftOut],
    day: date,
) -> WrittenRecords:
    """Put the values of items into the records that they have.

    A field that a record has stays as it is, unless its tag is in `replace` of the mapping. Fields
    without values, which describe a new record, are not added.

    Args:
        finished: the records of `hdbench trust finish`.
        folder: the folder to write into: all of the records, in the form that they came in, what
            has changed, and what is in no record.
        own: the records.
        mapping: how fields are made.
        fields_of: a function from a finished record to the fields that are made of it.
        day: the day that fields 883 have, of values that people gave.

    Raises:
        HdbenchError: a record is damaged.
    """
    given, is_xml = own_records(own.path)
    numbers = Counter(map(_number, given))
    by_number = {_number(record): record for record in given}
    taken: dict[str, str] = {}
    changed = 0
    path = folder / ("records.xml" if is_xml else "records.mrc")
    with LeftList(path) as left, (folder / CHANGED).open("wb") as file:
        add = csv_rows(file, ("id", "001", "field", "before", "after", "by"))
        for each in finished:
            number = own.number(each.item)
            if why := _unmatched(own, number, numbers, taken):
                left.item(each.item, why)
                continue
            taken[number] = each.item
            made = fields_of(each)
            if isinstance(made, LeftOut):
                left.item(each.item, made.why)
                continue
            record = by_number[number]
            reasons = {part.name: part.why for part in made.left}
            changes = _changed(record, made, mapping, day, reasons)
            left.values(each, reasons)
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
    record: "Record",
    made: MadeFields,
    mapping: NewRecords,
    day: date,
    reasons: dict[str, str],
) -> list[tuple[str, str, str, str]]:
    """Put fields into a record; return tag, fields before and after, and who said so."""
    from pymarc import Field, Indicators, Subfield  # noqa: PLC0415

    people = Process("read by people", None, f"{day:%Y%m%d}")
    by_tag: dict[str, list[Field]] = {}
    who: dict[str, list[Process]] = {}
    names: dict[str, list[str]] = {}
    before = list(record.fields)
    for each, indicators in made.with_indicators(mapping):
        named = [name for name in each.template.fields if name != ITEM]
        if named:
            subfields = [Subfield(code, text) for code, text in each.subfields]
            field = Field(each.template.tag, Indicators(*indicators), subfields)
            by_tag.setdefault(field.tag, []).append(field)
            names.setdefault(field.tag, []).extend(named)
            who.setdefault(field.tag, []).extend(by or people for by in each.by)
    changes = []
    for tag, fields in by_tag.items():
        there = record.get_fields(tag)
        if [_shown(field) for field in there] == [_shown(field) for field in fields]:
            continue
        if there and tag not in mapping.replace:
            kept = Message(
                "the record has a field {tag}, which is kept: name it in replace: of the mapping",
                tag=tag,
            )
            reasons.update(dict.fromkeys(names[tag], kept))
            continue
        record.remove_field(*there)
        processes = list(dict.fromkeys(who[tag]))
        for process in processes:
            link = rf"{_next_link(record)}\p"
            first = " " if process is people else how_far(processes)
            pairs = [Subfield(*pair) for pair in provenance(process, link)]
            record.add_ordered_field(Field(PROVENANCE, Indicators(first, " "), pairs))
            for field in fields:
                field.subfields.insert(0, Subfield("8", link))
        for field in fields:
            record.add_ordered_field(field)
        shown = (" ".join(map(_shown, there)), " ".join(map(_shown, fields)))
        changes.append((tag, *shown, "; ".join(process.name for process in processes)))
    if len(record.as_marc()) > MAX_RECORD:
        record.fields = before
        reasons.update({name: TOO_LARGE for each in names.values() for name in each})
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
