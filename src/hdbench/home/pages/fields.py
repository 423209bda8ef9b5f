"""The fields of a collection: what they are called, and what models are asked."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from hdbench.answers.sheets.fields import FieldPath
from hdbench.answers.titles import FieldTitles, with_titles
from hdbench.common.folder_files import text_in
from hdbench.common.jsonio import parse_file, write_json, write_whole
from hdbench.errors import HdbenchError, Message
from hdbench.home.collection import PROMPT, SCHEMA
from hdbench.home.page import Done, HomePage, Visit

MAX_TITLE = 100
"""Maximum number of characters of a field's title."""

_TITLE = "title:"
"""Prefix of the names of the form's fields that have titles."""


class FieldView(NamedTuple):
    """A field as pages show it.

    Attributes:
        path: its path.
        title: its title; empty without one.
        kind: what its values are.
    """

    path: str
    title: str
    kind: Message


def _show(visit: Visit) -> Mapping[str, Any]:
    collection = visit.collection
    titles = FieldTitles(collection.schema, visit.language)
    return {
        "fields": list(_views(collection.fields, titles)),
        "prompt": text_in(collection.folder, PROMPT),
    }


def _views(fields: Iterable[FieldPath], titles: FieldTitles) -> Iterator[FieldView]:
    """Yield the fields, before them those that they are in."""
    seen = set[str]()
    for field in fields:
        *outer, _ = accumulate(field.path.split("."), "{}.{}".format)
        for path in outer:
            if path not in seen:
                seen.add(path)
                yield FieldView(path, _title(path, titles), Message("fields"))
        yield FieldView(field.path, _title(field.path, titles), Message(field.kind))


def _title(path: str, titles: FieldTitles) -> str:
    outer, _, name = path.rpartition(".")
    title = titles(name, within=outer)
    return "" if title == name else title


def _name(visit: Visit) -> Done:
    path = visit.collection.folder / SCHEMA
    titles = {
        name.removeprefix(_TITLE): title.strip()[:MAX_TITLE]
        for name, title in visit.form.items()
        if name.startswith(_TITLE)
    }
    schema = parse_file(text_in(visit.collection.folder, SCHEMA), path)
    write_json(path, with_titles(schema, titles, visit.language))
    return Done(Message("It is saved."))


def _prompt(visit: Visit) -> Done:
    text = visit.form.get("prompt", "").strip()
    if not text:
        raise HdbenchError("the prompt is empty")
    write_whole(visit.collection.folder / PROMPT, f"{text}\n".encode())
    return Done(Message("It is saved."))


PAGE = HomePage("fields", _show, {"titles": _name, "prompt": _prompt})
