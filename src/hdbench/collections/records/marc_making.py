"""Whole MARC records made of values, by the part `new_records` of a mapping.

Which fields a machine filled is said in fields 883, "Metadata Provenance"
(https://www.loc.gov/marc/bibliographic/bd883.html).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from hdbench.benchmarks.authority_files import IDENTIFIER
from hdbench.collections.truth.marc_mapping import on_one_line
from hdbench.collections.truth.marc_templates import (
    ARTICLE,
    MAIN_ENTRY,
    FieldTemplate,
    Kind,
    NewRecords,
    nonfiling,
)
from hdbench.common.letters import text_of
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MARC = "http://www.loc.gov/MARC21/slim"

NO_TITLE = Message("no title (field 245), which each MARC record must have")
TITLE_OPEN = Message("the title (field 245) is still open")
TOO_LARGE = Message("larger than a MARC record can be")

NO_EACH = "a list, and the mapping has no each: for it"
TOO_LONG = "longer than a field of MARC can be"
OTHER_OPEN = "shares a subfield with a value that is still open"

TITLE = "245"

MAX_FIELD = 9_900
"""Maximum number of bytes in a field: 9,999, less some for links to fields 883."""

MAX_RECORD = 95_000
"""Maximum number of bytes in a record: 99,999, less some for fields 883."""

ENTRY = 12
"""The number of bytes that a field has in a record's directory."""

_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")

NO_PLACE = "no place in the mapping"
NO_XML = "has characters that XML cannot have"

_FIGURE = re.compile("[IVX]{2,}")
_PARTICLES = {
    word.upper(): word
    for word in (
        "d'",
        "da",
        "de",
        "della",
        "der",
        "di",
        "du",
        "ten",
        "van",
        "von",
        "zu",
        "zum",
        "zur",
    )
}

PROVENANCE = "883"
FULLY, PARTIALLY = "0", "1"
"""First indicators of field 883: all of a field, or a part of it, was made by a machine."""

ITEM = "id"
"""What stands for the item's id in a template."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Left(NamedTuple):
    """A value that was not put into the record.

    Attributes:
        name: the field of the ground truth.
        why: why not.
    """

    name: str
    why: str


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


class MarcEntry(NamedTuple):
    """What a field is written with: the whole record, or an entry of a list in it.

    Attributes:
        text: a function from a field of the record to its text, which is empty if it has none.
        source: a function from a field of the record to the one that has its origin.
    """

    text: Callable[[str], str]
    source: Callable[[str], str]


class Values(NamedTuple):
    """Values of an item that can be written.

    Attributes:
        texts: field → its text.
        lists: field → its entries.
        identifiers: field → an identifier for each of its texts or entries, "" if it has none.
    """

    texts: dict[str, str]
    lists: dict[str, list[Any]]
    identifiers: dict[str, Sequence[str]]

    def text(self, name: str) -> str:
        """Return a field's text, empty if it has none."""
        return self.texts.get(name, "")

    def entries(self, template: FieldTemplate) -> Iterator[MarcEntry]:
        """Yield what a field is written with: one or, with `each`, one for each entry."""
        each = template.each
        if each is None:
            yield MarcEntry(self._any_text, _field_of)
            return
        text = self.text(each)
        pieces = text.split(template.split) if template.split else [text]
        entries = [entry for entry in self.lists.get(each, pieces) if text_of(entry)]
        known = self.identifiers.get(each, ())
        if len(known) != len(entries):  # as another template splits the text
            known = [""] * len(entries)
        for entry, identifier in zip(entries, known, strict=True):
            if isinstance(entry, dict):
                parts = {
                    f"{each}.{name}": on_one_line(text_of(part)) for name, part in entry.items()
                }
            else:
                parts = {each: on_one_line(text_of(entry))}
            if template.without and template.without.fullmatch(parts.get(each, "")):
                continue
            if any(parts.get(name) for name in template.fields):
                parts[each + IDENTIFIER] = identifier
                yield MarcEntry(partial(self._any_text, parts=parts), partial(_source, parts, each))

    def _any_text(self, name: str, parts: Mapping[str, str] = {}) -> str:
        """Return the text of an entry's part, of a field, or of a field's only identifier."""
        if name in parts:
            return parts[name]
        if name.endswith(IDENTIFIER):
            known = self.identifiers.get(_field_of(name), ())
            return known[0] if len(known) == 1 else ""
        return self.text(name)


