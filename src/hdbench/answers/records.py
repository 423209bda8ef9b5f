"""The rows of a table as typed records: ground truths, or the answers of a run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, NamedTuple

from hdbench.answers.cells import (
    FAULTS,
    are_nearly_integers,
    is_blank,
    is_of,
    is_written_as,
    parts_of,
    structured,
    value_of,
)
from hdbench.answers.columns import KEY, LEFT_OUT, MappedColumn, propose
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


_Path = tuple[str, ...]
"""The names of the objects around a value in a record, and its own."""


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
        HdbenchError: a row cannot be read.

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
    keys = [column.index for column in columns if column.key]
    reader = _Reader(table, columns)
    items: dict[str | int, list[_Row]] = {}
    for number, (where, texts) in enumerate(table.rows):
        cells = list(map(str.strip, texts))
        key = next((cells[index] for index in keys if not is_blank(cells[index])), None)
        item = key if key and reader.has_lists else number
        items.setdefault(item, []).append(_Row(where, cells, key))
    truths = [Truth(rows[0].place, rows[0].key, reader.record(rows)) for rows in items.values()]
    notes = [*table.notes]
    if unused := [each.title for each in columns if each.example and not (each.path or each.key)]:
        notes.append(
            Message(
                "{place}: columns that are not used: {names}", place=table.name, names=shown(unused)
            )
        )
    for (kind, title), (count, first) in reader.odd.items():
        no = Message(
            "{column}: cells that are no {kind}, kept as text", column=title, kind=Message(kind)
        )
        notes.append(
            Message(
                "{place}: {kind}: {count:,}, the first is {first}",
                place=table.name,
                kind=no if kind else Message("cells read as empty"),
                count=count,
                first=first,
            )
        )
    return Truths(truths, notes)


class _Row(NamedTuple):
    """A row: its place, its cells without white space around them, and what names its item."""

    place: str
    cells: list[str]
    key: str | None

    def place_of(self, column: MappedColumn) -> Message:
        """Return what messages call a cell."""
        return Message("{place}, column {column}", place=self.place, column=column.title)


class _Reader:
    """Makes a record of the rows of an item.

    Attributes:
        has_lists: whether columns are fields of the objects in a list.
        odd: the kind that cells of a column are not, empty if they are read as empty → how many,
            and the first.
    """

    def __init__(self, table: SourceTable, columns: Sequence[MappedColumn]) -> None:
        self._checked = [column for column in columns if column.path or column.key]
        self._used = [column for column in columns if column.path]
        # The path of a list of objects, empty for the record itself → the path in it → its columns.
        self._fields: dict[_Path, dict[_Path, list[MappedColumn]]] = {}
        for column in self._used:
            around, _, path = str(column.path).rpartition("[].")
            fields = self._fields.setdefault(tuple(around.split(".")) if around else (), {})
            fields.setdefault(tuple(path.removesuffix("[]").split(".")), []).append(column)
        self.has_lists = any(self._fields)
        self.odd: dict[tuple[str, str], tuple[int, str]] = {}
        texts = [column for column in self._used if column.kind == "text"]
        self._nearly_integers = {
            column.index for column in texts if are_nearly_integers(table.column(column.index))
        }

    def record(self, rows: Sequence[_Row]) -> dict[str, Any] | None:
        """Return the record in the rows of an item; None if no cell has a value.

        Raises:
            HdbenchError: a formula failed, columns of the same list have different numbers of
                values, or the rows differ in more than the objects of lists.
        """
        for row in rows:
            for column in self._checked:
                if row.cells[column.index] in FAULTS:
                    raise HdbenchError(
                        "{place}: holds the error {cell}: enter the value, empty the cell, or "
                        "leave the column out",
                        place=row.place_of(column),
                        cell=row.cells[column.index],
                    )
        rows = [row for row in rows if not all(is_blank(row.cells[c.index]) for c in self._used)]
        if not rows:
            return None
        record: dict[str, Any] = {}
        for around, fields in self._fields.items():
            columns = list(chain(*fields.values()))
            if around:
                objects = (each for row in rows for each in _objects(around, columns, row))
                put(record, around, [self._filled({}, fields, row) for row in objects])
            else:
                self._filled(record, fields, _common(columns, rows))
        return record

    def _filled(
        self, record: dict[str, Any], fields: Mapping[_Path, Sequence[MappedColumn]], row: _Row
    ) -> dict[str, Any]:
        """Enter the values of a row's cells; return the record."""
        for path, columns in fields.items():
            value: Any = []
            for column in columns:  # several may fill the same list
                cell = row.cells[column.index]
                if column.kind == "list":
                    value += parts_of(cell, column.separator)
                elif is_blank(cell):
                    value = "" if column.kind == "text" else None
                else:
                    value = value_of(cell, column.kind)
                if is_blank(cell):
                    if cell:
                        self._note("", row, column)
                elif not is_of(value, column.kind):
                    self._note(column.kind, row, column)
                elif column.index in self._nearly_integers and not is_written_as(cell, "integer"):
                    self._note("integer", row, column)
            if value is not None or columns[0].nullable:
                put(record, path, value)
        return record

    def _note(self, kind: str, row: _Row, column: MappedColumn) -> None:
        key = kind, column.title if kind else ""
        count, first = self.odd.get(key, (0, ""))
        if not count:
            cell = row.cells[column.index][:40]
            first = Message("{place}: {cell!r}", place=row.place_of(column), cell=cell)
        self.odd[key] = count + 1, first


