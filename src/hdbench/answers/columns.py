"""From the columns of a table to the fields of records: what is proposed, for a person to check."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hdbench.answers.cells import Kind, kind_of, separator_of, structured
from hdbench.answers.entries import path_of, shown
from hdbench.answers.field_paths import FieldPath, likeness
from hdbench.answers.ids import form_of_parts, form_without_page, plain_form
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
    spellings = {field.path.removesuffix("[]"): field.path for field in paths or ()}
    spellings |= {path: path for path in (*spellings.values(), LEFT_OUT, KEY)}
    chosen: dict[int, str] = {}
    for title, path in choices.items():
        choice = f"{title[:60]}={path[:60]}"
        index = _index(table, title, choice)
        if path == KEY in chosen.values():
            raise HdbenchError(
                "{choice}: another column is already given as id: keep one", choice=choice
            )
        is_path = _PATH.fullmatch(path) and path.count("[].") <= 1
        if paths is None and path not in spellings and not is_path:
            raise HdbenchError(
                "{choice}: not the path of a field: write it as publication.year, authors[] "
                "or persons[].name",
                choice=choice,
            )
        if paths is not None and path not in spellings:
            raise HdbenchError(
                "{choice}: there is no such field: there are {names}{near}",
                choice=choice,
                names=shown(field.path for field in paths),
                near=did_you_mean(path, spellings),
            )
        chosen[index] = spellings.get(path, path)
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
    filled = [table.column(index) for index in range(len(table.header))]
    if paths is not None:  # no table fills a list within a list of objects
        paths = [field for field in paths if field.path.count("[].") <= 1]
    chosen = read_choices(table, given, paths)
    key = key_of(table.header, filled, file_names, chosen)
    if paths is None:
        fields = _own_fields(table, filled, chosen, key, kinds or {})
    else:
        fields = _fields(table, filled, chosen, key, paths)
    columns = []
    for index, (title, cells) in enumerate(zip(table.header, filled, strict=True)):
        field, separator = fields.get(index, FieldPath("", "text")), None
        if field.kind == "list":
            separator = separator_of(field.path, cells, is_list=True)
        elif "[]" in field.path and separator_of(field.path, cells) == "|":
            separator = "|"
        example = cells[0][:MAX_EXAMPLE] if cells else ""
        use = (field.path or None, field.kind, index == key, separator, example, field.nullable)
        columns.append(MappedColumn(index, title, *use))
    _check_places(table.name, columns)
    return columns


def _own_fields(
    table: SourceTable,
    filled: Sequence[Sequence[str]],
    chosen: Mapping[int, str],
    key: int | None,
    kinds: Mapping[str, Kind],
) -> dict[int, FieldPath]:
    """Return the fields of their own that columns make."""
    taken = {KEY, *(path.replace("[]", "") for path in chosen.values())}  # `id` is the item's
    fields: dict[int, FieldPath] = {}
    for index, (title, cells) in enumerate(zip(table.header, filled, strict=True)):
        path = chosen.get(index, "")
        is_unused = index == key or not cells or _names_again(table, index, key)
        if path in (LEFT_OUT, KEY) or (not path and is_unused):
            continue
        kind = kind_of(title, cells, divided=not table.has_lists)
        is_list = (path or title).endswith("[]") or (kind == "list" and not path)
        if title in kinds:
            kind = kinds[title]
            is_list = kind == "list"
        path = path.removesuffix("[]") or _own_path(title, index, taken)
        taken.add(path)
        if is_list:
            fields[index] = FieldPath(f"{path}[]", "list")
        else:
            fields[index] = FieldPath(path, "text" if kind == "list" else kind)
    return fields


def _names_again(table: SourceTable, index: int, key: int | None) -> bool:
    """Return whether a column names the items in another way: `b12` beside `images/b12.jpg`."""
    return (
        key is not None
        and table.header[index].casefold() in ("id", "file_name")
        and all(plain_form(cells[index]) == plain_form(cells[key]) for _, cells in table.rows)
    )


def _fields(
    table: SourceTable,
    filled: Sequence[Sequence[str]],
    chosen: Mapping[int, str],
    key: int | None,
    paths: Sequence[FieldPath],
) -> dict[int, FieldPath]:
    """Return the fields of a benchmark that columns go to, the likest first."""
    by_path = {field.path: field for field in paths}
    found = {index: by_path[path] for index, path in chosen.items() if path in by_path}
    around = {plain(outer): outer for path in by_path for outer in _around(path)}
    candidates: list[tuple[int, int, int]] = []
    for index, title in enumerate(table.header):
        if index in chosen or index == key:
            continue
        outer = around.get(plain(title))
        if outer and filled[index] and all(structured(cell) != cell for cell in filled[index]):
            found[index] = FieldPath(outer, "json")
        else:
            candidates += (
                (-score, number, index)
                for number, field in enumerate(paths)
                if (score := likeness(title, field))
            )
    taken = {field.path for field in found.values()}
    for _, number, index in sorted(candidates):
        if index not in found and paths[number].path not in taken:
            found[index] = paths[number]
            taken.add(paths[number].path)
    for index, field in found.items():
        if field.kind == "any":
            kind = kind_of(field.path, filled[index], divided=not table.has_lists)
            found[index] = field._replace(kind=kind)
    return found


def _around(path: str) -> list[str]:
    """Return the paths of the objects that a field is in."""
    path = path.replace("[]", "")
    return [path[: point.start()] for point in re.finditer(r"\.", path)]


def _own_path(title: str, index: int, taken: Collection[str]) -> str:
    """Return the path of a field named after a column, which no other has.

    A heading such as `publication.year` or `authors[]` is a path itself.
    """
    title = title.removesuffix("[]")
    parts = (title,) if " " in title else path_of(title, frozenset())  # `Verl. Ort` is not a path
    name = ".".join(filter(None, map(_field_name, parts))) or f"column_{index + 1}"
    path, number = name, 1
    while path in taken:
        number += 1
        path = f"{name}_{number}"
    return path


def _field_name(text: str) -> str:
    """Return a heading as the name of a field: `Größe (cm)` is `groesse_cm`; `birthDate` is one."""
    if _NAME.fullmatch(text):
        return text
    decomposed = unicodedata.normalize("NFKD", without_umlauts(text))
    letters = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return "_".join(re.findall(r"\w+", unicodedata.normalize("NFC", letters)))


ENOUGH = 0.5
"""The share of items or rows that a column must name to be the key."""


def key_of(
    header: Sequence[str],
    filled: Sequence[Sequence[str]],
    file_names: Sequence[str],
    chosen: Mapping[int, str],
) -> int | None:
    """Return the column that names the items; None if there is none.

    Args:
        header: the names of the columns.
        filled: their cells that are not blank.
        file_names: the names of the items' files.
        chosen: what was chosen for columns, see `read_choices`: only those without a choice may be
            the key by their name.

    Example:
        >>> header, filled = ["Titel", "Nr."], [["Die Ehe", "Lieder"], ["7", "8"]]
        >>> key_of(header, filled, ["Scan 0007.jpg", "0007.jpg", "0008.jpg"], {})
        1
    """
    forms = {
        form(name): number
        for form in (form_without_page, form_of_parts, plain_form)
        for number, name in enumerate(file_names)
    }
    forms.pop("", None)
    best = (0, False, 0)
    for index, title in enumerate(header):
        if chosen.get(index) == KEY:
            return index
        cells = set(filled[index]) if chosen.get(index) != LEFT_OUT else set()
        found = (forms.get(form(cell)) for cell in cells for form in (plain_form, form_of_parts))
        matched = len(set(found) - {None})
        if matched >= ENOUGH * min(len(cells), len(file_names)):
            best = max(best, (matched, meanings(title) == ["file"], -index))
    if best[0]:
        return -best[2]
    for word, least in (("file", 1), ("id", 2)):
        called = [index for index, title in enumerate(header) if meanings(title) == [word]]
        free = [index for index in called if index not in chosen and filled[index]]
        fullest = max(free, key=lambda column: len(set(filled[column])), default=None)
        # An `ID type` has the same value in every row; several rows may belong to one image.
        if fullest is not None and len(set(filled[fullest])) >= min(least, len(filled[fullest])):
            return fullest
    return None
