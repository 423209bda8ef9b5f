"""The form of a record, and of a single value in it, made from a collection's schema."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.answers.field_paths import field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.titles import BETWEEN, title_of
from hdbench.common.bounds import MAX_READING
from hdbench.common.json_schema import choices_of, parts_of, types_of
from hdbench.common.jsonio import json_reason, parse_json
from hdbench.common.texts import LANGUAGES
from hdbench.errors import HdbenchError

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


_KINDS = ("integer", "number", "boolean", "choice")
"""Kinds of fields with a form of their own; all others are texts."""

_ENTERED_IN_FORM = ("object", "list", "any")
"""Kinds of fields, or of a list's entries, that no single text can hold."""

_BETWEEN = re.compile(r"\n|;\s")
"""Between the values of a list, as they are entered."""

_NUMBER = re.compile(
    r"\s*\+?(?P<sign>-?)0*(?P<digits>(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)\s*"
)


def _node_at(
    form: dict[str, Any], steps: Sequence[str]
) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return the node of a field in a form, None without one, and its name in each language.

    Args:
        form: the form of a record, see `form_of`.
        steps: the keys that the field's path consists of.
    """
    node: dict[str, Any] | None = form
    names: dict[str, list[str]] = {language: [] for language in LANGUAGES}
    for step in steps:
        fields = (node.get("item") or node).get("fields", ()) if node else ()
        node = next((inner for inner in fields if inner["name"] == step), None)
        for language, name in names.items():
            name.append(node["label"][language] if node else step)
    return node, {language: BETWEEN.join(name) for language, name in names.items()}


def _entered_as(node: dict[str, Any] | None) -> dict[str, Any]:
    """Return the kind of values that can be entered in a field, and its choices.

    Args:
        node: the field's node in a form; without one, any text can be entered.
    """
    kind = node["kind"] if node else "text"
    return {
        "kind": kind if kind in _KINDS else "text",
        "choices": node.get("choices", []) if node else [],
    }


def asked(form: dict[str, Any], path: str) -> dict[str, Any]:
    """Return what a field is called in each language, and what can be entered.

    `in_form` says that it can be entered in the form of its record alone.

    Args:
        form: the form of a record, see `form_of`.
        path: the field's path.
    """
    node, label = _node_at(form, path.split("."))
    told = {"label": label, **{key: (node or {}).get(key) for key in TOLD}, **_entered_as(node)}
    if node and node["kind"] == "list":
        told |= {"kind": "list", "entry": _entered_as(node["item"])}
    inner = node and node.get("item", node)
    return told | {
        "long": bool(node and node.get("long")),
        "in_form": bool(inner and inner["kind"] in _ENTERED_IN_FORM),
    }


def typed_value(value: Any, field: dict[str, Any]) -> Any:
    """Return the value that was entered, in the field's type; None for nothing.

    Args:
        value: the text that was entered.
        field: its kind and its choices, see `_entered_as`. For the kind `list`, its `entry` has
            those of each value: they stand on lines of their own, or after "; ".

    Raises:
        HdbenchError: it does not have that type.

    Example:
        >>> typed_value("007", {"kind": "integer"}), typed_value(" ", {"kind": "text"})
        (7, None)
        >>> typed_value("Diss.; Basel", {"kind": "list", "entry": {"kind": "text"}})
        ['Diss.', 'Basel']
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str) or len(value) > MAX_READING:
        raise HdbenchError("a value must be a text that is not too long")
    if field["kind"] == "list":
        values = (typed_value(part.strip(), field["entry"]) for part in _BETWEEN.split(value))
        return [entry for entry in values if entry is not None] or None
    if field["kind"] in {"boolean", "choice"}:
        choices = field["choices"] if field["kind"] == "choice" else [True, False]
        for choice in choices:
            if _as_option(choice) == value:
                return choice
        raise HdbenchError("{value!r}: not one of the choices", value=value[:100])
    if field["kind"] not in {"integer", "number"}:
        return value
    number = _NUMBER.fullmatch(value)
    if number is None or (field["kind"] == "integer" and not number["digits"].isdecimal()):
        raise HdbenchError("{value!r}: not a number", value=value[:100])
    try:
        return parse_json(f"{number['sign']}{number['digits']}")
    except ValueError as error:
        raise HdbenchError(
            "{value!r}: not a number: {why}", value=value[:100], why=json_reason(error)
        ) from error


def _as_option(choice: Any) -> str:
    """Return the text that a choice has in the page."""
    return choice if isinstance(choice, str) else json.dumps(choice)
