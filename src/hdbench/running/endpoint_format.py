"""A schema as OpenAI-compatible servers take it."""

from typing import Any


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as servers take it, unchanged.

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


def _is_closed(node: Any) -> bool:
    """Whether every object in a schema requires all its keys and allows no others."""
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
