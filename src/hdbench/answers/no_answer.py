"""Kinds of text in place of an answer: a repeated prompt, a schema, an error, another format."""

import re
from itertools import islice
from typing import Any

from hdbench.answers.answer import Kind
from hdbench.answers.schema import AnswerSchema

MAX_LOOKED_AT = 100_000
"""Maximum number of characters of a text that are searched for its format."""

MAX_PLACEHOLDER = 100
"""Maximum number of characters in a value that is a placeholder."""

MAX_LEAVES = 200
"""Maximum number of values in an object that are compared with placeholders or an example."""

# fmt: off
SCHEMA_WORDS = frozenset({"$defs", "$ref", "anyOf", "const", "enum", "properties"})
VOCABULARY = SCHEMA_WORDS | frozenset({
    "$schema", "$id", "$comment", "title", "titles", "description", "type", "required",
    "additionalProperties", "items", "oneOf", "allOf", "examples", "default", "definitions",
    "format", "pattern", "minimum", "maximum", "minItems", "maxItems", "strict",
})
TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

MESSAGE = frozenset({
    "message", "messages", "error", "errors", "detail", "details", "status", "statusCode",
    "status_code", "code", "type", "reason", "refusal", "success", "title", "request_id", "msg",
    "info", "warning", "id", "role", "content",
})
SAYS = frozenset({"message", "messages", "error", "errors", "detail", "details", "msg", "refusal"})
RESPONSE = MESSAGE | frozenset({
    "object", "created", "created_at", "model", "modelVersion", "model_version", "choices",
    "usage", "usageMetadata", "candidates", "finish_reason", "finishReason", "stop_reason",
    "stop_sequence", "done", "done_reason", "response", "index", "logprobs",
    "system_fingerprint", "service_tier", "prompt_tokens", "completion_tokens", "total_tokens",
    "input_tokens", "output_tokens", "total_duration", "responseId", "total",
})
RESPONDS = frozenset({
    "choices", "usage", "usageMetadata", "candidates", "finish_reason", "finishReason",
    "stop_reason", "done", "done_reason", "prompt_tokens", "completion_tokens", "input_tokens",
    "output_tokens",
})
CALLS = frozenset({"tool_calls", "tool_call", "function_call"})
CALLED_WITH = frozenset({"arguments", "parameters", "input"})
CALL = CALLS | CALLED_WITH | frozenset({"name", "id", "type", "function", "role", "content"})
# fmt: on

TYPE_WORD = r"(?:string|text|str|integer|int|number|float|boolean|bool|array|list|object|value)"
PLACEHOLDER = re.compile(
    rf"\.{{2,}}|…|_{{2,}}|yyyy(?:-mm(?:-dd)?)?|{TYPE_WORD}s?(?:\s(?:or|of)\s[\w ]{{1,40}})?"
)
REQUEST = re.compile(r"^(?:your|insert|enter|add|the)\b|\b(?:goes )?here$")

RULER = re.compile(r"\|[^\n]{0,1000}\n[ \t]*+(?:\|[ \t]*+)?:?-{3}")
CSV = re.compile(r"[\w\"-]{1,60}(?:([,;\t])[\w\"-]{1,60})+\r?\n[^\n]*\1")
ELEMENT = re.compile(r"<([A-Za-z_][\w.-]{0,50})(?:\s[^<>]{0,500})?>")
KEY = re.compile(r"^[ \t]*(?:- +)?[\"']?([\w ]{1,40}?)[\"']?:(?=\s|$)", re.M)
FENCED = re.compile(r"^\s*(?:```|~~~)\w*\n|\n(?:```|~~~)\s*$")


