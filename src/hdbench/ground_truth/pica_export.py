"""PICA records made from the records of a benchmark, where a mapping has their place."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hdbench.answers.letters import text_of
from hdbench.authorities.reconciled import IDENTIFIER
from hdbench.errors import Message
from hdbench.ground_truth.mapped_values import on_one_line
from hdbench.ground_truth.marc_filling import NO_PLACE, NO_XML, NOT_THE_SAME, OTHER_VALUE, Left
from hdbench.ground_truth.pica import ITEM_LEVEL, PicaField, PicaRecord
from hdbench.ground_truth.pica_mapping import (
    ANY_OCCURRENCE,
    PicaEach,
    PicaFirst,
    PicaMapping,
    PicaNested,
    PicaPlace,
)
from hdbench.ground_truth.pica_xml import NO_XML_CHARACTER

NO_WORD = "not among the words of the mapping"

FIRST_COPY = "01"


class NewRecord(NamedTuple):
    """A record that was made.

    Attributes:
        record: its fields, in the order of their levels and tags.
        left: values that it does not have, and why; what the mapping would read is all the rest.
    """

    record: PicaRecord
    left: list[Left]


def new_record(
    mapping: PicaMapping,
    values: Mapping[str, Any],
    key: str,
    identifiers: Mapping[str, Sequence[str]] = {},
) -> NewRecord:
    """Return a new PICA record with a key, the mapping's constants, and the values of an item.

    A value is in it if the mapping reads the same from it, but for spaces. Texts of one field of
    PICA share it, in the order of the values; each entry of a list has a field of its own.

    Args:
        mapping: where values have their place.
        values: the item's record; empty values are passed over.
        key: what says which item the record belongs to.
        identifiers: field, such as `imprint.place` → an identifier, as PICA has it, or "", for each
            of its values that are not empty.

    Raises:
        ValueError: the key cannot be read back; the message says so.

    Example:
        >>> from hdbench.ground_truth.pica_mapping import CARDS_MAPPING, read_pica_mapping
        >>> from hdbench.ground_truth.pica import to_plain
        >>> card = {"author": {"last_name": "May", "first_name": "M. A."}, "note": "Diss."}
        >>> made = new_record(read_pica_mapping(CARDS_MAPPING), card, "card-7")
        >>> print(to_plain(made.record).decode(), end="")
        002@ $0Aau
        006Y $0card-7
        028A $aMay$dM. A.
        <BLANKLINE>
        >>> made.left
        [Left(name='note', why='no place in the mapping', existing='')]
    """
    making = _Making(mapping.constants)
    making.add(mapping.key.places[:1], on_one_line(key))
    if mapping.key_of(making.fields) != on_one_line(key) or NO_XML_CHARACTER.search(key):
        raise ValueError(Message("{key!r} cannot be the key of a PICA record", key=key))
    left = []
    for name, node, value in _leaves(values, mapping.record, ""):
        known = identifiers.get(name, ())
        if any(map(NO_XML_CHARACTER.search, known)):
            left.append(Left(name + IDENTIFIER, NO_XML, ""))
            known = ()
        if unused := making.put(node, value, known):
            left.append(Left(name, *unused))
    return NewRecord(sorted(making.fields, key=_order), left)


def _leaves(
    value: Any, node: PicaFirst | PicaEach | PicaNested | None, name: str
) -> Iterator[tuple[str, PicaFirst | PicaEach | PicaNested | None, Any]]:
    """Yield the name, place and value of whatever is not empty."""
    if isinstance(value, Mapping) and isinstance(node, PicaNested | None):
        for key, child in value.items():
            inner = node.fields.get(key) if node else None
            yield from _leaves(child, inner, f"{name}.{key}" if name else key)
    elif tidy := _tidy(value):
        yield name, node, tidy


class _Making:
    """A record while it is made.

    Attributes:
        fields: what it has.
    """

    def __init__(self, constants: Sequence[PicaField]) -> None:
        self.fields: PicaRecord = list(constants)

    def put(
        self,
        node: PicaFirst | PicaEach | PicaNested | None,
        wanted: Any,
        identifiers: Sequence[str],
    ) -> tuple[str, str] | None:
        """Add a value that is tidy; return why it cannot be added, and what is there, if so.

        Args:
            node: where it has its place.
            wanted: the value.
            identifiers: see `new_record`.
        """
        if not isinstance(node, PicaFirst | PicaEach):
            return NO_PLACE, ""
        if NO_XML_CHARACTER.search("".join(_texts(wanted))):
            return NO_XML, ""
        if existing := _tidy(node.read(self.fields)):
            return None if existing == wanted else (OTHER_VALUE, " / ".join(_texts(existing)))
        before = list(self.fields)
        entries = wanted if isinstance(wanted, list) else [wanted]
        if len(identifiers) != len(entries):
            identifiers = [""] * len(entries)
        beside = [
            [(node.identifier, known)] if node.identifier and known else [] for known in identifiers
        ]
        if isinstance(node, PicaFirst):
            for text in _texts(wanted):
                if node.words and text not in node.words:
                    return NO_WORD, ""
                self.add(node.places, node.words.get(text, text), beside[0])
        else:
            for entry, subfields in zip(entries, beside, strict=True):
                self._add_entry(node, entry, subfields)
        if _tidy(node.read(self.fields)) != wanted:
            self.fields = before
            return NOT_THE_SAME, ""
        return None

    def add(
        self, places: Sequence[PicaPlace], text: str, beside: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Add a text to the first field that is meant and has nothing there, or in a new one.

        Args:
            places: where it can stand.
            text: the text.
            beside: subfields that go before all others of its field, as K10plus has identifiers.
        """
        for place in places:
            for index, field in enumerate(self.fields):
                if place.fits(field) and not place.value(field):
                    subfields = (*beside, *field.subfields, *_split(text, place))
                    self.fields[index] = field._replace(subfields=subfields)
                    return
        self.fields.append(_new_field(places[0], [*beside, *_split(text, places[0])]))

    def _add_entry(self, node: PicaEach, entry: Any, beside: Sequence[tuple[str, str]]) -> None:
        """Add an entry of a list, in a field of its own."""
        place = node.places[0]
        if isinstance(entry, str) and not node.fields:
            self.fields.append(_new_field(place, [*beside, *_split(entry, place)]))
        elif isinstance(entry, dict):
            subfields = [
                subfield
                for name, text in entry.items()
                if name in node.fields and isinstance(text, str)
                for subfield in _split(text, node.fields[name][0])
            ]
            if subfields:
                self.fields.append(_new_field(place, [*beside, *subfields]))


