"""Values that `hdbench trust apply` took over as MARCXML: in a library's records or new ones."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from hdbench.answers.ids import plain_form
from hdbench.answers.letters import text_of
from hdbench.common.csv_files import csv_rows
from hdbench.common.extras import needed
from hdbench.common.jsonio import parse_line, plain_id, raw_lines, whole_file
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.ground_truth.marc import marc_elements, record_from
from hdbench.ground_truth.marc_filling import Filled, Left, Process, fill
from hdbench.ground_truth.marc_making import MARC
from hdbench.ground_truth.marc_mapping import DEFAULT_MAPPING, MarcMapping, read_mapping
from hdbench.output.exporting.marc_collection import marc_collection
from hdbench.trust.applied_folder import IS_TAKEN, TAKEN, VALUES, read_applied, read_begun

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

RECORDS = "records.xml"
TAKEN_LIST = "taken.csv"
"""The file with each subfield that was added, so that it can be removed again."""

LEFT_LIST = "not_in_records.csv"
"""The file with each accepted value that is not in a record, and why."""

LEADER = "00000nam a2200000uu 4500"
"""Leader of a new record: a new book, with an unknown level of description."""

NO_RECORD = "no record has the id"

_HEADS = {
    TAKEN_LIST: ("plan", "id", "field", "tag", "subfield", "value", "score", "new_field"),
    LEFT_LIST: ("plan", "id", "field", "value", "score", "why", "existing"),
}


class Written(NamedTuple):
    """Counts of what was written.

    Attributes:
        records: the number of records.
        touched: the number of them that were filled.
        values: the number of subfields added.
        left: the number of values that are not in a record.
    """

    records: int
    touched: int
    values: int
    left: int


def check_marc(records: Path | None, mapping: Path | None) -> MarcMapping:
    """Return the mapping, if everything that is needed exists.

    Raises:
        HdbenchError: the mapping is unusable, or there are no such records.
        MissingExtraError: pymarc or lxml is not installed.
    """
    with needed("truths", "MARC records need"):
        import lxml.etree  # noqa: F401, PLC0415
        import pymarc  # noqa: F401, PLC0415
    if records is not None and not records.is_file():
        raise HdbenchError("{place}: no such file", place=records)
    return read_mapping(mapping or DEFAULT_MAPPING)


def write_marc(out: Path, mapping: MarcMapping, records: Path | None) -> Written:
    """Write what was accepted as MARCXML into a folder of `hdbench trust apply`.

    A value goes where the mapping reads it from, if the record has nothing there; what a record has
    stays as it is. Field 883 of a record says which of its fields were filled, by which plan, and
    with what confidence: one minus the limit of the plan.

    Args:
        out: the folder; it gets `records.xml`, `taken.csv` and `not_in_records.csv`.
        mapping: the MARC fields of values.
        records: the library's records, all of which are written again; without them, new ones are
            made that have nothing but an id and what was accepted.

    Raises:
        HdbenchError: the folder is not finished, or the records cannot be used.
    """
    if records is not None and records.resolve() == (out / RECORDS).resolve():
        raise HdbenchError("{place}: would be replaced: give your own records", place=records)
    plan, _ = read_begun(out)
    applied = read_applied(out)
    name = f"hdbench trust, plan {plan.hash()}"
    process = Process(name, round(1 - plan.limit, 6), applied.finished[:10].replace("-", ""))
    number = touched = 0
    with ExitStack() as stack:
        file = _whole(out / RECORDS, stack)
        lists = _Lists(plan.hash(), out, stack)
        values = _TakenValues(out / VALUES, stack)
        marc_records = _new(values) if records is None else _filled_in(records, mapping, values)
        write = _writing(file, marc_records, stack)
        for item, element, item_values in progress(write, "Writing the records"):
            filled, left_out = fill(element, mapping, _given(item_values), process)
            lists.add(item, item_values, filled, left_out)
            number += 1
            touched += bool(filled)
        if records is not None:
            for item in [item for item in values.offsets if item not in values.used]:
                item_values = values.take(item)
                left_out = [Left(name, NO_RECORD, "") for name in item_values]
                lists.add(item, item_values, (), left_out)
    return Written(number, touched, lists.taken, lists.left)


def _whole(path: Path, stack: ExitStack) -> BinaryIO:
    """Open a file that replaces another at the end of the stack."""
    return stack.enter_context(stack.enter_context(whole_file(path)).open("wb"))


def _writing(file: BinaryIO, records: Iterator["_Made"], stack: ExitStack) -> Iterator["_Made"]:
    """Yield records, each of which is written to a file when the next one is requested."""
    first = next(records, None)
    namespace = MARC if first is None else str(first.element.tag).rpartition("}")[0][1:]
    write = stack.enter_context(marc_collection(file, namespace))
    for record in chain(filter(None, [first]), records):
        yield record
        write(record.element)


class _Lists:
    """Lists of the values that are in records, and of those that are not.

    Attributes:
        taken: the number of subfields in records.
        left: the number of values that are not.
    """

    def __init__(self, plan: str, out: Path, stack: ExitStack) -> None:
        self._plan = plan
        self._write_taken, self._write_left = (
            csv_rows(_whole(out / name, stack), head) for name, head in _HEADS.items()
        )
        self.taken = self.left = 0

    def add(
        self, item: str, values: "_Found", filled: Iterable[Filled], left_out: Iterable[Left]
    ) -> None:
        """Add the outcomes for the values of an item."""
        for part in filled:
            score, is_new = values[part.name]["score"], "yes" if part.is_new else "no"
            row = (self._plan, item, part.name, part.tag, part.code, part.value, score, is_new)
            self._write_taken(row)
            self.taken += 1
        for unused in left_out:
            value = values[unused.name]
            value_text = text_of(value["value"])
            reason = (unused.why, unused.existing)
            self._write_left((self._plan, item, unused.name, value_text, value["score"], *reason))
            self.left += 1


class _Made(NamedTuple):
    """A record to fill.

    Attributes:
        item: the item that it belongs to; empty if it belongs to none.
        element: the record.
        values: field → its line's entry, of the values that are accepted.
    """

    item: str
    element: "Element"
    values: "_Found"


_Found = Mapping[str, Mapping[str, Any]]


class _TakenValues:
    """Values that are accepted and not empty, looked up by item.

    Attributes:
        offsets: item → the offset of its line.
        used: the items whose values were taken.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self._path = path
        self.offsets: dict[str, int] = {}
        for number, offset, raw in raw_lines(path):
            if IS_TAKEN in raw:
                item = plain_id(raw) or parse_line(raw, f"{path}:{number}")["id"]
                self.offsets[item] = offset
        self.used: set[str] = set()
        self._file = stack.enter_context(path.open("rb"))

    @cached_property
    def _items(self) -> dict[str, str]:
        """The plain form of an id → its item; empty if several have that form."""
        items: dict[str, str] = {}
        for item in self.offsets:
            form = plain_form(item)
            items[form] = "" if form in items else item
        return items

    def item(self, key: str | None) -> str | None:
        """Return the item that a record's key names, as people write ids; None if none does."""
        if key is None or key in self.offsets:
            return key
        return self._items.get(plain_form(key)) or None

    def take(self, item: str) -> dict[str, dict[str, Any]]:
        """Return the values of an item, once."""
        self.used.add(item)
        self._file.seek(self.offsets[item])
        line = parse_line(self._file.readline(), self._path)
        fields: dict[str, dict[str, Any]] = line["fields"]
        return {
            name: value
            for name, value in fields.items()
            if value["decision"] == TAKEN and value["value"] is not None
        }