def kind_of_object(
    value: dict[str, Any], schema: AnswerSchema | None, *, keeps: bool = False
) -> Kind | None:
    """Return what an object is, if it is not itself a record; a record may lie within it.

    Args:
        value: the object.
        schema: the form of the benchmark's answers.
        keeps: whether it is known to conform to the schema, so that it can only be an example or
            template.

    Example:
        >>> kind_of_object({"message": "No image was given."}, None)
        'message'
        >>> kind_of_object({"title": "string", "author": {"last_name": "string"}}, None)
        'template'
    """
    if schema and not keeps and is_schema(value, schema):
        return "schema"
    if schema and schema.is_shown(value):
        return "prompt"
    if is_template(value):
        return "template"
    kind = None if keeps else _kind_of_keys(value)
    is_record = kind and schema and value.get("type") != "error" and schema.fit(value)
    return None if is_record else kind


def _kind_of_keys(value: dict[str, Any]) -> Kind | None:
    """Return what an object is that has only keys of one kind, one of which identifies it."""
    keys = value.keys()
    if keys <= CALL and (keys & CALLS or ("name" in keys and keys & CALLED_WITH)):
        return "tool_call"
    if keys <= RESPONSE and keys & RESPONDS:
        return "response"
    says = keys & SAYS or value.get("type") == "error"
    return "message" if says and keys <= MESSAGE else None


def is_schema(value: dict[str, Any], schema: AnswerSchema) -> bool:
    """Return whether an object is a JSON Schema, or its `properties`, repeated by the model.

    Its fields have the names of the record's fields, and are where those would be.
    """
    if not SCHEMA_WORDS.isdisjoint(value) and (
        value.keys() <= VOCABULARY or schema.fit(value) == 0
    ):
        return True
    types = others = 0
    for name, field in value.items():
        if name not in schema.all_names:
            continue
        if not isinstance(field, dict):
            others += 1
        elif not SCHEMA_WORDS.isdisjoint(field):
            return True
        elif field.get("type") in TYPES and field.keys() <= VOCABULARY:
            types += 1
        else:
            others += 1
    return types > 0 == others


def is_template(value: dict[str, Any]) -> bool:
    """Return whether each value that is not blank or 0 is a placeholder, and there is at least one.

    Example:
        >>> is_template({"title": "string or empty string", "year": 0, "pages": "..."})
        True
        >>> is_template({"title": "string", "year": 1924})
        False
    """
    has_placeholder = False
    waiting: list[tuple[str, Any]] = [("", value)]
    for _ in range(MAX_LEAVES):
        if not waiting:
            break
        name, node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.items()
        elif isinstance(node, list):
            waiting += [(name, inner) for inner in node[:MAX_LEAVES]]
        elif node and node != "null":
            if not isinstance(node, str) or not _is_placeholder(name, node):
                return False
            has_placeholder = True
    return has_placeholder


def _is_placeholder(name: str, text: str) -> bool:
    if len(text) > MAX_PLACEHOLDER:
        return False
    text = text.strip(" \n{}[]<>").casefold()
    if PLACEHOLDER.fullmatch(text):
        return True
    name = name.casefold()
    if name.partition("_")[0] not in text:  # otherwise two more searches for every answer
        return False
    words = REQUEST.sub("", text).strip().replace(" ", "_")
    return words == name


def kind_of_text(text: str, schema: AnswerSchema | None) -> Kind:
    r"""Return the kind of a text without a record in it.

    Args:
        text: the text without thoughts.
        schema: the form of the benchmark's answers.

    Example:
        >>> kind_of_text("<record><title>Stellingen</title></record>", None)
        'xml'
        >>> kind_of_text("title: Stellingen\nauthor:\n  last_name: Müller\n", None)
        'yaml'
        >>> kind_of_text("| Field | Value |\n|---|---|\n| title | Stellingen |", None)
        'table'
    """
    text = FENCED.sub("", text[:MAX_LOOKED_AT])
    if RULER.search(text) or "</table>" in text or CSV.match(text):
        return "table"
    if any(f"</{element[1]}>" in text for element in islice(ELEMENT.finditer(text), 20)):
        return "xml"
    keys = [match[1].strip() for match in islice(KEY.finditer(text), MAX_LEAVES)]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    fields = {key for key in keys if schema and key in schema.all_names}
    return "yaml" if len(fields) > 1 or len(keys) * 2 > lines > 1 else "text"