def _new_field(place: PicaPlace, subfields: Sequence[tuple[str, str]]) -> PicaField:
    occurrence = place.occurrence
    if occurrence == ANY_OCCURRENCE:
        occurrence = FIRST_COPY if place.tag.startswith(ITEM_LEVEL) else ""
    return PicaField(place.tag, occurrence, tuple(subfields))


def _split(text: str, place: PicaPlace) -> list[tuple[str, str]]:
    """Return the subfields that a text fills, divided at the mapping's signs between two.

    Example:
        >>> title = PicaPlace("021A", "", ((" ", "a"), (" : ", "d")))
        >>> _split("Die Stadt : Roman : Fassung", title)
        [('a', 'Die Stadt'), ('d', 'Roman : Fassung')]
    """
    parts = []
    codes = [code for _, code in place.subfields]
    for before, _ in place.subfields[1:]:
        head, _, tail = text.partition(before)
        if not (before.strip() and head and tail):
            break
        parts.append(head)
        text = tail
    return list(zip(codes, [*parts, text], strict=False))


def _order(field: PicaField) -> tuple[str, str, str, str]:
    """Return the place of a field in a record: level by level, and copy by copy."""
    copy = field.occurrence if field.tag.startswith(ITEM_LEVEL) else ""
    return field.tag[0], copy, field.tag, field.occurrence


def _tidy(value: Any) -> Any:
    """Return a value as texts on one line, without all that is empty."""
    if isinstance(value, Mapping):
        entries = {key: _tidy(child) for key, child in value.items()}
        return {key: child for key, child in entries.items() if child}
    if isinstance(value, list):
        return list(filter(None, map(_tidy, value)))
    return on_one_line(text_of(value))


def _texts(tidy: Any) -> Iterator[str]:
    """Yield the texts in a tidy value."""
    if isinstance(tidy, str):
        yield tidy
    else:
        for child in tidy.values() if isinstance(tidy, dict) else tidy:
            yield from _texts(child)