class Made(NamedTuple):
    """A record that was made.

    Attributes:
        record: the record in MARCXML.
        left: values that are not in it, and why.
    """

    record: "Element"
    left: list[Left]


class LeftOut(NamedTuple):
    """An item of which no record is made.

    Attributes:
        why: why not.
        left: values that could not have been in it, and why.
    """

    why: str
    left: list[Left]


class _Written(NamedTuple):
    """A field as it is written.

    Attributes:
        template: its template.
        subfields: codes and texts.
        by: the processes that made its values; None stands for people.
    """

    template: FieldTemplate
    subfields: list[tuple[str, str]]
    by: list[Process | None]


class MadeFields(NamedTuple):
    """The fields that are made of an item's values.

    Attributes:
        kind: the kind of record.
        those: the values.
        fields: the fields.
        left: values that are not in them, and why.
    """

    kind: Kind
    those: Values
    fields: list[_Written]
    left: list[Left]

    def with_indicators(self, mapping: NewRecords) -> Iterator[tuple[_Written, list[str]]]:
        """Yield each field and its indicators."""
        language = mapping.fixed.language.code(self.those.text(mapping.fixed.language.field or ""))
        languages = [language] if language in mapping.languages else mapping.languages
        has_main_entry = any(field.template.tag.startswith("1") for field in self.fields)
        for field in self.fields:
            rules = {MAIN_ENTRY: str(int(has_main_entry)), "#": " "}
            if ARTICLE in field.template.indicators:
                rules[ARTICLE] = str(nonfiling(field.subfields[0][1], languages))
            yield field, [rules.get(each, each) for each in field.template.indicators]


def make_record(
    mapping: NewRecords,
    item: str,
    values: Mapping[str, Any],
    origins: Mapping[str, Process],
    entered: date,
    *,
    identifiers: Mapping[str, Sequence[str]] = {},
    undecided: Collection[str] = (),
) -> Made | LeftOut:
    """Make a whole MARC record of an item; see `make_fields`.

    Fields 883 say which fields a process made, and how sure it was. A field counts as partly made
    by a process if some of its values come from people or from another process.

    Args:
        mapping: how records are made.
        item: the item's id: `{id}`, and the control number (001) if there is a 003.
        values: see `make_fields`.
        origins: see `make_fields`.
        entered: the date on which the record is made.
        identifiers: see `make_fields`.
        undecided: see `make_fields`.

    Raises:
        HdbenchError: the id has characters that XML cannot have.
    """
    made = make_fields(mapping, item, values, origins, identifiers=identifiers, undecided=undecided)
    if isinstance(made, LeftOut):
        return made
    if all(field.template.tag != TITLE for field in made.fields):
        templates = mapping.templates(made.kind)
        titles = {name for each in templates if each.tag == TITLE for name in each.fields}
        return LeftOut(TITLE_OPEN if titles.intersection(undecided) else NO_TITLE, made.left)
    if sum(_length(field.subfields) + ENTRY for field in made.fields) > MAX_RECORD:
        return LeftOut(TOO_LARGE, made.left)
    return Made(_record(mapping, made, entered), made.left)


