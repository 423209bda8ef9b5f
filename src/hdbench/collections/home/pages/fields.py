"""The fields of a collection: what they are called, and what models are asked."""

from collections.abc import Mapping
from hashlib import sha256
from itertools import accumulate
from typing import Any, NamedTuple

from hdbench.benchmarks.titles import FieldTitles, with_titles
from hdbench.collections.home.field_changes import KINDS, change_field
from hdbench.collections.home.folder import PROMPT, SCHEMA
from hdbench.collections.home.page import Done, HomePage, Visit
from hdbench.common.files import text_in
from hdbench.common.jsonio import parse_file, write_json
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message

MAX_TITLE = 100
"""Maximum number of characters of a field's title."""

_TITLE, _WAS = "title:", "was:"
"""Prefixes of the names of the form's fields that have titles, and those that it began with."""


class FieldView(NamedTuple):
    """A field as pages show it.

    Attributes:
        path: its path.
        title: its title, as the files have it; empty without one.
        kind: what its values are.
    """

    path: str
    title: str
    kind: Message

    def typed(self, form: Mapping[str, str]) -> str:
        """Return the title that was typed into a form; the files' own if nobody changed it."""
        given, was = form.get(_TITLE + self.path, self.title), form.get(_WAS + self.path)
        return self.title if given == was else given


def _show(visit: Visit) -> Mapping[str, Any]:
    prompt = text_in(visit.collection.folder, PROMPT)
    return {
        "fields": _views(visit),
        "kinds": KINDS,
        "prompt": prompt,
        "prompt_was": _digest(prompt),
    }


def _views(visit: Visit) -> list[FieldView]:
    """Return the fields, before them those that they are in."""
    titles = FieldTitles(visit.collection.schema, visit.language)
    kinds: dict[str, Message] = {}
    for field in visit.collection.fields:
        *outer, _ = accumulate(field.path.split("."), "{}.{}".format)
        kinds |= {path: Message("fields") for path in outer if path not in kinds}
        kinds[field.path] = Message(field.kind)
    views = []
    for path, kind in kinds.items():
        within, _, name = path.rpartition(".")
        title = titles(name, within=within)
        views.append(FieldView(path, "" if title == name else title, kind))
    return views


def _name(visit: Visit) -> Done:
    path, form = visit.collection.folder / SCHEMA, visit.form
    titles = {}
    for field in _views(visit):
        title = field.typed(form).strip()[:MAX_TITLE]
        if title != field.title:
            if form.get(_WAS + field.path, field.title) != field.title:
                raise HdbenchError(
                    "{field}: another window or program has changed the title to {title!r} "
                    "meanwhile: save again to replace it",
                    field=field.path,
                    title=field.title,
                )
            titles[field.path] = title
    schema = parse_file(text_in(visit.collection.folder, SCHEMA), path)
    write_json(path, with_titles(schema, titles, visit.language))
    return Done(Message("It is saved."))


def _change(visit: Visit) -> Done:
    """Add a field, or give one another name and kind."""
    form = visit.form
    return _changed(
        visit, form.get("field", ""), form.get("name", "").strip(), form.get("kind", "")
    )


def _changed(visit: Visit, old: str, new: str, kind: str) -> Done:
    if not (old or new):
        raise HdbenchError("name the field")
    person = visit.home.recent.read().person
    if change_field(visit.collection, person, old, new, kind):
        return Done(Message("It is saved, in the ground truths and the prompt, too."))
    return Done(Message("It is saved, in the ground truths, too; change the prompt yourself."))


def _prompt(visit: Visit) -> Done:
    text, now = visit.form.get("prompt", "").strip(), text_in(visit.collection.folder, PROMPT)
    if not text:
        raise HdbenchError("the prompt is empty")
    if visit.form.get("was", _digest(now)) != _digest(now):
        raise HdbenchError(
            "another window or program has changed the prompt meanwhile, see below: save again to "
            "replace it"
        )
    write_whole(visit.collection.folder / PROMPT, f"{text}\n".encode())
    return Done(Message("It is saved."))


def _digest(prompt: str) -> str:
    return sha256(prompt.encode()).hexdigest()


PAGE = HomePage(
    "fields",
    _show,
    {
        "titles": _name,
        "change": _change,
        "remove": lambda visit: _changed(visit, visit.form.get("field", ""), "", ""),
        "prompt": _prompt,
    },
)
