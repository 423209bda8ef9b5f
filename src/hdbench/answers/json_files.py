"""Files of answers in JSON: one entry per line, a list of entries, or an object id → answer."""

import mmap
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.container import (
    AnswerEntry,
    AnswerPlace,
    AnswersSource,
    Container,
    held,
    second_answer,
)
from hdbench.answers.entries import EntryReader, almost_id, given_id, is_empty
from hdbench.answers.forms import decode, head_of, part_form, read_whole, without_mark
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import rows_table
from hdbench.common.bounds import MAX_LINE, MAX_WHOLE
from hdbench.common.jsonio import (
    UNIQUE,
    parse_file,
    parse_json,
    parse_line,
    plain_id,
    raw_lines,
    read_jsonl,
)
from hdbench.errors import HdbenchError, Message, os_reason

MAX_FILE = 2**48
"""Files are smaller than this, so that one number holds the file and the offset in it."""

RESULT = (b"protocol", b"signature", b"unanswered", b"unparsable")
"""Keys of every result that `hdbench score` writes; several results are in a list under `runs`."""

_RESULT_KEYS = [re.compile(rb'"' + key + rb'"\s*:') for key in RESULT]


class LinesFile(NamedTuple):
    """A file of answers.

    Attributes:
        path: the file, in UTF-8.
        name: what messages call it.
    """

    path: Path
    name: str


def _may_name_model(raw: bytes) -> bool:
    """Return whether a line may have the key `model`, perhaps with an escaped letter."""
    return b'"model"' in raw or b"\\u006" in raw


class AnswerLines:
    """The lines of some files, each found by its place: the file's number and the line's offset.

    Args:
        files: the files.
        schema: the form of the benchmark's answers.
    """

    def __init__(self, files: Sequence[LinesFile], schema: AnswerSchema | None) -> None:
        self.files = files
        self.reader = EntryReader(schema)
        self._open: tuple[int, IO[bytes]] | None = None

    def load(self, place: int) -> WrittenAnswer:
        """Return the answer in a line, as `Container.load` does."""
        where = AnswerPlace(self.where, place)
        return self.reader.entry(parse_line(self.raw(place), where, UNIQUE), where)

    def about(self, raw: bytes, where: str) -> tuple[str, str | None]:
        """Return the id and the model of a line; what is unusable is rejected at once."""
        value = parse_line(raw, where, UNIQUE)
        item_id = self.reader.id(value, where)
        self.reader.entry(value, where)
        return item_id, self.reader.model(value, where)

    def raw(self, place: int) -> bytes:
        """Return a line as it is in its file."""
        number, offset = divmod(place, MAX_FILE)
        try:
            if self._open is None or self._open[0] != number:
                self.close()
                self._open = number, self.files[number].path.open("rb")
            self._open[1].seek(offset)
            return self._open[1].readline(MAX_LINE)
        except OSError as error:
            name = self.files[number].name
            raise HdbenchError(
                "{place}: cannot be read: {why}", place=name, why=os_reason(error)
            ) from error

    def where(self, place: int) -> str:
        """Return the file and the line's number, counted only now, as messages are rare."""
        number, offset = divmod(place, MAX_FILE)
        lines = 1
        with self.files[number].path.open("rb") as file:
            while offset and (block := file.read(min(offset, 2**20))):
                lines += block.count(b"\n")
                offset -= len(block)
        return f"{self.files[number].name}:{lines}"

    def close(self) -> None:
        """Close the file that is open: one at a time, as a process may not open any number."""
        if self._open is not None:
            self._open[1].close()


def open_json(source: AnswersSource) -> Container:
    """Return the answers in a JSON file: lines, a list, or an object id → answer.

    Lines and lists whose entries are not answers are the rows of a table.

    Args:
        source: the file, in UTF-8.

    Raises:
        HdbenchError: it is unusable; the message says where.
    """
    path, name = source.path, source.name
    if is_result(path):
        raise HdbenchError(
            "{place}: this is a result of hdbench score, not a run's answers: give the "
            "file or folder that was scored",
            place=name,
        )
    with path.open("rb") as file:
        is_one = is_one_object(file) and path.stat().st_size <= MAX_WHOLE
    if not is_one and not without_mark(head_of(path)).startswith(b"["):
        return open_lines([LinesFile(path, name)], source)
    try:
        return _read_whole(source)
    except HdbenchError:
        if part_form(name) != "JSON Lines":
            raise
        return _read_lines([LinesFile(path, name)], source)  # says what is wrong with the line


