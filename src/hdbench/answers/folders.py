"""Folders of answers: one file per item, a run of the published framework, or parts."""

import json
import re
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.entries import Container, EntryReader, about, shown
from hdbench.answers.forms import ITEM_ENDINGS, PAGE_ENDINGS, PART_ENDINGS, Folder, decode, stem_of
from hdbench.answers.ids import plain_form
from hdbench.answers.page_text.reading import read_page_text
from hdbench.answers.plain_text import PAGE_BREAK
from hdbench.answers.schema import AnswerSchema
from hdbench.common.files import by_numbers
from hdbench.common.jsonio import UNIQUE, parse_json, parse_line
from hdbench.errors import HdbenchError

OUR_ANSWERS = "answers.jsonl"
"""The file with the answers in one of our run folders."""

RUN_FILE = "run.json"
"""The file that says what the run in a folder is."""

_REQUEST = re.compile(r"request_([^_]+)_(.+)\.json", re.IGNORECASE | re.DOTALL)


def answers_files(folder: Folder, forms: Collection[str]) -> list[str]:
    """Return the one file that holds all answers, or its parts; none if each item has its own file.

    Parts are in natural order: `part-2` before `part-10`.

    Args:
        folder: the folder.
        forms: the ids of the items, as `plain_form` has them; if they are known, a JSON file that
            is alone and not called like one of them holds all answers.

    Raises:
        HdbenchError: there are several that are not parts, or one together with files of single
            items.
    """
    if OUR_ANSWERS in folder.names:
        return [OUR_ANSWERS]
    items, files = list[str](), list[str]()
    for name in folder.names:
        (items if name.lower().endswith(ITEM_ENDINGS) else files).append(name)
    if not files:
        alone = items[0].lower() if len(items) == 1 else ""
        is_item = not forms or plain_form(stem_of(alone)) in forms or _REQUEST.fullmatch(alone)
        return items if alone.endswith(".json") and not is_item else []
    are_parts = all(name.lower().endswith(PART_ENDINGS) for name in files)
    items = [name for name in items if name != RUN_FILE]
    if items or (len(files) > 1 and not are_parts):
        raise HdbenchError(
            "{place}: holds {first} and {second}: give the one file that has the answers, "
            "or a folder with its parts in JSON Lines or Parquet, or with a file for each item "
            "and nothing else",
            place=folder.name,
            first=files[0],
            second=(files[1:] + items)[0],
        )
    return sorted(files, key=lambda name: by_numbers(Path(name)))


def open_items(
    folder: Folder, schema: AnswerSchema | None, forms: Collection[str] = ()
) -> Container:
    """Return the answers in a folder that has a file for each item.

    Files are `<id>.json`, `<id>.txt` and so on. The JSON is the record, an entry, or a text; what
    is not JSON is also taken for a text. A text is what the model wrote. An item may have both. Or
    they are `request_<run>_<id>.json`, one for each request of humanities_data_benchmark: what its
    framework parsed is the prediction, and what the model wrote is the text. A file with the text
    of a page belongs to the image that it names if no item is called like the file.

    Args:
        folder: the folder.
        schema: the form of the benchmark's answers.
        forms: same as in `answers_files`.

    Raises:
        HdbenchError: there are none.
    """
    requests = {name: match[2] for name in folder.names if (match := _REQUEST.fullmatch(name))}
    ids: dict[str, list[str]] = {}
    for name in sorted(requests or folder.names, key=str.lower):  # of an item, the JSON first
        item_id = requests.get(name) or stem_of(name)
        if forms and name.lower().endswith(PAGE_ENDINGS) and plain_form(item_id) not in forms:
            pages = read_page_text(folder.read(name), folder.place(name)).pages
            image = pages[0].image or ""
            item_id = image if plain_form(image) in forms else item_id
        ids.setdefault(item_id, []).append(name)
    if not ids:
        raise HdbenchError(
            "{place}: no answers here: they must be in files <id>.json or <id>.txt; it holds "
            "{other}",
            place=folder.name,
            other=shown(folder.others),
        )
    container = Container(
        partial(_item, folder, EntryReader(schema)), lambda names: folder.place(names[0])
    )
    container.runs[None] = ids
    return container


def _item(folder: Folder, reader: EntryReader, names: Sequence[str]) -> WrittenAnswer:
    """Return an answer from the files that it is in."""
    fields: WrittenAnswer = {}
    for name in names:
        place, raw, ending = folder.place(name), folder.read(name), name.lower()
        if _REQUEST.fullmatch(name):
            answer = request_fields(parse_line(raw, place, UNIQUE))
        elif ending.endswith(PAGE_ENDINGS):
            answer = {
                "text": PAGE_BREAK.join(page.text for page in read_page_text(raw, place).pages)
            }
        else:
            text = decode(raw, place)
            value = _json_or_text(text, place) if ending.endswith(".json") else text
            answer = reader.answer(value, stem_of(name), place)
        if fields.keys() & answer.keys() & {"prediction", "text"}:
            raise HdbenchError("{place}: a second answer for its id: keep one", place=place)
        fields |= answer
        if ending.endswith(".md"):
            fields["markdown"] = True
    return fields


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
