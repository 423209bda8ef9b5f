"""From the columns of a table to the fields of records: what is proposed, for a person to check."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from hdbench.answers.cells import (
    Kind,
    kind_of,
    list_separator,
    separator_of,
    structured,
)
from hdbench.answers.entries import path_of, shown
from hdbench.answers.field_paths import FieldPath, TargetFields
from hdbench.answers.ids import form_of_parts, form_without_page, plain_form
from hdbench.answers.tables import SourceTable
from hdbench.answers.words import meanings, plain, without_umlauts
from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError, Message


class RecordPlace(NamedTuple):
    """A place in a record.

    Attributes:
        around: the list of objects that it is in, if it is in one.
        path: names from the record, or from the object in that list.
        appended: whether the values are items of a list.
    """

    around: tuple[str, ...]
    path: tuple[str, ...]
    appended: bool


@dataclass(frozen=True)
class MappedColumn:
    """A column of a table, and the field that it goes to.

    Attributes:
        index: its place in the table.
        title: its name there.
        path: where its values go in the record, as `FieldPath.path` has it; None if it is not used.
        kind: what its cells are read as.
        key: whether it names the item.
        separator: what divides the texts of a list.
        example: one of its values.
        nullable: whether a blank cell becomes null, if it is not text or a list; otherwise the
            record lacks the field.
    """

    index: int
    title: str
    path: str | None
    kind: Kind
    key: bool
    separator: str | None
    example: str
    nullable: bool = True

    @cached_property
    def place(self) -> RecordPlace:
        """Return the place in a record where its values go."""
        *outer, last = (self.path or "").split(".")
        depth = next((number for number, part in enumerate(outer, 1) if part.endswith("[]")), 0)
        names = tuple(part.removesuffix("[]") for part in (*outer, last))
        return RecordPlace(names[:depth], names[depth:], last.endswith("[]"))

    def in_short(self) -> Message:
        """Return the column and what becomes of it, for a list of columns."""
        becomes = "id" if self.key else self.path
        if self.separator is None:
            return Message("{column} → {becomes}", column=self.title, becomes=becomes)
        return Message(
            "{column} → {becomes} (divided by {separator!r})",
            column=self.title,
            becomes=becomes,
            separator=self.separator,
        )

    @property
    def read_as(self) -> Message:
        """Return how its cells are read, for a person."""
        if self.separator is None:
            return Message(self.kind)
        return Message("list, divided by {separator!r}", separator=self.separator)


LEFT_OUT, KEY = "-", "id"
"""Choices for a column that is not used, and for the one that names the items."""

_PATH = re.compile(r"[^.\[\]\s][^.\[\]]*(?:\[\])?(?:\.[^.\[\]\s][^.\[\]]*(?:\[\])?){0,9}")


def read_choices(
    table: SourceTable, choices: Mapping[str, str], paths: Sequence[FieldPath] | None
) -> dict[int, str]:
    """Return the choice for each column that has one, by its index, in the fields' spelling.

    Args:
        table: the table.
        choices: column's name → path, `-` or `id`.
        paths: the fields of a benchmark; None if the table makes its own.

    Raises:
        HdbenchError: there is no such column or field, or two columns are the key.
    """
    spellings = {field.path: field.path for field in paths or ()}
    spellings |= {path.removesuffix("[]"): path for path in spellings if path.endswith("[]")}
    chosen: dict[int, str] = {}
    for title, path in choices.items():
        choice = f"{title[:60]}={path[:60]}"
        index = _index(table, title, choice)
        if path in (LEFT_OUT, KEY):
            if path == KEY and KEY in chosen.values():
                raise HdbenchError(
                    "{choice}: another column is already given as id: keep one", choice=choice
                )
            chosen[index] = path
        elif paths is None:
            if not _PATH.fullmatch(path) or path.count("[]") > path.endswith("[]") + 1:
                raise HdbenchError(
                    "{choice}: not the path of a field: write it as publication.year, authors[] "
                    "or persons[].name",
                    choice=choice,
                )
            chosen[index] = path
        elif path in spellings:
            chosen[index] = spellings[path]
        else:
            raise HdbenchError(
                "{choice}: there is no such field: there are {names}{near}",
                choice=choice,
                names=shown(field.path for field in paths),
                near=did_you_mean(path, spellings),
            )
    return chosen


def _index(table: SourceTable, title: str, choice: str) -> int:
    """Return the column of that name, in any case if there is one only."""
    folded = [name.casefold() for name in table.header]
    if title in table.header:
        return table.header.index(title)
    if folded.count(title.strip().casefold()) == 1:
        return folded.index(title.strip().casefold())
    raise HdbenchError(
        "{choice}: {table} has no column of that name: it has {names}{near}",
        choice=choice,
        table=table.name,
        names=shown(table.header),
        near=did_you_mean(title, table.header),
    )


def check_places(name: str, columns: Sequence[MappedColumn]) -> None:
    """Refuse columns that go to the same place; several may go to the same list.

    Args:
        name: what messages call the table.
        columns: what becomes of its columns.

    Raises:
        HdbenchError: two do, one goes into the value of another, or one into a list in a list.
    """
    seen: dict[tuple[str, ...], tuple[str, str]] = {}
    for column in columns:
        names: tuple[str, ...] = ()
        parts = column.path.split(".") if column.path else []
        if sum(part.endswith("[]") for part in parts[:-1]) > 1:
            raise HdbenchError(
                "{place}: the column {column!r} goes to {path}, a list within a list of objects: a "
                "table can fill only one of them",
                place=name,
                column=column.title[:60],
                path=column.path,
            )
        for depth, part in enumerate(parts, start=1):
            names = (*names, part.removesuffix("[]"))
            form = ("value" if depth == len(parts) else "object") + part[len(names[-1]) :]
            first, title = seen.setdefault(names, (form, column.title))
            if first != form or (form == "value" and title != column.title):
                raise HdbenchError(
                    "{place}: the columns {first!r} and {second!r} both go to {path}: map one "
                    "of them to -, so that it is not used",
                    place=name,
                    first=title[:60],
                    second=column.title[:60],
                    path=".".join(names)[:60],
                )


MAX_EXAMPLE = 200
"""Maximum number of characters of an example."""

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")


def propose(
    table: SourceTable,
    *,
    paths: Sequence[FieldPath] | None,
    file_names: Sequence[str],
    given: Mapping[str, str],
) -> list[MappedColumn]:
    """Return what might become of each column, by its name and its values.

    The key is the column whose values are the names of most files, also without folder, extension,
    leading zeros or page; without files that of the first heading such as `Dateiname`. A column
    goes into the field that its heading names or means, and nowhere without one. Without fields,
    each column makes its own, of the kind that all its filled cells have.

    Args:
        table: the table.
        paths: the fields of a benchmark; None if the table makes its own.
        file_names: the names of the items' files.
        given: column → path, `-` to leave it out, or `id` if it names the items.

    Returns:
        One for each column, in the table's order.

    Raises:
        HdbenchError: what was given fits neither the table nor the fields.

    Example:
        >>> rows = [("a.csv:2", ["7", "Müller", "1912"]), ("a.csv:3", ["8", "Ott", "1913"])]
        >>> table = SourceTable("a.csv", ["Nr.", "Verfasser", "Erscheinungsjahr"], rows, [])
        >>> paths = [FieldPath("author", "text"), FieldPath("publication.year", "integer")]
        >>> files = ["0007.jpg", "0008.jpg"]
        >>> for column in propose(table, paths=paths, file_names=files, given={}):
        ...     print(column.title, column.key, column.path, column.kind)
        Nr. True None text
        Verfasser False author text
        Erscheinungsjahr False publication.year integer
    """
    filled = [table.column(index) for index in range(len(table.header))]
    chosen = read_choices(table, given, paths)
    key = next((index for index, path in chosen.items() if path == KEY), None)
    if key is None:
        allowed = {index for index in range(len(filled)) if chosen.get(index) != LEFT_OUT}
        unnamed = allowed - chosen.keys()
        key = key_of(table.header, filled, file_names, allowed=allowed, unnamed=unnamed)
    columns = []
    for index, (title, cells) in enumerate(zip(table.header, filled, strict=True)):
        kind, separator = kind_of(cells, divided=not table.has_lists)
        if index == key and chosen.get(index, KEY) == KEY:
            kind, separator = "text", None
        example = cells[0][:MAX_EXAMPLE] if cells else ""
        columns.append(MappedColumn(index, title, None, kind, index == key, separator, example))
    if paths is None:
        columns = _with_own_fields(table, columns, filled, chosen)
    else:
        columns = _with_fields(columns, filled, chosen, paths)
    check_places(table.name, columns)
    return columns


def as_kind(column: MappedColumn, kind: Kind, cells: Sequence[str]) -> MappedColumn:
    """Return a column that makes its own field, with the kind that a person chose for it.

    Args:
        column: the column.
        kind: the kind.
        cells: its cells that are not blank.
    """
    if column.path is None or kind == column.kind:
        return column
    path = column.path.removesuffix("[]")
    if kind == "list":
        path = f"{path}[]"
        return replace(column, path=path, kind=kind, separator=list_separator(path, cells))
    return replace(column, path=path, kind=kind, separator=None)


def _with_own_fields(
    table: SourceTable, columns: list[MappedColumn], filled: list[list[str]], chosen: dict[int, str]
) -> list[MappedColumn]:
    """Return the columns with fields of their own."""
    # An answer's `id` is the item's.
    taken = _Taken([KEY, *(path for path in chosen.values() if path != LEFT_OUT)])
    again = _again(table, columns)
    result = [*columns]
    for column in columns:
        index, kind, separator = column.index, column.kind, column.separator
        path = chosen.get(index, "")
        is_unused = column.key or not column.example or index in again
        if path in (LEFT_OUT, KEY) or (not path and is_unused):
            continue
        if not path:
            path = _own_path(column.title, index, taken, is_list=kind == "list")
        elif path.endswith("[]"):
            kind, separator = "list", separator or list_separator(path, filled[index])
        elif kind == "list":  # what divides objects, or only a sign in a text
            kind, separator = "text", separator if "[]" in path else None
        taken.add(path)
        result[index] = replace(column, path=path, kind=kind, separator=separator)
    return result


def _again(table: SourceTable, columns: Sequence[MappedColumn]) -> set[int]:
    """Return the columns that name the items in another way: `b12` beside `images/b12.jpg`."""

    def forms(column: MappedColumn) -> list[str]:
        return [plain_form(cells[column.index]) for _, cells in table.rows]

    names = next((forms(column) for column in columns if column.key), None)
    return {
        column.index
        for column in columns
        if not column.key
        and column.title.casefold() in ("id", "file_name")
        and forms(column) == names
    }


def _with_fields(
    columns: list[MappedColumn],
    filled: list[list[str]],
    chosen: dict[int, str],
    paths: Sequence[FieldPath],
) -> list[MappedColumn]:
    """Return the columns with the fields of a benchmark."""
    by_path = {field.path: field for field in paths}
    free = [column for column in columns if column.index not in chosen and not column.key]
    whole = _whole(free, filled, paths)
    taken = {path for path in chosen.values() if path in by_path}
    others = [column for column in free if column.index not in whole]
    assigned = _assigned(others, paths, taken)
    result = []
    for column in columns:
        index = column.index
        field = by_path.get(chosen.get(index, "")) or assigned.get(index)
        if index in whole:
            result.append(replace(column, path=whole[index], kind="json", separator=None))
        elif field is None:
            result.append(replace(column, kind="text", separator=None))
        else:
            use = replace(column, path=field.path, nullable=field.nullable)
            if field.kind != "any":
                separator = _separator(field, filled[index])
                use = replace(use, kind=field.kind, separator=separator)
            result.append(use)
    return result


def _whole(
    free: Sequence[MappedColumn], filled: list[list[str]], paths: Sequence[FieldPath]
) -> dict[int, str]:
    """Column with the JSON of objects, or of lists of them → the name of that field."""
    within = {
        plain(around): around for field in paths for around in _around(field.path.replace("[]", ""))
    }
    return {
        column.index: within[plain(column.title)]
        for column in free
        if plain(column.title) in within
        and column.example
        and all(not isinstance(structured(cell), str) for cell in filled[column.index])
    }


def _separator(field: FieldPath, cells: list[str]) -> str | None:
    """Return what divides the values, or the objects in a list, that are in one cell."""
    if field.kind == "list":
        return list_separator(field.path, cells)
    return "|" if "[]" in field.path and separator_of(cells) == "|" else None


def _assigned(
    free: Sequence[MappedColumn], paths: Sequence[FieldPath], taken: set[str]
) -> dict[int, FieldPath]:
    """Column → its field, the likest first."""
    fields = TargetFields(paths)
    candidates = [
        (-score, field, column.index)
        for column in free
        for score, field in fields.like(column.title)
    ]
    assigned: dict[int, FieldPath] = {}
    for _, field, index in sorted(candidates):
        if index not in assigned and paths[field].path not in taken:
            assigned[index] = paths[field]
            taken.add(paths[field].path)
    return assigned


def _own_path(title: str, index: int, taken: "_Taken", *, is_list: bool) -> str:
    """Return the path of a field named after a column, which no other has and which is within none.

    A heading such as `publication.year` or `authors[]` is a path itself.
    """
    base = title.removesuffix("[]")
    parts = (base,) if " " in base else path_of(base, frozenset())  # `Verl. Ort` is not a path
    names = [_field_name(part) for part in parts]
    path = ".".join(filter(None, names)) or f"column_{index + 1}"
    if taken.is_in_way(path):
        path = path.replace(".", "_")
    path = taken.numbered(path)
    return f"{path}[]" if is_list or base != title else path


def _field_name(text: str) -> str:
    """Return a heading as the name of a field: `Größe (cm)` is `groesse_cm`; `birthDate` is one."""
    if _NAME.fullmatch(text):
        return text
    decomposed = unicodedata.normalize("NFKD", without_umlauts(text))
    letters = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return "_".join(re.findall(r"\w+", unicodedata.normalize("NFC", letters)))


class _Taken:
    """The paths of fields, of which none may be another, within another, or around another."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: set[str] = set()
        self._around: set[str] = set()
        self._numbers: dict[str, int] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Take a path."""
        path = path.replace("[]", "")
        self._paths.add(path)
        self._around.update(_around(path))

    def is_in_way(self, path: str) -> bool:
        """Return whether a path is one of the others, within one, or around one."""
        return path in self._around or not self._paths.isdisjoint([path, *_around(path)])

    def numbered(self, path: str) -> str:
        """Return the path, with the lowest number that keeps it out of the way of others."""
        candidate, number = path, self._numbers.get(path, 1)
        while self.is_in_way(candidate):
            number += 1
            candidate = f"{path}_{number}"
        self._numbers[path] = number  # lower ones stay taken
        return candidate


def _around(path: str) -> list[str]:
    """Return the paths of the objects that a field is in."""
    return [path[: point.start()] for point in re.finditer(r"\.", path)]


ENOUGH = 0.5
"""The share of items or rows that a column must name to be the key."""


def key_of(
    header: Sequence[str],
    filled: Sequence[Sequence[str]],
    file_names: Sequence[str],
    *,
    allowed: Collection[int],
    unnamed: Collection[int],
) -> int | None:
    """Return the column that names the items; None if there is none.

    Args:
        header: the names of the columns.
        filled: their cells that are not blank.
        file_names: the names of the items' files.
        allowed: the columns that may be the key by their values.
        unnamed: those that may be it by their name.

    Example:
        >>> header, filled = ["Titel", "Nr."], [["Die Ehe", "Lieder"], ["7", "8"]]
        >>> both = {"allowed": {0, 1}, "unnamed": {0, 1}}
        >>> key_of(header, filled, ["Scan 0007.jpg", "0007.jpg", "0008.jpg"], **both)
        1
    """
    forms = {plain_form(name): number for number, name in enumerate(file_names)}
    for form in (form_of_parts, form_without_page):
        for number, name in enumerate(file_names):
            forms.setdefault(form(name), number)
    forms.pop("", None)
    best = (0, False, 0)
    for index in sorted(allowed):
        cells = set(filled[index])
        matched = {
            forms[form]
            for form in chain(map(plain_form, cells), map(form_of_parts, cells))
            if form in forms
        }
        if len(matched) >= ENOUGH * min(len(cells), len(file_names)):
            best = max(best, (len(matched), meanings(header[index]) == ["file"], -index))
    number, _, index = best
    if number:
        return -index
    for word in ("file", "id"):
        called = [index for index in sorted(unnamed) if meanings(header[index]) == [word]]
        index = max(called, key=lambda column: len(set(filled[column])), default=-1)
        # An `ID type` has the same value in every row; several rows may belong to one image.
        least = min(2, len(filled[index])) if word == "id" else 1
        if called and filled[index] and len(set(filled[index])) >= least:
            return index
    return None
