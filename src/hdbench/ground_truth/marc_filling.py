"""Values put into a record of MARCXML where the mapping has their place, and nowhere else.

What a record has stays as it is, also where it says something else. Which fields a machine filled
is said in fields 883, "Metadata Provenance" (https://www.loc.gov/marc/bibliographic/bd883.html).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hdbench.ground_truth.marc import marc_fields, record_from
from hdbench.ground_truth.marc_mapping import Each, First, MarcMapping, MarcPlace, trimmed

if TYPE_CHECKING:
    from lxml.etree import _Element as Element
    from pymarc import Record

NO_PLACE = "no place in the mapping"
CONTROL_FIELD = "a control field, which cannot say where a value comes from"
OTHER_VALUE = "the record has another value"
NOT_THE_SAME = "would not be read back as the same"
NO_XML = "has characters that XML cannot have"

PROVENANCE = "883"
FULLY, PARTIALLY = "0", "1"
"""First indicators of field 883: all of a field, or a part of it, was made by a machine."""

INDICATORS = {"245": "00"}
"""Indicators that a new field must have, if the mapping does not say any: no added entry, and
nothing to ignore in sorting."""

_LINK = re.compile(r"(\d+)")


class Filled(NamedTuple):
    """A subfield that was added.

    Attributes:
        name: the field of the ground truth.
        tag: the field of MARC.
        code: the subfield.
        value: what it says.
        is_new: whether the whole field was added.
    """

    name: str
    tag: str
    code: str
    value: str
    is_new: bool


class Left(NamedTuple):
    """A value that was not put into the record.

    Attributes:
        name: the field of the ground truth.
        why: why not.
        existing: what the record has there.
    """

    name: str
    why: str
    existing: str


class Process(NamedTuple):
    """A process by which values were made.

    Attributes:
        name: of the process.
        confidence: 0.0 to 1.0, higher is better; None if it is not known.
        date: as yyyymmdd.
    """

    name: str
    confidence: float | None
    date: str


def provenance(by: Process, link: str) -> list[tuple[str, str]]:
    r"""Return the subfields of a field 883 about a process.

    Args:
        by: the process.
        link: what links a field to it, such as `1\p`.
    """
    sure = [] if by.confidence is None else [("c", f"{by.confidence:g}")]
    return [("8", link), ("a", by.name), *sure, ("d", by.date)]


def fill(
    element: "Element", mapping: MarcMapping, values: Mapping[str, str | list[str]], by: Process
) -> tuple[list[Filled], list[Left]]:
    """Put values into a record that it does not have yet, and say in it where they come from.

    Args:
        element: the record, which is changed.
        mapping: where values have their place.
        values: field of the ground truth, such as `imprint.place` → its value, which is not empty.
        by: what they were made by.

    Returns:
        What was added, and what was not; a value that the record has already is in neither.

    Raises:
        ValueError: the element is not a usable record; the message says why.
    """
    filling = _Filling(element)
    filled: list[Filled] = []
    left: list[Left] = []
    for name, value in values.items():
        node = mapping.node(name)
        if not isinstance(node, First | Each) or (isinstance(node, Each) and node.fields):
            left.append(Left(name, NO_PLACE, ""))
            continue
        places = [place for place in node.places if place.subfields]
        existing, wanted = _texts(node.read(filling.record())), _texts(value)
        if existing and not _same(existing, wanted):
            left.append(Left(name, OTHER_VALUE, " / ".join(existing)))
        if existing:
            continue
        if not places:
            left.append(Left(name, CONTROL_FIELD, ""))
            continue
        try:
            many = isinstance(node, Each)
            added = filling.add_each(places[0], wanted) if many else filling.add(places, wanted[0])
        except ValueError:  # of lxml
            left.append(Left(name, NO_XML, ""))
            continue
        if _same(_texts(node.read(filling.record())), wanted):
            filled += [Filled(name, *filling.keep(one)) for one in added]
        else:
            filling.take_back(added)
            left.append(Left(name, NOT_THE_SAME, ""))
    filling.say_provenance(by)
    return filled, left


class _Added(NamedTuple):
    """A subfield that was added to a field."""

    field: "Element"
    subfield: "Element"


class _Filling:
    """A record while it is filled."""

    def __init__(self, element: "Element") -> None:
        self._element = element
        self._namespace = str(element.tag).rpartition("}")[0].removeprefix("{")
        self._new: list[Element] = []
        self._changed: list[Element] = []

    def record(self) -> "Record":
        """Return the record as it is now."""
        record = record_from(self._element)
        if isinstance(record, str):
            raise ValueError(record)
        return record

    def add(self, places: Sequence[MarcPlace], text: str) -> list[_Added]:
        """Add a text, to the first field that is meant and has nothing there, or in a new one."""
        empty = self._empty(places)
        place = empty[0] if empty else places[0]
        subfields = [self._subfield(*part) for part in _split(text, place)]
        field = empty[1] if empty else self._new_field(place)
        for subfield in subfields:
            self._put(field, subfield)
        return [_Added(field, subfield) for subfield in subfields]

    def add_each(self, place: MarcPlace, texts: Sequence[str]) -> list[_Added]:
        """Add texts, each in a new field."""
        subfields = [self._subfield(place.subfields[0][1], text) for text in texts]
        added = [_Added(self._new_field(place), subfield) for subfield in subfields]
        for field, subfield in added:
            self._put(field, subfield)
        return added

    def keep(self, added: _Added) -> tuple[str, str, str, bool]:
        """Note what was added; its tag, its code, its value, and whether its field is new."""
        field, subfield = added
        is_new = field in self._new
        if not is_new and field not in self._changed:
            self._changed.append(field)
        return field.get("tag", ""), subfield.get("code", ""), subfield.text or "", is_new

    def take_back(self, added: Sequence[_Added]) -> None:
        """Remove what was added."""
        for field, subfield in added:
            field.remove(subfield)
            if field in self._new and not len(field):
                self._new.remove(field)
                self._element.remove(field)

    def say_provenance(self, by: Process) -> None:
        """Link what was added to a field that says how it was made."""
        links = (int(match[1]) for link in self._links() if (match := _LINK.match(link)))
        number = max(links, default=0)
        for indicator, fields in ((FULLY, self._new), (PARTIALLY, self._changed)):
            if not fields:
                continue
            number += 1
            link = rf"{number}\p"
            field = self._inserted(PROVENANCE, f"{indicator} ")
            field.extend(self._subfield(*subfield) for subfield in provenance(by, link))
            for changed in fields:
                changed.insert(0, self._subfield("8", link))

    def _empty(self, places: Sequence[MarcPlace]) -> "tuple[MarcPlace, Element] | None":
        """Return the first field that is meant and has nothing there."""
        record = self.record()
        for place in places:
            meant = {id(field) for field in place.fields(record)}
            for field, child in zip(record.fields, marc_fields(self._element), strict=True):
                if id(field) in meant and not place.value(field):
                    return place, child
        return None

    def _new_field(self, place: MarcPlace) -> "Element":
        asked = place.indicators or INDICATORS.get(place.tag, "##")
        field = self._inserted(place.tag, asked.replace("#", " ").replace("*", " "))
        self._new.append(field)
        return field

    def _inserted(self, tag: str, indicators: str) -> "Element":
        """Return a new field, before the first with a higher tag."""
        attributes = {"tag": tag, "ind1": indicators[0], "ind2": indicators[1]}
        field = self._element.makeelement(self._name("datafield"), attributes)
        fields = marc_fields(self._element)
        behind = next((later for later in fields if later.get("tag", "") > tag), None)
        at = len(self._element) if behind is None else self._element.index(behind)
        field.tail = self._element[at - 1].tail if at else None
        self._element.insert(at, field)
        return field

    def _put(self, field: "Element", subfield: "Element") -> None:
        """Add a subfield before those with a later letter."""
        code = subfield.get("code", "")
        at = (index for index, sibling in enumerate(field) if sibling.get("code", "") > code)
        field.insert(next(at, len(field)), subfield)

    def _subfield(self, code: str, value: str) -> "Element":
        subfield = self._element.makeelement(self._name("subfield"), {"code": code})
        subfield.text = value
        return subfield

    def _links(self) -> Iterator[str]:
        """Yield the texts of subfields 8."""
        for field in marc_fields(self._element):
            yield from (subfield.text or "" for subfield in field if subfield.get("code") == "8")

    def _name(self, name: str) -> str:
        return f"{{{self._namespace}}}{name}" if self._namespace else name


def _split(text: str, place: MarcPlace) -> list[tuple[str, str]]:
    """Return the subfields that a text fills, divided at the mapping's signs between two.

    Example:
        >>> title = MarcPlace("245", None, slice(None), ((" ", "a"), (" : ", "b")))
        >>> _split("Die Stadt : Roman : Fassung", title)
        [('a', 'Die Stadt'), ('b', 'Roman : Fassung')]
    """
    parts = []
    codes = [code for _, code in place.subfields]
    for before, _ in place.subfields[1:]:
        head, separator, tail = text.partition(before)
        if not (separator and before.strip() and head.strip() and tail.strip()):
            break
        parts.append(head)
        text = tail
    return list(zip(codes, [*parts, text], strict=False))


def _texts(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) and value else list(value or ())


def _same(existing: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether texts are the same but for spaces, case and the punctuation at their ends."""
    return [_plain(text) for text in existing] == [_plain(text) for text in wanted]


def _plain(text: str) -> str:
    return " ".join(trimmed(text).casefold().split())
