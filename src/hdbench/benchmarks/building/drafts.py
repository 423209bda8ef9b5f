"""Drafts of what stands beside a benchmark's rows: the schema of answers, the prompt, the card.

`hdbench new` writes them into a new folder, and `hdbench build` into one that was made by hand and
lacks some of them. The prompt follows from the form of the answers alone: it must not give any
answer away.
"""

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hdbench.about import __version__
from hdbench.answers.field_paths import field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.words import meanings, plain
from hdbench.benchmarks.benchmark import METADATA
from hdbench.benchmarks.markdown import markdown_templates
from hdbench.benchmarks.spec import TRUTH, read_spec
from hdbench.common.files import file_in
from hdbench.common.json_schema import read_schema
from hdbench.common.jsonio import read_jsonl
from hdbench.common.texts import LANGUAGES, Texts

SCHEMA = "answer.schema.json"

DRAFTED = (SCHEMA, "prompt.txt", "README.md", "CHANGELOG.md")
"""Files that a benchmark made by hand may lack."""

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

_TEMPLATES = markdown_templates("hdbench.benchmarks.building")

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

_ITEMS = {"image": "images", "pages": "items with their pages", "pdf": "PDFs", "text": "texts"}


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
    return _TEMPLATES.get_template("prompt.txt.j2").render(
        is_transcription=transcribed(schema) is not None,
        what=_SHOWN[media],
        title=title,
        shape=shape(schema),
        meanings=list(_titles(schema, "")),
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


def write_drafts(folder: Path) -> list[str]:
    """Write what a benchmark's folder lacks beside its description and its rows.

    Args:
        folder: a folder in the plain form, without errors.

    Returns:
        The names of the files that were written.
    """
    missing = [name for name in DRAFTED if not (folder / name).exists()]
    if not missing:
        return []
    spec = read_spec(file_in(folder, "benchmark.yaml"))
    truths = [line.value[TRUTH] for line in read_jsonl(file_in(folder, METADATA))]
    records = [truth for truth in truths if truth is not None]
    schema = (
        schema_of_records(records, title=f"The answer for one item of {spec.title}")
        if SCHEMA in missing
        else read_schema(file_in(folder, SCHEMA))
    )
    texts = {
        SCHEMA: json.dumps(schema, ensure_ascii=False, indent=2) + "\n",
        "prompt.txt": draft_prompt(schema, title=spec.title, media=spec.media),
        **draft_card(
            schema,
            name=spec.name,
            version=spec.version,
            media=spec.media,
            metric=spec.metric,
            items=len(truths),
            truths=len(records),
        ),
    }
    for name in missing:
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(texts[name])
    return missing


def draft_card(
    schema: dict[str, Any],
    *,
    media: str,
    language: str = "und",
    origin: str = "",
    notes: Iterable[str] = (),
    **facts: Any,
) -> dict[str, str]:
    """Return the card's template and the changelog, by the names of their files.

    They are Markdown, and the card has placeholders: filters keep values from being either.

    Args:
        schema: the JSON Schema of an answer.
        media: what a model is shown: `image`, `pages`, `pdf` or `text`.
        language: the two letters of the language that the items are in; `und` if not known.
        origin: the name of the file from which the ground truths come, if they come from one.
        notes: what was assumed in reading it.
        facts: `name`, `version` and `metric` of the benchmark, the numbers of `items` and `truths`.
    """
    values = {
        "media": media,
        "language": language,
        "origin": origin,
        "notes": list(notes),
        "what": _ITEMS[media],
        "fields": field_paths(AnswerSchema(schema)),
        "today": datetime.date.today().isoformat(),
        "hdbench": __version__,
        **facts,
    }
    return {
        name: _TEMPLATES.get_template(f"{name}.j2").render(values)
        for name in ("README.md", "CHANGELOG.md")
    }
