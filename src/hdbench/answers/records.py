"""The rows of a table as typed records: ground truths, or the answers of a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from hdbench.answers.cells import FAULTS, are_nearly_integers, is_blank, parts_of, value_of
from hdbench.answers.columns import KEY, LEFT_OUT, MappedColumn, propose
from hdbench.answers.csv_lines import Row
from hdbench.answers.entries import ABOUT, CONTENTS, IDS, Container, EntryReader, about, put, shown
from hdbench.answers.field_paths import field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import SourceTable
from hdbench.common.jsonio import structured
from hdbench.common.page_text.boxes import Box
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


def mapped(table: SourceTable, columns: Sequence[MappedColumn], model: int | None = None) -> Truths:
    """Return the ground truths in a table.

    A blank cell is an empty text or list, otherwise null. What is not of its column's kind stays
    text, and a note says so. If columns are fields of the objects in a list, as in
    `persons[].name`, each row has one of them, and the rows of the same item have one record
    together. A row without any value is an item whose ground truth is missing.

    Args:
        table: the table.
        columns: what becomes of its columns; those that are not there are not used.
        model: the column that names whose record it is, if there are several for an item.

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
    key_column = next((column.index for column in columns if column.key), None)
    reader = _Reader(table, columns)
    items: dict[tuple[str | int, str | None], list[Row]] = {}
    for number, (place, texts) in enumerate(table.rows):
        cells = list(map(str.strip, texts))
        key = None if key_column is None or is_blank(cells[key_column]) else cells[key_column]
        group = "" if model is None else cells[model]
        item = group if key and reader.has_lists else number, key
        items.setdefault(item, []).append(Row(number, place, cells))
    truths = [Truth(rows[0].place, key, reader.record(rows)) for (_, key), rows in items.items()]
    notes = [*table.notes]
    if unused := [each.title for each in columns if each.example and not (each.path or each.key)]:
        notes.append(
            Message(
                "{place}: columns that are not used: {names}", place=table.name, names=shown(unused)
            )
        )
    for (how, _), (count, first) in reader.odd.items():
        notes.append(
            Message(
                "{place}: cells read as {how}: {count:,}, the first is {first}",
                place=table.name,
                how=how,
                count=count,
                first=first,
            )
        )
    return Truths(truths, notes)


def _has_value(row: Row, columns: Iterable[MappedColumn]) -> bool:
    return not all(is_blank(row.cells[column.index]) for column in columns)


def _place_of(row: Row, column: MappedColumn) -> Message:
    return Message("{place}, column {column}", place=row.place, column=column.title)


class _Reader:
    """Makes a record of the rows of an item.

    Attributes:
        has_lists: whether columns are fields of the objects in a list.
        odd: how cells are read, and the column's title if as text → how many, and the first.
    """

    def __init__(self, table: SourceTable, columns: Sequence[MappedColumn]) -> None:
        self._used = [column for column in columns if column.path]
        # The path of a list of objects, empty for the record itself → the columns in it.
        self._fields: dict[str, list[MappedColumn]] = {}
        for column in self._used:
            around = str(column.path).rpartition("[].")[0]
            self._fields.setdefault(around, []).append(column)
        self.has_lists = any(self._fields)
        texts = [column.index for column in self._used if column.kind == "text"]
        self._nearly = {index for index in texts if are_nearly_integers(table.filled[index])}
        self.odd: dict[tuple[Message, str], tuple[int, str]] = {}

    def record(self, rows: Sequence[Row]) -> dict[str, Any] | None:
        """Return the record in the rows of an item; None if no cell has a value.

        Raises:
            HdbenchError: a formula failed, or the rows differ in more than the objects of lists.
        """
        rows = [row for row in rows if _has_value(row, self._used)]
        if not rows:
            return None
        record: dict[str, Any] = {}
        for around, columns in self._fields.items():
            if around:
                objects = [
                    self._filled({}, columns, row) for row in rows if _has_value(row, columns)
                ]
                put(record, around.split("."), objects)
            else:
                self._filled(record, columns, _common(columns, rows))
        return record

    def _filled(
        self, record: dict[str, Any], columns: Sequence[MappedColumn], row: Row
    ) -> dict[str, Any]:
        """Enter the values of a row's cells; return the record."""
        lists: dict[str, list[Any]] = {}  # which several columns may fill
        for column in columns:
            cell, kind = row.cells[column.index], column.kind
            path = str(column.path).rpartition("[].")[2].removesuffix("[]")
            if cell in FAULTS:
                raise HdbenchError(
                    "{place}: holds the error {cell}: enter the value, empty the cell, or leave "
                    "the column out",
                    place=_place_of(row, column),
                    cell=cell,
                )
            value: Any = "" if kind == "text" else None
            if kind == "list":
                value = lists.setdefault(path, [])
                value += parts_of(cell, column.separator)
            elif not is_blank(cell):
                found = value_of(cell, "integer" if column.index in self._nearly else kind)
                value = cell if found is None or kind == "text" else found
                if found is None:
                    self._note((Message("text"), column.title), row, column)
            if cell and is_blank(cell):
                self._note((Message("empty"), ""), row, column)
            if value is not None or column.nullable:
                put(record, path.split("."), value)
        return record

    def _note(self, how: tuple[Message, str], row: Row, column: MappedColumn) -> None:
        count, first = self.odd.get(how, (0, ""))
        cell, place = row.cells[column.index][:40], _place_of(row, column)
        self.odd[how] = count + 1, first or Message("{place}: {cell!r}", place=place, cell=cell)


