"""Ground truths in JSON: a file, JSON Lines, or a folder with a file for each item."""

import json
import stat
from pathlib import Path
from typing import Any

from hdbench.answers.answer import number_of_values
from hdbench.answers.answers import plain_form
from hdbench.answers.csv_lines import decode_or_cp1252
from hdbench.answers.entries import nested, shown
from hdbench.answers.files import objects_in
from hdbench.answers.forms import JSON_LINES, Folder, check_kind, decode, read_whole, stem_of
from hdbench.answers.records import Truth, Truths
from hdbench.answers.tables import SourceTable, rows_table
from hdbench.common.bounds import MAX_LINE, MAX_VALUES
from hdbench.common.files import read_errors
from hdbench.common.jsonio import EXACT, parse_file, read_jsonl
from hdbench.errors import HdbenchError, Message

KEYS = ("file_name", "filename", "file", "image", "id", "sha256")
"""Keys that say which item an entry belongs to; the first that it has counts."""

RECORDS = ("ground_truth", "truth", "reference")
"""Keys that an entry may have its record in; otherwise the record is all the rest of it."""

ACCEPTED = Message(
    "ground truths in JSON are a list of objects, an object id → record, JSON Lines, or a folder "
    "of NAME.json or NAME.txt"
)

_IMAGES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".gif", ".jp2", ".pdf")


def read_json_truths(path: Path) -> SourceTable | Truths:
    """Return the ground truths in JSON, JSON Lines, or a folder of `NAME.json` and `.txt`.

    Entries of a list, and lines, that have their record in `ground_truth` name their item by
    `file_name`, `image` or `id`; others are the rows of a table. In a record, a dotted name stands
    for nested objects, unless names have spaces; a text is the record `{"text": …}`. Null, an empty
    object and an empty text file are an item whose ground truth is missing.

    Args:
        path: the file or folder.

    Raises:
        HdbenchError: it is unusable; the message names the line, the entry or the file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "truth.jsonl"
        ...     _ = file.write_text('{"image": "b12.jpg", "ground_truth": {"title": "Lieder"}}')
        ...     read_json_truths(file).truths[0].record
        {'title': 'Lieder'}
    """
    name = path.name
    with read_errors(name):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _of_folder(path)
        if not stat.S_ISREG(mode):  # a pipe might never end
            raise HdbenchError(
                "{place}: neither a file nor a folder: {accepted}", place=name, accepted=ACCEPTED
            )
        entries: list[tuple[str, dict[str, Any]]] = []
        if _is_lines(path, name):
            lines = read_jsonl(path, name=name, decoder=EXACT)
            entries = [(f"{name}:{line.number}", line.value) for line in lines]
        else:
            value = _value_of(path, name)
            if isinstance(value, dict) and value and _is_map(value):
                places = {key: f'{name}: "{key[:100]}"' for key in value}
                truths = [
                    Truth(places[key], key, _record(value[key], places[key])) for key in value
                ]
                return Truths(truths, [])
            entries = _listed(value, name)
    if not any(entry for _, entry in entries):
        raise HdbenchError("{place}: no ground truths in this file", place=name)
    if any(key in entry for _, entry in entries for key in RECORDS):
        beside: dict[str, str] = {}
        truths = [_of_entry(entry, where, beside) for where, entry in entries]
        return Truths(truths, _notes(name, beside))
    for where, entry in entries:
        _check_characters(entry, where)
    return rows_table(entries, name)


def _notes(name: str, beside: dict[str, str]) -> list[str]:
    """Return a note on what stands beside the records."""
    if not beside:
        return []
    first = next(iter(beside.values()))
    return [
        Message(
            "{place}: not part of the ground truths, not read: {names}; first in {first}",
            place=name,
            names=shown(beside),
            first=first,
        )
    ]


def _is_lines(path: Path, name: str) -> bool:
    """Return whether a file is JSON Lines: by its extension, or by its first two lines."""
    if name.lower().endswith(JSON_LINES):
        return True
    with path.open("rb") as file:
        first, second = (file.readline(MAX_LINE).strip() for _ in range(2))
    return first.startswith(b"{") and first.endswith(b"}") and second.startswith(b"{")


def _value_of(path: Path, name: str) -> Any:
    check_kind(path, name, ACCEPTED)
    value = parse_file(decode(read_whole(path, name), name), name, EXACT)
    if not isinstance(value, list | dict):
        raise HdbenchError(
            "{place}: neither a list nor an object: {accepted}", place=name, accepted=ACCEPTED
        )
    return value


def _is_map(value: dict[str, Any]) -> bool:
    """Return whether an object maps ids to records, and is not one itself."""
    return all(isinstance(entry, dict | str | None) for entry in value.values()) and not any(
        name in value for name in (*KEYS, *RECORDS)
    )


