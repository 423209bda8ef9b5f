"""Titles of the fields of an answer, from its schema."""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

from hdbench.answers.schema import AnswerSchema
from hdbench.common.json_schema import parts_of

Titles = Callable[[str], str]
"""Path of a field → its title, as from `FieldTitles`; `str` where titles are not known."""

_PLACES = re.compile(r"\A(?:\]\d*\[)+", re.ASCII)
"""Places in lists at the end of a step, as in `persons[1]`, from behind: a model can write a name
of any length, in which a search for its end would begin at each of the places."""

_PLACE = re.compile(r"\[(\d{1,9})\]", re.ASCII)

_VALUES = frozenset({"const", "default", "enum", "examples"})
"""Keywords of a schema that hold values of answers, not schemas."""

BETWEEN = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
"""What stands between the title of a field and that of what it is in."""


def title_of(schema: Any, language: str) -> str | None:
    """Return a field's title in a language; None without.

    It is the one among its `titles`, else its `title`, else the English one of its `titles`.

    Example:
        >>> schema = {"title": "Jahr", "titles": {"en": "Year"}}
        >>> title_of(schema, "en"), title_of(schema, "de"), title_of({"type": "string"}, "en")
        ('Year', 'Jahr', None)
    """
    if not isinstance(schema, dict):
        return None
    titles = schema.get("titles")
    by_language = titles if isinstance(titles, dict) else {}
    texts = (by_language.get(language), schema.get("title"), by_language.get("en"))
    return next((text for text in texts if text and type(text) is str), None)


def with_titles(schema: dict[str, Any], titles: Mapping[str, str], language: str) -> dict[str, Any]:
    """Return a schema whose fields have other titles in a language.

    Args:
        schema: the form of a record.
        titles: a field's path, as `FieldPath.path` has it → its title; empty for none. Fields that
            the schema does not have are left out.
        language: the language.

    Example:
        >>> schema = {"properties": {"persons": {"items": {"properties": {"name": {}}}}}}
        >>> with_titles(schema, {"persons[].name": "Name"}, "de")["properties"]["persons"]["items"]
        {'properties': {'name': {'titles': {'de': 'Name'}}}}
    """
    schema = copy.deepcopy(schema)
    fields = dict(reversed([*parts_of(schema)]))
    for path, title in titles.items():
        field = fields.get(tuple(path.removesuffix("[]").replace("[]", ".[]").split(".")))
        if isinstance(field, dict):
            kept = field.pop("titles", None)
            named = (kept if isinstance(kept, dict) else {}) | {language: title}
            if new := {code: text for code, text in named.items() if text}:
                field["titles"] = new
    return schema


def without_titles(schema: Any) -> Any:
    """Return a schema without the `titles` of its fields: they are for readers, not for models.

    Example:
        >>> year = {"titles": {"en": "Year"}, "type": "integer"}
        >>> without_titles({"properties": {"year": year, "titles": {"type": "array"}}})
        {'properties': {'year': {'type': 'integer'}, 'titles': {'type': 'array'}}}
    """
    if isinstance(schema, list):
        return [without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain: dict[str, Any] = {}
    for key, part in schema.items():
        if key in _VALUES:
            plain[key] = part
        elif key in {"properties", "$defs"} and isinstance(part, dict):
            plain[key] = {name: without_titles(field) for name, field in part.items()}
        elif key != "titles":
            plain[key] = without_titles(part)
    return plain


class FieldTitles:
    """Titles of the fields of an answer, for pages.

    Args:
        schema: the form of the answers; None if they have none.
        language: the language of the titles.

    Example:
        >>> imprint = {"title": "Imprint", "properties": {"year": {"title": "Year"}}}
        >>> persons = {"items": {"properties": {"name": {"title": "Name"}}}}
        >>> schema = AnswerSchema({"properties": {"imprint": imprint, "persons": persons}})
        >>> titles = FieldTitles(schema, "en")
        >>> titles("imprint.year"), titles("persons[1].name"), titles("persons[1]")
        ('Imprint › Year', 'persons[1] › Name', 'persons[1]')
        >>> titles("name", within="persons[1]")
        'Name'
    """

    def __init__(self, schema: AnswerSchema | None, language: str) -> None:
        self._titles: dict[str, str] = {}
        parts = (
            part for form in (schema.alternatives if schema else ()) for part in parts_of(form)
        )
        for path, part in parts:
            names = [name for name in path if name != "[]"]
            for name, field in part.get("properties", {}).items() if type(part) is dict else ():
                if title := title_of(field, language):
                    self._titles.setdefault(".".join([*names, name]), title)

    def __call__(self, path: str, within: str = "") -> str:
        """Return the title of a field, after those of what it is in; its path if none has a title.

        Args:
            path: as in `publication.year`, `persons[1].name` or `persons[].name`.
            within: the path of what it is shown in, if `path` begins there.
        """
        names = [_without_places(step) for step in within.split(".")] if within else []
        words, is_titled = [], False
        for step in path.split("."):
            names.append(_without_places(step))
            title = self._titles.get(".".join(names))
            is_titled = is_titled or title is not None
            words.append(step if title is None else title + _counted(step[len(names[-1]) :]))
        return BETWEEN.join(words) if is_titled else path


def _without_places(step: str) -> str:
    return _PLACES.sub("", step[::-1])[::-1]


def _counted(places: str) -> str:
    """Return places in lists as people count them: from one."""
    return _PLACE.sub(lambda place: f" {int(place[1]) + 1}", places.replace("[]", ""))
