"""Files of answers in JSON: one entry per line, a list of entries, or an object id → answer."""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.entries import AnswerEntry, Container, EntryReader, given_id, is_empty
from hdbench.answers.forms import decode, head_of, read_whole, without_mark
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import rows_table
from hdbench.common.bounds import MAX_LINE, MAX_WHOLE
from hdbench.common.files import read_errors
from hdbench.common.jsonio import (
    UNIQUE,
    parse_file,
    parse_json,
    parse_line,
    plain_id,
    raw_lines,
    read_jsonl,
)
from hdbench.errors import HdbenchError, Message

MAX_FILE = 2**48
"""Files are smaller than this, so that one number holds the file and the offset in it."""

_PARSED = (b'"model"', b"\\u006", b'"custom_id"')
"""In a line with one of these, the id at its beginning is not all that is needed: it may name a
model, perhaps with an escaped letter, or have another id."""


class AnswersSource(NamedTuple):
    """A file of answers that is to be read.

    Attributes:
        path: the file.
        name: what messages call it.
        schema: the form of the benchmark's answers.
        ids: the ids of the items, by which a table's column of ids is found if it is not called so.
    """

    path: Path
    name: str
    schema: AnswerSchema | None = None
    ids: Iterable[str] = ()


class AnswerLines:
    """The lines of some files, each found by its place: the file's number and the line's offset.

    Args:
        files: the files, in UTF-8.
    """

    def __init__(self, files: Sequence[AnswersSource]) -> None:
        self.files = files
        self.reader = EntryReader(files[0].schema)
        self._open: IO[bytes] = io.BytesIO()
        self._number = -1

    def load(self, place: int) -> WrittenAnswer:
        """Return the answer in a line, as `Container.load` does."""
        try:
            return self._answer(place, "")
        except (HdbenchError, OSError):  # to find the line takes long, and messages are rare
            with read_errors(self.files[place // MAX_FILE].name):
                return self._answer(place, self.where(place))

    def _answer(self, place: int, where: str) -> WrittenAnswer:
        number, offset = divmod(place, MAX_FILE)
        if number != self._number:
            self.close()
            self._open, self._number = self.files[number].path.open("rb"), number
        self._open.seek(offset)
        return self.reader.entry(parse_line(self._open.readline(MAX_LINE), where, UNIQUE), where)

    def where(self, place: int) -> str:
        """Return the file and the line's number."""
        number, offset = divmod(place, MAX_FILE)
        file = self.files[number]
        lines = raw_lines(file.path, name=file.name)
        return f"{file.name}:{next(line for line, begin, _ in lines if begin == offset)}"

    def close(self) -> None:
        """Close the file that is open: one at a time, as a process may not open any number."""
        self._open.close()


def open_json(source: AnswersSource) -> Container:
    """Return the answers in a JSON file: lines, a list, or an object id → answer.

    Lines and lists whose entries are not answers are the rows of a table.

    Args:
        source: the file, in UTF-8.

    Raises:
        HdbenchError: it is unusable; the message says where.
    """
    path, name = source.path, source.name
    with path.open("rb") as file:
        is_one = is_one_object(file) and path.stat().st_size <= MAX_WHOLE
    if not is_one and not without_mark(head_of(path)).startswith(b"["):
        return open_lines([source])
    reader, container = EntryReader(source.schema), Container()
    value = parse_file(decode(read_whole(path, name), name), name)
    if isinstance(value, dict) and isinstance(given_id(value), str | int):
        value = [value]
    if not value:
        raise HdbenchError("{place}: no predictions in this file", place=name)
    if isinstance(value, list):
        rows = objects_in(value, name)
        if reader.are_rows(value):
            return table_answers(rows_table(rows, name), source.schema, source.ids)
        for where, entry in rows:
            answer = AnswerEntry(where, reader.entry(entry, where))
            container.add(reader.model(entry), reader.id(entry, where), answer)
        return container
    if reader.said(value) is not None or reader.is_record(value):
        raise HdbenchError(
            '{place}: this is one answer, and has no id: add "id" to it, or put it into a '
            "folder as <id>.json",
            place=name,
        )
    for item_id, answer in value.items():
        where = f'{name}: "{item_id[:100]}"'
        is_object = isinstance(answer, dict)
        model = reader.model(answer) if is_object and reader.said(answer) is not None else None
        is_blank = is_object and is_empty(answer)  # as an empty row of a table
        fields = reader.answer(None if is_blank else answer, item_id, where)
        container.add(model, item_id, AnswerEntry(where, fields))
    return container


def open_lines(files: Sequence[AnswersSource]) -> Container:
    """Return the answers in files of JSON Lines, or in the table whose rows these are.

    Of answers, only the ids and the places of their lines are kept, so that those to a whole
    catalogue fit. What is wrong with a line is said when its answer is loaded, and only what is
    needed to know its id is parsed now.

    Args:
        files: the files in order, in UTF-8, which together are one file of answers.

    Raises:
        HdbenchError: a file cannot be read, there are no answers, or a model has two answers for an
            id; the message names the line.
    """
    lines, first = AnswerLines(files), files[0]
    if lines.reader.are_rows(value for _, value in _objects(files)):
        return table_answers(rows_table(_objects(files), first.name), first.schema, first.ids)
    container = Container(load=lines.load, where=lines.where)
    container.closing.callback(lines.close)
    for number, file in enumerate(files):
        for line, offset, raw in raw_lines(file.path, name=file.name):
            item_id, model = plain_id(raw), None
            if not item_id or item_id.isspace() or any(key in raw for key in _PARSED):
                where = f"{file.name}:{line}"
                value = parse_line(raw, where, UNIQUE)
                item_id, model = lines.reader.id(value, where), lines.reader.model(value)
            container.add(model, item_id, number * MAX_FILE + offset)
    if not container.runs:
        raise HdbenchError("{place}: no predictions in this file", place=first.name)
    return container


def _objects(files: Sequence[AnswersSource]) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in files:
        for line in read_jsonl(file.path, name=file.name, decoder=UNIQUE):
            yield f"{file.name}:{line.number}", line.value


def is_one_object(file: BinaryIO) -> bool:
    """Tell from the beginning of a file whether it can be one JSON object, as a result is.

    It is not if it begins otherwise, or if its first line is an object by itself that others
    follow. The file is at its beginning afterwards.
    """
    lines = filter(None, map(without_mark, iter(lambda: file.readline(MAX_LINE), b"")))
    try:
        first = next(lines, b"")
        if not first.startswith(b"{"):
            return False
        with suppress(ValueError):
            parse_json(first.decode())
            return next(lines, None) is None
        return True
    finally:
        file.seek(0)


def objects_in(values: list[Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the entries of a list, each with its place.

    Args:
        values: the list.
        name: what messages call its file.

    Raises:
        HdbenchError: an entry is not an object.
    """
    entries: list[tuple[str, dict[str, Any]]] = []
    for number, entry in enumerate(values, start=1):
        where = Message("{place}: entry {number}", place=name, number=number)
        if not isinstance(entry, dict):
            raise HdbenchError("{place}: must be a JSON object in braces, with an id", place=where)
        entries.append((where, entry))
    return entries
