"""The rows of a table as typed records: ground truths, or the answers of a run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from hdbench.answers.cells import (
    FAULTS,
    Kind,
    OddCells,
    are_nearly_integers,
    is_blank,
    is_integer,
    is_of,
    parts_of,
    structured,
    value_of,
)
from hdbench.answers.columns import KEY, LEFT_OUT, MappedColumn, check_places, propose
from hdbench.answers.container import AnswerEntry, Container
from hdbench.answers.entries import ABOUT, CONTENTS, IDS, about, put, shown
from hdbench.answers.field_paths import field_paths
from hdbench.answers.page_text.boxes import Box
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import SourceTable
from hdbench.errors import HdbenchError, Message, joined


class Truth(NamedTuple):
    """One item's ground truth as a source has it.

    Attributes:
        place: where it stands, for messages: `wahrheit.csv:12`, `wahrheit.xlsx: Tabelle1, row 12`,
            `truth.jsonl:4` or `b12.json`.
        key: what says which item it belongs to, an id or a file's name; None if nothing does.
        record: the ground truth; None if the source has the item but says nothing about it.
        boxes: where the lines of its text are, for each page, if the source is a file of pages.
    """

    place: str
    key: str | None
    record: dict[str, Any] | None
    boxes: Sequence[Sequence[Box | None]] = ()


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


def mapped(table: SourceTable, columns: Sequence[MappedColumn]) -> Truths:
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
        HdbenchError: two columns go to the same place, or a row cannot be read.

    Example:
        >>> rows = [("a.csv:2", ["7.jpg", "Ott | Wyss", "1912"]), ("a.csv:3", ["8.jpg", "-", ""])]
        >>> table = SourceTable("a.csv", ["Datei", "Autor", "Jahr"], rows, [])
        >>> columns = [
        ...     MappedColumn(0, "Datei", None, "text", True, None, "7.jpg"),
        ...     MappedColumn(1, "Autor", "authors[]", "list", False, "|", "Ott | Wyss"),
        ...     MappedColumn(2, "Jahr", "publication.year", "integer", False, None, "1912"),
        ... ]
        >>> for truth in mapped(table, columns).truths:
        ...     print(truth.key, truth.record)
        7.jpg {'authors': ['Ott', 'Wyss'], 'publication': {'year': 1912}}
        8.jpg None
    """
    check_places(table.name, columns)
    used = [column for column in columns if column.path]
    keys = [column.index for column in columns if column.key]
    reader = _Reader(table, used)
    truths = []
    read = [*keys, *(column.index for column in used)]
    for where, row in table.rows:
        cells = [cell.strip() for cell in row]
        for index in read:
            if cells[index][:1] == "#" and cells[index] in FAULTS:
                raise HdbenchError(
                    "{place}: holds the error {cell}: enter the value, empty the cell, or leave "
                    "the column out",
                    place=_cell_place(where, table.header[index]),
                    cell=cells[index],
                )
        record = reader.record(where, cells)
        truths.append(Truth(where, _key(cells, keys), record))
    if reader.lists:
        truths = _together(truths, reader.lists)
    unused = [column for column in columns if not (column.path or column.key)]
    notes = [*table.notes]
    if names := [column.title for column in unused if column.example]:
        notes.append(
            Message(
                "{place}: columns that are not used: {names}", place=table.name, names=shown(names)
            )
        )
    return Truths(truths, notes + reader.odd.notes(table.name))


