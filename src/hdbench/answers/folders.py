"""Folders and ZIPs of answers: one file per item, a run of the published framework, or parts."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.encodings import decode
from hdbench.answers.entries import EntryReader, about
from hdbench.answers.forms import (
    FORMS,
    ITEM_ENDINGS,
    PAGE_ENDINGS,
    forms_in_parts,
    is_part,
)
from hdbench.answers.json_files import parse_file
from hdbench.answers.members import Members
from hdbench.answers.plain_text import PAGE_BREAK, plain_text
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.text import read_text
from hdbench.common.jsonio import UNIQUE, parse_json
from hdbench.common.regular_files import by_numbers
from hdbench.errors import HdbenchError, Message
from hdbench.page_text.reading import read_page_text

OUR_ANSWERS = "answers.jsonl"
"""The file with the answers in one of our run folders."""

RUN_FILE = "run.json"
"""The file that says what the run in a folder is."""

_REQUEST = re.compile(r"request_([^_]+)_(.+)\.json", re.IGNORECASE | re.DOTALL)


def answers_files(members: Members, schema: AnswerSchema | None) -> list[str]:
    """Return the one file that holds all answers, or its parts; none if each item has its own file.

    Raises:
        HdbenchError: there are several that are not parts, or one together with files of single
            items.
    """
    if OUR_ANSWERS in members.names:
        return [OUR_ANSWERS]
    tables = [name for name in members.names if not name.lower().endswith(ITEM_ENDINGS)]
    items = [name for name in members.names if name.lower().endswith(ITEM_ENDINGS)]
    if tables and items == [RUN_FILE]:
        items = []
    if not items and (parts := parts_of(tables, members.name)) and len(parts) == len(tables):
        return parts
    if len(tables) > 1 or (tables and items):
        second = (tables[1:] + items)[0]
        raise HdbenchError(
            "{place}: holds {first} and {second}: give the one file that has the answers, "
            "or a folder with its parts ({forms}) or a file for each item "
            "and nothing else",
            place=members.name,
            forms=forms_in_parts(),
            first=tables[0],
            second=second,
        )
    if tables:
        return tables
    alone = len(items) == 1 and items[0].lower().endswith(".json")
    if alone and not _REQUEST.fullmatch(items[0]) and _holds_many(members, items[0], schema):
        return items
    return []


def parts_of(names: list[str], where: str) -> list[str]:
    """Return the parts among the names of files, in natural order: `part-2` before `part-10`.

    Args:
        names: the files' names.
        where: the folder, for messages.

    Raises:
        HdbenchError: some are JSON Lines, and others Parquet, for example.

    Example:
        >>> parts_of(["b10.jsonl.gz", "b2.jsonl", "log.csv"], "answers")
        ['b2.jsonl', 'b10.jsonl.gz']
    """
    parts = [
        sorted(
            (name for name in names if is_part(name, form)), key=lambda name: by_numbers(Path(name))
        )
        for form in FORMS
        if form.in_parts
    ]
    groups = [files for files in parts if files]
    if len(groups) > 1:
        raise HdbenchError(
            "{place}: holds {first} and {second}: the parts of a run all have one form ({forms})",
            place=where,
            first=groups[0][0],
            second=groups[1][0],
            forms=forms_in_parts(),
        )
    return groups[0] if groups else []


def _holds_many(members: Members, name: str, schema: AnswerSchema | None) -> bool:
    """Return whether a JSON file holds answers with their ids, rather than one answer."""
    try:
        value = parse_file(decode(members.read(name), name), name)
    except HdbenchError:
        return True  # JSON Lines, or too large for one answer; or it will be rejected as a file
    reader = EntryReader(schema)
    if not isinstance(value, dict):
        return isinstance(value, list)
    is_one = not value or reader.is_entry(value) or reader.is_record(value)
    return not is_one and all(isinstance(entry, dict | str | None) for entry in value.values())


def open_members(members: Members, schema: AnswerSchema | None) -> "ItemFiles | FrameworkRun":
    """Return the answers in a folder or ZIP that has one file per item.

    Raises:
        HdbenchError: there are none, two for one item, or answers of several runs.
    """
    packed = [name for name in members.others if name.lower().endswith((".json.gz", ".txt.gz"))]
    if packed:
        raise HdbenchError(
            "{place}: unpack it: only plain files are read here", place=members.place(packed[0])
        )
    if any(_REQUEST.fullmatch(name) for name in members.names):
        return FrameworkRun(members)
    return ItemFiles(members, schema)


class ItemFiles:
    """A folder or ZIP of `<id>.json` and `<id>.txt`.

    The JSON is the record, an entry, or a text; what is not JSON is also taken for a text. The
    plain text is what the model wrote. An item may have both.

    Raises:
        HdbenchError: there are none, or an item has two of the same kind.
    """

    lines = None

    def __init__(self, members: Members, schema: AnswerSchema | None) -> None:
        self._members = members
        self._reader, self._schema = EntryReader(schema), schema
        ids: dict[str, tuple[str, ...]] = {}
        for name in members.names:
            item_id = _item_id(name)
            first = ids.get(item_id, ())
            if any(other.lower() == name.lower() for other in first):
                raise HdbenchError(
                    "{place}: a second answer for id {id!r}: keep one",
                    place=members.place(name),
                    id=item_id,
                )
            ids[item_id] = tuple(sorted((*first, name), key=str.lower))  # the JSON first
        if not ids:
            raise HdbenchError(_nothing_in(members))
        self.runs: Mapping[str | None, dict[str, Any]] = {None: ids}
        self.notes = _passed_over(members, members.others)

    def load(self, key: tuple[str, ...]) -> WrittenAnswer:
        """Return one answer; see `Container.load`."""
        fields: WrittenAnswer = {}
        for name in key:
            place = self._members.place(name)
            answer = self._reader.answer(self._value(name, place), _item_id(name), place)
            if fields.keys() & answer.keys() & {"text"}:
                raise HdbenchError("{place}: a second text of this answer: keep one", place=place)
            fields |= answer
        return fields

    def _value(self, name: str, place: str) -> Any:
        raw, ending = self._members.read(name), name.lower()
        if ending.endswith(PAGE_ENDINGS):
            return PAGE_BREAK.join(page.text for page in read_page_text(raw, place).pages)
        text = decode(raw, place)
        if ending.endswith(".md"):
            return text if read_text(text, self._schema).is_record else plain_text(text)
        return text if ending.endswith(".txt") else _json_or_text(text, place)

    def where(self, key: tuple[str, ...]) -> str:
        """Return its file."""
        return self._members.place(key[0])

    def close(self) -> None:
        """Close what is open."""
        self._members.close()


class FrameworkRun:
    """A run folder of humanities_data_benchmark: `request_<run>_<id>.json`, one per request.

    What its framework parsed is the prediction, and what the model wrote is the text. The whole
    folder is one run, whatever models the files name.

    Raises:
        HdbenchError: there are files of several runs, or one is unusable.
    """

    lines = None

    def __init__(self, members: Members) -> None:
        self._members = members
        ids: dict[str, dict[str, str]] = defaultdict(dict)
        others = list(members.others)
        for name in members.names:
            request = _REQUEST.fullmatch(name)
            if request:
                ids[request[1]][request[2]] = name
            elif name != "scoring.json":
                others.append(name)
        if len(ids) > 1:
            first, second = sorted(ids)[:2]
            raise HdbenchError(
                "{place}: holds requests of the runs {first} and {second}: keep each run in a "
                "folder of its own",
                place=members.name,
                first=first,
                second=second,
            )
        run = next(iter(ids.values()))
        self.runs: Mapping[str | None, dict[str, Any]] = {None: run}
        self.notes = _passed_over(members, others)
        models = {str(self._request(name).get("model"))[:100] for name in run.values()}
        if len(models) > 1:
            self.notes.append(
                Message(
                    "{place}: the requests name several models ({models}): they are read as one "
                    "run",
                    place=members.name,
                    models=", ".join(sorted(models)[:5]),
                )
            )

    def load(self, key: str) -> WrittenAnswer:
        """Return one answer; see `Container.load`."""
        return request_fields(self._request(key))

    def _request(self, name: str) -> dict[str, Any]:
        place = self._members.place(name)
        request = parse_file(decode(self._members.read(name), place), place)
        if not isinstance(request, dict) or not request.keys() & {
            "text",
            "parsed",
            "response_text",
        }:
            raise HdbenchError(
                '{place}: not a request of the framework: it has neither "text" nor '
                '"response_text"',
                place=place,
            )
        return request

    def where(self, key: str) -> str:
        """Return its file."""
        return self._members.place(key)

    def close(self) -> None:
        """Close what is open."""
        self._members.close()


def request_fields(request: dict[str, Any]) -> WrittenAnswer:
    """Return the answer in a request file, which has `text` and `parsed`.

    In older files, `response_text` is what was parsed, otherwise the text, which may also be in
    `raw`.

    Example:
        >>> request_fields({"text": "{}", "parsed": {}, "duration": 1.5})
        {'seconds': 1.5, 'prediction': {}, 'text': '{}'}
        >>> request_fields({"response_text": {}, "raw": {"text": "```{}```"}, "test_time": 2.5})
        {'seconds': 2.5, 'prediction': {}, 'text': '```{}```'}
    """
    raw = request.get("raw")
    parsed = [request.get("parsed"), request.get("response_text")]
    texts = [request.get("text"), raw.get("text") if isinstance(raw, dict) else None, parsed[1]]
    fields = about({"duration": request.get("test_time")} | request)
    # Also if it is null: that is how it was scored when it was published.
    fields["prediction"] = next((value for value in parsed if isinstance(value, dict | list)), None)
    text = next((text for text in texts if isinstance(text, str)), None)
    if text is not None:
        fields["text"] = text
    return fields


def _json_or_text(text: str, place: str) -> Any:
    """Return the value of a `.json` file: often what a model wrote, saved unchanged."""
    try:
        return parse_json(text, UNIQUE)
    except json.JSONDecodeError:
        return text
    except ValueError as error:
        raise HdbenchError("{place}: not usable JSON: {why}", place=place, why=error) from error


def _item_id(name: str) -> str:
    return name.rpartition(".")[0]


def _passed_over(members: Members, others: list[str]) -> list[str]:
    if not others:
        return []
    if len(others) == 1:
        template = (
            "{place}: 1 other file was passed over, such as {first}: answers are in .json or .txt"
        )
    else:
        template = (
            "{place}: {count} other files were passed over, such as {first}: answers are in .json "
            "or .txt"
        )
    return [Message(template, place=members.name, count=len(others), first=min(others))]


def _nothing_in(members: Members) -> Message:
    if not members.others:
        return Message(
            "{place}: no answers here: they must be in files <id>.json or <id>.txt",
            place=members.name,
        )
    return Message(
        "{place}: no answers here: they must be in files <id>.json or <id>.txt; it holds {other}",
        place=members.name,
        other=members.others[0],
    )