def _common(columns: Iterable[MappedColumn], rows: Sequence[Row]) -> Row:
    """Return the cells that are said of an item, in one row or in several, as one row."""
    first, *others = rows
    cells = [*first.cells]
    for row, column in product(others, columns):
        cell, other = cells[column.index], row.cells[column.index]
        if is_blank(cell):
            cells[column.index] = other
        elif cell != other and not is_blank(other):
            raise HdbenchError(
                "{place}: rows of one item differ in the objects of lists only: give the other "
                "columns the values that they have in {first}",
                place=row.place,
                first=first.place,
            )
    return first._replace(cells=cells)


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
    given = {table.header[at]: KEY if at == key else LEFT_OUT for at in facts.values()}
    paths = field_paths(schema) if schema else None
    columns = propose(table, paths=paths, file_names=list(ids), given=given)
    keys = [column for column in columns if column.key]
    fields = [column for column in columns if column.path]
    if not keys or not (fields or facts.keys() & {"text", "prediction"}):
        raise HdbenchError(
            "{place}: needs a column id, and a column text or prediction or fields of an answer "
            "({fields}); it has: {has}",
            place=table.name,
            fields=shown(field.path for field in paths or ()),
            has=shown(table.header),
        )
    container, rows = Container(), dict(table.rows)
    if any(column.path != column.title for column in fields) or keys[0].title not in IDS:
        used = joined([column.in_short() for column in columns if column.key or column.path])
        container.notes.append(
            Message("{place}: read as {columns}", place=table.name, columns=used)
        )
    if fields:  # what is not used beside texts is not said
        keys += (each for each in columns if not each.key and each.index not in facts.values())
    truths = mapped(table, keys, model=facts.get("model"))
    for place, item_id, record, _ in truths.truths:
        about_it = {name: rows[place][index] for name, index in facts.items()}
        if not any(map(str.strip, rows[place])):
            continue
        if item_id is None:
            raise HdbenchError("{place}: has no id: enter it, or delete the row", place=place)
        answer = about({name: _number(cell) for name, cell in about_it.items()})
        if text := about_it.get("text"):
            answer["text"] = text
        if (given_record := about_it.get("prediction", "")).strip():
            answer["prediction"] = structured(given_record)
        elif record is not None or "prediction" in facts or not text:
            answer["prediction"] = record
        model = about_it.get("model", "").strip() or None
        container.add(model, item_id, (place, answer))
    container.notes += truths.notes
    return container


def _facts(table: SourceTable, schema: AnswerSchema | None) -> dict[str, int]:
    """Return the columns that are not fields: the id, and what is about an answer.

    The column `text` is all that a model wrote, unless other fields stand beside it.
    """
    names = schema.names if schema else frozenset[str]()
    folded = [title.casefold() for title in table.header]
    facts: dict[str, int] = {}
    for index, name in enumerate(folded):
        if name in ABOUT and (name in ("id", "text") or table.header[index] not in names):
            facts.setdefault(name, index)
    content = next((name for name in CONTENTS if name in folded and name not in names), None)
    if content and not facts.keys() & {"text", "prediction"}:
        facts["text"] = folded.index(content)
    if schema and "text" in facts:
        fields = EntryReader(schema).fields
        others = {title.partition(".")[0] for title in table.header} - ABOUT
        if "text" in fields and not fields.isdisjoint(others):
            del facts["text"]
    return facts


def _number(cell: str) -> Any:
    """Return a count of tokens, or seconds with a decimal point or comma; other text as it is."""
    number = value_of(cell.strip().replace(",", "."), "number")
    return cell if number is None else number