class _Reader:
    """Makes a record of each row.

    Attributes:
        lists: the lists of objects that columns are in.
        odd: the odd cells, to be reported.
    """

    def __init__(self, table: SourceTable, columns: Sequence[MappedColumn]) -> None:
        self._columns = columns
        self._nearly_integers = {
            column.index
            for column in columns
            if column.kind == "text"
            and not column.separator
            and are_nearly_integers(table.column(column.index))
        }
        self.lists = [
            *dict.fromkeys(column.place.around for column in columns if column.place.around)
        ]
        self.odd = OddCells()

    def record(self, where: str, cells: Sequence[str]) -> dict[str, Any] | None:
        """Return the record in a row; None if no cell has a value.

        Raises:
            HdbenchError: columns of the same list have different numbers of values.
        """
        if all(is_blank(cells[column.index]) for column in self._columns):
            return None
        record: dict[str, Any] = {}
        for column in self._columns:
            if not column.place.around:
                self._put(record, column, cells[column.index], where)
        for around in self.lists:
            inside = [column for column in self._columns if column.place.around == around]
            put(record, around, self._objects(inside, cells, where))
        return record

    def _objects(
        self, columns: Sequence[MappedColumn], cells: Sequence[str], where: str
    ) -> list[dict[str, Any]]:
        """Return the objects of a list that a row has."""
        divided = [
            parts_of(cells[column.index], column.separator)
            if column.separator and not column.place.appended
            else []
            for column in columns
        ]
        number = max(1, *map(len, divided))
        for column, parts in zip(columns, divided, strict=True):
            if len(parts) not in (0, 1, number):
                raise HdbenchError(
                    "{place}: has {count} values, and another column of {path} has {number}: give "
                    "as many",
                    place=_cell_place(where, column.title),
                    count=len(parts),
                    path=".".join(column.place.around),
                    number=number,
                )
        objects = []
        for index in range(number):
            texts = [
                "".join(parts[index : index + 1]) if column.separator else cells[column.index]
                for column, parts in zip(columns, divided, strict=True)
            ]
            if not all(map(is_blank, texts)):
                made: dict[str, Any] = {}
                for column, text in zip(columns, texts, strict=True):
                    self._put(made, column, text, where)
                objects.append(made)
        return objects

    def _put(self, record: dict[str, Any], column: MappedColumn, cell: str, where: str) -> None:
        """Enter the value of a cell."""
        blank, path = is_blank(cell), column.place.path
        if blank and cell:
            self.odd.add(_READ_AS_EMPTY, lambda: _cell(_cell_place(where, column.title), cell))
        if column.place.appended:
            values = [] if blank else parts_of(cell, column.separator)
            put(record, path, _get(record, path, []) + values)
        elif not blank:
            value = value_of(cell, column.kind, column.separator)
            kind: Kind = "integer" if column.index in self._nearly_integers else column.kind
            if not (is_integer(cell) if kind != column.kind else is_of(value, kind)):
                self.odd.add(_no(kind, column.title), lambda: _cell(where, cell))
            put(record, path, value)
        elif column.kind == "text":
            put(record, path, "")
        elif column.nullable:
            put(record, path, None)


@lru_cache  # for any number of cells
def _no(kind: str, title: str) -> Message:
    return Message(
        "{column}: cells that are no {kind}, kept as text", column=title, kind=Message(kind)
    )


def _cell_place(where: str, title: str) -> Message:
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


def _together(truths: Sequence[Truth], lists: Sequence[tuple[str, ...]]) -> list[Truth]:
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


def _agree(
    first: Any, other: Any, lists: Sequence[tuple[str, ...]], path: tuple[str, ...] = ()
) -> bool:
    """Return whether two records agree except for some lists and for what either leaves blank."""
    if path in lists:
        return True
    if isinstance(first, dict) and isinstance(other, dict):
        return all(
            _agree(first.get(name), value, lists, (*path, name)) for name, value in other.items()
        )
    return first == other or other in ("", None, [])


def table_answers(
    table: SourceTable, schema: AnswerSchema | None, ids: Iterable[str] = ()
) -> Container:
    """Return the answers in a table, whose columns are mapped as those of ground truths are.

    The id is in the column `id`, else in the one whose values are the items' ids; `model`, `error`,
    `seconds` and tokens are about the answer. What a model wrote is in a column `text`, a record in
    JSON in `prediction`; otherwise the columns are fields.

    Args:
        table: the table.
        schema: the form of the answers; without it, each column is a field.
        ids: the ids of the items.

    Raises:
        HdbenchError: there is no id, no column of an answer, or a row that cannot be read; an item
            has two answers.

    Example:
        >>> rows = [("a.csv:2", ["7", "Müller", "2.5"]), ("a.csv:3", ["8", "", ""])]
        >>> table = SourceTable("a.csv", ["id", "author", "seconds"], rows, [])
        >>> read = table_answers(table, AnswerSchema({"properties": {"author": {}}}))
        >>> [read.load(key) for key in read.runs[None].values()]
        [{'seconds': 2.5, 'prediction': {'author': 'Müller'}}, {'prediction': None}]
    """
    facts = _facts(table, schema)
    key = facts.get("id", facts.get("sha256"))
    if key is None:  # the file's name may be the id
        facts.pop("file_name", None)
    given = {table.header[index]: LEFT_OUT for index in facts.values()}
    if key is not None:
        given[table.header[key]] = KEY
    paths = field_paths(schema) if schema else None
    columns = propose(table, paths=paths, file_names=list(ids), given=given)
    is_hash = [index == facts.get("sha256") for index in range(len(columns))]
    columns = [
        replace(column, key=column.key or found)
        for column, found in zip(columns, is_hash, strict=True)
    ]
    keys = [index for index, column in enumerate(columns) if column.key]
    if not keys:
        raise HdbenchError(
            "{place}: needs a column id; it has: {has}", place=table.name, has=shown(table.header)
        )
    fields = [column for column in columns if column.path]
    if not fields and not facts.keys() & {"text", "prediction"}:
        raise HdbenchError(
            "{place}: needs a column text or prediction, or fields of an answer ({fields}); it "
            "has: {has}",
            place=table.name,
            fields=shown(field.path for field in paths or ()),
            has=shown(table.header),
        )
    notes = [*table.notes]
    if any(column.path != column.title for column in fields) or columns[keys[0]].title not in IDS:
        used = joined([column.in_short() for column in columns if column.key or column.path])
        notes.append(Message("{place}: read as {columns}", place=table.name, columns=used))
    if not fields:  # what is not used beside the texts is not said
        columns = [column for column in columns if column.key]
    container = Container()
    for model, rows in _by_model(table, facts).items():
        truths = mapped(SourceTable(table.name, table.header, rows, []), columns)
        notes += truths.notes
        for item_id, answer in _answers(truths, facts, dict(rows)):
            container.add(model, item_id, answer)
    container.notes += dict.fromkeys(notes)
    return container