def _listed(value: Any, name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the entries of a list, or an object as the only one, with their places."""
    if isinstance(value, dict):
        return [(name, value)] if value else []
    return list(objects_in(value, name))


def _of_entry(entry: dict[str, Any], where: str, beside: dict[str, str]) -> Truth:
    """Return the ground truth in an object that may name its item.

    Args:
        entry: the object.
        where: its place.
        beside: where what is beside a record was first; entered here.
    """
    id_key = next((name for name in KEYS if entry.get(name) not in (None, "")), None)
    key = None if id_key is None else entry[id_key]
    if id_key is not None and (isinstance(key, bool) or not isinstance(key, str | int)):
        raise HdbenchError("{place}: {named} must be a text in quotes", place=where, named=id_key)
    record_key = next((name for name in RECORDS if name in entry), None)
    if record_key is not None:
        record = _record(entry[record_key], where)
        for name in (name for name in entry if name not in (record_key, *KEYS)):
            beside.setdefault(name, where)
    else:
        record = _record(_without_key(entry, id_key, str(key)), where)
    return Truth(where, None if key is None else str(key), record)


def _without_key(entry: dict[str, Any], id_key: str | None, key: str) -> dict[str, Any]:
    """Return an entry without its item's names: `b12.jpg`, and also `b12` if it has both."""
    return {
        name: value
        for name, value in entry.items()
        if name != id_key and not (name in KEYS and plain_form(str(value)) == plain_form(key))
    }


def _record(value: Any, where: str) -> dict[str, Any] | None:
    """Return a record; None if there is nothing in it.

    Raises:
        HdbenchError: it is neither an object nor a text.
    """
    if isinstance(value, str):
        value = {"text": value} if value.strip() else None
    if value is not None and not isinstance(value, dict):
        raise HdbenchError(
            "{place}: a ground truth must be an object in braces, a text in quotes or null, "
            "not {kind}",
            place=where,
            kind=Message("a list" if isinstance(value, list) else "a number or boolean"),
        )
    if not value:
        return None
    if number_of_values(value) > MAX_VALUES:
        raise HdbenchError(
            "{place}: more than {most:,} values: no item has so many", place=where, most=MAX_VALUES
        )
    _check_characters(value, where)
    # In `Verl. Ort` the dot ends a word.
    return value if any(" " in name for name in value) else nested(value, frozenset())


def _check_characters(value: dict[str, Any], where: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise HdbenchError(
            "{place}: has half a surrogate pair, which is not a character", place=where
        ) from error


def _of_folder(path: Path) -> Truths:
    """Return the ground truths in a folder with a file for each item, or with such folders alone.

    Of the latter, the keys are `FOLDER/NAME`.
    """
    folder = Folder(path)
    truths: dict[str, Truth] = {}
    notes: list[str] = []
    beside: dict[str, str] = {}
    boxes = {} if folder.names else {name: Folder(path / name) for name in folder.folders}
    names = folder.names or [f"{box}/{name}" for box in boxes for name in boxes[box].names]
    tables = [name for name in names if not name.lower().endswith((".json", ".txt"))]
    if tables:
        raise HdbenchError(
            "{place}: has {names} beside files of single items: give the one file that has the "
            "ground truths, or a folder with a file for each item",
            place=path.name,
            names=shown(tables),
        )
    for name in names:
        key = stem_of(name)
        if key in truths:
            raise HdbenchError(
                "{place}: a second ground truth for {key!r}, the first is {first}: keep one",
                place=name,
                key=key[:100],
                first=truths[key].place,
            )
        raw = folder.read(name)
        if name.lower().endswith(".txt"):
            text, assumed = decode_or_cp1252(raw, name)
            notes += assumed
            truths[key] = Truth(name, key, _record(_transcription(text, name), name))
        else:
            truths[key] = _of_item(parse_file(decode(raw, name), name, EXACT), name, key, beside)
    others = [name for name in folder.others if name not in boxes]
    others += [f"{box}/{name}" for box in boxes for name in boxes[box].others]
    others = [name for name in others if not name.lower().endswith(_IMAGES)]
    if others:
        notes.append(
            Message(
                "{place}: neither .json nor .txt, not read: {names}",
                place=path.name,
                names=shown(others),
            )
        )
    if not truths:
        raise HdbenchError(
            "{place}: no ground truths here: {accepted}", place=path.name, accepted=ACCEPTED
        )
    return Truths(list(truths.values()), notes + _notes(path.name, beside))


def _transcription(text: str, name: str) -> str:
    """Return the text of a file, with the line breaks of Unix and none at its end."""
    if "\0" in text:
        raise HdbenchError("{place}: has NUL bytes: save it in UTF-8", place=name)
    return text.replace("\r\n", "\n").rstrip("\n")


def _of_item(value: Any, name: str, key: str, beside: dict[str, str]) -> Truth:
    """Return the ground truth in a file of its own, which may also say what it belongs to."""
    if isinstance(value, dict) and any(field in value for field in RECORDS):
        return _of_entry(value, name, beside)._replace(key=key)
    if isinstance(value, dict):
        value = _without_key(value, None, key)
    return Truth(name, key, _record(value, name))
