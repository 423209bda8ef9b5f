"""Mapping of a finished record's fields to other names; `dublin_core.yaml` describes the file."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.benchmarks.authority_files import (
    IDENTIFIER,
    Fields,
    Identifiers,
    address_of,
    identified,
    values_in,
)
from hdbench.collections.records.marc_making import NO_PLACE
from hdbench.common.letters import text_of
from hdbench.common.validation import read_plain_yaml
from hdbench.errors import HdbenchError

EXAMPLE = Path(__file__).with_name("dublin_core.yaml")

ITEM = "id"
"""The placeholder of the item's id."""

_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*")
_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{(?P<field>[^{}\[\]]+)\}|(?P<sign>[\[\]{}])|[^\[\]{}]+")
_WITHIN = ", "  # between values of a list in a text with other fields


class _Piece(NamedTuple):
    """A part of a text.

    Attributes:
        group: the number of the part in brackets that it belongs to; 0 for none.
        text: the text, if it is no field.
        field: the field; empty for none.
    """

    group: int
    text: str = ""
    field: str = ""


class MappedText(NamedTuple):
    """A text that is made from fields.

    Attributes:
        pieces: its parts.
        language: the language that it is in; empty if that is not said.
    """

    pieces: tuple[_Piece, ...]
    language: str = ""

    @property
    def fields(self) -> set[str]:
        """Return the fields that it is made from."""
        return {piece.field for piece in self.pieces if piece.field}

    def of(self, values: Mapping[str, list[str]]) -> list[str]:
        """Return the texts for a record: none, one, or one for each value of its only field.

        Of several, those that lack something, such as an identifier, are empty.

        Args:
            values: field → its values; and, with `IDENTIFIER`, the identifier of each of them.
        """
        alone: list[Mapping[str, list[str]]] = [values]
        fields = sorted(self.fields)
        if len({field.removesuffix(IDENTIFIER) for field in fields}) == 1:
            rows = zip_longest(*(values.get(field, []) for field in fields), fillvalue="")
            alone = [dict(zip(fields, ([text] for text in row), strict=True)) for row in rows]
        texts = list(map(self._one, alone or [{}]))
        return texts if any(texts) else []

    def _one(self, values: Mapping[str, list[str]]) -> str:
        text = ""
        for group, pieces in groupby(self.pieces, lambda piece: piece.group):
            parts = [
                _WITHIN.join(filter(None, values.get(piece.field, ())))
                if piece.field
                else piece.text
                for piece in pieces
            ]
            if all(parts):
                text += "".join(parts)
            elif not group:
                return ""
        return text if text.strip() else ""


class RecordMapping(NamedTuple):
    """Mapping of the fields of a finished record.

    Attributes:
        texts: name of an element or column → its texts.
    """

    texts: dict[str, list[MappedText]]

    @property
    def identified(self) -> set[str]:
        """Return the fields whose identifiers are in a text."""
        used = (field for texts in self.texts.values() for text in texts for field in text.fields)
        return identified(used)

    def unplaced(self, names: Iterable[str]) -> dict[str, str]:
        """Return the fields for which there is no place, each with this reason."""
        used = set[str]().union(*(text.fields for texts in self.texts.values() for text in texts))
        return {name: NO_PLACE for name in names if name not in used}

    def of(
        self, item: str, fields: Fields, identifiers: Identifiers | None = None
    ) -> Iterator[tuple[str, str, str]]:
        """Yield the elements of a record: their name, text, which may be empty, and language or "".

        Args:
            item: its id.
            fields: its values.
            identifiers: identifiers of values.
        """
        values = {name: list(map(text_of, values_in(fields, name))) for name in fields}
        values[ITEM] = [item]
        for name, known in (identifiers.of(fields) if identifiers else {}).items():
            values[name + IDENTIFIER] = [address_of(each) or each for each in known]
        for name, texts in self.texts.items():
            for mapped in texts:
                for text in mapped.of(values):
                    yield name, text, mapped.language


def read_record_mapping(
    path: Path, fields: Iterable[str], names: Collection[str] | None = None
) -> RecordMapping:
    """Return a mapping from a file; `dublin_core.yaml` beside this module describes the form.

    Args:
        path: the file.
        fields: the fields of the records.
        names: the names that may be mapped to; None for any.

    Raises:
        HdbenchError: it is unusable; the message says which name.
    """
    value = read_plain_yaml(path)
    record = value.get("record") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(record, dict) or not record:
        raise HdbenchError(
            "{place}: needs record:, and nothing else: see {example}", place=path, example=EXAMPLE
        )
    known = {ITEM, *(title for name in fields for title in (name, name + IDENTIFIER))}
    texts = {}
    for name, given in record.items():
        where = f"{path}: {name}"
        if names is not None and name not in names:
            raise HdbenchError(
                "{place}: must be one of {names}", place=where, names=", ".join(names)
            )
        texts[name] = [_mapped(each, where) for each in _listed(given)]
        for field in sorted(set[str]().union(*(text.fields for text in texts[name])) - known):
            raise HdbenchError(
                "{place}: {field}: no such field: choose one of {names}",
                place=where,
                field=field,
                names=", ".join(sorted(known)),
            )
    return RecordMapping(texts)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _mapped(value: Any, where: str) -> MappedText:
    given = value if isinstance(value, dict) else {"text": value}
    text, language = given.get("text"), given.get("language", "")
    if given.keys() - {"text", "language"} or not isinstance(text, str) or not text:
        raise HdbenchError(
            "{place}: must be a text such as {example!r}, a list of texts, or text: and language:",
            place=where,
            example="{title}",
        )
    if language and not (isinstance(language, str) and _LANGUAGE.fullmatch(language)):
        raise HdbenchError("{place}: language: must be a code such as de", place=where)
    return MappedText(tuple(_pieces(text, where)), language)


def _pieces(text: str, where: str) -> Iterator[_Piece]:
    group = groups = 0
    for token in _TOKEN.finditer(text):
        if token["field"]:
            yield _Piece(group, field=token["field"])
        elif token["sign"] == "[" and not group:
            groups += 1
            group = groups
        elif token["sign"] == "]" and group:
            group = 0
        elif token["sign"]:
            break
        else:
            doubled = token[0] in {"{{", "}}", "[[", "]]"}
            yield _Piece(group, text=token[0][0] if doubled else token[0])
    else:
        if not group:
            return
    raise HdbenchError(
        "{place}: {text!r}: a bracket or brace without its counterpart, or one within another; "
        "those that are meant as such are written twice",
        place=where,
        text=text,
    )