def _facts(table: SourceTable, schema: AnswerSchema | None) -> dict[str, int]:
    """Return the columns that are not fields: the id, and what is about an answer."""
    names = schema.names if schema else frozenset[str]()
    facts: dict[str, int] = {}
    for index, title in enumerate(table.header):
        name = title.casefold()
        if name in ABOUT and (name == "id" or title not in names or title == "text"):
            facts.setdefault(name, index)
    others = {title.casefold(): index for index, title in enumerate(table.header)}
    content = next((name for name in CONTENTS if name in others and name not in names), None)
    if content and not facts.keys() & {"text", "prediction"}:
        facts["text"] = others[content]
    if "text" in facts and schema and _is_field(table, schema, facts):
        del facts["text"]
    return facts


def _is_field(table: SourceTable, schema: AnswerSchema, facts: Mapping[str, int]) -> bool:
    """Return whether the column `text` is a field of the record, not all that a model wrote.

    It is if other fields stand beside it; or, where a record lists objects with a text, if an item
    has several rows.
    """
    paths = {field.path.replace("[]", "") for field in field_paths(schema)}
    listed = f"{schema.list_of_objects[0]}." if schema.list_of_objects else ""
    others = {title for title in table.header if title.casefold() not in ABOUT}
    known = any(title in paths or listed + title in paths for title in others)
    if known or not listed or f"{listed}text" not in paths:
        return known and ("text" in paths or f"{listed}text" in paths)
    key = facts.get("id")
    ids = [] if key is None else table.column(key)
    texts = table.column(facts["text"])
    return len(set(ids)) < len(ids) and not any(
        isinstance(structured(text), dict | list) for text in texts
    )


def _by_model(
    table: SourceTable, facts: Mapping[str, int]
) -> dict[str | None, list[tuple[str, list[str]]]]:
    """Return the rows of each model that are not blank.

    Raises:
        HdbenchError: some rows name none.
    """
    parts: dict[str | None, list[tuple[str, list[str]]]] = {}
    for place, cells in table.rows:
        if any(map(str.strip, cells)):
            model = cells[facts["model"]].strip() or None if "model" in facts else None
            parts.setdefault(model, []).append((place, cells))
    if None in parts and len(parts) > 1:
        raise HdbenchError(
            "{place}: names no model, but other rows do: enter it", place=parts[None][0][0]
        )
    return parts


def _key(cells: Sequence[str], keys: Sequence[int]) -> str | None:
    """Return what says which item a row belongs to; None without."""
    texts = (cells[index].strip() for index in keys)
    return next((text for text in texts if not is_blank(text)), None)


def _answers(
    truths: Truths, facts: Mapping[str, int], rows: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, AnswerEntry]]:
    """Yield the ids and answers in the rows of one model."""
    for place, item_id, record, _ in truths.truths:
        if item_id is None:
            raise HdbenchError("{place}: has no id: enter it, or delete the row", place=place)
        cells = rows[place]
        answer = about({name: _number(cells[index]) for name, index in facts.items()})
        if text := cells[facts["text"]] if "text" in facts else "":
            answer["text"] = text
        given = cells[facts["prediction"]] if "prediction" in facts else ""
        if given.strip():
            answer["prediction"] = structured(given)
        elif record is not None or "prediction" in facts or not text:
            answer["prediction"] = record
        yield item_id, AnswerEntry(place, answer)


def _number(cell: str) -> Any:
    """Return a count of tokens, or seconds with a decimal point or comma; other text as it is."""
    number = value_of(cell.strip().replace(",", "."), "number")
    return cell if isinstance(number, str) else number