def _filled_in(path: Path, mapping: MarcMapping, values: _TakenValues) -> Iterator[_Made]:
    """Yield the library's records, each with the values of its item."""
    with path.open("rb") as file:
        number = 0
        for number, element in enumerate(marc_elements(file, str(path)), 1):
            record = record_from(element)
            if isinstance(record, str):
                raise HdbenchError(
                    "{place}: record {number} {why}: export the file again",
                    place=path,
                    number=number,
                    why=record,
                )
            item = values.item(mapping.key_of(record))
            if item is None:
                yield _Made("", element, {})
            elif item in values.used:
                raise HdbenchError(
                    "{place}: record {number} is the second one with the id of item {item}: "
                    "remove one of them",
                    place=path,
                    number=number,
                    item=item,
                )
            else:
                yield _Made(item, element, values.take(item))
        if not number:
            raise HdbenchError("{place}: no MARC record in it", place=path)


def _new(values: _TakenValues) -> Iterator[_Made]:
    """Yield a record for each item, with only its id."""
    from lxml import etree  # noqa: PLC0415  of an extra

    for item in values.offsets:
        item_values = values.take(item)
        if not item_values:
            continue
        element = etree.Element(f"{{{MARC}}}record", nsmap={None: MARC})
        etree.SubElement(element, f"{{{MARC}}}leader").text = LEADER
        field = etree.SubElement(element, f"{{{MARC}}}controlfield", {"tag": "001"})
        try:
            field.text = item
        except ValueError as error:
            raise HdbenchError(
                "{item!r}: has characters that XML cannot have: give the item another id", item=item
            ) from error
        yield _Made(item, element, item_values)


def _given(values: _Found) -> dict[str, str | list[str]]:
    """Return each field's text, or the texts of a list."""
    texts_by_field: dict[str, str | list[str]] = {}
    for name, entry in values.items():
        value = entry["value"]
        texts = [text_of(part) for part in value] if isinstance(value, list) else text_of(value)
        texts_by_field[name] = list(filter(None, texts)) if isinstance(texts, list) else texts
    return texts_by_field
