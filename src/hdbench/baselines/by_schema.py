"""Which rules answer a benchmark: chosen by the fields that its answer schema asks for."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from PIL import Image

from hdbench.answers.schema import AnswerSchema
from hdbench.baselines import cards, letters, pages, papers
from hdbench.baselines.layout import lines
from hdbench.baselines.ocr import read_words
from hdbench.errors import HdbenchError

_PLAIN = "deu"
_TEXT = "text"


class NoRulesError(HdbenchError):
    """No rules answer a benchmark; those for others may."""


class Baseline(NamedTuple):
    """A kind of record.

    Attributes:
        fields: an answer schema with all of these asks for this kind.
        languages: the languages it is read with.
        read: makes its record from its images, with a limit of seconds per image.
    """

    fields: frozenset[str]
    languages: str
    read: Callable[[Sequence[Image.Image], float], dict[str, Any]]


def _read_text(images: Sequence[Image.Image], timeout: float) -> dict[str, Any]:
    """Return the plain text of an item's images."""
    read = (read_words(image, _PLAIN, segmentation=1, timeout=timeout) for image in images)
    return {_TEXT: "\n".join(line.text for words in read for line in lines(words))}


def _read_entry(
    name: str, images: Sequence[Image.Image], timeout: float
) -> dict[str, list[dict[str, Any]]]:
    """Return the plain text as the one entry of a list."""
    return {name: [_read_text(images, timeout)]}


_BASELINES = (
    Baseline(frozenset({"advertisements"}), pages.LANGUAGES, pages.read_page),
    Baseline(
        frozenset({"send_date", "sender_persons", "receiver_persons"}),
        letters.LANGUAGES,
        letters.read_letter,
    ),
    Baseline(
        frozenset({"author", "publication", "library_reference"}), cards.LANGUAGES, cards.read_card
    ),
    Baseline(frozenset({"title", "author", "doi"}), papers.LANGUAGES, papers.read_paper),
)


def baseline_for(schema: Mapping[str, Any] | None) -> Baseline:
    """Return the rules for an answer schema.

    Raises:
        NoRulesError: there is no schema, or it asks for fields that no rules cover.
    """
    fields = _fields(schema)
    for kind in _BASELINES:
        if kind.fields <= fields:
            return kind
    if schema is not None and _TEXT in fields:
        known = AnswerSchema(dict(schema))
        if _TEXT in known.names:
            return Baseline(frozenset({_TEXT}), _PLAIN, _read_text)
        name, entry = known.list_of_objects or ("", {})
        if _TEXT in entry.get("properties", {}):
            return Baseline(frozenset({name, _TEXT}), _PLAIN, partial(_read_entry, name))
    raise NoRulesError(
        "the tesseract backend has no rules for this benchmark's answers: it needs an "
        "answer.schema.json with the fields of cards, pages of advertisements, letters or papers, "
        "or with a field {field!r}, in the record or in its one list: choose another backend",
        field=_TEXT,
    )


def _fields(schema: Mapping[str, Any] | None) -> set[str]:
    """Return the names of all properties, at any depth."""
    found: set[str] = set()
    left: list[Any] = [schema]
    while left:
        node = left.pop()
        if isinstance(node, Mapping):
            properties = node.get("properties")
            if isinstance(properties, Mapping):
                found |= properties.keys()
            left += node.values()
        elif isinstance(node, list):
            left += node
    return found
