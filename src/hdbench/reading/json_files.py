"""Files of answers in JSON: one entry per line, a list of entries, or an object id → answer."""

import codecs
import json
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hdbench.common.jsonio import MAX_LINE, parse_json, parse_line, read_jsonl
from hdbench.errors import HdbenchError
from hdbench.reading.answer import WrittenAnswer
from hdbench.reading.container import Container, Entry, InMemory
from hdbench.reading.encodings import decode
from hdbench.reading.fields import EntryReader, given_id
from hdbench.reading.schema import AnswerSchema

MAX_WHOLE = 64 * 2**20
"""Maximum size in bytes of a JSON file that is read whole; in memory it takes several times as
much."""

RESULT = {"protocol", "signature", "benchmark", "status"}
"""Keys of every result that `hdbench score` writes; several results are in a list under `runs`."""

LINES_ENDINGS = (".jsonl", ".ndjson")
"""Extensions of files that are meant as JSON Lines; `.gz` may follow."""


def open_json(path: Path, name: str, schema: AnswerSchema | None) -> Container:
    """The answers in a JSON file, whichever of the three forms it has.

    Args:
        path: the file, in UTF-8.
        name: what messages call it.
        schema: the form of the benchmark's answers.

    Raises:
        HdbenchError: it is unusable; the message says where.
    """
    if _is_json_lines(path, EntryReader(schema)):
        return JsonLines(path, name, schema)
    try:
        return _read_whole(path, name, schema)
    except HdbenchError:
        if not name.removesuffix(".gz").endswith(LINES_ENDINGS):
            raise
        return JsonLines(path, name, schema)  # which says what is wrong with the line


class JsonLines:
    """A JSON Lines file, one entry per line.

    Only the ids and the starts of their lines are kept, so that the answers to a whole catalogue
    fit.

    Args:
        path: the file, in UTF-8.
        name: what messages call it.
        schema: the form of the benchmark's answers.

    Raises:
        HdbenchError: the file cannot be read or has no answers, a line is unusable, or a model has
            two answers for an id; the message names the line.
    """

    def __init__(self, path: Path, name: str, schema: AnswerSchema | None) -> None:
        self.name = name
        self.notes: list[str] = []
        self._reader = EntryReader(schema)
        self._offsets, self._numbers = array("Q"), array("Q")
        runs: dict[str | None, dict[str, int]] = {}
        for line in read_jsonl(path, name=name, unique=True):
            where = f"{name}:{line.number}"
            item_id = self._reader.id(line.value, where)
            self._reader.entry(line.value, where)  # what is unusable is rejected at once
            ids = runs.setdefault(self._reader.model(line.value, where), {})
            if item_id in ids:
                raise HdbenchError(
                    f"{where}: a second answer for id {item_id!r}, the first is on line "
                    f"{self._numbers[ids[item_id]]}: keep one"
                )
            ids[item_id] = len(self._offsets)
            self._offsets.append(line.offset)
            self._numbers.append(line.number)
        if not runs:
            raise HdbenchError(f"{name}: no predictions in this file")
        self.runs: Mapping[str | None, Mapping[str, Any]] = runs
        self._file = path.open("rb")

    def load(self, key: int) -> WrittenAnswer:
        """One answer; see `Container.load`."""
        where = self.where(key)
        self._file.seek(self._offsets[key])
        return self._reader.entry(parse_line(self._file.readline(MAX_LINE), where), where)

    def where(self, key: int) -> str:
        """Its file and line."""
        return f"{self.name}:{self._numbers[key]}"

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _is_json_lines(path: Path, reader: EntryReader) -> bool:
    """Whether the first line is an entry, or an object followed by others, or a damaged one.

    A line that ends too early may be the first of an object over several lines: only reading the
    whole file decides that.
    """
    with path.open("rb") as file:
        first = b"\n"
        while first and not first.strip():
            first = file.readline(MAX_LINE + 1)
        if first.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
            return False
        if len(first) > MAX_LINE:
            return path.stat().st_size > MAX_WHOLE
        try:
            value = parse_json(first.decode("utf-8-sig"), unique=True)
        except json.JSONDecodeError:
            return path.stat().st_size > MAX_WHOLE
        except ValueError:
            return True
        rest = iter(lambda: file.readline(2**16), b"")
        return _is_one_answer(value, reader) or any(line.strip() for line in rest)


def _is_one_answer(value: dict[str, Any], reader: EntryReader) -> bool:
    """Whether an object is one answer, with or without its id, rather than id → answer."""
    has_id = isinstance(given_id(value), str | int)
    return has_id or reader.is_entry(value) or reader.is_record(value)


def _read_whole(path: Path, name: str, schema: AnswerSchema | None) -> InMemory:
    """A list of entries, or an object id → answer."""
    reader = EntryReader(schema)
    value = parse_file(decode(read_whole(path, name), name), name)
    if isinstance(value, dict) and (value.keys() >= RESULT or isinstance(value.get("runs"), list)):
        raise HdbenchError(
            f"{name}: this is a result of hdbench score, not a run's answers: give the file or "
            "folder that was scored"
        )
    if isinstance(value, dict) and _is_one_answer(value, reader):
        if not isinstance(given_id(value), str | int):
            raise HdbenchError(
                f'{name}: this is one answer, and has no id: add "id" to it, or put it into a '
                "folder as <id>.json"
            )
        value = [value]
    if not value:
        raise HdbenchError(f"{name}: no predictions in this file")
    runs: dict[str | None, dict[str, Entry]] = {}
    if isinstance(value, dict):
        for item_id, answer in value.items():
            where = _place(name, item_id)
            fields = reader.answer(answer, item_id, where)
            is_entry = isinstance(answer, dict) and reader.is_entry(answer)
            model = reader.model(answer, where) if is_entry else None
            runs.setdefault(model, {})[item_id] = Entry(where, fields)
        return InMemory(runs)
    for number, entry in enumerate(value, start=1):
        where = f"{name}: entry {number}"
        if not isinstance(entry, dict):
            raise HdbenchError(f"{where}: must be a JSON object in braces, with an id")
        item_id = reader.id(entry, where)
        fields = reader.entry(entry, where)
        ids = runs.setdefault(reader.model(entry, where), {})
        if item_id in ids:
            raise HdbenchError(f"{where}: a second answer for id {item_id!r}: keep one")
        ids[item_id] = Entry(_place(name, item_id), fields)
    return InMemory(runs)


def _place(name: str, item_id: str) -> str:
    return f'{name}: "{item_id[:100]}"'


def read_whole(path: Path, name: str) -> bytes:
    """The bytes of a file that can only be read whole.

    Raises:
        HdbenchError: it is larger than `MAX_WHOLE`.
    """
    with path.open("rb") as file:
        raw = file.read(MAX_WHOLE + 1)
    if len(raw) > MAX_WHOLE:
        raise HdbenchError(
            f"{name}: larger than {MAX_WHOLE >> 20} MiB, and such files are read only as JSON "
            "Lines: write one object per line"
        )
    return raw


def parse_file(text: str, name: str) -> Any:
    """The value of a whole JSON file.

    Raises:
        HdbenchError: it is not JSON, or a key occurs twice.
    """
    try:
        return parse_json(text, unique=True)
    except json.JSONDecodeError as error:
        raise HdbenchError(
            f"{name}:{error.lineno}: not JSON: {error.msg} (column {error.colno})"
        ) from error
    except ValueError as error:
        raise HdbenchError(f"{name}: not usable JSON: {error}") from error