def _common(columns: Iterable[MappedColumn], rows: Sequence[_Row]) -> _Row:
    """Return the cells that are said of an item, in one row or in several, as one row."""
    first, *others = rows
    cells = [*first.cells] if others else first.cells
    for row, column in product(others, columns):
        cell, other = cells[column.index], row.cells[column.index]
        if is_blank(cell):
            cells[column.index] = other
        elif cell != other and not is_blank(other):
            raise HdbenchError(
                "{place}: differs from {first}, another row of {key!r}, in more than the objects "
                "of its lists: give both the same values",
                place=row.place,
                first=first.place,
                key=str(row.key)[:60],
            )
    return first._replace(cells=cells)


def _objects(around: _Path, columns: Sequence[MappedColumn], row: _Row) -> Iterator[_Row]:
    """Yield the objects of a list that a row has, each as a row."""
    parts: dict[int, list[str]] = {}
    for column in columns:
        cell = row.cells[column.index]
        is_divided = column.separator and column.kind != "list"
        parts[column.index] = cell.split(column.separator) if is_divided else [cell]
    number = max(map(len, parts.values()))
    for column in columns:
        if len(parts[column.index]) not in (1, number):
            raise HdbenchError(
                "{place}: has {count} values, and another column of {path} has {number}: give "
                "as many, or one for all",
                place=row.place_of(column),
                count=len(parts[column.index]),
                path=".".join(around),
                number=number,
            )
    for each in range(number):
        cells = [*row.cells]
        for index, texts in parts.items():
            cells[index] = texts[each % len(texts)].strip()
        if not all(is_blank(cells[index]) for index in parts):
            yield row._replace(cells=cells)


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
    # Of two rows, one may have an id, and the other one the hash of its file.
    columns = [replace(each, key=each.key or each.index == facts.get("sha256")) for each in columns]
    titles = [column.title for column in columns if column.key]
    if not titles:
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
    if any(column.path != column.title for column in fields) or titles[0] not in IDS:
        used = joined([column.in_short() for column in columns if column.key or column.path])
        notes.append(Message("{place}: read as {columns}", place=table.name, columns=used))
    if not fields:  # what is not used beside the texts is not said
        columns = [column for column in columns if column.key]
    models: dict[str | None, list[tuple[str, list[str]]]] = {}
    for place, cells in table.rows:
        if any(map(str.strip, cells)):
            model = cells[facts["model"]].strip() or None if "model" in facts else None
            models.setdefault(model, []).append((place, cells))
    container = Container()
    for model, rows in models.items():
        truths = mapped(replace(table, rows=rows, notes=[]), columns)
        notes += truths.notes
        for item_id, answer in _answers(truths, facts, dict(rows)):
            container.add(model, item_id, answer)
    container.notes += dict.fromkeys(notes)
    return container


def _facts(table: SourceTable, schema: AnswerSchema | None) -> dict[str, int]:
    """Return the columns that are not fields: the id, and what is about an answer."""
    names = schema.names if schema else frozenset[str]()
    folded = [title.casefold() for title in table.header]
    facts: dict[str, int] = {}
    for index, (title, name) in enumerate(zip(table.header, folded, strict=True)):
        if name in ABOUT and (name == "id" or title not in names or title == "text"):
            facts.setdefault(name, index)
    content = next((name for name in CONTENTS if name in folded and name not in names), None)
    if content and not facts.keys() & {"text", "prediction"}:
        facts["text"] = folded.index(content)
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
    others = [title for title in table.header if title.casefold() not in ABOUT]
    if any(title in paths or listed + title in paths for title in others):
        return not paths.isdisjoint(("text", f"{listed}text"))
    ids = table.column(facts["id"]) if listed and f"{listed}text" in paths and "id" in facts else []
    return len(set(ids)) < len(ids) and not any(
        isinstance(structured(text), dict | list) for text in table.column(facts["text"])
    )


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