def open_lines(files: Sequence[LinesFile], source: AnswersSource) -> Container:
    """Return the answers in files of JSON Lines, or in the table whose rows these are.

    Args:
        files: the files in order, which together are one file of answers.
        source: what else is known of them. If `all_are_loaded`, what is wrong with a line is said
            when its answer is loaded, and only what is needed to know its id is parsed now.

    Raises:
        HdbenchError: a line is unusable.
    """
    reader = EntryReader(source.schema)
    if _first_row(files, reader):
        rows = (
            (f"{file.name}:{line.number}", line.value)
            for file in files
            for line in read_jsonl(file.path, name=file.name, decoder=UNIQUE)
        )
        return table_answers(rows_table(rows, files[0].name), source.schema, source.ids)
    return _read_lines(files, source)


def _read_lines(files: Sequence[LinesFile], source: AnswersSource) -> Container:
    """Return the answers in files of JSON Lines, one entry per line.

    Only the ids and the places of their lines are kept, so that the answers to a whole catalogue
    fit.

    Raises:
        HdbenchError: a file cannot be read, there are no answers, a line is unusable, or a model
            has two answers for an id; the message names the line.
    """
    lines = AnswerLines(files, source.schema)
    runs: dict[str | None, dict[str, int]] = {}
    for number, (path, name) in enumerate(files):
        for line, offset, raw in raw_lines(path, name=name):
            item_id = plain_id(raw) if source.all_are_loaded else None
            model = None
            if item_id is None or not item_id.strip() or _may_name_model(raw):
                item_id, model = lines.about(raw, f"{name}:{line}")
            ids = runs.setdefault(model, {})
            place = number * MAX_FILE + offset
            if ids.setdefault(item_id, place) != place:
                raise second_answer(f"{name}:{line}", item_id, lines.where(ids[item_id]))
    if not runs:
        raise HdbenchError("{place}: no predictions in this file", place=files[0].name)
    container = Container(runs, load=lines.load, where=lines.where)
    container.closing.callback(lines.close)
    return container


def _first_row(files: Sequence[LinesFile], reader: EntryReader) -> bool:
    """Return whether the first line that tells is the row of a table, and not an answer."""
    for path, _ in files:
        for _, _, raw in raw_lines(path):
            try:
                value = parse_json(raw.decode("utf-8-sig"))
            except ValueError:
                return False
            if not isinstance(value, dict) or (reader.is_entry(value) and "error" not in value):
                return False
            if reader.is_row(value):
                return True
    return False


def is_result(path: Path) -> bool:
    """Tell whether a file is a result of `hdbench score`, or several, rather than answers.

    Answers may be large, and are not parsed for it: their first line tells them from a result, or
    else the file is searched for the keys that every result has. A file that cannot be read is not
    a result.
    """
    if not path.is_file():  # a pipe or device might never end
        return False
    try:
        with path.open("rb") as file:
            if not is_one_object(file):
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
                return all(key.search(raw) for key in _RESULT_KEYS)
    except OSError:
        return False


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


def _read_whole(source: AnswersSource) -> Container:
    """Return the answers in a list of entries or rows, or an object id → answer."""
    path, name = source.path, source.name
    reader = EntryReader(source.schema)
    value = parse_file(decode(read_whole(path, name), name), name)
    has_id = isinstance(value, dict) and isinstance(given_id(value), str | int)
    if has_id:
        value = [value]
    if not value:
        raise HdbenchError("{place}: no predictions in this file", place=name)
    if isinstance(value, dict):
        if reader.is_entry(value) or reader.is_record(value):
            raise HdbenchError(
                '{place}: this is one answer, and has no id{almost}: add "id" to it, or put it '
                "into a folder as <id>.json",
                place=name,
                almost=almost_id(value),
            )
        return held(_of_map(value, name, reader))
    rows = objects_in(value, name)
    if any(reader.is_row(entry) for _, entry in rows):
        return table_answers(rows_table(rows, name), source.schema, source.ids)
    return held(
        (reader.model(entry, where), reader.id(entry, where), _held(reader, entry, where))
        for where, entry in rows
    )


def _held(reader: EntryReader, entry: dict[str, Any], where: str) -> AnswerEntry:
    return AnswerEntry(where, reader.entry(entry, where))


def _of_map(
    answers: dict[str, Any], name: str, reader: EntryReader
) -> Iterator[tuple[str | None, str, AnswerEntry]]:
    for item_id, answer in answers.items():
        where = f'{name}: "{item_id[:100]}"'
        is_object = isinstance(answer, dict)
        is_blank = is_object and is_empty(answer)  # an empty row of a table
        fields = reader.answer(None if is_blank else answer, item_id, where)
        model = reader.model(answer, where) if is_object and reader.is_entry(answer) else None
        yield model, item_id, AnswerEntry(where, fields)


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
