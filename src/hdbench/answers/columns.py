"""From the columns of a table to the fields of records: what is proposed, for a person to check."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from hdbench.answers.answers import form_of_parts, form_without_page, plain_form
from hdbench.answers.cells import Kind, kind_of, separator_of, value_of
from hdbench.answers.entries import path_of, shown
from hdbench.answers.field_paths import FieldPath, assigned
from hdbench.answers.tables import SourceTable
from hdbench.answers.words import meanings, plain, without_umlauts
from hdbench.errors import HdbenchError, Message, did_you_mean


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

    def in_short(self) -> Message:
        """Return the column and what becomes of it, for a list of columns."""
        sign = "" if self.separator is None else f" ({self.separator!r})"
        becomes = KEY if self.key else f"{self.path}{sign}"
        return Message("{column} → {becomes}", column=self.title, becomes=becomes)

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
    by_title = {title.strip().casefold(): index for index, title in enumerate(table.header)}
    by_title |= {title: index for index, title in enumerate(table.header)}
    spellings = {field.path.removesuffix("[]"): field.path for field in paths or ()}
    spellings |= {path: path for path in (*spellings.values(), LEFT_OUT, KEY)}
    fields = [field.path for field in paths or ()] or ["year", "authors[]", "persons[].name"]
    chosen: dict[int, str] = {}
    for title, path in choices.items():
        index = by_title.get(title, by_title.get(title.strip().casefold()))
        is_own = paths is None and _PATH.fullmatch(path) and path.count("[].") <= 1
        if index is None or (path not in spellings and not is_own):
            wrong, names = (title, table.header) if index is None else (path, fields)
            raise HdbenchError(
                "{choice}: {wrong!r} does not fit {table}: write it as {names}{near}",
                choice=f"{title[:60]}={path[:60]}",
                wrong=wrong[:60],
                table=table.name,
                names=shown(names),
                near=did_you_mean(wrong, names),
            )
        chosen[index] = spellings.get(path, path)
    return chosen


def _check_places(name: str, columns: Sequence[MappedColumn]) -> None:
    """Refuse columns that go to the same place, or into the value of another.

    Several may go to the same list.
    """
    seen: dict[str, tuple[str, str]] = {}
    for column in columns:
        parts = column.path.split(".") if column.path else []
        for depth, part in enumerate(parts, start=1):
            place = ".".join(parts[:depth]).replace("[]", "")
            form = ("value" if depth == len(parts) else "object") + "[]" * part.endswith("[]")
            first, title = seen.setdefault(place, (form, column.title))
            if first != form or (form == "value" and title != column.title):
                raise HdbenchError(
                    "{place}: the columns {first!r} and {second!r} both go to {path}: map one "
                    "of them to -, so that it is not used",
                    place=name,
                    first=title[:60],
                    second=column.title[:60],
                    path=place[:60],
                )


MAX_EXAMPLE = 200
"""Maximum number of characters of an example."""

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_UNNAMED = re.compile(r"column [0-9]+|Unnamed: [0-9]+")


def propose(
    table: SourceTable,
    *,
    paths: Sequence[FieldPath] | None,
    file_names: Sequence[str],
    given: Mapping[str, str],
    kinds: Mapping[str, Kind] | None = None,
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
        kinds: column → what it is read as in a field of its own, where a person has chosen that.

    Returns:
        One for each column, in the table's order.

    Raises:
        HdbenchError: what was given fits neither the table nor the fields, or two columns go to
            the same place.

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
    if paths is not None:  # no table fills a list within a list of objects
        paths = [field for field in paths if field.path.count("[].") <= 1]
    chosen = read_choices(table, given, paths)
    key = key_of(table, file_names, chosen)
    if key is not None:
        chosen.setdefault(key, KEY)
    own = _own_fields(table, chosen, kinds or {}) if paths is None else {}
    fields = own or _fields(table, chosen, paths or ())
    columns = []
    for index, (title, cells) in enumerate(zip(table.header, table.filled, strict=True)):
        path, kind, _, nullable = fields.get(index, FieldPath("", "text"))
        if kind == "any":
            kind = kind_of(path, cells, divided=not table.has_lists)
        separator = separator_of(path, cells, is_list=True) if kind == "list" else None
        example = cells[0][:MAX_EXAMPLE] if cells else ""
        use = (path or None, kind, index == key, separator, example, nullable)
        columns.append(MappedColumn(index, title, *use))
    _check_places(table.name, columns)
    return columns


def _own_fields(
    table: SourceTable, chosen: Mapping[int, str], kinds: Mapping[str, Kind]
) -> dict[int, FieldPath]:
    """Return the fields of their own that columns make."""
    taken = {path.removesuffix("[]") for path in chosen.values()}
    fields: dict[int, FieldPath] = {}
    for index, (title, cells) in enumerate(zip(table.header, table.filled, strict=True)):
        path = chosen.get(index, "")
        is_id = title.casefold() in ("id", "file_name")  # which name the item again
        # R and pandas number the rows in a first column without a name.
        is_count = index == 0 and _UNNAMED.fullmatch(title) and all(map(str.isdecimal, cells))
        if path in (LEFT_OUT, KEY) or (not path and (is_id or is_count or not cells)):
            continue
        kind = kinds.get(title) or kind_of(title, cells, divided=not table.has_lists)
        if title not in kinds and (path or title).endswith("[]"):
            kind = "list"
        path = path.removesuffix("[]") or _own_path(title, index, taken)
        taken.add(path)
        fields[index] = FieldPath(path + "[]" * (kind == "list"), kind)
    return fields


def _fields(
    table: SourceTable, chosen: Mapping[int, str], paths: Sequence[FieldPath]
) -> dict[int, FieldPath]:
    """Return the fields of a benchmark that columns go to.

    A column of JSON may be an object around fields.
    """
    by_path = {field.path: field for field in paths}
    found = {index: by_path[path] for index, path in chosen.items() if path in by_path}
    outer = {path[: point.start()] for path in by_path for point in re.finditer(r"(\[\])?\.", path)}
    objects = [FieldPath(path, "json") for path in sorted(outer)]
    targets = [*(field for field in paths if field not in found.values()), *objects]
    free = [index for index in range(len(table.header)) if index not in chosen]
    for place, field in assigned([table.header[index] for index in free], targets).items():
        cells = table.filled[free[place]]
        if field not in objects or all(value_of(cell, "json") is not None for cell in cells):
            found[free[place]] = field
    return found


def _own_path(title: str, index: int, taken: Collection[str]) -> str:
    """Return the path of a field named after a column, which no other has.

    A heading such as `publication.year` or `authors[]` is a path itself.
    """
    title = title.removesuffix("[]")
    parts = (title,) if " " in title else path_of(title, frozenset())  # `Verl. Ort` is not a path
    name = ".".join(filter(None, map(_field_name, parts))) or f"column_{index + 1}"
    others = (f"{name}_{number}" for number in count(2))
    return next(path for path in chain([name], others) if path not in taken)


def _field_name(text: str) -> str:
    """Return a heading as the name of a field: `Größe (cm)` is `groesse_cm`; `birthDate` is one."""
    if _NAME.fullmatch(text):
        return text
    words = re.findall(r"[^\W_]+", without_umlauts(text))
    return unicodedata.normalize("NFC", "_".join(map(plain, words)))


ENOUGH = 0.5
"""The share of items or rows that a column must name to be the key."""


def key_of(table: SourceTable, file_names: Sequence[str], chosen: Mapping[int, str]) -> int | None:
    """Return the column that names the items; None if there is none.

    Args:
        table: the table.
        file_names: the names of the items' files.
        chosen: what was chosen for columns, see `read_choices`: only those without a choice may be
            the key by their name.

    Example:
        >>> rows = [("a.csv:2", ["Die Ehe", "7"]), ("a.csv:3", ["Lieder", "8"])]
        >>> table = SourceTable("a.csv", ["Titel", "Nr."], rows, [])
        >>> key_of(table, ["Scan 0007.jpg", "0007.jpg", "0008.jpg"], {})
        1
    """
    forms = {
        form(name): number
        for form in (form_without_page, form_of_parts, plain_form)
        for number, name in enumerate(file_names)
    }
    forms.pop("", None)
    words = list(map(meanings, table.header))
    best = (0, False, False, 0)
    for index, filled in enumerate(table.filled):
        if chosen.get(index) == KEY:
            return index
        cells = set(filled) if chosen.get(index) != LEFT_OUT else set()
        found = (forms.get(form(cell)) for cell in cells for form in (plain_form, form_of_parts))
        matched = len(set(found) - {None})
        if matched >= ENOUGH * min(len(cells), len(file_names)):
            use = (words[index] == ["file"], not _UNNAMED.fullmatch(table.header[index]))
            best = max(best, (matched, *use, -index))
    if best[0]:
        return -best[-1]
    free = [index for index, cells in enumerate(table.filled) if cells and index not in chosen]
    for word in ("file", "id"):
        if called := [index for index in free if words[index] == [word]]:
            return max(called, key=lambda index: len(set(table.filled[index])))
    return None
