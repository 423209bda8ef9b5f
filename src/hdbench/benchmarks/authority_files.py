"""Authority files, a value on each line and its identifier, and what they leave no doubt about."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.csv_lines import lines
from hdbench.answers.forms import decode
from hdbench.common.bounds import (
    MAX_AUTHORITY_FILE,
    MAX_AUTHORITY_LINES,
    MAX_AUTHORITY_VALUE,
)
from hdbench.common.files import read_errors
from hdbench.common.value_text import folded, text_of
from hdbench.errors import HdbenchError

_FIRST = 20  # rows by which the delimiter is recognised


class AuthorityLine(NamedTuple):
    """A line of an authority file.

    Attributes:
        value: a name of somebody or something.
        identifier: its identifier, such as that of the GND; empty if there is none. Lines with the
            same one have names of the same person or thing, the preferred name first.
    """

    value: str
    identifier: str


def read_authority_lines(path: Path) -> list[AuthorityLine]:
    """Return the lines of an authority file that have a value, in its order and in NFC.

    Raises:
        HdbenchError: the file is unusable or too large, or has no values.
    """
    text = _read_text(path)
    found = list(_lines(text, path))
    if not found:
        raise HdbenchError("{place}: has no values: write one on each line", place=path)
    return found


def _read_text(path: Path) -> str:
    """Return the text of a file in NFC.

    Raises:
        HdbenchError: it cannot be read, or is too large.
    """
    with read_errors(path):
        if path.stat().st_size > MAX_AUTHORITY_FILE:
            raise HdbenchError(
                "{place}: larger than {most} MiB: divide it",
                place=path,
                most=MAX_AUTHORITY_FILE >> 20,
            )
        return unicodedata.normalize("NFC", decode(path.read_bytes(), str(path)))


def _lines(text: str, path: Path) -> Iterator[AuthorityLine]:
    for number, cells in _rows(text, path):
        if number > MAX_AUTHORITY_LINES:
            raise HdbenchError(
                "{place}: more than {most:,} lines: divide it", place=path, most=MAX_AUTHORITY_LINES
            )
        value, identifier = cells[0].strip(), cells[1].strip() if len(cells) > 1 else ""
        if (
            len(value) + len(identifier) > MAX_AUTHORITY_VALUE
            or "\n" in value
            or "\n" in identifier
        ):
            raise HdbenchError(
                "{place}:{number}: several lines in a cell, or more than {most} characters",
                place=path,
                number=number,
                most=MAX_AUTHORITY_VALUE,
            )
        if value:
            yield AuthorityLine(value, identifier)


def _rows(text: str, path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Return the number and the cells of each line."""
    if path.suffix.lower() != ".csv":
        return enumerate(zip(text.removesuffix("\n").split("\n")), 1)

    def divided(delimiter: str) -> int:
        with suppress(HdbenchError):
            return sum(len(row.cells) > 1 for row in islice(lines(text, delimiter, ""), _FIRST))
        return 0

    # Names contain commas, so commas come last.
    rows = lines(text, max("\t;,", key=divided), str(path))
    return ((row.number, row.cells) for row in rows)


# Identifiers of values: those that an authority file leaves no doubt about

_GND = re.compile(r"(?:1[012]?\d{7}[0-9X]|[47]\d{6}-\d|[1-9]\d{0,7}-[0-9X]|3\d{7}[0-9X])")
_WIKIDATA = re.compile(r"Q[1-9]\d*")
_URI = re.compile(r"https?://\S+")

IDENTIFIER = ": identifier"
"""What follows a field's name where its identifier is meant."""

Fields = Mapping[str, Mapping[str, Any]]
"""Field → its `value` and `origin`, as records of `hdbench trust finish` have it."""


class AuthorityTable:
    """The names of an authority file with their identifiers.

    Names are the same if they are so to the letter: normalized, and in either case. A name that
    lines with different identifiers have is nobody's in particular.

    Args:
        lines: the lines of the file.

    Example:
        >>> table = AuthorityTable([
        ...     AuthorityLine("Basel", "Q78"), AuthorityLine("Basle", "Q78"),
        ...     AuthorityLine("Freiburg", "Q2833"), AuthorityLine("Freiburg", "Q36378"),
        ... ])
        >>> table.identifier("BASLE"), table.identifier("Freiburg"), table.identifier("Bern")
        ('Q78', None, None)
    """

    def __init__(self, lines: Iterable[AuthorityLine]) -> None:
        self._identifiers: dict[str, str | None] = {}
        for value, identifier in lines:
            if not identifier:
                continue
            key = folded(value, "ignored")
            is_other = self._identifiers.setdefault(key, identifier) != identifier
            if is_other:
                self._identifiers[key] = None

    def identifier(self, value: str) -> str | None:
        """Return the identifier of a value; None if there is none, or more than one."""
        return self._identifiers.get(folded(value, "ignored"))


