"""The columns of a table: the id, what is about the answer, and the fields of the record."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from hdbench.errors import HdbenchError
from hdbench.reading.cells import Cell, Value, converter, list_of
from hdbench.reading.fields import MAX_DOTS
from hdbench.reading.schema import AnswerSchema

MAX_COLUMNS = 1_000
"""Columns of a table, at most."""

SHOWN = 10
"""Names of columns in a message, at most."""

ABOUT = {
    "id": "id",
    "sha256": "sha256",
    "model": "model",
    "text": "text",
    "prediction": "prediction",
    "tokens_input": "input",
    "input_tokens": "input",
    "tokens_output": "output",
    "output_tokens": "output",
    "seconds": "seconds",
    "error": "error",
    "status": "status",
}
"""Columns that are no fields of the record, unless the schema has them, and what they hold."""


class Field(NamedTuple):
    """A column that is a field of the record.

    Attributes:
        column: its index.
        title: its name in the file.
        path: the names from the record inwards.
        convert: what makes a value of a cell that is not empty.
    """

    column: int
    title: str
    path: tuple[str, ...]
    convert: Callable[[Cell], Value]

    @property
    def empty(self) -> Value:
        """The value of an empty cell."""
        return [] if self.convert is list_of else ""


class Columns:
    """The columns of a table.

    Args:
        header: their names.
        name: what messages call the file.
        schema: what records look like; without it any column can be a field.

    Attributes:
        titles: their names, without white space around.
        about: what a column holds, as in `ABOUT`, → its index.
        fields: the columns of the record, or of the objects that it lists.
        lists: the record's one field, where each row is one of the objects that it lists.
        notes: what a person has to know, a line each.

    Raises:
        HdbenchError: there is no id, nothing that could be an answer, or a name occurs twice.
    """

    def __init__(self, header: Sequence[str], name: str, schema: AnswerSchema | None) -> None:
        self.titles = [title.strip() for title in header]
        self.about: dict[str, int] = {}
        self.lists: str | None = None
        self.notes: list[str] = []
        self._name = name
        named = self._sort(schema)
        if "id" not in self.about:
            raise HdbenchError(f"{name}: needs a column id; it has: {_shown(self.titles)}")
        self.fields = self._fields(named, schema)

    def text_field(self, schema: AnswerSchema) -> Field:
        """The column `text` as a field of the objects that a record lists."""
        return _field(self.about["text"], "text", schema, _object_path(schema))

    def _sort(self, schema: AnswerSchema | None) -> dict[str, int]:
        """Enter what is about the answer, and give the other columns that have a name."""
        if len(self.titles) > MAX_COLUMNS:
            raise HdbenchError(f"{self._name}: more than {MAX_COLUMNS:,} columns")
        named: dict[str, int] = {}
        for index, title in enumerate(self.titles):
            kind = ABOUT.get(title.casefold())
            if kind != "id" and schema and title in schema.names:
                kind = None
            place, key = (self.about, kind) if kind else (named, title)
            if title and key in place:
                raise HdbenchError(
                    f"{self._name}: two columns are {title!r} "
                    f"({place[key] + 1} and {index + 1}): keep one"
                )
            if title:
                place[key] = index
        if "sha256" in self.about:
            self.about.setdefault("id", self.about["sha256"])
        return named

    def _fields(self, named: dict[str, int], schema: AnswerSchema | None) -> list[Field]:
        if schema and schema.list_of_objects and "prediction" not in self.about:
            prefix = _object_path(schema)
            if any(schema.type_of((*prefix, title)) for title in named):
                self.lists = prefix[0]
                fields = [_field(index, title, schema, prefix) for title, index in named.items()]
                return fields + ([self.text_field(schema)] if "text" in self.about else [])
        fields = [_field(index, title, schema) for title, index in named.items()]
        is_known = bool(schema) and any(schema and schema.type_of(field.path) for field in fields)
        if "prediction" in self.about or ("text" in self.about and not is_known):
            if fields:
                unread = _shown(field.title for field in fields)
                self.notes.append(f"{self._name}: columns that were not read: {unread}")
            return []
        if "text" not in self.about and not (is_known or (fields and not schema)):
            expected = _shown(_expected(schema)) if schema else "publication.year"
            raise HdbenchError(
                f"{self._name}: needs a column text or prediction, or fields of an answer "
                f"({expected}); it has: {_shown(self.titles)}"
            )
        self._check_paths(fields)
        return fields

    def _check_paths(self, fields: Sequence[Field]) -> None:
        paths = {field.path: field.title for field in fields}
        for path, title in paths.items():
            for length in range(1, len(path)):
                if path[:length] in paths:
                    raise HdbenchError(
                        f"{self._name}: the column {title!r} is a part of the column "
                        f"{paths[path[:length]]!r}: keep one of them"
                    )


def known(header: Sequence[str], schema: AnswerSchema | None) -> int:
    """How many names of columns are known ones."""
    prefix = _object_path(schema) if schema and schema.list_of_objects else ()
    return sum(
        title.casefold() in ABOUT
        or bool(schema and (schema.type_of(_path(title, schema)) or title in schema.names))
        or bool(prefix and schema and schema.type_of((*prefix, title)))
        for title in map(str.strip, header[:MAX_COLUMNS])
    )


def has_id(header: Sequence[str]) -> bool:
    """Whether one of the columns is the id."""
    return any(title.strip().casefold() in ("id", "sha256") for title in header)


def _field(
    index: int, title: str, schema: AnswerSchema | None, prefix: tuple[str, ...] = ()
) -> Field:
    path = (title,) if prefix else _path(title, schema)
    return Field(index, title, path, converter(schema, (*prefix, *path)))


def _path(title: str, schema: AnswerSchema | None) -> tuple[str, ...]:
    """The names in a dotted one; one that is no such path stays whole."""
    parts = tuple(title.split("."))
    names = schema.names if schema else None
    is_path = "" not in parts and len(parts) <= MAX_DOTS and (names is None or title not in names)
    return parts if is_path and (names is None or parts[0] in names) else (title,)


def _object_path(schema: AnswerSchema) -> tuple[str, ...]:
    return (schema.list_of_objects[0], "[]") if schema.list_of_objects else ()


def _expected(schema: AnswerSchema) -> Iterator[str]:
    """The names that columns can have."""
    listed = schema.list_of_objects
    seen: set[str] = set()
    for alternative in [listed[1]] if listed else schema.alternatives:
        for name in _leaves(alternative, ""):
            if name not in seen:
                seen.add(name)
                yield name


def _leaves(schema: dict[str, Any], prefix: str) -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict) and "properties" in inner:
            yield from _leaves(inner, f"{prefix}{name}.")
        else:
            yield prefix + name


def _shown(titles: Sequence[str] | Iterator[str]) -> str:
    names = [title[:40] for title in titles if title]
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "") or "none"
