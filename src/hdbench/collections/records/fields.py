"""The fields of a record, in any form, that are made of an item's values by a mapping."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hdbench.benchmarks.authority_files import (
    IDENTIFIER,
    Identifiers,
    address_of,
    in_marc,
    values_in,
)
from hdbench.collections.records.finished_records import FinishedRecord
from hdbench.collections.records.mapping import (
    ITEM,
    Condition,
    Entry,
    MappedForm,
    RecordMapping,
    ValueOf,
)
from hdbench.collections.records.tables import visible
from hdbench.collections.truth.marc_mapping import on_one_line
from hdbench.common.value_text import text_of
from hdbench.errors import HdbenchError, Message

CONDITION_OPEN = Message("whether and how a record is made depends on a value that is still open")
NOTHING = Message("nothing is known of it that has a place in the mapping")
NO_PLACE = Message("no place in the mapping")
NO_XML = Message("has characters that XML cannot have")
OTHER_OPEN = Message("shares a text with a value that is still open")

_WITHIN = ", "  # between values of a list in a text that is not written for each of them
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FIGURE = re.compile("[IVX]{2,}")
_PARTICLES = {
    word.upper(): word
    for word in (
        *("d'", "da", "de", "della", "der", "di", "du", "ten"),
        *("van", "von", "zu", "zum", "zur"),
    )
}


class Written(NamedTuple):
    """What is written at a target.

    Attributes:
        target: a field of MARC, an element or a column.
        entry: the entry of the mapping.
        subfields: codes and texts; a text that is no subfield has no code.
        names: the fields of the ground truth whose values are in it.
    """

    target: str
    entry: Entry
    subfields: list[tuple[str, str]]
    names: list[str]

    @property
    def text(self) -> str:
        """Its text, if it has no subfields."""
        return "".join(text for _, text in self.subfields)


class MadeFields(NamedTuple):
    """What is made of an item's values.

    Attributes:
        written: what is written, in the mapping's order.
        left: values that are not in it, and why.
    """

    written: list[Written]
    left: dict[str, str]


def make_fields(
    record: FinishedRecord,
    mapping: RecordMapping,
    form: MappedForm,
    identifiers: Identifiers | None = None,
) -> MadeFields | str:
    """Make the fields of an item's record; or say why there is none.

    What depends on a value that is still open is not made as if it were empty: neither the record,
    if a condition does, nor a part of a text, such as half a name.

    Args:
        record: the item and its values.
        mapping: what goes where.
        form: the part of the mapping that counts.
        identifiers: identifiers of values.

    Raises:
        HdbenchError: the id has characters that XML cannot have.
    """
    if _NOT_IN_XML.search(record.item):
        raise HdbenchError(
            "{item!r}: has characters that XML cannot have: give the item another id",
            item=record.item,
        )
    values = _Values(record, mapping, form, identifiers)
    if why := values.why_none(mapping, form):
        return why
    written: list[Written] = []
    left: dict[str, str] = dict.fromkeys(values.unfit, NO_XML)
    placed = mapping.conditions(form)
    for target, each in mapping.part(form).items():
        for entry in each:
            if not values.fit(entry.when):
                continue
            waits = not entry.template.joined.isdisjoint(values.undecided)
            for parts in values.each(entry, placed):
                subfields, used = entry.template.filled(values.of(entry, parts))
                names = dict.fromkeys(name.removesuffix(IDENTIFIER) for name in used)
                names.pop(ITEM, None)
                if waits:
                    left.update(dict.fromkeys(names, OTHER_OPEN))
                elif subfields or (parts and form == "csv"):  # a place in a list, if an empty one
                    written.append(Written(target, entry, subfields, list(names)))
    placed.update(name for each in written for name in each.names)
    if not any(each.names for each in written):
        return NOTHING
    for name in values.texts.keys() - placed - left.keys() - {ITEM}:
        left[name] = NO_PLACE
    return MadeFields(written, left)


class _Values:
    """The values of an item that can be written.

    Args:
        record: the item and its values.
        mapping: what goes where.
        form: the part of the mapping that counts.
        identifiers: identifiers of values.

    Attributes:
        undecided: the fields whose values are still open.
        unfit: the fields whose values cannot be written.
        texts: field → its texts: one, or those of a list.
    """

    def __init__(
        self,
        record: FinishedRecord,
        mapping: RecordMapping,
        form: MappedForm,
        identifiers: Identifiers | None,
    ) -> None:
        item, states = record
        self.undecided = {name for name, state in states.items() if state["origin"] == "open"}
        self.unfit: list[str] = []
        self.texts: dict[str, list[str]] = {}
        for name in states:
            texts = list(map(text_of, values_in(states, name)))
            if any(map(_NOT_IN_XML.search, texts)):
                self.unfit.append(name)
                continue
            if form == "marc":
                texts = list(map(on_one_line, texts))
            if name in mapping.capitals:
                texts = list(map(in_small_letters, texts))
            if texts:
                self.texts[name] = texts
        self.texts[ITEM] = [item]
        splits = {
            entry.template.fields[0]: entry.split
            for entry in mapping.entries(form)
            if entry.split and entry.template.fields
        }
        found = identifiers.of(states, splits) if identifiers else {}
        shown = in_marc if form == "marc" else lambda known: address_of(known) or known
        self._identifiers = {
            name: [visible(shown(each)) for each in known] for name, known in found.items()
        }

    def fit(self, when: Condition) -> bool:
        """Return whether a condition is met, as far as values are known."""
        return all(
            _WITHIN.join(self.texts.get(name, ())).casefold() in values
            for name, values in when.items()
            if name not in self.undecided
        )

    def why_none(self, mapping: RecordMapping, form: MappedForm) -> str:
        """Return why conditions of a mapping let no record be made; empty if they do."""
        conditions = [("", entry.when) for entry in mapping.entries(form)]
        for why, when in (*mapping.leave_out.items(), *conditions):
            if self.fit(when) and not self.undecided.isdisjoint(when):
                return CONDITION_OPEN
            if why and self.fit(when):
                return why
        return ""

    def each(self, entry: Entry, dropped: set[str]) -> Iterator[dict[str, str]]:
        """Yield a text, and its identifier, of an entry's first field for each time it is written.

        Args:
            entry: the entry of the mapping.
            dropped: gets that field if one of its texts is not to be written.
        """
        first = next(iter(entry.template.fields), "").removesuffix(IDENTIFIER)
        texts = self.texts.get(first, [])
        if entry.split:
            texts = [
                part for text in texts for part in map(text_of, text.split(entry.split)) if part
            ]
        known: Sequence[str] = self._identifiers.get(first, ())
        if len(known) != len(texts):  # as another entry splits the text
            known = [""] * len(texts)
        if not texts:
            yield {}
        for text, identifier in zip(texts, known, strict=True):
            if entry.without and entry.without.fullmatch(text):
                dropped.add(first)
            else:
                yield {first: text, first + IDENTIFIER: identifier}

    def of(self, entry: Entry, parts: Mapping[str, str]) -> ValueOf:
        """Return what gives the text of a field, or of a field's only identifier.

        Args:
            entry: the entry of the mapping.
            parts: what `each` yields.
        """

        def value_of(name: str) -> str:
            if name in parts:
                text = parts[name]
            elif name.endswith(IDENTIFIER):
                known = self._identifiers.get(name.removesuffix(IDENTIFIER), ())
                text = known[0] if len(known) == 1 else ""
            else:
                text = _WITHIN.join(self.texts.get(name, ()))
            return entry.codes.get(text.casefold(), text)

        return value_of


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
