"""Rules that answer a benchmark, chosen by the fields that its answer schema asks for."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

from PIL import Image

from hdbench.answers.schema import AnswerSchema
from hdbench.baselines.cards import card
from hdbench.baselines.layout import TextLine, read_lines
from hdbench.baselines.letters import letter
from hdbench.baselines.ocr import ANYWHERE, ONE_BLOCK, ONE_COLUMN
from hdbench.baselines.pages import page, read_columns
from hdbench.baselines.papers import paper
from hdbench.errors import HdbenchError

_TEXT = "text"


class NoRulesError(HdbenchError):
    """No rules answer a benchmark; those for others may."""


class Baseline(NamedTuple):
    """A kind of record.

    Attributes:
        fields: an answer schema with all of these asks for this kind.
        languages: the languages it is read with.
        record: makes the record from what was read of each image.
        read_image: reads an image in these languages, with a limit of seconds.
        images: how many images of an item are read at most.
    """

    fields: Set[str]
    languages: str
    record: Callable[[list[Any]], dict[str, Any]]
    read_image: Callable[..., Any]
    images: int | None = None

    def read(self, images: Sequence[Image.Image], timeout: float) -> dict[str, Any]:
        """Return the record of an item.

        Args:
            images: its images.
            timeout: seconds for each reading of one.

        Raises:
            HdbenchError: see `read_words`.
        """
        read = (
            self.read_image(image, self.languages, timeout=timeout)
            for image in images[: self.images]
        )
        return self.record(list(read))


def _card(images: list[list[TextLine]]) -> dict[str, Any]:
    return card([line.text for lines in images for line in lines])


def _letter(images: list[list[TextLine]]) -> dict[str, Any]:
    return letter([[line.text for line in lines] for lines in images])


def _text(images: list[list[TextLine]]) -> dict[str, Any]:
    """Return the plain text of an item's images."""
    return {_TEXT: "\n".join(line.text for lines in images for line in lines)}


def _entry(name: str, images: list[list[TextLine]]) -> dict[str, Any]:
    """Return the plain text as the one entry of a list."""
    return {name: [_text(images)]}


_ANYWHERE = partial(read_lines, segmentation=ANYWHERE)
_CARD = partial(read_lines, segmentation=ONE_COLUMN, enlarge=2)
# Scanned sheets lie on black: with one threshold for the whole page the type is lost.
_LETTER = partial(read_lines, segmentation=ONE_BLOCK, locally=True)

_BASELINES = (
    Baseline({"advertisements"}, "Fraktur", page, read_columns),
    Baseline({"send_date", "sender_persons", "receiver_persons"}, "deu", _letter, _LETTER),
    Baseline({"author", "publication", "library_reference"}, "deu", _card, _CARD),
    Baseline({"title", "author", "doi"}, "eng+deu", paper, _ANYWHERE, images=4),
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
            return Baseline({_TEXT}, "deu", _text, _ANYWHERE)
        name, entry = known.list_of_objects or ("", {})
        if _TEXT in entry.get("properties", {}):
            return Baseline({name, _TEXT}, "deu", partial(_entry, name), _ANYWHERE)
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
