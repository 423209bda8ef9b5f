"""The fields of a benchmark's records, and how a heading or key of somebody else's finds one."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hdbench.answers.cells import Kind
from hdbench.answers.entries import put
from hdbench.answers.schema import AnswerSchema, is_sure_value
from hdbench.answers.words import meanings, spellings
from hdbench.common.json_schema import ANY_TYPE, parts_of, types_of
from hdbench.errors import Message, joined


class FieldPath(NamedTuple):
    """A field of a benchmark's records.

    Attributes:
        path: names from the record inwards, as in `publication.year`, `authors[]` for a list of
            values and `persons[].name` for a field of the objects in a list.
        kind: what its values are.
        title: what people call it; empty if the schema does not say.
        nullable: whether it may be null.
    """

    path: str
    kind: Kind
    title: str = ""
    nullable: bool = True


def field_paths(schema: AnswerSchema) -> list[FieldPath]:
    """Return the fields that a table can fill, in the schema's order, once each.

    Args:
        schema: the form of a benchmark's records.

    Example:
        >>> schema = AnswerSchema({"properties": {
        ...     "year": {"type": ["integer", "null"], "title": "Jahr"},
        ...     "authors": {"type": "array", "items": {"type": "string"}},
        ... }})
        >>> for field in field_paths(schema):
        ...     print(field)
        FieldPath(path='year', kind='integer', title='Jahr', nullable=True)
        FieldPath(path='authors[]', kind='list', title='', nullable=False)
    """
    fields: dict[str, FieldPath] = {}
    for alternative in schema.alternatives:
        parts: dict[tuple[str, ...], list[Any]] = {}
        for path, part in parts_of(alternative):
            parts.setdefault(path, []).append(part)
        objects = {path[:-1] for path in parts if path and path[-1] != "[]"}
        for path, choices in parts.items():
            items = (*path, "[]")
            if path[-1:] in ((), ("[]",)) or not objects.isdisjoint((path, items)):
                continue
            types = frozenset(name for choice in choices for name in types_of(choice))
            is_list = items in parts or ("array" in types and not types & {"string", "object"})
            told = [choice for choice in choices if isinstance(choice, dict)]
            title = next((str(choice["title"]) for choice in told if "title" in choice), "")
            name = ".".join(items if is_list else path).replace(".[]", "[]")
            kind = "list" if is_list else _kind(types, told)
            fields.setdefault(name, FieldPath(name, kind, title, "null" in types))
    return list(fields.values())


def _kind(types: frozenset[str], choices: Sequence[dict[str, Any]]) -> Kind:
    if types == ANY_TYPE:
        return "any"
    if "string" in types:
        return "date" if any(choice.get("format") == "date" for choice in choices) else "text"
    kinds: tuple[Kind, ...] = ("number", "integer", "boolean")
    return next((kind for kind in kinds if kind in types), "json" if "object" in types else "text")


SAME = 100
"""Likeness of a heading that is a field's path or title; more than one has words."""


@lru_cache(maxsize=10_000)
def likeness(heading: str, field: FieldPath) -> int:
    """Return how like a heading is to a field: 0 if it neither is its name or title nor means it.

    Likest is the path or title itself, then the path's last name, then a heading whose words all
    mean something in the field's name, its last word among them: the more words, the liker.

    Example:
        >>> year = FieldPath("publication.year", "integer")
        >>> [likeness(heading, year) for heading in ("Publication: year", "Erscheinungsjahr", "x")]
        [100, 1, 0]
    """
    spelled, meant = _words(heading)
    names = [_words(field.path), _words(field.title)]
    if any(spelled & spellings_of for spellings_of, _ in names):
        return SAME
    if spelled & _words(field.path.rpartition(".")[2])[0]:
        return SAME - 1
    means = any(words and words[-1] in meant and {*words}.issuperset(meant) for _, words in names)
    return len(meant) if means else 0


@lru_cache(maxsize=10_000)
def _words(text: str) -> tuple[set[str], list[str]]:
    """Return the spellings of a name, and what its words mean."""
    return spellings(text), meanings(text)


def assigned(
    headings: Sequence[str], fields: Sequence[FieldPath], least: int = 1
) -> dict[int, FieldPath]:
    """Return the fields that headings are or mean, each once, by the headings' places.

    Args:
        headings: headings of columns, or keys.
        fields: the fields.
        least: how like a heading must be, see `likeness`.
    """
    likest = sorted(
        (-score, number, index)
        for index, heading in enumerate(headings)
        for number, field in enumerate(fields)
        if (score := likeness(heading, field)) >= least
    )
    found: dict[int, FieldPath] = {}
    for _, number, index in likest:
        if index not in found and fields[number] not in found.values():
            found[index] = fields[number]
    return found


class FieldNames:
    """The names that answers may have for the fields of a schema.

    Args:
        schema: the form of the answers.

    Attributes:
        found: the key of an answer → the field that it was taken for.

    Example:
        >>> title = {"type": "string", "title": "Titel"}
        >>> names = FieldNames(AnswerSchema({"properties": {"title": title, "year": {}}}))
        >>> names.renamed({"Titel": "Zoo", "Druck": {"Erscheinungsjahr": 1912, "price": 2}})
        {'title': 'Zoo', 'year': 1912, 'Druck': {'price': 2}}
        >>> names.renamed({"Titel": "Zoo", "year": 1912})
        {'title': 'Zoo', 'year': 1912}
    """

    def __init__(self, schema: AnswerSchema) -> None:
        self._schema = schema
        self._fields = [field for field in field_paths(schema) if "[]." not in field.path]
        self.found: dict[str, str] = {}

    def renamed(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with the names of the schema; itself, if it has no others.

        Beside names of the schema, a key has to be a field's name or title: what it only means may
        be a model's own addition.
        """
        names = self._schema.names
        if not names or names.issuperset(record):
            return record
        least = 1 if names.isdisjoint(record) else SAME
        parts: dict[tuple[str, ...], Any] = {}
        for key, value in record.items():
            whole: dict[tuple[str, ...], Any] = {(key,): value}
            is_one = key in names or not isinstance(value, dict) or is_sure_value(value)
            inner = {} if is_one else value
            parts |= {(key, name): part for name, part in inner.items()} or whole
        others = [place for place in parts if place[0] not in names]
        taken = tuple(f"{key}{sign}" for key in record for sign in ("[", "."))
        free = [field for field in self._fields if not f"{field.path}.".startswith(taken)]
        # In a record of one key, that key says nothing of the fields.
        headings = [place[-1] if len(record) == 1 else " ".join(place) for place in others]
        found = assigned(headings, free, least)
        paths = {others[index]: field.path for index, field in found.items()}
        renamed: dict[str, Any] = {}
        for place, part in parts.items():
            path = paths[place].removesuffix("[]").split(".") if place in paths else place
            put(renamed, path, part)
        self.found |= {".".join(place): path for place, path in paths.items()}
        return renamed if paths else record

    def note(self) -> list[Message]:
        """Return what was taken for which field, in one line, if anything was."""
        pairs = [
            Message("{column} → {becomes}", column=key[:60], becomes=path)
            for key, path in self.found.items()
        ]
        note = Message("keys of answers read as fields: {columns}", columns=joined(pairs))
        return [note] if pairs else []