def make_fields(
    mapping: NewRecords,
    item: str,
    values: Mapping[str, Any],
    origins: Mapping[str, Process],
    *,
    identifiers: Mapping[str, Sequence[str]] = {},
    undecided: Collection[str] = (),
) -> MadeFields | LeftOut:
    """Make the fields of an item's record.

    Args:
        mapping: how records are made.
        item: the item's id.
        values: field of the ground truth, such as `imprint.place` → its value: a text, a number,
            a list of texts, or a list of objects. A field without a value may be missing.
        origins: field → the process that made its value; fields that people filled are missing.
        identifiers: field → an identifier, as `$0` has it, or "", for each of its values that are
            not empty; of a text that a template splits, for each of its parts.
        undecided: fields whose values are still open. Neither the kind of record nor a part of a
            subfield, such as half a name, is made as if such a field were empty.

    Raises:
        HdbenchError: the id has characters that XML cannot have.
    """
    if _NOT_IN_XML.search(item):
        raise HdbenchError(
            "{item!r}: has characters that XML cannot have: give the item another id", item=item
        )
    those, left = usable(item, values, identifiers, mapping.used, mapping.capitals)
    kind = mapping.fitting_kind(those.text, undecided)
    if isinstance(kind, str):
        return LeftOut(kind, [])
    templates = mapping.templates(kind)
    has_each = {template.each for template in templates}
    left += [Left(name, NO_EACH) for name in those.lists if name not in has_each]
    return MadeFields(kind, those, _written(templates, those, origins, left, undecided), left)


def _written(
    templates: Iterable[FieldTemplate],
    those: Values,
    origins: Mapping[str, Process],
    left: list[Left],
    undecided: Collection[str],
) -> list[_Written]:
    """Return the fields that have something, and add values that are not written to `left`."""
    fields = []
    for template in templates:
        for entry in those.entries(template):
            subfields = template.filled(entry.text)
            names = [entry.source(name) for name in template.fields if entry.text(name)]
            waits = not template.joined.isdisjoint(undecided)
            if waits or _length(subfields) > MAX_FIELD:
                why = OTHER_OPEN if waits else TOO_LONG
                left += [Left(name, why) for name in dict.fromkeys(names) if name != ITEM]
            elif subfields:
                by = dict.fromkeys(origins.get(name) for name in names if name != ITEM)
                fields.append(_Written(template, subfields, list(by)))
    return fields


def _length(subfields: Iterable[tuple[str, str]]) -> int:
    """Return the number of bytes of a field: subfields with their codes, indicators, its end."""
    return sum(len(text.encode()) + 2 for _, text in subfields) + 3


def _record(mapping: NewRecords, parts: MadeFields, entered: date) -> "Element":
    """Return a record in MARCXML."""
    from lxml import etree  # noqa: PLC0415  of an extra

    kind, those, fields = parts.kind, parts.those, parts.fields
    place, language = (
        code.code(those.text(code.field or ""))
        for code in (mapping.fixed.place, mapping.fixed.language)
    )
    record = etree.Element(f"{{{MARC}}}record", nsmap={None: MARC})
    etree.SubElement(record, f"{{{MARC}}}leader").text = kind.leader
    elements = []
    if any(field.template.tag == "003" for field in fields):  # which says whose number it is
        elements.append(("001", _control_field(record, "001", those.text(ITEM))))
    date_text = those.text(mapping.fixed.date or "")
    fixed = f"{entered:%y%m%d}{_published(date_text)}{place}{kind.material}{language} d"
    elements.append(("008", _control_field(record, "008", fixed)))
    made = []
    for field, indicators in parts.with_indicators(mapping):
        tag = field.template.tag
        if tag < "010":
            elements.append((tag, _control_field(record, tag, field.subfields[0][1])))
            continue
        made.append(_data_field(record, tag, indicators, field.subfields))
        elements.append((tag, made[-1]))
    elements += [(PROVENANCE, field) for field in _provenance(record, fields, made)]
    record.extend(element for _, element in sorted(elements, key=itemgetter(0)))
    return record


def _published(text: str) -> str:
    """Return the type of a date and the date, characters 6 to 14 of field 008.

    Example:
        >>> _published("[1912?]"), _published("1911-1912")
        ('s1912    ', 'nuuuuuuuu')
    """
    years = _YEAR.findall(text)
    return f"s{years[0]}    " if len(years) == 1 else "nuuuuuuuu"


