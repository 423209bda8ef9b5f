"""Mapping of a PICA record's fields to those of a ground truth; `pica.yaml` is the default.

`pica_zettelkatalog.yaml` is one for the cards of a catalogue, by which records can be made, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.common.checked import read_plain_yaml
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.mapped_values import first_of, has_something, on_one_line
from hdbench.ground_truth.marc_records import Kind, read_left_out
from hdbench.ground_truth.pica import ITEM_LEVEL, PicaField, PicaRecord, plain_field

PICA_MAPPING = Path(__file__).with_name("pica.yaml")
CARDS_MAPPING = Path(__file__).with_name("pica_zettelkatalog.yaml")

ANY_OCCURRENCE = "*"
INTEGER = "integer"

_PLACE = re.compile(
    r"(?:(?P<tag>[012][0-9]{2}[A-Z@])(?:/(?P<occurrence>[0-9]{2,3}|\*))?)?"
    r"(?P<subfields>\$[0-9A-Za-z](?:[^$]*\$[0-9A-Za-z])*)?"
)
_SORTING = re.compile(r"(?<![^\s'’])@(?=\S)")
"""The sign before the word by which a title is sorted: `Die @Stadt`; only the first is one."""
_INTEGER = re.compile("0|[1-9][0-9]{0,17}")


class PicaPlace(NamedTuple):
    """A place in a record.

    Attributes:
        tag: the field; empty for a place within a field.
        occurrence: of the field; empty for fields without one, `*` for any.
        subfields: code and what stands before its value, if there is a value before.
    """

    tag: str
    occurrence: str
    subfields: tuple[tuple[str, str], ...]

    def fields(self, record: Sequence[PicaField]) -> list[PicaField]:
        """Return the fields of a record that are meant."""
        return [field for field in record if self.fits(field)]

    def fits(self, field: PicaField) -> bool:
        """Return whether a field is meant; occurrence 00 is the same as none."""
        if field.tag != self.tag:
            return False
        if self.occurrence in (ANY_OCCURRENCE, field.occurrence):
            return True
        return not (field.occurrence.strip("0") or self.occurrence.strip("0"))

    def value(self, field: PicaField) -> str:
        """Return what stands at this place in a field; empty if nothing does."""
        value = ""
        for before, code in self.subfields:
            text = next((on_one_line(text) for name, text in field.subfields if name == code), "")
            if value and text:
                value += before
            value += text
        return value

    def values(self, field: PicaField) -> list[str]:
        """Return everything at this place in a field: a single subfield may be repeated."""
        if len(self.subfields) == 1:
            code = self.subfields[0][1]
            return [on_one_line(text) for name, text in field.subfields if name == code]
        return [self.value(field)]


class PicaFirst(NamedTuple):
    """A text or whole number: the first that is found.

    Attributes:
        places: where it can stand.
        words: value of the ground truth → what PICA says for it; empty if that is the same.
        is_integer: whether it is a whole number.
        identifier: the subfield in which new records get the identifier of the value, beside it;
            empty if they get none.
    """

    places: list[PicaPlace]
    words: Mapping[str, str]
    is_integer: bool
    identifier: str = ""

    def read(self, record: Sequence[PicaField]) -> str | int | None:
        """Return the value in a record."""
        values = (self._value(without_sign(text)) for text in self.texts(record) if text)
        return next((value for value in values if value is not None), None)

    def texts(self, record: Sequence[PicaField]) -> Iterator[str]:
        """Return everything that is found, as PICA says it."""
        return (p.value(field) for p in self.places for field in p.fields(record))

    def _value(self, text: str) -> str | int | None:
        """Return the value that a text stands for; None if it stands for none."""
        if self.words:
            return next((value for value, word in self.words.items() if word == text), None)
        if self.is_integer:
            return int(text) if _INTEGER.fullmatch(text) else None
        return text


class PicaEach(NamedTuple):
    """A list: of texts, or of objects if there are `fields`; identifiers as in `PicaFirst`."""

    places: list[PicaPlace]
    fields: dict[str, list[PicaPlace]]
    identifier: str = ""

    def read(self, record: Sequence[PicaField]) -> list[Any]:
        """Return the list in a record."""
        matches = [(place, field) for place in self.places for field in place.fields(record)]
        if not self.fields:
            texts = (text for place, field in matches for text in place.values(field))
            return [without_sign(text) for text in texts if text]
        objects = (
            {
                name: first_of(without_sign(place.value(field)) for place in places)
                for name, places in self.fields.items()
            }
            for _, field in matches
        )
        return [entry for entry in objects if any(entry.values())]


class PicaNested(NamedTuple):
    """An object."""

    fields: dict[str, "PicaFirst | PicaEach | PicaNested"]

    def read(self, record: Sequence[PicaField]) -> dict[str, Any]:
        """Return the object in a record."""
        return {name: field.read(record) for name, field in self.fields.items()}


class PicaMapping(NamedTuple):
    """Mapping of the fields of a PICA record to those of a ground truth.

    Attributes:
        key: what says which item a record belongs to.
        record: the ground truth.
        constants: fields that each new record has.
        kinds: kinds of items of which no record is made.
    """

    key: PicaFirst
    record: PicaNested
    constants: PicaRecord
    kinds: tuple[Kind, ...]

    def truth(self, record: Sequence[PicaField]) -> tuple[str | None, dict[str, Any] | None]:
        """Return the key of a record, and its ground truth; None for what it does not have."""
        truth = self.record.read(record)
        return self.key_of(record), truth if has_something(truth) else None

    def key_of(self, record: Sequence[PicaField]) -> str | None:
        """Return the key of a record."""
        return first_of(self.key.texts(record))

    @property
    def identified(self) -> set[str]:
        """Return the fields whose identifiers have a subfield."""
        return set(_identified(self.record, ""))


def _identified(node: PicaFirst | PicaEach | PicaNested, name: str) -> Iterator[str]:
    if isinstance(node, PicaNested):
        for key, child in node.fields.items():
            yield from _identified(child, f"{name}.{key}" if name else key)
    elif node.identifier:
        yield name


def read_pica_mapping(path: Path) -> PicaMapping:
    """Return a mapping from a file; `pica.yaml` beside this module describes the form.

    Raises:
        HdbenchError: it is unusable; the message names the field.
    """
    value = read_plain_yaml(path)
    needed, allowed = {"key", "record"}, {"key", "record", "constants", "kinds"}
    if not isinstance(value, dict) or not needed <= value.keys() <= allowed:
        raise HdbenchError(
            "{place}: needs key: and record:, may have constants: and kinds:, and nothing else: "
            "see {example}",
            place=path,
            example=PICA_MAPPING,
        )
    key, record = _node(value["key"], path, "key"), _node(value["record"], path, "record")
    if not isinstance(key, PicaFirst) or key.words or key.is_integer:
        raise HdbenchError("{place}: key: must be a place such as 003@$0", place=path)
    if not isinstance(record, PicaNested):
        raise HdbenchError("{place}: record: must have fields, such as title: 021A$a", place=path)
    constants = _constants(value.get("constants", []), path)
    return PicaMapping(key, record, constants, read_left_out(value.get("kinds", []), path))


def _constants(lines: Any, path: Path) -> PicaRecord:
    """Return the fields in lines of PICA Plain."""
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise HdbenchError(
            "{place}: constants: must be a list of fields such as 002@ $0Aau", place=path
        )
    try:
        return [plain_field(line) for line in lines]
    except ValueError as error:
        raise HdbenchError("{place}: constants: {why}", place=path, why=error.args[0]) from error


def _node(value: Any, path: Path, name: str) -> PicaFirst | PicaEach | PicaNested:
    """Return what a value in the file means.

    Args:
        value: a place or several, or an object with `at`, with `each`, or with fields.
        path: the file.
        name: the field in the ground truth.
    """
    if not isinstance(value, dict):
        return PicaFirst(_places(value, path, name), {}, is_integer=False)
    if "at" in value:
        return _with_words(value, path, name)
    if "each" in value:
        return _each(value, path, name)
    if not value:
        raise HdbenchError("{place}: {field}: has no fields", place=path, field=name)
    return PicaNested({key: _node(child, path, f"{name}.{key}") for key, child in value.items()})


def _with_words(value: dict[str, Any], path: Path, name: str) -> PicaFirst:
    words, kind = value.get("words", {}), value.get("as")
    are_texts = isinstance(words, dict) and all(isinstance(word, str) for word in words.values())
    is_known = value.keys() <= {"at", "words", "as", "identifier"}
    if not is_known or not are_texts or kind not in (None, INTEGER):
        raise HdbenchError(
            "{place}: {field}: besides at: only words: (VALUE: what PICA says), as: integer and "
            "identifier: are allowed",
            place=path,
            field=name,
        )
    if len({on_one_line(word) for word in words.values()} - {""}) < len(words):
        raise HdbenchError(
            "{place}: {field}: words: PICA must say another word for each value",
            place=path,
            field=name,
        )
    if words and kind:
        raise HdbenchError(
            "{place}: {field}: words: and as: exclude each other", place=path, field=name
        )
    on_lines = {key: on_one_line(word) for key, word in words.items()}
    places = _places(value["at"], path, name)
    return PicaFirst(places, on_lines, kind == INTEGER, _identifier(value, path, name))


def _each(value: dict[str, Any], path: Path, name: str) -> PicaEach:
    fields = value.get("fields", {})
    if value.keys() - {"each", "fields", "identifier"} or not isinstance(fields, dict):
        raise HdbenchError(
            "{place}: {field}: besides each: only fields: and identifier: are allowed",
            place=path,
            field=name,
        )
    inner = {key: _places(part, path, f"{name}.{key}", _WITHIN) for key, part in fields.items()}
    places = _places(value["each"], path, name, _WHOLE if fields else _COMPLETE)
    return PicaEach(places, inner, _identifier(value, path, name))


def _identifier(value: dict[str, Any], path: Path, name: str) -> str:
    """Return the code of the subfield for identifiers, empty if there is none."""
    if "identifier" not in value:
        return ""
    ((_, code), *further) = _places(value["identifier"], path, name, _WITHIN)[0].subfields
    if further or isinstance(value["identifier"], list):
        raise HdbenchError(
            "{place}: {field}: identifier: must be a subfield such as $7", place=path, field=name
        )
    return code


_COMPLETE = Message("a place such as 021A$a, 209A/01$a or 028B/*$a")
_WHOLE = Message("a field such as 028A or 028B/*")
_WITHIN = Message("a place such as $a or [$4, $B]")


def _places(value: Any, path: Path, name: str, kind: Message = _COMPLETE) -> list[PicaPlace]:
    """Return the places in a file.

    Args:
        value: a place or several.
        path: the file.
        name: the field in the ground truth.
        kind: what a place has to be.
    """
    texts = value if isinstance(value, list) else [value]
    places = []
    for text in texts:
        match = _PLACE.fullmatch(text) if isinstance(text, str) else None
        has = (match and bool(match["tag"]), match and bool(match["subfields"]))
        if not match or has != (kind != _WITHIN, kind != _WHOLE):
            raise HdbenchError(
                "{place}: {field}: {shown!r} is not {wanted}",
                place=path,
                field=name,
                shown=text if isinstance(text, str) else Message("a list or object"),
                wanted=kind,
            )
        places.append(_place(match))
    if not places:
        raise HdbenchError("{place}: {field}: has no place", place=path, field=name)
    return places


def _place(match: re.Match[str]) -> PicaPlace:
    tag, occurrence = match["tag"] or "", match["occurrence"] or ""
    if tag.startswith(ITEM_LEVEL) and not occurrence:  # as there is none without
        occurrence = ANY_OCCURRENCE
    pieces = (match["subfields"] or "").split("$")
    subfields = [(before[1:] or " ", piece[0]) for before, piece in pairwise(pieces)]
    return PicaPlace(tag, occurrence, tuple(subfields))


def without_sign(text: str) -> str:
    """Return a value without the sign for sorting.

    Example:
        >>> without_sign("Die @Stadt, a@b.ch"), without_sign("L'@été")
        ('Die Stadt, a@b.ch', "L'été")
    """
    return _SORTING.sub("", text, count=1)
