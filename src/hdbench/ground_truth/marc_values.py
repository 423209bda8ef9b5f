"""Values of an item as the templates of MARC fields take them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from hdbench.answers.letters import text_of
from hdbench.ground_truth.mapped_values import on_one_line
from hdbench.ground_truth.marc_filling import NO_PLACE, NO_XML, Left
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
    """

    texts: dict[str, str]
    lists: dict[str, list[Any]]

    def text(self, name: str) -> str:
        """Return a field's text, empty if it has none."""
        return self.texts.get(name, "")

    def entries(self, template: FieldTemplate) -> Iterator[MarcEntry]:
        """Yield what a field is written with: one or, with `each`, one for each entry."""
        each = template.each
        if each is None:
            yield MarcEntry(self.text, str)
            return
        text = self.text(each)
        pieces = text.split(template.split) if template.split else [text]
        for entry in self.lists.get(each, pieces):
            if isinstance(entry, dict):
                parts = {
                    f"{each}.{name}": on_one_line(text_of(part)) for name, part in entry.items()
                }
            else:
                parts = {each: on_one_line(text_of(entry))}
            if template.without and template.without.fullmatch(parts.get(each, "")):
                continue
            if any(parts.get(name) for name in template.fields):
                yield MarcEntry(partial(_text, parts, self.texts), partial(_source, parts, each))


def _text(parts: Mapping[str, str], texts: Mapping[str, str], name: str) -> str:
    return parts.get(name, texts.get(name, ""))


def _source(parts: Mapping[str, str], each: str, name: str) -> str:
    return each if name in parts else name


def usable(
    item: str, values: Mapping[str, Any], names: Collection[str]
) -> tuple[Values, list[Left]]:
    """Return the values that can be written, and those that cannot.

    Args:
        item: the item's id.
        values: field → its value.
        names: the fields that the mapping uses.
    """
    those = Values({ITEM: item}, {})
    left = []
    for name, value in values.items():
        texts = list(filter(None, _texts(value)))
        if not texts:
            continue
        if name not in names:
            left.append(Left(name, NO_PLACE, ""))
        elif any(map(_NOT_IN_XML.search, texts)):
            left.append(Left(name, NO_XML, ""))
        elif isinstance(value, list):
            those.lists[name] = value
        else:
            those.texts[name] = on_one_line(text_of(value))
    return those, left


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts within a value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
    else:
        yield text_of(value)
