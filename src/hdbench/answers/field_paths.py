"""The fields of a benchmark's records, and how a heading or key of somebody else's finds one."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from hdbench.answers.cells import Kind
from hdbench.answers.entries import put
from hdbench.answers.schema import ANY_TYPE, AnswerSchema, choices_of, types_of
from hdbench.answers.words import meanings, spellings
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
    by_path: dict[str, FieldPath] = {}
    for alternative in schema.alternatives:
        for field in _within(alternative, ""):
            by_path.setdefault(field.path, field)
    return list(by_path.values())


def _within(schema: Any, prefix: str) -> Iterator[FieldPath]:
    """Yield the fields of an object's schema."""
    for choice in choices_of(schema):
        properties = choice.get("properties", {}) if isinstance(choice, dict) else {}
        for name, field in properties.items():
            yield from _of_field(field, prefix + name)


def _of_field(field: Any, path: str) -> Iterator[FieldPath]:
    choices = [item for item in choices_of(field) if isinstance(item, dict)]
    title = next((str(item["title"]) for item in [field, *choices] if _has(item, "title")), "")
    if any(_has(item, "properties") for item in choices):
        yield from _within(field, f"{path}.")
        return
    items = next((item["items"] for item in choices if _has(item, "items")), None)
    types = types_of(field)
    if items is not None or ("array" in types and not types & {"string", "object"}):
        if any(_has(item, "properties") for item in choices_of(items)):
            yield from _within(items, f"{path}[].")
        else:
            yield FieldPath(f"{path}[]", "list", title, "null" in types)
        return
    yield FieldPath(path, _kind(types, choices), title, "null" in types)


def _kind(types: frozenset[str], choices: list[Any]) -> Kind:
    if types == ANY_TYPE:
        return "any"
    if "string" in types:
        return "date" if any(choice.get("format") == "date" for choice in choices) else "text"
    if "number" in types:
        return "number"
    if "integer" in types:
        return "integer"
    return "boolean" if "boolean" in types else "json" if "object" in types else "text"


def _has(schema: Any, key: str) -> bool:
    return isinstance(schema, dict) and key in schema


SAME, SAME_END, MEANT = 1.0, 0.95, 0.85
"""Likeness of a heading that is a field's path or title, its path's last name, or a word for it."""


class TargetFields:
    """The fields of a benchmark, to be found by the headings of columns.

    Args:
        paths: the fields.

    Example:
        >>> fields = TargetFields([FieldPath("publication.year", "integer")])
        >>> list(fields.like("Erscheinungsjahr"))
        [(0.85, 0)]
    """

    def __init__(self, paths: Sequence[FieldPath]) -> None:
        self._exact: dict[str, dict[int, float]] = defaultdict(dict)
        self._meant: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
        for index, field in enumerate(paths):
            last = field.path.replace("[]", "").rpartition(".")[2]
            for name, score in ((last, SAME_END), (field.path, SAME), (field.title, SAME)):
                for spelling in spellings(name):
                    self._exact[spelling][index] = score
            for text in {field.path, field.title}:
                if words := meanings(text):
                    self._meant[words[-1]].append((index, words))

    def like(self, heading: str) -> Iterator[tuple[float, int]]:
        """Yield how like a heading is to fields whose name or title it is or means, by index."""
        for spelling in spellings(heading):
            for index, score in self._exact.get(spelling, {}).items():
                yield score, index
        words = set(meanings(heading))
        for word in words:
            for index, field_words in self._meant.get(word, []):
                if words <= set(field_words):
                    yield MEANT + 0.02 * min(len(words) - 1, 4), index


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
        self._path_of = lru_cache(maxsize=1000)(self._find)
        self.found: dict[str, str] = {}

    def renamed(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with the names of the schema; itself, if it has no others.

        Beside names of the schema, a key has to be a field's name or title: what it only means may
        be a model's own addition.
        """
        names = self._schema.names
        if not names or names.issuperset(record):
            return record
        least = MEANT if names.isdisjoint(record) else SAME
        renamed: dict[str, Any] = {}
        found: dict[str, str] = {}
        paths: dict[tuple[str, ...], str | None]
        for key, value in record.items():
            inner = value if isinstance(value, dict) and key not in names else {}
            paths = {(key, name): self._path_of(f"{key} {name}", least) for name in inner}
            if not any(paths.values()):
                is_known = inner or key in names
                paths = {(key,): None if is_known else self._path_of(key, least)}
            for place, path in paths.items():
                part = value if len(place) == 1 else inner[place[1]]
                is_taken = path is not None and path.partition(".")[0].removesuffix("[]") in record
                if path is None or is_taken or path in found.values():
                    put(renamed, place, part)
                else:
                    found[".".join(place)] = path
                    put(renamed, path.removesuffix("[]").split("."), part)
        self.found |= found
        return renamed if found else record

    def note(self) -> list[Message]:
        """Return what was taken for which field, in one line, if anything was."""
        if not self.found:
            return []
        pairs = [
            Message("{column} → {becomes}", column=key[:60], becomes=path)
            for key, path in self.found.items()
        ]
        return [Message("keys of answers read as fields: {columns}", columns=joined(pairs))]

    @cached_property
    def _targets(self) -> tuple[list[FieldPath], TargetFields]:
        """The fields, which hardly any run has to be searched for."""
        paths = field_paths(self._schema)
        return paths, TargetFields(paths)

    def _find(self, key: str, least: float) -> str | None:
        """Return the one field that a key is or means, if it is at least as like as that."""
        paths, fields = self._targets
        best = max(fields.like(key), default=(0.0, 0))
        path = paths[best[1]].path if best[0] >= least else None
        return None if path is None or "[]." in path else path
