"""Identifiers for the values of finished records: from authority files, or found in OpenRefine."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from hdbench.answers.csv_lines import at_most, delimiter_of, lines
from hdbench.answers.letters import text_of
from hdbench.authorities.files import MAX_CELL, read_text
from hdbench.authorities.identifiers import AuthorityTable, read_authority_table
from hdbench.errors import HdbenchError

ID, STATE = "id", "state"
"""Columns of a table for OpenRefine: the item, and which values the record had."""

IDENTIFIER = ": identifier"
"""What the title of a column with the identifiers of a field ends with."""

MAX_TABLE = 512 * 2**20
"""Maximum number of bytes of a table that OpenRefine exported."""

_DIGITS = 16

Fields = Mapping[str, Mapping[str, Any]]
"""Field → its `value` and `origin`, as records of `hdbench trust finish` have it."""


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


def state_of(fields: Fields) -> str:
    """Return a text that is another one as soon as one of a record's values is."""
    values = {name: values_in(fields, name) for name in fields}
    text = json.dumps(values, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def identified(names: Iterable[str]) -> set[str]:
    """Return the fields of which the identifier is among what a mapping uses.

    Example:
        >>> identified(["author", "place", "place: identifier"])
        {'place'}
    """
    return {name.removesuffix(IDENTIFIER) for name in names if name.endswith(IDENTIFIER)}


class _Row(NamedTuple):
    """An item in a table that OpenRefine exported.

    Attributes:
        state: which values its record had.
        identifiers: field → an identifier for each of its values; empty if there is none.
    """

    state: str
    identifiers: dict[str, list[str]]


class IdentifierCounts(BaseModel):
    """Counts of identifiers.

    Attributes:
        found: how many values, or parts of values, have one.
        outdated: how many of the table were left out, as their records have other values now.
    """

    found: int = 0
    outdated: int = 0


class Identifiers:
    """Identifiers that are known for the values of records.

    Those of a table count for the item that they were found for, and only while its record has the
    values that it had then; otherwise, and for all other values, names are looked up in the
    authority files.

    Args:
        files: field → the authority file of its values; "" is for all fields without one.
        rows: item → what a table says of it.
        sources: the files that all this was read from.

    Attributes:
        sources: same as in Args.
        named: the fields for which there is a file of their own, or a column in the table.
        counts: how many identifiers there were so far.
    """

    def __init__(
        self,
        files: Mapping[str, AuthorityTable],
        rows: Mapping[str, _Row],
        sources: Sequence[Path],
    ) -> None:
        self._files, self._rows = files, rows
        self.sources = sources
        self.named = {
            *filter(None, files),
            *(name for row in rows.values() for name in row.identifiers),
        }
        self.counts = IdentifierCounts()

    def of(self, item: str, fields: Fields, splits: Mapping[str, str] = {}) -> dict[str, list[str]]:
        """Return the identifiers of a record's values.

        Args:
            item: its id.
            fields: its values.
            splits: field → what its text is divided by, if its parts have identifiers.

        Returns:
            Field → an identifier, or "", for each of `values_in`, or for each part of these that is
            not empty; fields without any are left out.
        """
        row = self._rows.get(item)
        if row and row.state != state_of(fields):
            self.counts.outdated += sum(
                bool(each) for known in row.identifiers.values() for each in known
            )
            row = None
        found = {}
        for name in fields:
            values = values_in(fields, name)
            if name in splits:
                pieces = (piece for text in values for piece in text_of(text).split(splits[name]))
                values = list(filter(text_of, pieces))
            file = self._files.get(name) or self._files.get("")
            known = row.identifiers.get(name, []) if row else []
            if len(known) != len(values):
                known = [""] * len(values)
            identifiers = [
                identifier or (file and file.identifier(text_of(value))) or ""
                for value, identifier in zip(values, known, strict=True)
            ]
            if any(identifiers):
                found[name] = identifiers
                self.counts.found += sum(map(bool, identifiers))
        return found


def read_identifiers(given: Sequence[str], fields: Iterable[str]) -> Identifiers:
    """Return the identifiers in files.

    Args:
        given: each an authority file, for all fields or, as `FIELD=FILE`, for one of them; or a CSV
            file that OpenRefine exported, with the columns `id` and `state` of the table for it,
            and a column `FIELD: identifier` for each field that was reconciled.
        fields: the fields of the records.

    Raises:
        HdbenchError: a file is unusable, or there is no such field.
    """
    names = list(fields)
    files: dict[str, AuthorityTable] = {}
    rows: dict[str, _Row] = {}
    sources = []
    for text in given:
        field, path = split_field(text, names)
        sources.append(path)
        if field in files:
            raise HdbenchError("{given}: a second file for the same field", given=text)
        table = None if field else _read_table(path, names)
        if table is None:
            files[field] = read_authority_table(path)
        elif rows:
            raise HdbenchError("{place}: a second table of OpenRefine: name one", place=path)
        else:
            rows = table
    return Identifiers(files, rows, sources)


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


def _read_table(path: Path, fields: Iterable[str]) -> dict[str, _Row] | None:
    """Return what a table of OpenRefine says of each item; None if the file is not one."""
    if path.suffix.lower() not in {".csv", ".tsv"}:
        return None
    text = read_text(path, MAX_TABLE)
    with at_most(MAX_CELL):
        delimiter = delimiter_of(text, lambda found: len(next(found, (0, []))[1]))
        found = lines(text, delimiter, str(path), blank=True)
        _, head = next(found, (0, []))
        if ID not in head or STATE not in head:
            return None
        columns = {
            name: (head.index(name), head.index(name + IDENTIFIER))
            for name in fields
            if name in head and name + IDENTIFIER in head
        }
        if not columns:
            raise HdbenchError(
                "{place}: has no column with identifiers, such as {title!r}",
                place=path,
                title=f"{next(iter(fields), 'author')}{IDENTIFIER}",
            )
        rows: dict[str, _Row] = {}
        row: _Row | None = None
        for number, filled in found:
            cells = filled + [""] * (len(head) - len(filled))
            # Where a cell with several values was split, the further rows have no id.
            if item := cells[head.index(ID)]:
                if item in rows:
                    raise HdbenchError(
                        "{place}:{line}: a second row for {item}",
                        place=path,
                        line=number,
                        item=item,
                    )
                row = rows[item] = _Row(cells[head.index(STATE)], {name: [] for name in columns})
            if row is None:
                raise HdbenchError("{place}:{line}: has no id", place=path, line=number)
            for name, (value, identifier) in columns.items():
                if cells[value].strip():
                    row.identifiers[name].append(cells[identifier].strip())
    return rows
