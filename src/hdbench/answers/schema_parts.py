"""The parts of a JSON Schema: what a field may hold, and references replaced by their targets."""

from collections.abc import Iterator
from typing import Any

from hdbench.common.bounds import MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES
from hdbench.errors import HdbenchError

JSON_TYPES: dict[type, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    type(None): frozenset({"null"}),
}
"""JSON Schema's names for the types of JSON values."""

ANY_TYPE = frozenset[str]().union(*JSON_TYPES.values())


CONFIDENCE = frozenset({"confidence", "confidence_score", "score", "probability"})
BESIDE = CONFIDENCE | {"value", "reasoning", "source"}
"""What may be in an object in place of a value."""


def is_sure_value(value: Any) -> bool:
    """Return whether a value is an object of a value and how sure the model is of it.

    Example:
        >>> is_sure_value({"value": 1957, "confidence": 0.9}), is_sure_value({"value": 1957})
        (True, False)
    """
    return (
        isinstance(value, dict)
        and "value" in value
        and value.keys() <= BESIDE
        and not CONFIDENCE.isdisjoint(value)
    )


def choices_of(schema: Any) -> list[Any]:
    """Return a field's schema, or the several schemas of its `anyOf`."""
    if not isinstance(schema, dict) or "anyOf" not in schema:
        return [schema]
    return [choice for part in schema["anyOf"] for choice in choices_of(part)]


def field_of(schema: Any, name: str) -> Any:
    """Return the schema of a field in an object, or of `[]` in a list; None if there is none."""
    if not isinstance(schema, dict):
        return None
    return schema.get("items") if name == "[]" else schema.get("properties", {}).get(name)


def parts_of(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a schema and all in it, choices too, by their paths: `[]` is any item of a list.

    Example:
        >>> list(parts_of({"properties": {"pages": {"items": {}}}}))[1:]
        [(('pages',), {'items': {}}), (('pages', '[]'), {})]
    """
    yield path, schema
    if isinstance(schema, dict):
        for choice in schema.get("anyOf", []):
            yield from parts_of(choice, path)
        for name, field in schema.get("properties", {}).items():
            yield from parts_of(field, (*path, name))
        if "items" in schema:
            yield from parts_of(schema["items"], (*path, "[]"))


def types_of(schema: Any) -> frozenset[str]:
    """Return the names of the JSON types that a schema allows."""
    if not isinstance(schema, dict):
        return ANY_TYPE
    if "anyOf" in schema:
        return frozenset(name for choice in schema["anyOf"] for name in types_of(choice))
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return frozenset(name for value in values for name in JSON_TYPES[type(value)])
    declared = schema.get("type", ANY_TYPE)
    return frozenset([declared] if isinstance(declared, str) else declared)


class FieldSchema:
    """A schema prepared for counting how much of a value fits.

    Attributes:
        types: the types that it allows.
        fields: the schemas of an object's fields, and of a list's items as `[]`.
    """

    def __init__(self, schema: Any) -> None:
        called = types_of(schema)
        self.types = frozenset(kind for kind, names in JSON_TYPES.items() if names & called)
        self.fields: dict[str, FieldSchema] = {}
        for part in filter(None, choices_of(schema)):
            names = [*part.get("properties", {}), *(["[]"] if "items" in part else [])]
            self.fields |= {name: FieldSchema(field_of(part, name)) for name in names}

    def fit(self, value: Any) -> int:
        """Return how many values, this and those in it, are of a fitting type; 0 if this is not."""
        if is_sure_value(value) and "value" not in self.fields:
            return self.fit(value["value"])
        if type(value) not in self.types:
            return 0
        if isinstance(value, dict):
            known = self.fields.keys() & value.keys()
            return 1 + sum(self.fields[name].fit(value[name]) for name in known)
        if isinstance(value, list) and "[]" in self.fields:
            return 1 + sum(map(self.fields["[]"].fit, value))
        return 1


def without_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with `{"$ref": "#/…"}` replaced by what it refers to, and without `$defs`.

    What a field is called beside its reference stays.

    Raises:
        HdbenchError: a reference leads nowhere, outside the schema or to itself.
    """
    nodes = 0

    def resolved(node: Any, depth: int) -> Any:
        nonlocal nodes
        nodes += 1
        if depth > MAX_SCHEMA_DEPTH or nodes > MAX_SCHEMA_NODES:
            raise HdbenchError("the schema refers to itself, or is too large")
        if isinstance(node, list):
            return [resolved(inner, depth + 1) for inner in node]
        if not isinstance(node, dict):
            return node
        if isinstance(reference := node.get("$ref"), str):
            titles = {key: node[key] for key in ("title", "titles") if key in node}
            return {**resolved(_at(schema, reference), depth + 1), **titles}
        return {key: resolved(inner, depth + 1) for key, inner in node.items() if key != "$defs"}

    plain: dict[str, Any] = resolved(schema, 0)
    return plain


def _at(schema: dict[str, Any], reference: str) -> Any:
    """Return what a reference within the schema refers to."""
    node: Any = schema
    start, *keys = reference.split("/")
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    if start != "#" or not isinstance(node, dict):
        raise HdbenchError(
            "$ref {reference!r}: must name an object in the schema: #/$defs/name",
            reference=reference,
        )
    return node
