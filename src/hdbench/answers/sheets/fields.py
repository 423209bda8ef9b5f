"""The fields into which ground truths go, those of a schema, and the columns that go there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hdbench.answers.schema import AnswerSchema
from hdbench.answers.schema_parts import choices_of, types_of
from hdbench.errors import Message

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


@dataclass(frozen=True)
class Column:
    """A column of a table, and the field that it goes to.

    Attributes:
        title: its name in the table.
        path: where its values go in the record, as `FieldPath.path` has it; None if it is not used.
        kind: what its cells are read as.
        key: whether it names the item.
        separator: what divides the texts of a list.
        example: one of its values.
        why: the reason for this proposal, for a person to check.
        nullable: whether a blank cell becomes null, if it is not text or a list; otherwise the
            record lacks the field.
    """

    title: str
    path: str | None
    kind: Kind
    key: bool
    separator: str | None
    example: str
    why: str
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
