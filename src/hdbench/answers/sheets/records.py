"""The rows of a table as ground truths."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from hdbench.answers.cells import FAULTS, OddCells
from hdbench.answers.fields import put, shown
from hdbench.answers.sheets.fields import Column
from hdbench.answers.sheets.table import Table
from hdbench.answers.sheets.totals import place_of
from hdbench.answers.sheets.values import (
    is_blank,
    is_of,
    note_undivided,
    odd_ones,
    parts_of,
    value_of,
)
from hdbench.errors import HdbenchError, Message


class Truth(NamedTuple):
    """One item's ground truth as a source has it.

    Attributes:
        place: where it stands, for messages: `wahrheit.csv:12`, `wahrheit.xlsx: Tabelle1, row 12`,
            `truth.jsonl:4` or `b12.json`.
        key: what says which item it belongs to, an id or a file's name; None if nothing does.
        record: the ground truth; None if the source has the item but says nothing about it.
    """

    place: str
    key: str | None
    record: dict[str, Any] | None


@dataclass(frozen=True)
class Truths:
    """The ground truths of a source.

    Attributes:
        truths: in the source's order.
        notes: what was assumed, one line each, for a person to check.
    """

    truths: list[Truth]
    notes: list[str]


_READ_AS_EMPTY = Message("cells read as empty")


@dataclass(frozen=True)
class _Place:
    """The place in a record where the values of a column go.

    Attributes:
        index: the column's index in the table.
        column: the column.
        around: the list of objects that it is in, if it is in one.
        path: names from the record, or from the object in that list.
        appended: whether the values are items of a list.
    """

    index: int
    column: Column
    around: tuple[str, ...]
    path: tuple[str, ...]
    appended: bool


def mapped(table: Table, columns: Sequence[Column]) -> Truths:
    """Return the ground truths in a table.

    A blank cell is an empty text or list, otherwise null. What is not of its column's kind stays
    text, and a note says so. If columns are fields of the objects in a list, as in
    `persons[].name`, each row has one of them, or several divided by the columns' separators, and
    the rows of the same item have one record together. A row without any value is an item whose
    ground truth is missing.

    Args:
        table: the table.
        columns: what becomes of its columns; those that are not there are not used.

    Returns:
        One ground truth for each row, or for each item if it has objects in a list.

    Raises:
        HdbenchError: no column is used, two go to the same place, or a row cannot be read.

    Example:
        >>> rows = [("a.csv:2", ["7.jpg", "Ott | Wyss", "1912"]), ("a.csv:3", ["8.jpg", "-", ""])]
        >>> table = Table("a.csv", ["Datei", "Verfasser", "Jahr"], rows, [])
        >>> columns = [
        ...     Column("Datei", None, "text", True, None, "7.jpg", "names 2 of 2 files"),
        ...     Column("Verfasser", "authors[]", "list", False, "|", "Ott | Wyss", "means author"),
        ...     Column("Jahr", "publication.year", "integer", False, None, "1912", "means year"),
        ... ]
        >>> for truth in mapped(table, columns).truths:
        ...     print(truth.key, truth.record)
        7.jpg {'authors': ['Ott', 'Wyss'], 'publication': {'year': 1912}}
        8.jpg None
    """
    check_places(table.name, columns)
    indices = {title: index for index, title in enumerate(table.header)}
    places = [
        _place(indices[column.title], column, table.name) for column in columns if column.path
    ]
    if not places:
        raise HdbenchError(
            "{place}: no column goes to a field: map at least one of {names}",
            place=table.name,
            names=shown(table.header),
        )
    keys = [indices[column.title] for column in columns if column.key]
    reader = _Reader(places)
    truths = []
    used = [*keys, *(place.index for place in places)]
    for where, cells in table.rows:
        for index in used:
            if cells[index][:1] == "#" and cells[index] in FAULTS:
                raise HdbenchError(
                    "{place}: holds the error {cell}: enter the value, empty the cell, or leave "
                    "the column out",
                    place=cell_place(where, table.header[index]),
                    cell=cells[index],
                )
        key = next((cells[index] for index in keys if not is_blank(cells[index])), None)
        record = reader.record(where, cells)
        truths.append(Truth(place_of(where, cells, keys[0]) if keys else where, key, record))
    if any(place.around for place in places):
        truths = _together(truths, {place.around for place in places if place.around})
    notes = [
        *table.notes,
        *_unused(table, columns),
        *_mixed(table, places),
        *_undivided(table, places),
    ]
    return Truths(truths, notes + reader.odd.notes(table.name))


def check_places(name: str, columns: Sequence[Column]) -> None:
    """Refuse columns that go to the same place; several may go to the same list.

    Args:
        name: what messages call the table.
        columns: what becomes of its columns.

    Raises:
        HdbenchError: two do, or one goes into the value of another.
    """
    seen: dict[tuple[str, ...], tuple[str, str]] = {}
    for column in columns:
        names: tuple[str, ...] = ()
        parts = column.path.split(".") if column.path else []
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


def _place(index: int, column: Column, name: str) -> _Place:
    *outer, last = (column.path or "").split(".")
    lists = [depth for depth, part in enumerate(outer, start=1) if part.endswith("[]")]
    if len(lists) > 1:
        raise HdbenchError(
            "{place}: the column {column!r} goes to {path}, a list within a list of objects: a "
            "table can fill only one of them",
            place=name,
            column=column.title[:60],
            path=column.path,
        )
    depth = lists[0] if lists else 0
    names = tuple(part.removesuffix("[]") for part in (*outer, last))
    return _Place(index, column, names[:depth], names[depth:], last.endswith("[]"))


class _Reader:
    """Makes a record of each row.

    Attributes:
        odd: the odd cells, to be reported.
    """

    def __init__(self, places: Sequence[_Place]) -> None:
        self._places = places
        self._lists = list(dict.fromkeys(place.around for place in places if place.around))
        self.odd = OddCells()

    def record(self, where: str, cells: Sequence[str]) -> dict[str, Any] | None:
        """Return the record in a row; None if no cell has a value.

        Raises:
            HdbenchError: columns of the same list have different numbers of values.
        """
        if all(is_blank(cells[place.index]) for place in self._places):
            return None
        record: dict[str, Any] = {}
        for place in self._places:
            if not place.around:
                self._put(record, place, cells[place.index], where)
        for around in self._lists:
            inside = [place for place in self._places if place.around == around]
            put(record, around, self._objects(inside, cells, where))
        return record

    def _objects(
        self, places: Sequence[_Place], cells: Sequence[str], where: str
    ) -> list[dict[str, Any]]:
        """Return the objects of a list that a row has."""
        parts = {
            place: parts_of(cells[place.index], place.column.separator)
            for place in places
            if place.column.separator and not place.appended
        }
        numbers = {place: len(values) for place, values in parts.items() if values}
        number = max(numbers.values(), default=1)
        odd = next((place for place, count in numbers.items() if count not in (1, number)), None)
        if odd is not None:
            raise HdbenchError(
                "{place}: has {count} values, and another column of {path} has {number}: give as "
                "many",
                place=cell_place(where, odd.column.title),
                count=numbers[odd],
                path=".".join(odd.around),
                number=number,
            )
        objects = []
        for index in range(number):
            texts = [
                "".join(parts[place][index : index + 1]) if place in parts else cells[place.index]
                for place in places
            ]
            if not all(map(is_blank, texts)):
                made: dict[str, Any] = {}
                for place, text in zip(places, texts, strict=True):
                    self._put(made, place, text, where)
                objects.append(made)
        return objects

    def _put(self, record: dict[str, Any], place: _Place, cell: str, where: str) -> None:
        """Enter the value of a cell."""
        column = place.column
        blank = is_blank(cell)
        if blank and cell:
            self.odd.add(_READ_AS_EMPTY, lambda: _cell(cell_place(where, column.title), cell))
        if place.appended:
            values = [] if blank else parts_of(cell, column.separator)
            put(record, place.path, _get(record, place.path, []) + values)
        elif not blank:
            value = value_of(cell, column.kind, column.separator)
            if not is_of(value, column.kind):
                self.odd.add(_no(column.kind, column.title), lambda: _cell(where, cell))
            put(record, place.path, value)
        elif column.kind == "text":
            put(record, place.path, "")
        elif column.nullable:
            put(record, place.path, None)


@lru_cache  # for any number of cells
def _no(kind: str, title: str) -> Message:
    return Message(
        "{column}: cells that are no {kind}, kept as text", column=title, kind=Message(kind)
    )


def cell_place(where: str, title: str) -> Message:
    """Return what messages call a cell of a row."""
    return Message("{place}, column {column}", place=where, column=title)


def _cell(where: str, cell: str) -> Message:
    return Message("{place}: {cell!r}", place=where, cell=cell[:40])


def _get(record: dict[str, Any], path: tuple[str, ...], default: Any) -> Any:
    node: Any = record
    for name in path:
        if name not in node:
            return default
        node = node[name]
    return node


def _together(truths: Sequence[Truth], lists: set[tuple[str, ...]]) -> list[Truth]:
    """Return one ground truth for each item: the objects of all its rows.

    Raises:
        HdbenchError: its rows differ in anything else.
    """
    result: list[Truth] = []
    by_key: dict[str, int] = {}
    for truth in truths:
        if truth.key is None or truth.key not in by_key:
            if truth.key is not None:
                by_key[truth.key] = len(result)
            result.append(truth)
            continue
        first = result[by_key[truth.key]]
        if first.record is None or truth.record is None:
            result[by_key[truth.key]] = first._replace(record=first.record or truth.record)
            continue
        if not _agree(first.record, truth.record, lists):
            raise HdbenchError(
                "{place}: differs from {first}, another row of {key!r}, in more than the objects "
                "of its lists: give both the same values",
                place=truth.place,
                first=first.place,
                key=truth.key[:60],
            )
        for path in lists:
            _get(first.record, path, []).extend(_get(truth.record, path, []))
    return result


def _agree(first: Any, other: Any, lists: set[tuple[str, ...]], path: tuple[str, ...] = ()) -> bool:
    """Return whether two records agree except for some lists and for what either leaves blank."""
    if path in lists:
        return True
    if isinstance(first, dict) and isinstance(other, dict):
        return all(
            _agree(first.get(name), value, lists, (*path, name)) for name, value in other.items()
        )
    return first == other or other in ("", None, [])


def _unused(table: Table, columns: Sequence[Column]) -> list[str]:
    """Return a note on the columns that are not used and have values."""
    unused = [
        column.title
        for column in columns
        if column.path is None and not column.key and column.example
    ]
    if not unused:
        return []
    return [
        Message(
            "{place}: columns that are not used: {names}", place=table.name, names=shown(unused)
        )
    ]


def _mixed(table: Table, places: Sequence[_Place]) -> list[str]:
    """Notes on columns of text whose cells are whole numbers, but for some."""
    notes: list[str] = []
    for place in places:
        if place.column.kind == "text" and not place.column.separator:
            filled = [
                (where, cells[place.index])
                for where, cells in table.rows
                if not is_blank(cells[place.index])
            ]
            odd = odd_ones([cell for _, cell in filled])
            if odd:
                where = next(where for where, cell in filled if cell == odd[0])
                notes.append(
                    Message(
                        "{place}: {column}: kept as text, as {odd:,} of {count:,} values are no "
                        "plain whole numbers, the first is {first}",
                        place=table.name,
                        column=place.column.title,
                        odd=len(odd),
                        count=len(filled),
                        first=_cell(where, odd[0]),
                    )
                )
    return notes


def _undivided(table: Table, places: Sequence[_Place]) -> list[str]:
    """Notes on cells of lists that were taken for one value, and may be several."""
    return [
        note
        for place in places
        if place.appended
        for note in note_undivided(
            table.name,
            place.column.title,
            place.column.path or "",
            (cells[place.index] for _, cells in table.rows),
            place.column.separator,
        )
    ]
