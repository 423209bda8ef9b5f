"""Answers in JSON Lines, one entry per line, in one file or in parts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.entries import EntryReader
from hdbench.answers.schema import AnswerSchema
from hdbench.common.jsonio import MAX_LINE, UNIQUE, parse_line, plain_id, raw_lines
from hdbench.errors import HdbenchError, Message, os_reason


class AnswerPlace:
    """The place of an answer, which is put into words when a message needs it.

    Args:
        where: says where an answer is, by its key.
        key: the answer's key.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: Callable[[Any], str], key: Any) -> None:
        self._where, self._key = where, key

    def __str__(self) -> str:
        return self._where(self._key)


MAX_FILE = 2**48
"""Files are smaller than this, so that one number holds the file and the offset in it."""

MAX_OPEN = 64
"""Maximum number of files that are held open: a process may not open as many as it likes."""


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
        self._open: dict[int, IO[bytes]] = {}

    def load(self, place: int) -> WrittenAnswer:
        """Return the answer in a line; see `Container.load`."""
        where = AnswerPlace(self.where, place)
        return self.reader.entry(parse_line(self.raw(place), where, UNIQUE), where)

    def raw(self, place: int) -> bytes:
        """Return a line as it is in its file."""
        number, offset = divmod(place, MAX_FILE)
        try:
            file = self._open.get(number) or self._opened(number)
            file.seek(offset)
            return file.readline(MAX_LINE)
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
        """Close the files."""
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _opened(self, number: int) -> IO[bytes]:
        if len(self._open) == MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()
        file = self._open[number] = self.files[number].path.open("rb")
        return file


class JsonLines:
    """Files of JSON Lines, one entry per line; together they are one file of answers.

    Only the ids and the places of their lines are kept, so that the answers to a whole catalogue
    fit.

    Args:
        files: the files, in order.
        schema: the form of the benchmark's answers.
        all_are_loaded: every answer will be loaded: what is wrong with a line is said then, and
            only what is needed to know its id is parsed now.

    Attributes:
        runs: see `Container`.
        notes: see `Container`.

    Raises:
        HdbenchError: a file cannot be read, there are no answers, a line is unusable, or a model
            has two answers for an id; the message names the line.
    """

    def __init__(
        self,
        files: Sequence[LinesFile],
        schema: AnswerSchema | None,
        *,
        all_are_loaded: bool = False,
    ) -> None:
        self.notes: list[str] = []
        self.lines = AnswerLines(files, schema)
        self.load, self.where, self.close = self.lines.load, self.lines.where, self.lines.close
        runs: dict[str | None, dict[str, int]] = {}
        try:
            for number, (path, name) in enumerate(files):
                for line, offset, raw in raw_lines(path, name=name):
                    item_id = plain_id(raw) if all_are_loaded else None
                    model = None
                    if item_id is None or not item_id.strip() or _may_name_model(raw):
                        item_id, model = self._parsed(raw, f"{name}:{line}")
                    ids = runs.setdefault(model, {})
                    place = number * MAX_FILE + offset
                    if ids.setdefault(item_id, place) != place:
                        raise self._second(item_id, ids[item_id], f"{name}:{line}")
        except BaseException:
            self.close()
            raise
        if not runs:
            raise HdbenchError("{place}: no predictions in this file", place=files[0].name)
        self.runs: Mapping[str | None, dict[str, Any]] = runs

    def _parsed(self, raw: bytes, where: str) -> tuple[str, str | None]:
        """Return the id and the model of a line; what is unusable is rejected at once."""
        value = parse_line(raw, where, UNIQUE)
        reader = self.lines.reader
        item_id = reader.id(value, where)
        reader.entry(value, where)
        return item_id, reader.model(value, where)

    def _second(self, item_id: str, first: int, where: str) -> HdbenchError:
        """Return the error of a second answer."""
        name, _, number = self.where(first).rpartition(":")
        same = where.startswith(f"{name}:")
        first_is = Message(
            "on line {number}" if same else "in {name}:{number}", name=name, number=number
        )
        return HdbenchError(
            "{place}: a second answer for id {id!r}, the first is {first}: keep one",
            place=where,
            id=item_id,
            first=first_is,
        )
