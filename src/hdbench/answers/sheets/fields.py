"""The fields into which ground truths go: those of a schema."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from hdbench.answers.schema import AnswerSchema
from hdbench.answers.schema_parts import choices_of, types_of

Kind = Literal["text", "integer", "number", "date", "list", "boolean"]
"""Kinds of cells; those of a list are texts with a separator between them."""


class FieldPath(NamedTuple):
    """A field of a benchmark's records.

    Attributes:
        path: names from the record inwards, as in `publication.year`, `authors[]` for a list of
            values and `persons[].name` for a field of the objects in a list.
        kind: what its values are.
        title: what people call it; empty if the schema does not say.
        nullable: whether it may be null.
    """

    path: str
    kind: Kind
    title: str = ""
    nullable: bool = True


def field_paths(schema: AnswerSchema) -> list[FieldPath]:
    """Return the fields that a table can fill, in the schema's order, once each.

    Args:
        schema: the form of a benchmark's records.

    Example:
        >>> schema = AnswerSchema({"properties": {
        ...     "year": {"type": ["integer", "null"], "title": "Jahr"},
        ...     "authors": {"type": "array", "items": {"type": "string"}},
        ... }})
        >>> for field in field_paths(schema):
        ...     print(field)
        FieldPath(path='year', kind='integer', title='Jahr', nullable=True)
        FieldPath(path='authors[]', kind='list', title='', nullable=False)
    """
    by_path: dict[str, FieldPath] = {}
    for alternative in schema.alternatives:
        for field in _within(alternative, ""):
            by_path.setdefault(field.path, field)
    return list(by_path.values())


def _within(schema: Any, prefix: str) -> Iterator[FieldPath]:
    """Yield the fields of an object's schema."""
    for choice in choices_of(schema):
        properties = choice.get("properties", {}) if isinstance(choice, dict) else {}
        for name, field in properties.items():
            yield from _of_field(field, prefix + name)


def _of_field(field: Any, path: str) -> Iterator[FieldPath]:
    choices = [item for item in choices_of(field) if isinstance(item, dict)]
    title = next((str(item["title"]) for item in [field, *choices] if _has(item, "title")), "")
    if any(_has(item, "properties") for item in choices):
        yield from _within(field, f"{path}.")
        return
    items = next((item["items"] for item in choices if _has(item, "items")), None)
    types = types_of(field)
    if items is not None or ("array" in types and not types & {"string", "object"}):
        if any(_has(item, "properties") for item in choices_of(items)):
            yield from _within(items, f"{path}[].")
        else:
            yield FieldPath(f"{path}[]", "list", title, "null" in types)
        return
    yield FieldPath(path, _kind(types, choices), title, "null" in types)


def _kind(types: frozenset[str], choices: list[Any]) -> Kind:
    if "string" in types:
        return "date" if any(choice.get("format") == "date" for choice in choices) else "text"
    if "number" in types:
        return "number"
    if "integer" in types:
        return "integer"
    return "boolean" if "boolean" in types else "text"


def _has(schema: Any, key: str) -> bool:
    return isinstance(schema, dict) and key in schema
