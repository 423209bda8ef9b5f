"""The draft of a prompt, from the form of the answers alone: it must not give any answer away."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hdbench.answers.words import plain
from hdbench.benchmarks.markdown import markdown_templates
from hdbench.collections.new.schema import transcribed

_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
}

_SHOWN = {
    "image": "the image",
    "pages": "these images, the pages of one item,",
    "pdf": "this document",
    "text": "the text below",
}


def draft_prompt(schema: Mapping[str, Any], *, title: str, media: str) -> str:
    """Return a prompt that asks for records of a form.

    Args:
        schema: the JSON Schema of an answer.
        title: the collection's.
        media: what a model is shown: `image`, `pages`, `pdf` or `text`.

    Example:
        >>> prompt = draft_prompt({"properties": {"text": {}}}, title="Letters", media="image")
        >>> prompt.partition(" as ")[0]
        'Transcribe the text of the image'
    """
    return (
        markdown_templates("hdbench.collections.new")
        .get_template("prompt.txt.j2")
        .render(
            is_transcription=transcribed(schema) is not None,
            what=_SHOWN[media],
            title=title,
            shape=shape(schema),
            meanings=list(_titles(schema, "")),
        )
    )


def shape(schema: Mapping[str, Any], indent: str = "") -> str:
    """Return a schema as the JSON that it allows, with words for values, as prompts have it."""
    types = schema.get("type", [])
    if "properties" in schema:
        inner = indent + "  "
        fields = ",\n".join(
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {shape(field, inner)}"
            for name, field in schema["properties"].items()
        )
        return f"{{\n{fields}\n{indent}}}"
    if "items" in schema:
        return f"[{shape(schema['items'], indent)}, …]"
    names = [types] if isinstance(types, str) else types
    return " or ".join(_WORDS[name] for name in names if name in _WORDS) or "text"


def _titles(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield the fields that people call something else than the schema does."""
    for name, field in schema.get("properties", {}).items():
        own = f"{path}.{name}" if path else name
        if plain(field.get("title", name)) != plain(name):
            yield own, field["title"]
        yield from _titles(field, own)
        if isinstance(field.get("items"), Mapping):
            yield from _titles(field["items"], f"{own}[]")
