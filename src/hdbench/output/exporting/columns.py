"""The columns of a table of answers: the fields of the schema, and those that a model invented."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hdbench.answers.columns import object_title
from hdbench.answers.fields import ABOUT, path_of
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.titles import without_titles

FILE_NAME, OTHER_FIELDS = "file_name", "other_fields"
"""Columns that are not fields: the item's images, and fields without a column, as JSON."""

MAX_INVENTED = 50
"""Maximum columns for fields that the schema does not have."""

MAX_TITLE = 100
"""Maximum characters of an invented field's name that may be a column's."""

_RESERVED = ABOUT | {FILE_NAME, OTHER_FIELDS}
_NO_TITLE = re.compile(r"[=+\-@＝＋－＠'\"]")


class ColumnType(NamedTuple):
    """The type of a column, from the schema.

    Attributes:
        is_list: whether its cell holds several texts, with `|` between them.
        is_number: whether it is a number, and not a text.
    """

    is_list: bool
    is_number: bool


class FieldColumns:
    """The columns of the fields: all those of the schema, then the invented ones as they occur.

    Args:
        schema: the schema of a record.

    Attributes:
        fields: the schema's fields, in its order.
        invented: the others that have a column.
        listed: the record's only field, if a row is one of the objects that it lists.
        wrappers: fields that only hold another form of the record, such as `metadata` in letters:
            the fields within are taken as the record's.
    """

    def __init__(self, schema: AnswerSchema) -> None:
        self._names = schema.names
        self.listed = schema.list_of_objects[0] if schema.list_of_objects else None
        prefix = (self.listed, "[]") if self.listed else ()
        alternatives = [without_titles(alternative) for alternative in schema.alternatives]
        self.wrappers = frozenset(
            name
            for alternative in alternatives
            for name, inner in alternative.get("properties", {}).items()
            if len(alternative["properties"]) == 1 and inner in alternatives
        )
        records = [schema.list_of_objects[1]] if schema.list_of_objects else schema.alternatives
        self.fields: dict[str, ColumnType] = {}
        self._letters: set[str] = set()
        for path in (path for alternative in records for path in _leaves(alternative)):
            title = ".".join(path)
            self._letters.add(_letters(title))
            if path[0] not in self.wrappers:
                types = schema.type_of((*prefix, *path))
                items = schema.type_of((*prefix, *path, "[]"))
                is_list = "array" in types and "string" in items
                is_number = not types & {"string", "object"} and bool(types & {"integer", "number"})
                self.fields.setdefault(title, ColumnType(is_list, is_number))
        self.invented: dict[str, None] = {}
        self._paths = {self._path(title) for title in self.fields}

    def column(self, name: str) -> str:
        """Return the title of a field's column."""
        return object_title(self.listed, name) if self.listed else name

    def has(self, title: str) -> bool:
        """Return whether there is such a column."""
        return title in self.fields or title in self.invented

    def admit(self, title: str) -> bool:
        """Return whether there is such a column; it is added if it may be.

        A name cannot be a column's if it is hostile or long, means something else in a table, is
        read as another column (`Publication_Year`), or is above or below one.
        """
        if self.has(title):
            return True
        if (
            len(self.invented) >= MAX_INVENTED
            or not 0 < len(title) <= MAX_TITLE
            or not title.isprintable()
            or title != title.strip()
            or _NO_TITLE.match(title)
            or title.casefold() in _RESERVED
            or _letters(title) in self._letters
        ):
            return False
        path = self._path(title)
        if self.listed and title.startswith(f"{self.listed}."):
            return False
        if path[0] in self.wrappers or any(
            path[: len(existing)] == existing[: len(path)] for existing in self._paths
        ):
            return False
        self.invented[title] = None
        self._paths.add(path)
        return True

    def _path(self, title: str) -> tuple[str, ...]:
        """Return the path where `hdbench score` puts the content of a column."""
        return (title,) if self.listed else path_of(title, self._names)


def _leaves(schema: dict[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict) and "properties" in inner:
            yield from _leaves(inner, (*prefix, name))
        else:
            yield (*prefix, name)


def _letters(title: str) -> str:
    """Return a title without the characters that are ignored when tables are read."""
    return "".join(filter(str.isalnum, title.casefold()))
