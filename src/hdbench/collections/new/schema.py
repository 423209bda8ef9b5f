"""The JSON Schema of a collection's answers, inferred from its ground truths."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hdbench.answers.words import meanings
from hdbench.common.texts import LANGUAGES, Texts

_TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}

Titles = Mapping[str, Mapping[str, Any]]
"""The path of a field, as in `publication.year` or `persons[].name` → see `titles_of`."""

_LABELS = Texts(Path(__file__).with_name("texts"))


def titles_of(heading: str) -> dict[str, Any]:
    """Return what people call a field: as its column is headed, and per language if that is known.

    Example:
        >>> titles_of("Erscheinungsjahr")
        {'title': 'Erscheinungsjahr', 'titles': {'en': 'Year', 'de': 'Jahr'}}
        >>> titles_of("Zustand")
        {'title': 'Zustand'}
    """
    meaning = next((meaning for meaning in meanings(heading) if meaning in _LABELS.english), None)
    if meaning is None:
        return {"title": heading}
    labels = {language: _LABELS.text(meaning, language) for language in LANGUAGES}
    return {"title": heading, "titles": labels}


def schema_of_records(
    records: Iterable[Mapping[str, Any]], *, title: str, titles: Titles | None = None
) -> dict[str, Any]:
    """Return the schema of records, with every field that one of them has, in their order.

    Every field can be null: an image need not give it. Those that all records have are required, so
    that a model cannot pass one over in silence.

    Args:
        records: the ground truths.
        title: what an answer is called.
        titles: what people call the fields; others are called by their names.

    Example:
        >>> schema = schema_of_records([{"year": 1912}, {"authors": ["Frey"]}], title="A card")
        >>> schema["properties"]["year"]["type"], schema["required"]
        (['integer', 'null'], [])
        >>> schema["properties"]["authors"]["items"]
        {'type': ['string', 'null']}
        >>> schema["properties"]["year"]["titles"]
        {'en': 'Year', 'de': 'Jahr'}
    """
    schema = _of_values(list(records), "", titles or {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema,
        "type": "object",
    }


def transcribed(schema: Mapping[str, Any]) -> str | None:
    """Return the path of the text, if an answer is a transcription: of an item, or of each page.

    Example:
        >>> transcribed(schema_of_records([{"pages": [{"text": "Wein"}]}], title="A letter"))
        'pages[].text'
    """
    properties = schema.get("properties", {})
    if list(properties) == ["text"]:
        return "text"
    pages = properties.get("pages", {}).get("items", {}).get("properties", {})
    return "pages[].text" if list(properties) == ["pages"] and list(pages) == ["text"] else None


def _of_values(values: list[Any], path: str, titles: Titles) -> dict[str, Any]:
    """Return the schema of a field from all its values."""
    objects = [value for value in values if isinstance(value, Mapping)]
    items = [item for value in values if isinstance(value, list) for item in value]
    types = {_TYPES[type(value)]: None for value in values if type(value) in _TYPES}
    schema: dict[str, Any] = {}
    if objects:
        schema |= _of_objects(objects, path, titles)
        types["object"] = None
    if any(isinstance(value, list) for value in values):
        schema["items"] = _of_values(items, f"{path}[]", titles) if items else {}
        types["array"] = None
    if "number" in types:
        types.pop("integer", None)
    types.pop("null", None)
    if not types:
        return _titled(path, titles)  # never filled in: anything goes
    has_fields = bool(objects) or "properties" in schema.get("items", {})
    named = _titled(path, titles, has_fields=has_fields)
    return {**named, "type": [*types, "null"], **schema}


def _of_objects(objects: list[Mapping[str, Any]], path: str, titles: Titles) -> dict[str, Any]:
    fields: dict[str, list[Any]] = {}
    for record in objects:
        for name, value in record.items():
            fields.setdefault(name, []).append(value)
    return {
        "additionalProperties": False,
        "required": [name for name, values in fields.items() if len(values) == len(objects)],
        "properties": {
            name: _of_values(values, f"{path}.{name}" if path else name, titles)
            for name, values in fields.items()
        },
    }


def _titled(path: str, titles: Titles, *, has_fields: bool = False) -> dict[str, Any]:
    """Return the titles of a field: those that it was given, or else its name as a heading."""
    if path in titles or not path or path.endswith("[]"):
        return dict(titles.get(path, {}))
    words = path.rpartition(".")[2].replace("_", " ").strip()
    named = titles_of(words[:1].upper() + words[1:])
    # As a value, `pages` are how many a book has; with fields, they are pages.
    return {"title": named["title"]} if has_fields and words == "pages" else named
