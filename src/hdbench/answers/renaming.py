"""Keys of answers that are a field's heading or title, given the field's own name."""

from functools import cached_property, lru_cache
from typing import Any

from hdbench.answers.entries import put
from hdbench.answers.field_paths import FieldPath, TargetFields, field_paths
from hdbench.answers.schema import AnswerSchema
from hdbench.errors import Message, joined


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
    """

    def __init__(self, schema: AnswerSchema) -> None:
        self._schema = schema
        self._path_of = lru_cache(maxsize=1000)(self._find)
        self.found: dict[str, str] = {}

    def renamed(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with the names of the schema; itself, if it has one of them already."""
        names = self._schema.names
        if not record or not names or not names.isdisjoint(record):
            return record
        renamed: dict[str, Any] = {}
        found: dict[str, str] = {}
        paths: dict[tuple[str, ...], str | None]
        for key, value in record.items():
            inner = value if isinstance(value, dict) else {}
            paths = {(key, name): self._path_of(f"{key} {name}") for name in inner}
            if not any(paths.values()):
                paths = {(key,): None if inner else self._path_of(key)}
            for place, path in paths.items():
                part = value if len(place) == 1 else inner[place[1]]
                if path is None or path in found.values():
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

    def _find(self, key: str) -> str | None:
        """Return the one field that a key is or means."""
        paths, fields = self._targets
        best = max(fields.like(key), default=None)
        path = paths[best[1]].path if best else None
        return None if path is None or "[]." in path else path
