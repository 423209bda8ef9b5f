"""The columns of a table of records: the fields of the schema."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.titles import without_titles


class ColumnType(NamedTuple):
    """The type of a column, from the schema.

    Attributes:
        is_list: whether its cell holds several texts, with `|` between them.
        is_number: whether it is a number, and not a text.
    """

    is_list: bool
    is_number: bool


def field_columns(schema: AnswerSchema) -> dict[str, ColumnType]:
    """Return the columns of a record's fields, in the schema's order, each with its type.

    If the record has but one field, a list of objects, they are the objects' fields. A field that
    only holds another form of the record, such as `metadata` in letters, has no column.
    """
    prefix = (schema.list_of_objects[0], "[]") if schema.list_of_objects else ()
    alternatives = [without_titles(alternative) for alternative in schema.alternatives]
    wrappers = {
        name
        for alternative in alternatives
        for name, inner in alternative.get("properties", {}).items()
        if len(alternative["properties"]) == 1 and inner in alternatives
    }
    records = [schema.list_of_objects[1]] if schema.list_of_objects else schema.alternatives
    fields: dict[str, ColumnType] = {}
    for path in (path for alternative in records for path in _leaves(alternative)):
        if path[0] not in wrappers:
            types = schema.type_of((*prefix, *path))
            items = schema.type_of((*prefix, *path, "[]"))
            is_list = "array" in types and "string" in items
            is_number = not types & {"string", "object"} and bool(types & {"integer", "number"})
            fields.setdefault(".".join(path), ColumnType(is_list, is_number))
    return fields


def _leaves(schema: dict[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict) and "properties" in inner:
            yield from _leaves(inner, (*prefix, name))
        else:
            yield (*prefix, name)