def read_authority_table(path: Path) -> AuthorityTable:
    """Return the names of an authority file with their identifiers.

    Raises:
        HdbenchError: the file is unusable, or has no identifiers.
    """
    found = read_authority_lines(path)
    if not any(line.identifier for line in found):
        raise HdbenchError(
            "{place}: has no identifiers: a CSV file has them in its second column", place=path
        )
    return AuthorityTable(found)


def address_of(identifier: str) -> str | None:
    """Return the address that an identifier stands for; None if it does not say.

    Example:
        >>> address_of("4004617-5"), address_of("https://example.org/7"), address_of("p7")
        ('https://d-nb.info/gnd/4004617-5', 'https://example.org/7', None)
    """
    if _URI.fullmatch(identifier):
        return identifier
    if _GND.fullmatch(identifier):
        return f"https://d-nb.info/gnd/{identifier}"
    if _WIKIDATA.fullmatch(identifier):
        return f"http://www.wikidata.org/entity/{identifier}"
    return None


def in_marc(identifier: str) -> str:
    """Return an identifier as subfield `$0` of MARC has it.

    One of the GND gets the code of its agency before it, one of Wikidata becomes its address, and
    any other stays as it is.

    Example:
        >>> in_marc("4004617-5"), in_marc("Q78"), in_marc("(DE-588)118585053")
        ('(DE-588)4004617-5', 'http://www.wikidata.org/entity/Q78', '(DE-588)118585053')
    """
    if _GND.fullmatch(identifier):
        return f"(DE-588){identifier}"
    return (address_of(identifier) if _WIKIDATA.fullmatch(identifier) else None) or identifier


def values_in(fields: Fields, name: str) -> list[Any]:
    """Return the values of a field that have something; none if it is still open.

    Example:
        >>> values_in({"place": {"origin": "checked", "value": ["Basel", "", None]}}, "place")
        ['Basel']
    """
    field = fields.get(name, {})
    if field.get("origin") == "open":
        return []
    value = field.get("value")
    return [each for each in (value if isinstance(value, list) else [value]) if text_of(each)]


def identified(names: Iterable[str]) -> set[str]:
    """Return the fields of which the identifier is among what a mapping uses.

    Example:
        >>> identified(["author", "place", "place: identifier"])
        {'place'}
    """
    return {name.removesuffix(IDENTIFIER) for name in names if name.endswith(IDENTIFIER)}


class Identifiers:
    """Identifiers that authority files have for the values of records.

    Args:
        files: field → the authority file of its values; "" is for all fields without one.

    Attributes:
        named: the fields for which there is a file of their own.
        found: how many values, or parts of values, had one so far.
    """

    def __init__(self, files: Mapping[str, AuthorityTable]) -> None:
        self._files = files
        self.named = set(filter(None, files))
        self.found = 0

    def of(self, fields: Fields, splits: Mapping[str, str] = {}) -> dict[str, list[str]]:
        """Return the identifiers of a record's values.

        Args:
            fields: its values.
            splits: field → what its text is divided by, if its parts have identifiers.

        Returns:
            Field → an identifier, or "", for each of `values_in`, or for each part of these that is
            not empty; fields without any are left out.
        """
        found = {}
        for name in fields:
            file = self._files.get(name) or self._files.get("")
            if file is None:
                continue
            texts = list(map(text_of, values_in(fields, name)))
            if name in splits:
                texts = [piece for text in texts for piece in text.split(splits[name])]
            identifiers = [file.identifier(text) or "" for text in filter(text_of, texts)]
            if any(identifiers):
                found[name] = identifiers
                self.found += sum(map(bool, identifiers))
        return found


def read_identifiers(given: Sequence[str], fields: Sequence[str]) -> Identifiers:
    """Return the identifiers in authority files.

    Args:
        given: each an authority file, for all fields or, as `FIELD=FILE`, for one of them.
        fields: the fields of the records.

    Raises:
        HdbenchError: a file is unusable, or there is no such field.
    """
    files: dict[str, AuthorityTable] = {}
    for text in given:
        field, path = split_field(text, fields)
        if field in files:
            raise HdbenchError("{given}: a second file for the same field: name one", given=text)
        files[field] = read_authority_table(path)
    return Identifiers(files)


def split_field(text: str, fields: Sequence[str]) -> tuple[str, Path]:
    """Return the field, or "", and the file of `FIELD=FILE` or `FILE`.

    Raises:
        HdbenchError: there is no such field, and no such file either.
    """
    field, sign, name = text.partition("=")
    if not sign or Path(text).is_file():
        return "", Path(text)
    if field not in fields:
        raise HdbenchError(
            "{given}: no such field: choose one of {names}", given=text, names=", ".join(fields)
        )
    return field, Path(name)
