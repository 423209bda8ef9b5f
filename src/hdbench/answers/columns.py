"""The columns of a table: the id, facts about the answer, and the fields of the record."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hdbench.answers.bounds import MAX_COLUMNS
from hdbench.answers.cells import Cell, Value, converter, list_of
from hdbench.answers.fields import ABOUT, path_of, shown
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.sheets.answers import needs_mapping
from hdbench.answers.sheets.values import list_separator, note_undivided
from hdbench.answers.sheets.words import meanings
from hdbench.errors import HdbenchError, Message


class Field(NamedTuple):
    """A column that is a field of the record.

    Attributes:
        column: its index.
        title: its name in the file.
        path: the field names from the record inwards.
        convert: what makes a value from a cell that is not empty.
        separator: what divides the texts of a list; None if it is not one.
    """

    column: int
    title: str
    path: tuple[str, ...]
    convert: Callable[[Cell], Value]
    separator: str | None = None

    def value(self, cell: Cell) -> Value:
        """Return the value of a cell."""
        if self.separator is not None:
            return list_of(cell, self.separator)
        return "" if cell == "" else self.convert(cell)


class Columns:
    """The columns of a table.

    Args:
        header: their names.
        name: what messages call the file.
        schema: what records look like; without it any column can be a field.

    Attributes:
        titles: their names, without white space around them; those of the schema's fields as in the
            schema.
        about: one of `ABOUT` → the column's index.
        fields: the columns of the record, or of the objects that it lists.
        lists: the record's one field, if each row is one of the objects that it lists.
        beside: the schema's fields beside that list.
        notes: what a person has to know, one line each.

    Raises:
        HdbenchError: there is no id, nothing that could be an answer, or a name occurs twice.
    """

    def __init__(self, header: Sequence[str], name: str, schema: AnswerSchema | None) -> None:
        self.titles = _titles(header, schema)
        self.about: dict[str, int] = {}
        self.lists: str | None = None
        listed = schema.list_of_objects if schema else None
        self.beside = schema.names - {listed[0]} if schema and listed else frozenset[str]()
        self.notes: list[str] = []
        self._name = name
        others = self._sort(schema)
        if "id" not in self.about:
            raise HdbenchError(
                "{place}: needs a column id; it has: {has}", place=name, has=shown(self.titles)
            )
        self.fields = self._fields(others, schema)
        prefix = _object_path(schema) if schema and self.lists else ()
        extra = [
            field.title
            for field in self.fields
            if schema and not schema.type_of((*prefix, *field.path))
        ]
        if extra:
            self.notes.append(
                Message(
                    "{place}: columns that are not in the benchmark's schema, read as part of the "
                    "answers: {columns}",
                    place=name,
                    columns=shown(extra),
                )
            )

    def text_field(self, schema: AnswerSchema) -> Field:
        """Return the column `text` as a field of the objects that a record lists."""
        return _field(self.about["text"], "text", schema, _object_path(schema))

    def divide(self, column: Callable[[int], Iterable[str]]) -> list[str]:
        """Find what divides the texts of lists, and return notes on what is not `|`, or left whole.

        Args:
            column: index → the cells of a column, as text.
        """
        notes: list[str] = []
        for number, field in enumerate(self.fields):
            if field.separator is None:
                continue
            cells = list(column(field.column))
            separator = list_separator(field.title, cells)
            if separator is not None and separator != field.separator:
                self.fields[number] = field._replace(separator=separator)
                count = sum(separator in cell for cell in cells)
                note = "{place}: {column}: lists, divided by {separator!r} in {count:,} cells"
                notes.append(
                    Message(
                        note,
                        place=self._name,
                        column=field.title,
                        separator=separator,
                        count=count,
                    )
                )
            notes += note_undivided(self._name, field.title, field.title, cells, separator)
        return notes

    def _sort(self, schema: AnswerSchema | None) -> dict[str, int]:
        """Enter the facts about the answer, and return the other columns that have a name."""
        if len(self.titles) > MAX_COLUMNS:
            raise HdbenchError(
                "{place}: more than {most:,} columns", place=self._name, most=MAX_COLUMNS
            )
        others: dict[str, int] = {}
        for index, title in enumerate(self.titles):
            kind = title.casefold()
            is_field = kind != "id" and schema and title in schema.names
            indices, key = (others, title) if is_field or kind not in ABOUT else (self.about, kind)
            if title and key in indices:
                raise HdbenchError(
                    "{place}: two columns are called {title!r} ({first} and {second}): keep one",
                    place=self._name,
                    title=title,
                    first=indices[key] + 1,
                    second=index + 1,
                )
            if title:
                indices[key] = index
        if "sha256" in self.about:
            self.about.setdefault("id", self.about["sha256"])
        heading = id_heading(self.titles, schema)
        if "id" not in self.about and heading is not None:
            self.about["id"] = self.titles.index(heading)
            others.pop(heading, None)
            template = "{place}: read as {columns}"
            columns = Message("{column} → {becomes}", column=heading, becomes="id")
            self.notes.append(Message(template, place=self._name, columns=columns))
        return others

    def _fields(self, others: dict[str, int], schema: AnswerSchema | None) -> list[Field]:
        if schema and schema.list_of_objects and "prediction" not in self.about:
            prefix = _object_path(schema)
            fields = [_field(index, title, schema, prefix) for title, index in others.items()]
            if any(schema.type_of((*prefix, *field.path)) for field in fields):
                self.lists = prefix[0]
                return fields + ([self.text_field(schema)] if "text" in self.about else [])
        fields = [_field(index, title, schema) for title, index in others.items()]
        is_known = schema is not None and any(schema.type_of(field.path) for field in fields)
        if "prediction" in self.about or ("text" in self.about and not is_known):
            if fields:
                unread = shown(field.title for field in fields)
                template = "{place}: columns that were not read: {columns}"
                self.notes.append(Message(template, place=self._name, columns=unread))
            return []
        if "text" not in self.about and not (is_known or (fields and not schema)):
            expected = shown(_expected(schema)) if schema else "publication.year"
            raise HdbenchError(
                "{place}: needs a column text or prediction, or fields of an answer "
                "({expected}); it has: {has}",
                place=self._name,
                expected=expected,
                has=shown(self.titles),
            )
        self._check_paths(fields)
        return fields

    def _check_paths(self, fields: Sequence[Field]) -> None:
        paths = {field.path: field.title for field in fields}
        for path, title in paths.items():
            for length in range(1, len(path)):
                if path[:length] in paths:
                    raise HdbenchError(
                        "{place}: the column {title!r} is part of the column {other!r}: keep one "
                        "of them",
                        place=self._name,
                        title=title,
                        other=paths[path[:length]],
                    )


def count_known(header: Sequence[str], schema: AnswerSchema | None) -> int:
    """Return how many of the column names are known."""
    titles = _titles(header[:MAX_COLUMNS], schema)
    if schema is None:
        return sum(title.casefold() in ABOUT for title in titles)
    return sum(title.casefold() in ABOUT or _is_field(title, schema) for title in titles)


def object_title(listed: str, name: str) -> str:
    """Return the column of a field of the objects that a record lists, one object per row.

    A field such as `id` is `entries.id`, because a column `id` is the item's. `text` stays, as ads
    have it.

    Args:
        listed: the record's field that lists them.
        name: the field.

    Example:
        >>> object_title("entries", "id"), object_title("entries", "title")
        ('entries.id', 'title')
    """
    return f"{listed}.{name}" if name.casefold() in ABOUT - {"text"} else name


def has_id(header: Sequence[str]) -> bool:
    """Return whether one of the columns is the id."""
    return any(title.strip().casefold() in ("id", "sha256") for title in header)


def id_heading(header: Sequence[str], schema: AnswerSchema | None) -> str | None:
    """Return the heading that means the item's file, or else its id; None if there is none."""
    headings = [
        title
        for title in map(str.strip, header[:MAX_COLUMNS])
        if schema is None or not _is_field(title, schema)
    ]
    matches = (title for word in ("file", "id") for title in headings if meanings(title) == [word])
    return next(matches, None)


