"""The schema that is sent along to a server, and whether its answers keep it."""

from typing import Any

from jsonschema_rs import Draft202012Validator

from hdbench.common.jsonio import parse_json
from hdbench.errors import Message
from hdbench.models.backend import Observer

IGNORED, FIRST = 3, 10
"""If so many of the first answers do not keep the schema, the server seems to ignore it."""


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as servers take it, unchanged.

    OpenAI rejects `strict` unless every object names all its keys as required and allows no
    others; without it a schema is only a recommendation there. Servers of open models ignore it:
    they follow any schema they accept.
    """
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "answer",
            "schema": schema,
            "strict": schema.get("type") == "object" and _is_closed(schema),
        },
    }


class SchemaCheck:
    """Check whether answers keep a schema: a server that ignores it does not say so.

    Args:
        schema: JSON Schema.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._validator = Draft202012Validator(schema, offline=True)
        self._first: list[bool] = []

    def kept_by(self, text: str, observer: Observer, finish_reason: str | None) -> bool:
        """Return whether an answer is JSON that keeps the schema, and nothing else.

        Args:
            text: the answer.
            observer: is told when it seems that the server ignores the schema.
            finish_reason: an answer that was cut off does not show that.
        """
        try:
            is_valid: bool = self._validator.is_valid(parse_json(text))
        except ValueError:
            is_valid = False
        if finish_reason != "length" and len(self._first) < FIRST:
            self._first.append(is_valid)
            if not is_valid and self._first.count(False) == IGNORED:
                observer.notice(
                    Message(
                        "the server seems to ignore the schema that is sent along: {broken} of the "
                        "first {count} answers do not keep it",
                        broken=IGNORED,
                        count=len(self._first),
                    )
                )
        return is_valid


def _is_closed(node: Any) -> bool:
    """Return whether every object in a schema requires all its keys and allows no others."""
    if isinstance(node, list):
        return all(map(_is_closed, node))
    if not isinstance(node, dict):
        return True
    keys = node.get("properties", {})
    if (node.get("type") == "object" or keys) and not (
        node.get("additionalProperties") is False and set(node.get("required", ())) == set(keys)
    ):
        return False
    return all(map(_is_closed, node.values()))
