"""Values of an item as the templates of MARC fields take them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from hdbench.answers.letters import text_of
from hdbench.authorities.identifiers import IDENTIFIER
from hdbench.ground_truth.marc_mapping import on_one_line
from hdbench.ground_truth.marc_provenance import NO_PLACE, NO_XML, Left
from hdbench.ground_truth.marc_templates import FieldTemplate

ITEM = "id"
"""What stands for the item's id in a template."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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


def _field_of(name: str) -> str:
    return name.removesuffix(IDENTIFIER)


def _source(parts: Mapping[str, str], each: str, name: str) -> str:
    return each if name in parts else _field_of(name)


def usable(
    item: str,
    values: Mapping[str, Any],
    identifiers: Mapping[str, Sequence[str]],
    names: Collection[str],
) -> tuple[Values, list[Left]]:
    """Return the values that can be written, and those that cannot.

    Args:
        item: the item's id.
        values: field → its value.
        identifiers: field → an identifier, or "", for each of its values that are not empty.
        names: the fields that the mapping uses.
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
            those.texts[name] = on_one_line(text_of(value))
    for name in identifiers.keys() & (those.texts.keys() | those.lists.keys()):
        if any(map(_NOT_IN_XML.search, identifiers[name])):
            left.append(Left(name + IDENTIFIER, NO_XML))
        else:
            those.identifiers[name] = identifiers[name]
    return those, left


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts within a value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
    else:
        yield text_of(value)
