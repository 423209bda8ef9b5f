"""Folders and ZIPs of answers: one file per item, a run of the published framework, or parts."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.container import Container
from hdbench.answers.entries import EntryReader, about, shown
from hdbench.answers.forms import IN_PARTS, ITEM_ENDINGS, PAGE_ENDINGS, decode, part_form, stem_of
from hdbench.answers.ids import plain_form
from hdbench.answers.members import Members
from hdbench.answers.page_text.reading import read_page_text
from hdbench.answers.plain_text import PAGE_BREAK
from hdbench.answers.schema import AnswerSchema
from hdbench.common.bounds import MAX_OUTER
from hdbench.common.files import by_numbers
from hdbench.common.jsonio import UNIQUE, parse_file, parse_json, parse_line
from hdbench.errors import HdbenchError, Message

OUR_ANSWERS = "answers.jsonl"
"""The file with the answers in one of our run folders."""

RUN_FILE = "run.json"
"""The file that says what the run in a folder is."""

_REQUEST = re.compile(r"request_([^_]+)_(.+)\.json", re.IGNORECASE | re.DOTALL)


def answers_files(members: Members, schema: AnswerSchema | None) -> list[str]:
    """Return the one file that holds all answers, or its parts; none if each item has its own file.

    Parts are in natural order: `part-2` before `part-10`.

    Raises:
        HdbenchError: there are several that are not parts, or one together with files of single
            items.
    """
    if OUR_ANSWERS in members.names:
        return [OUR_ANSWERS]
    items, tables = list[str](), list[str]()
    for name in members.names:
        (items if name.lower().endswith(ITEM_ENDINGS) else tables).append(name)
    if tables and items == [RUN_FILE]:
        items = []
    are_parts = {part_form(name) for name in tables} in ({"JSON Lines"}, {"Parquet"})
    if tables and (items or (len(tables) > 1 and not are_parts)):
        raise HdbenchError(
            "{place}: holds {first} and {second}: give the one file that has the answers, "
            "or a folder with its parts in one form ({forms}) or a file for each item "
            "and nothing else",
            place=members.name,
            forms=IN_PARTS,
            first=tables[0],
            second=(tables[1:] + items)[0],
        )
    if tables:
        return sorted(tables, key=lambda name: by_numbers(Path(name)))
    alone = len(items) == 1 and items[0].lower().endswith(".json")
    if alone and not _REQUEST.fullmatch(items[0]) and _holds_many(members, items[0], schema):
        return items
    return []


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


def open_items(
    members: Members, schema: AnswerSchema | None, items: Iterable[str] = ()
) -> Container:
    """Return the answers in a folder or ZIP that has a file for each item.

    Files are `<id>.json`, `<id>.txt` and so on. The JSON is the record, an entry, or a text; what
    is not JSON is also taken for a text. A text is what the model wrote. An item may have both. Or
    they are `request_<run>_<id>.json`, one for each request of humanities_data_benchmark: what its
    framework parsed is the prediction, and what the model wrote is the text. An export of texts of
    pages has them in a folder of their own. A file with the text of a page belongs to the image
    that it names if no item is called like the file.

    Args:
        members: the folder or ZIP.
        schema: the form of the benchmark's answers.
        items: the ids of the items.

    Raises:
        HdbenchError: there are none, two for one item, or answers of several runs.
    """
    if not members.names:
        members = _pages_within(members) or members
    requests = {name: match for name in members.names if (match := _REQUEST.fullmatch(name))}
    if len(runs := sorted({match[1] for match in requests.values()})) > 1:
        raise HdbenchError(
            "{place}: holds requests of the runs {first} and {second}: keep each run in a folder "
            "of its own",
            place=members.name,
            first=runs[0],
            second=runs[1],
        )
    names = requests or members.names
    ids: dict[str, list[str]] = {}
    forms = set(map(plain_form, items))
    for name in sorted(names, key=str.lower):  # of an item, the JSON first
        item_id = requests[name][2] if requests else stem_of(name)
        if forms and name.lower().endswith(PAGE_ENDINGS) and plain_form(item_id) not in forms:
            place = members.place(name)
            image = read_page_text(members.read(name), place).pages[0].image or ""
            item_id = image if plain_form(image) in forms else item_id
        ids.setdefault(item_id, []).append(name)
    if not ids:
        raise HdbenchError(
            "{place}: no answers here: they must be in files <id>.json or <id>.txt; it holds "
            "{other}",
            place=members.name,
            other=shown(members.others),
        )
    item = partial(_item, members, EntryReader(schema))
    load = partial(_request, members) if requests else item
    container = Container(load, lambda key: members.place(key[0]))
    container.runs[None] = ids
    if others := {*members.others, *members.names} - {*names, "scoring.json"}:
        container.notes.append(
            Message(
                "{place}: files passed over: {count}, such as {first}; answers are in .json or "
                ".txt",
                place=members.name,
                count=len(others),
                first=min(others),
            )
        )
    return container


def _pages_within(members: Members) -> Members | None:
    """Return the folder of an export with the texts of pages; None if this is no export."""
    for _ in range(MAX_OUTER):
        pages = [name for name in ("page", "alto") if name in members.folders]
        if not pages and len(members.folders) != 1:
            break
        members = members.inner((pages or members.folders)[0])
        if pages:
            return members
    return None


def _item(members: Members, reader: EntryReader, names: Sequence[str]) -> WrittenAnswer:
    """Return an answer from the files that it is in."""
    fields: WrittenAnswer = {}
    for name in names:
        place, raw, ending = members.place(name), members.read(name), name.lower()
        if ending.endswith(PAGE_ENDINGS):
            value = PAGE_BREAK.join(page.text for page in read_page_text(raw, place).pages)
        else:
            value = decode(raw, place)
            value = _json_or_text(value, place) if ending.endswith(".json") else value
        answer = reader.answer(value, stem_of(name), place)
        if fields.keys() & answer.keys() & {"prediction", "text"}:
            raise HdbenchError("{place}: a second answer for its id: keep one", place=place)
        fields |= answer
        if ending.endswith(".md"):
            fields["markdown"] = True
    return fields


def _request(members: Members, names: Sequence[str]) -> WrittenAnswer:
    """Return an answer from the file of a request."""
    return request_fields(parse_line(members.read(names[0]), members.place(names[0]), UNIQUE))


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
