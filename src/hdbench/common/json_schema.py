"""What a JSON Schema says of a value and of those within it."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from hdbench.common.bounds import MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES
from hdbench.common.jsonio import parse_file
from hdbench.common.validation import read_text_file
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


def read_schema(path: Path) -> dict[str, Any]:
    """Return the JSON Schema in a file, as it is there.

    Raises:
        HdbenchError: the file cannot be read, or is not a JSON object.
    """
    schema = parse_file(read_text_file(path), path)
    if not isinstance(schema, dict):
        raise HdbenchError("{place}: not a JSON Schema: must be an object in braces", place=path)
    return schema


def choices_of(schema: Any) -> list[Any]:
    """Return a field's schema, or the several schemas of its `anyOf`."""
    if not isinstance(schema, dict) or "anyOf" not in schema:
        return [schema]
    return [choice for part in schema["anyOf"] for choice in choices_of(part)]


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


def without_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with `{"$ref": "#/…"}` replaced by what it refers to, and without `$defs`.

    What a field is called beside its reference stays.

    Raises:
        HdbenchError: a reference leads nowhere, outside the schema or to itself.
    """
    numbers = count()

    def resolved(node: Any, depth: int) -> Any:
        if depth > MAX_SCHEMA_DEPTH or next(numbers) >= MAX_SCHEMA_NODES:
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


# Not by jsonschema_rs, which would sort the fields, and so the columns of tables.
def _at(schema: dict[str, Any], reference: str) -> dict[str, Any]:
    """Return what a reference within the schema refers to."""
    node: Any = schema
    start, *keys = reference.split("/")
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    if start != "#" or not isinstance(node, dict):
        wrong = "$ref {reference!r}: must name an object in the schema: #/$defs/name"
        raise HdbenchError(wrong, reference=reference)
    return node
