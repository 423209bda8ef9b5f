"""The form of answers, inferred from ground truths that come without a schema."""

from collections.abc import Iterable, Mapping
from typing import Any

from hdbench.answers.schema import AnswerSchema


def schema_of(
    references: Iterable[Mapping[str, Any]], root_list: str | None = None
) -> AnswerSchema:
    """Return the form of the answers to look for in texts, inferred from their ground truths.

    It has the fields of the ground truths, at all depths, and no types: an answer can write the
    value of a field differently from the ground truth, for example a person by name. If each ground
    truth has only one field, a list of objects, answers have that list.

    Args:
        references: ground truths.
        root_list: the field, if any, that an answer can consist of alone.

    Example:
        >>> schema = schema_of([{"title": "Stellingen"}, {"author": {"last_name": "Müller"}}])
        >>> sorted(schema.all_names)
        ['author', 'last_name', 'title']
        >>> schema_of([{"advertisements": [{"text": "Verloren"}]}]).list_of_objects[0]
        'advertisements'
    """
    references = list(references)
    schema = _schema_of_objects(references)
    properties = schema["properties"]
    only = next(iter(properties)) if len(properties) == 1 else root_list or ""
    values = [reference[only] for reference in references if only in reference]
    if values and all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        if items and all(isinstance(item, Mapping) for item in items):
            properties[only] |= {"type": "array", "items": _schema_of_objects(items)}
            schema["required"] = [only]
    # A field that no ground truth has may belong to a wrapper.
    return AnswerSchema(schema | {"additionalProperties": False})


def _schema_of_objects(values: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    fields: dict[str, list[Mapping[str, Any]]] = {}
    for value in values:
        for name, inner in value.items():
            fields.setdefault(name, []).extend([inner] if isinstance(inner, Mapping) else [])
    properties = {
        name: _schema_of_objects(inner) if inner else {} for name, inner in fields.items()
    }
    return {"type": "object", "properties": properties}
