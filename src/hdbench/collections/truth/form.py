"""The form of a record for the editor's page, made from a collection's schema."""

from collections.abc import Mapping
from typing import Any

from hdbench.answers.field_paths import field_paths
from hdbench.answers.schema import AnswerSchema, choices_of, parts_of, types_of
from hdbench.benchmarks.titles import title_of
from hdbench.common.texts import LANGUAGES

LONG = frozenset({"text", "transcription", "abstract", "note", "notes", "comment"})
"""Names of fields whose texts usually have several lines."""

TOLD = ("description", "pattern", "format")
"""Keys of a schema that say which form a value has."""


def form_of(schema: AnswerSchema) -> dict[str, Any]:
    """Return the fields of a record, nested as the record is.

    A field has its `name`, a `label` for each language, its `kind` (`text`, `integer`, `number`,
    `boolean`, `choice`, `object`, `list` or `any`), its value when it is `empty`, and depending on
    its kind `choices`, `fields`, or the `item` of a list; and what the schema says of its form, see
    `TOLD`. Required fields are marked: a new record has all of them, empty.

    Args:
        schema: the form of the answers.

    Example:
        >>> form = form_of(AnswerSchema({"properties": {"year": {"type": ["integer", "null"]}}}))
        >>> form["fields"][0]["kind"], form["fields"][0]["empty"]
        ('integer', None)
    """
    properties: dict[str, Any] = {}
    for alternative in schema.alternatives:
        properties = {**alternative.get("properties", {}), **properties}
    required = [frozenset(part.get("required", ())) for part in schema.alternatives]
    everywhere = frozenset.intersection(*required) if required else frozenset[str]()
    only = [path.path for path in field_paths(schema)]
    fields = _fields(properties, everywhere)
    if len(only) == 1 and len(fields) == 1 and fields[0]["kind"] == "text":
        fields[0]["long"] = True  # a transcription
    return _object("", {}, fields)


def _fields(properties: Mapping[str, Any], required: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {**_field(name, schema), **_told(schema), "required": name in required}
        for name, schema in properties.items()
    ]


def _told(schema: Any) -> dict[str, str]:
    """Return what a schema says of a field's form, or of that of a list's values."""
    told: dict[str, str] = {}
    for path, part in parts_of(schema):
        if path in {(), ("[]",)} and isinstance(part, dict):
            told = {key: part[key] for key in TOLD if isinstance(part.get(key), str)} | told
    return told


def _object(name: str, labels: Mapping[str, str], fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "label": labels, "kind": "object", "fields": fields, "empty": None}


def _field(name: str, schema: Any) -> dict[str, Any]:
    choices = [choice for choice in choices_of(schema) if isinstance(choice, dict)]
    types = types_of(schema)
    labels = {language: title_of(schema, language) or name for language in LANGUAGES}
    nullable = "null" in types
    inner = next((choice for choice in choices if "properties" in choice), None)
    if inner is not None:
        fields = _fields(inner["properties"], frozenset(inner.get("required", ())))
        field = _object(name, labels, fields)
        return field if nullable else field | {"empty": {f["name"]: f["empty"] for f in fields}}
    items = next((choice["items"] for choice in choices if "items" in choice), None)
    if items is not None or types - {"null"} == {"array"}:
        return {
            "name": name,
            "label": labels,
            "kind": "list",
            "item": _field("", items if isinstance(items, dict) else {}),
            "empty": None if nullable else [],
        }
    return {"name": name, "label": labels, **_leaf(name, types, choices)}


def _leaf(name: str, types: frozenset[str], choices: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the kind of a field with one value, and the keys of that kind."""
    values = [value for choice in choices for value in choice.get("enum", ()) if value is not None]
    kinds = types - {"null"}
    if values:
        return {"kind": "choice", "choices": values, "empty": None}
    if "object" in kinds or "array" in kinds:
        return {"kind": "any", "empty": None}
    if kinds and "string" not in kinds:
        kind = next(iter(kinds)) if len(kinds) == 1 else "number"
        return {"kind": kind, "empty": None}
    return {"kind": "text", "long": name in LONG, "empty": None if "null" in types else ""}