def _provenance(
    record: "Element", fields: Sequence[_Written], made: Sequence["Element"]
) -> list["Element"]:
    """Return fields 883, to which the fields that a process made are linked."""
    by_process: dict[tuple[str, Process], list[Element]] = {}
    data_fields = (field for field in fields if field.template.tag >= "010")
    for field, element in zip(data_fields, made, strict=True):
        how = how_far(field.by)
        for process in filter(None, field.by):
            by_process.setdefault((how, process), []).append(element)
    links = []
    for number, ((how, process), elements) in enumerate(by_process.items(), 1):
        link = rf"{number}\p"
        links.append(_data_field(record, PROVENANCE, [how, " "], provenance(process, link)))
        for element in elements:
            element.insert(0, _subfield(record, "8", link))
    return links


def how_far(processes: Collection[object]) -> str:
    """Return the first indicator of fields 883 about all processes, or people, of a field."""
    return FULLY if len(processes) == 1 else PARTIALLY


def _control_field(record: "Element", tag: str, text: str) -> "Element":
    field = record.makeelement(f"{{{MARC}}}controlfield", {"tag": tag})
    field.text = text
    return field


def _data_field(
    record: "Element", tag: str, indicators: Sequence[str], subfields: Iterable[tuple[str, str]]
) -> "Element":
    attributes = {"tag": tag, "ind1": indicators[0], "ind2": indicators[1]}
    field = record.makeelement(f"{{{MARC}}}datafield", attributes)
    field.extend(_subfield(record, code, text) for code, text in subfields)
    return field


def _subfield(record: "Element", code: str, text: str) -> "Element":
    subfield = record.makeelement(f"{{{MARC}}}subfield", {"code": code})
    subfield.text = text
    return subfield


def _field_of(name: str) -> str:
    return name.removesuffix(IDENTIFIER)


def _source(parts: Mapping[str, str], each: str, name: str) -> str:
    return each if name in parts else _field_of(name)


def usable(
    item: str,
    values: Mapping[str, Any],
    identifiers: Mapping[str, Sequence[str]],
    names: Collection[str],
    capitals: Collection[str] = (),
) -> tuple[Values, list[Left]]:
    """Return the values that can be written, and those that cannot.

    Args:
        item: the item's id.
        values: field → its value.
        identifiers: field → an identifier, or "", for each of its values that are not empty.
        names: the fields that the mapping uses.
        capitals: fields with names: those that are in capitals get small letters.
    """
    those = Values({ITEM: item}, {}, {})
    left = []
    for name, value in values.items():
        texts = list(filter(None, _texts(value)))
        if not texts:
            continue
        if name not in names:
            left.append(Left(name, NO_PLACE))
        elif any(map(_NOT_IN_XML.search, texts)):
            left.append(Left(name, NO_XML))
        elif isinstance(value, list):
            those.lists[name] = value
        else:
            text = on_one_line(text_of(value))
            those.texts[name] = in_small_letters(text) if name in capitals else text
    for name in identifiers.keys() & (those.texts.keys() | those.lists.keys()):
        if any(map(_NOT_IN_XML.search, identifiers[name])):
            left.append(Left(name + IDENTIFIER, NO_XML))
        else:
            those.identifiers[name] = identifiers[name]
    return those, left


def in_small_letters(name: str) -> str:
    """Return a name that is written in capitals with small letters; any other as it is.

    Initials, and figures such as "II", stay; "von" and the like are small.

    Example:
        >>> [in_small_letters(name) for name in ("VON MÜLLER-LYER", "A. B.", "McKAY", "D'ABO")]
        ['von Müller-Lyer', 'A. B.', 'McKAY', "D'Abo"]
    """
    if name != name.upper():
        return name
    words = (
        word if _FIGURE.fullmatch(word) else _PARTICLES.get(word, word.title())
        for word in name.split(" ")
    )
    return " ".join(words)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts within a value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
    else:
        yield text_of(value)