def is_mapped(header: Sequence[str], schema: AnswerSchema) -> bool:
    """Return whether the columns are called as in the schema.

    These have the id under `id`, and whole answers under `text` or `prediction` or the fields under
    their names in the schema.
    """
    titles = [title for title in _titles(header[:MAX_COLUMNS], schema) if title]
    fields = [title for title in titles if _is_field(title, schema)]
    others = [title for title in titles if title not in fields]
    if any(title.casefold() in ("text", "prediction") for title in others):
        return True  # other columns are not read beside whole answers
    others = [title for title in others if title.casefold() not in ABOUT]
    return has_id(header) and not needs_mapping(others, fields, schema)


def _is_field(title: str, schema: AnswerSchema) -> bool:
    """Return whether the schema has a field of that name, in a record or in its listed objects."""
    in_object = (*_object_path(schema), title)
    return bool(schema.type_of(path_of(title, schema.names)) or schema.type_of(in_object))


def _field(
    index: int, title: str, schema: AnswerSchema | None, prefix: tuple[str, ...] = ()
) -> Field:
    path = path_of(title, schema.names if schema else frozenset())
    if prefix:
        name = title.removeprefix(f"{prefix[0]}.")
        path = (name if object_title(prefix[0], name) == title else title,)
    convert = converter(schema, (*prefix, *path))
    return Field(index, title, path, convert, "|" if convert is list_of else None)


def _titles(header: Sequence[str], schema: AnswerSchema | None) -> list[str]:
    """Return the columns' names; `Author_Last Name` becomes the schema's `author.last_name`."""
    names = {_letters(name): name for name in _expected(schema)} if schema else {}
    expected = set(names.values())
    return [
        title if title in expected else names.get(_letters(title), title)
        for title in map(str.strip, header)
    ]


def _letters(title: str) -> str:
    return "".join(filter(str.isalnum, title.casefold()))


def _object_path(schema: AnswerSchema) -> tuple[str, ...]:
    return (schema.list_of_objects[0], "[]") if schema.list_of_objects else ()


def _expected(schema: AnswerSchema) -> Iterator[str]:
    """Yield the names that columns can have."""
    listed = schema.list_of_objects
    seen: set[str] = set()
    for alternative in [listed[1]] if listed else schema.alternatives:
        for name in _leaves(alternative, ""):
            title = object_title(listed[0], name) if listed else name
            if title not in seen:
                seen.add(title)
                yield title


def _leaves(schema: dict[str, Any], prefix: str) -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, dict) and "properties" in inner:
            yield from _leaves(inner, f"{prefix}{name}.")
        else:
            yield prefix + name
