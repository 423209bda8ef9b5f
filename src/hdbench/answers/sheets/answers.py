"""Answers in tables as people keep them, read by the same code as ground truths in such tables."""

from collections.abc import Iterable, Sequence

from hdbench.answers.container import AnswerEntry, InMemory
from hdbench.answers.fields import ABOUT
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.sheets.column_choices import KEY, LEFT_OUT
from hdbench.answers.sheets.fields import Column, field_paths
from hdbench.answers.sheets.likeness import TargetFields
from hdbench.answers.sheets.mapping import propose
from hdbench.answers.sheets.records import mapped
from hdbench.answers.sheets.table import Table
from hdbench.errors import HdbenchError, Message, joined

_IDS = ("id", "sha256")


def needs_mapping(others: Iterable[str], named_titles: Iterable[str], schema: AnswerSchema) -> bool:
    """Return whether a column goes to a field of the schema that it does not call by its name.

    Args:
        others: the headings that do not name a field.
        named_titles: the headings that do.
        schema: the form of the answers.

    Example:
        >>> schema = AnswerSchema({"properties": {"year": {"type": "integer"}}})
        >>> needs_mapping(["Jahr"], [], schema), needs_mapping(["Jahr"], ["year"], schema)
        (True, False)
    """
    fields = TargetFields(field_paths(schema))
    taken = {field for title in named_titles for field in _surely(fields, title)}
    return any(not taken.issuperset(_surely(fields, title)) for title in others)


def _surely(fields: TargetFields, title: str) -> set[int]:
    return {like.field for like in fields.like(title) if like.sure}


def sheet_answers(table: Table, schema: AnswerSchema, ids: Iterable[str]) -> InMemory | None:
    """Return the answers in a table whose columns have to be found.

    Args:
        table: the table.
        schema: the form of the answers.
        ids: the ids of the items, by which the column with ids is found; without any, it is found
            by its heading.

    Returns:
        The answers; None if no column has ids, or none goes to a field of the schema.

    Raises:
        HdbenchError: a row has no id or a second answer to an item, or cannot be read.
    """
    choices = _fixed_columns(table, schema)
    columns = propose(table, paths=field_paths(schema), file_names=list(ids), given=choices)
    if not any(column.key for column in columns) or not any(column.path for column in columns):
        return None
    runs: dict[str | None, dict[str, AnswerEntry]] = {}
    notes: list[str] = [_read_as(table.name, columns)]
    model_column = next((title for title in choices if title.casefold() == "model"), None)
    used = [column for column in columns if column.title != model_column]
    for model, part in _by_model(table, model_column).items():
        truths = mapped(part, used)
        notes += truths.notes
        runs[model] = {}
        for place, key, record in truths.truths:
            if key is None and record is None:  # blank, but for columns that are not used
                continue
            if key is None:
                raise HdbenchError("{place}: has no id: enter it, or delete the row", place=place)
            first = runs[model].setdefault(key, AnswerEntry(place, {"prediction": record}))
            if first.where is not place:
                raise HdbenchError(
                    "{place}: a second answer for id {id!r}, the first is in {first}: keep one",
                    place=place,
                    id=key,
                    first=first.where,
                )
    return InMemory(runs, list(dict.fromkeys(notes)))


def _fixed_columns(table: Table, schema: AnswerSchema) -> dict[str, str]:
    """Return what is known of columns by their names: the id, and facts about the answer."""
    by_name = {title.casefold(): title for title in reversed(table.header)}
    key = next((by_name[name] for name in _IDS if name in by_name), None)
    facts = ABOUT - {"file_name"} if key is None else ABOUT
    choices = {
        title: LEFT_OUT
        for title in table.header
        if title.casefold() in facts and title not in schema.names
    }
    return choices | ({} if key is None else {key: KEY})


def _by_model(table: Table, title: str | None) -> dict[str | None, Table]:
    """Return the rows of each model.

    Raises:
        HdbenchError: some rows name none.
    """
    index = None if title is None else table.header.index(title)
    parts: dict[str | None, Table] = {}
    for place, cells in table.rows:
        if not any(cells):
            continue
        model = None if index is None else cells[index] or None
        part = parts.setdefault(model, Table(table.name, table.header, [], table.notes))
        part.rows.append((place, cells))
    if None in parts and len(parts) > 1:
        place, _ = parts[None].rows[0]
        raise HdbenchError("{place}: names no model, but other rows do: enter it", place=place)
    return parts


def _read_as(name: str, columns: Sequence[Column]) -> Message:
    """Return what became of the columns, in one line."""
    used = joined([column.in_short() for column in columns if column.key or column.path])
    return Message("{place}: read as {columns}", place=name, columns=used)
