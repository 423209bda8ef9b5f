"""Mapping of a MARC record's fields to those of a ground truth; `marc.yaml` is the default."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hdbench.common.validation import read_plain_yaml
from hdbench.errors import HdbenchError, Message

if TYPE_CHECKING:
    from pymarc import Field, Indicators, Record

DEFAULT_MAPPING = Path(__file__).with_name("marc.yaml")

_ORIGINAL, _TRANSLITERATED = "original", "transliterated"
_PLACE = re.compile(
    r"(?P<tag>[0-9A-Za-z]{3})?(?:\|(?P<indicators>[0-9a-z*#]{2})\|)?"
    r"(?:/(?P<first>[0-9]{1,4})(?:-(?P<last>[0-9]{1,4}))?|(?P<subfields>\$[0-9a-z](?:[^$]*\$[0-9a-z])*))?"
)
_SORTING = re.compile("[\x88\x89\x98\x9c]|<<([^<>]*)>>")
_NOTHING = re.compile(r"[\s|#]*")
_LETTERS = 3
"""Number of letters or digits before a full stop from which they are not an abbreviation."""


class MarcPlace(NamedTuple):
    """A place in a record.

    Attributes:
        tag: the field; empty for a place within a field.
        indicators: two characters, `*` for any; None for any two.
        part: characters of a control field.
        subfields: code and what stands before it unless the value before ends in punctuation.
    """

    tag: str
    indicators: str | None
    part: slice
    subfields: tuple[tuple[str, str], ...]

    def fields(self, record: "Record") -> "list[Field]":
        """Return the fields of a record that are meant."""
        return [field for field in record.get_fields(self.tag) if self._fits(field.indicators)]

    def _fits(self, indicators: "Indicators | None") -> bool:
        pairs = zip(self.indicators or "", indicators or "", strict=False)
        return all(wanted in {"*", actual.replace(" ", "#")} for wanted, actual in pairs)

    def value(self, field: "Field") -> str:
        """Return what stands at this place in a field; empty if nothing does."""
        if not self.subfields:
            return _unmarked((field.data or "")[self.part])
        value = ""
        for before, code in self.subfields:
            text = _unmarked(field.get(code, ""))
            if value and text:
                value += " " if value.endswith(tuple("/:;,=.")) else before
            value += text
        return value

    def values(self, field: "Field") -> list[str]:
        """Return everything at this place in a field: a single subfield may be repeated."""
        if len(self.subfields) == 1:
            return [_unmarked(value) for value in field.get_subfields(self.subfields[0][1])]
        return [self.value(field)]


class First(NamedTuple):
    """A text: the first that is found."""

    places: list[MarcPlace]

    def read(self, record: "Record") -> str | None:
        """Return the text in a record."""
        return _first_of(map(trimmed, self.texts(record)))

    def texts(self, record: "Record") -> Iterator[str]:
        """Return everything that is found, untrimmed."""
        return (p.value(field) for p in self.places for field in p.fields(record))


class Each(NamedTuple):
    """A list: of texts, or of objects if there are `fields`."""

    places: list[MarcPlace]
    fields: dict[str, list[MarcPlace]]

    def read(self, record: "Record") -> list[Any]:
        """Return the list in a record."""
        matches = [(place, field) for place in self.places for field in place.fields(record)]
        if not self.fields:
            texts = (trimmed(text) for place, field in matches for text in place.values(field))
            return list(filter(None, texts))
        objects = (
            {
                name: _first_of(trimmed(place.value(field)) for place in places)
                for name, places in self.fields.items()
            }
            for _, field in matches
        )
        return [record for record in objects if any(record.values())]


class Nested(NamedTuple):
    """An object."""

    fields: dict[str, "First | Each | Nested"]

    def read(self, record: "Record") -> dict[str, Any]:
        """Return the object in a record."""
        return {name: field.read(record) for name, field in self.fields.items()}


class MarcMapping(NamedTuple):
    """Mapping of the fields of a MARC record to those of a ground truth.

    Attributes:
        key: what says which item a record belongs to.
        record: the ground truth.
        original: whether linked fields count in their original script.
    """

    key: First
    record: Nested
    original: bool = True

    def truth(self, record: "Record") -> tuple[str | None, dict[str, Any] | None]:
        """Return the key of a record, and its ground truth; None for what it does not have."""
        truth = self.record.read(record)
        return _first_of(self.key.texts(record)), truth if _has_something(truth) else None


def read_mapping(path: Path) -> MarcMapping:
    """Return a mapping from a file; `marc.yaml` beside this module describes the form.

    Raises:
        HdbenchError: it is unusable; the message names the field.
    """
    value = read_plain_yaml(path)
    if not isinstance(value, dict) or value.keys() - {"script"} != {"key", "record"}:
        raise HdbenchError(
            "{place}: needs key: and record:, may have script:, and nothing else: see {example}",
            place=path,
            example=DEFAULT_MAPPING,
        )
    script = value.get("script", _ORIGINAL)
    if script not in (_ORIGINAL, _TRANSLITERATED):
        raise HdbenchError(
            "{place}: script: must be {original} or {other}",
            place=path,
            original=_ORIGINAL,
            other=_TRANSLITERATED,
        )
    key, record = _node(value["key"], path, "key"), _node(value["record"], path, "record")
    if not isinstance(key, First):
        raise HdbenchError("{place}: key: must be a place such as 001 or 856$u", place=path)
    if not isinstance(record, Nested):
        raise HdbenchError("{place}: record: must have fields, such as title: 245$a", place=path)
    return MarcMapping(key, record, script == _ORIGINAL)


def _node(value: Any, path: Path, name: str) -> First | Each | Nested:
    """Return what a value in the file means.

    Args:
        value: texts, lists and objects.
        path: the file.
        name: the field in the ground truth.
    """
    if not isinstance(value, dict):
        return First(_places(value, path, name))
    if "each" not in value:
        if not value:
            raise HdbenchError("{place}: {field}: has no fields", place=path, field=name)
        return Nested({key: _node(child, path, f"{name}.{key}") for key, child in value.items()})
    fields = value.get("fields", {})
    if value.keys() - {"each", "fields"} or not isinstance(fields, dict):
        raise HdbenchError(
            "{place}: {field}: besides each: only fields: is allowed", place=path, field=name
        )
    inner = {key: _places(part, path, f"{name}.{key}", within=True) for key, part in fields.items()}
    return Each(_places(value["each"], path, name), inner)


def _places(value: Any, path: Path, name: str, *, within: bool = False) -> list[MarcPlace]:
    texts = value if isinstance(value, list) else [value]
    places = []
    for text in texts:
        match = _PLACE.fullmatch(text) if isinstance(text, str) else None
        if not match or not text or bool(match["tag"]) == within:
            raise HdbenchError(
                "{place}: {field}: {shown!r} is not a place such as $a or [$4, $e]"
                if within
                else "{place}: {field}: {shown!r} is not a place such as 245$a, 264|*1|$b, 001 or "
                "008/35-37",
                place=path,
                field=name,
                shown=text if isinstance(text, str) else Message("a list or object"),
            )
        places.append(_place(match))
    if not places:
        raise HdbenchError("{place}: {field}: has no place", place=path, field=name)
    return places


def _place(match: re.Match[str]) -> MarcPlace:
    part = slice(None)
    if match["first"]:
        part = slice(int(match["first"]), int(match["last"] or match["first"]) + 1)
    pieces = (match["subfields"] or "").split("$")
    subfields = [(before[1:] or " ", piece[0]) for before, piece in pairwise(pieces)]
    return MarcPlace(match["tag"] or "", match["indicators"], part, tuple(subfields))


def _unmarked(text: str) -> str:
    """Return a value in NFC and on one line, without marks of what is ignored in sorting."""
    return on_one_line(_SORTING.sub(r"\1", text))


def on_one_line(text: str) -> str:
    """Return a value in NFC, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def trimmed(text: str) -> str:
    """Return a value without ISBD punctuation at its end, and without brackets around it.

    The rules are those of Traject's `trim_punctuation`.

    Example:
        >>> [trimmed(text) for text in ("Die Stadt :", "[Basel] :", "Schwabe & Co.,", "1912.")]
        ['Die Stadt', 'Basel', 'Schwabe & Co.', '1912']
    """
    if _NOTHING.fullmatch(text):  # as fixed fields have it
        return ""
    text = text.rstrip(" ,/;:=")
    if text.endswith(".") and text[-4:-1].isalnum() and len(text) > _LETTERS:
        text = text[:-1]
    inner = text.removeprefix("[").removesuffix("]")
    return inner if inner and "[" not in inner and "]" not in inner else text


def _first_of(texts: Iterable[str]) -> str | None:
    """Return the first text that is not empty; None if all are."""
    return next(filter(None, texts), None)


def _has_something(value: Any) -> bool:
    """Return whether there is a value anywhere in a record.

    Example:
        >>> _has_something({"title": None, "author": {"name": None}}), _has_something({"pages": 0})
        (False, True)
    """
    if isinstance(value, dict):
        return any(map(_has_something, value.values()))
    return value not in (None, [])
