"""Kinds of text in place of an answer: a repeated prompt, a schema, an error, another format."""

import re
from collections.abc import Container
from itertools import islice
from typing import Any

from hdbench.answers.answer import Kind
from hdbench.answers.schema import AnswerSchema, Place, leaves_of
from hdbench.common.bounds import MAX_LEAVES, MAX_LOOKED_AT

MAX_PLACEHOLDER = 100
"""Maximum number of characters in a value that is a placeholder."""

# fmt: off
SCHEMA_WORDS = frozenset({"$defs", "$ref", "anyOf", "const", "enum", "properties"})
TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

CALLS = frozenset({"tool_calls", "tool_call", "function_call"})
CALLED_WITH = frozenset({"arguments", "parameters", "input"})
RESPONDS = frozenset({
    "choices", "usage", "usageMetadata", "candidates", "finish_reason", "finishReason",
    "stop_reason", "done", "done_reason", "prompt_tokens", "completion_tokens", "input_tokens",
    "output_tokens",
})
SAYS = frozenset({"message", "messages", "error", "errors", "detail", "details", "msg", "refusal"})
ENVELOPE = CALLS | CALLED_WITH | RESPONDS | SAYS | frozenset({
    "status", "code", "type", "reason", "title", "id", "role", "content", "name", "object", "model",
    "created", "created_at", "modelVersion", "responseId", "response", "total_duration", "index",
})
"""What servers, and models that speak like one, write around an answer or in place of one."""
# fmt: on

TYPE_WORD = r"(?:string|text|str|integer|int|number|float|boolean|bool|array|list|object|value)"
PLACEHOLDER = re.compile(
    rf"\.{{2,}}|…|_{{2,}}|yyyy(?:-mm(?:-dd)?)?|{TYPE_WORD}s?(?:\s(?:or|of)\s[\w ]{{1,40}})?"
)

RULER = re.compile(r"\|[^\n]{0,1000}\n[ \t]*+(?:\|[ \t]*+)?:?-{3}")
CSV = re.compile(r"[\w\"-]{1,60}(?:([,;\t])[\w\"-]{1,60})+\r?\n[^\n]*\1")
ELEMENT = re.compile(r"<([A-Za-z_][\w.-]{0,50})(?:\s[^<>]{0,500})?>")
KEY = re.compile(r"^[ \t]*(?:- +)?[\"']?([\w ]{1,40}?)[\"']?:(?=\s|$)", re.M)
FENCED = re.compile(r"^\s*(?:```|~~~)\w*\n|\n(?:```|~~~)\s*$")


def kind_of_object(
    value: dict[str, Any], schema: AnswerSchema, *, keeps: bool = False
) -> Kind | None:
    """Return what an object is, if it is not itself a record; a record may lie within it.

    Args:
        value: the object.
        schema: the form of the benchmark's answers.
        keeps: whether it is known to conform to the schema, so that it can only be an example or
            template.

    Example:
        >>> kind_of_object({"message": "No image was given."}, AnswerSchema({}))
        'message'
        >>> kind_of_object({"title": "string", "author": "string"}, AnswerSchema({}))
        'template'
    """
    if schema.names and not keeps and is_schema(value, schema):
        return "schema"
    if schema.is_shown(value):
        return "prompt"
    if is_template(value):
        return "template"
    kind: Kind | None = None
    keys = value.keys()
    is_error = value.get("type") == "error"
    if keys & CALLS or ("name" in keys and keys & CALLED_WITH):
        kind = "tool_call"
    elif keys & RESPONDS:
        kind = "response"
    elif keys & SAYS or is_error:
        kind = "message"
    if kind is None or keeps or is_error:
        return None if keeps else kind
    return None if not keys <= ENVELOPE or schema.fit(value) else kind


def is_schema(value: dict[str, Any], schema: AnswerSchema) -> bool:
    """Return whether an object is a JSON Schema, or its `properties`, repeated by the model.

    Its fields have the names of the record's fields, and are where those would be.
    """
    if not SCHEMA_WORDS.isdisjoint(value) and not schema.has_required(value):
        return True
    fields = [field for name, field in value.items() if name in schema.all_names]
    inner = [field for field in fields if isinstance(field, dict)]
    if not all(SCHEMA_WORDS.isdisjoint(field) for field in inner):
        return True
    return len(inner) == len(fields) > 0 and all(field.get("type") in TYPES for field in inner)


def is_template(value: dict[str, Any]) -> bool:
    """Return whether each value that is not blank or 0 is a placeholder, and there is at least one.

    Example:
        >>> is_template({"title": "string or empty string", "year": 0, "pages": "..."})
        True
        >>> is_template({"title": "string", "year": 1924})
        False
    """
    has_placeholder = False
    for path, text in islice(leaves_of(value), MAX_LEAVES):
        if text != 0:
            if not _is_placeholder(path, str(text)):
                return False
            has_placeholder = True
    return has_placeholder


def _is_placeholder(path: Place, text: str) -> bool:
    """Return whether a text says what belongs in its place, or is the name of its field."""
    if len(text) > MAX_PLACEHOLDER:
        return False
    text = text.strip(" \n{}[]<>").casefold()
    name = next((part for part in reversed(path) if isinstance(part, str)), "").casefold()
    return PLACEHOLDER.fullmatch(text) is not None or text.replace(" ", "_") == name


def kind_of_text(text: str, names: Container[str] = ()) -> Kind:
    r"""Return the kind of a text without a record in it.

    Args:
        text: the text without thoughts.
        names: the fields of a record.

    Example:
        >>> kind_of_text("<record><title>Stellingen</title></record>")
        'xml'
        >>> kind_of_text("title: Stellingen\nauthor:\n  last_name: Müller\n")
        'yaml'
        >>> kind_of_text("| Field | Value |\n|---|---|\n| title | Stellingen |")
        'table'
    """
    text = FENCED.sub("", text[:MAX_LOOKED_AT])
    if RULER.search(text) or "</table>" in text or CSV.match(text):
        return "table"
    if any(f"</{element[1]}>" in text for element in islice(ELEMENT.finditer(text), 20)):
        return "xml"
    keys = [match[1].strip() for match in islice(KEY.finditer(text), MAX_LEAVES)]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    fields = {key for key in keys if key in names}
    return "yaml" if len(fields) > 1 or len(keys) * 2 > lines > 1 else "text"
