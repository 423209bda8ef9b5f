"""Fields of a collection that are added, renamed, retyped or removed, and all that names them."""

from collections.abc import Callable, Mapping
from typing import Any

from hdbench.answers.cells import Kind, cell_of, value_of
from hdbench.benchmarks.building.drafts import shape, titles_of
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.collections.home.folder import PROMPT, SCHEMA, CollectionFolder
from hdbench.collections.new.rules import COMPARE
from hdbench.collections.new.writing import yaml_of
from hdbench.collections.truth.item_state import ItemState, Stage
from hdbench.collections.truth.store import Store
from hdbench.common.files import text_in
from hdbench.common.jsonio import parse_file, write_json
from hdbench.common.validation import parse_yaml
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError, Message

KINDS: Mapping[Kind, dict[str, Any]] = {
    "text": {"type": ["string", "null"]},
    "integer": {"type": ["integer", "null"]},
    "number": {"type": ["number", "null"]},
    "boolean": {"type": ["boolean", "null"]},
    "list": {"type": ["array", "null"], "items": {"type": ["string", "null"]}},
}
"""What a field can hold → its schema."""

_Fields = dict[str, Any]


def change_field(collection: CollectionFolder, person: str, old: str, new: str, kind: str) -> bool:
    """Change a field in the schema, the ground truths, the rules and the prompt.

    The schema comes last: whoever is interrupted can do it again.

    Args:
        collection: the collection.
        person: the name of whoever changes it.
        old: the field's path, without `[]`; empty to add one.
        new: its name from now on; empty to remove it.
        kind: what it holds then: one of `KINDS`, or empty for what it held.

    Returns:
        Whether the prompt says so as well; it does not if it describes the fields in its own way.

    Raises:
        HdbenchError: it cannot be changed; nothing is.
    """
    if collection.last_plan():
        raise HdbenchError("a decision is planned on the fields as they are")
    outer, _, name = old.rpartition(".")
    if (new and any(sign in new for sign in ".[]")) or not (new or old):
        raise HdbenchError("{name!r}: a field's name has no dot or bracket", name=new[:100])
    to = next((each for each in KINDS if each == kind), None)
    if kind and to is None:
        raise HdbenchError("{kind}: not a kind of field", kind=kind[:100])
    place = collection.folder / SCHEMA
    schema = parse_file(text_in(collection.folder, SCHEMA), place)

    def in_object(part: _Fields) -> _Fields:
        fields, required = part["properties"], part.get("required", [])
        if old and name not in fields:
            raise HdbenchError("{name}: there is no such field", name=old[:100])
        if new != name and new in fields:
            raise HdbenchError("{name}: there is a field of that name already", name=new[:100])
        if not old:
            return part | {"properties": fields | {new: titles_of(new) | KINDS[to or "text"]}}
        field = fields[name]
        if to:
            named = {key: field[key] for key in ("title", "titles") if key in field}
            field = named | KINDS[to]
        required = [new if each == name else each for each in required]
        return part | {
            "properties": _replaced(fields, name, new, field),
            "required": list(filter(None, required)),
        }

    steps = [step for each in outer.split(".") if each for step in ("properties", each)]
    changed = _within(schema, steps, in_object)
    if old:
        _change_truths(collection, person, old, new, to)
        _change_rules(collection, old, ".".join(filter(None, (outer, new))) if new else "", kind)
    prompt = text_in(collection.folder, PROMPT)
    write_whole(collection.folder / PROMPT, prompt.replace(shape(schema), shape(changed)).encode())
    write_json(place, changed)
    return shape(schema) in prompt


def _replaced(fields: _Fields, old: str, new: str, value: Any) -> _Fields:
    """Return fields of which one has another name and value, at its place; none without a name."""
    return {
        (new if name == old else name): (value if name == old else each)
        for name, each in fields.items()
        if name != old or new
    }


def _within(whole: Any, path: list[str], change: Callable[[_Fields], _Fields]) -> Any:
    """Return an object in which the object at a path is changed; as it is, if there is none."""
    if not isinstance(whole, dict) or (path and path[0] not in whole):
        return whole
    if not path:
        return change(whole)
    return whole | {path[0]: _within(whole[path[0]], path[1:], change)}


def _change_truths(
    collection: CollectionFolder, person: str, old: str, new: str, kind: Kind | None
) -> None:
    *outer, name = old.split(".")

    def changed(state: ItemState) -> Any:
        def in_record(record: _Fields) -> _Fields:
            if name not in record:
                return record
            value = record[name]
            return _replaced(
                record, name, new, _converted(value, kind, state.item) if kind and new else value
            )

        return _within(state.record, outer, in_record)

    with Store(collection.folder, person) as store:
        states = store.states()
        if any(state.stage in (Stage.own, Stage.others) for state in states):
            raise HdbenchError(
                "several people are reading the same items, each alone: change fields when they "
                "are done"
            )
        records = [(state, changed(state)) for state in states]  # before any is written
        for state, record in records:
            if record != state.record:
                made = state.made
                store.change(
                    *(state.item, "ground_truth", "", record),
                    after=(state.head or {}).get("ground_truth"),
                    how=made.how if made else "imported",
                    model=made.model if made else None,
                )


def _converted(value: Any, kind: Kind, item: str) -> Any:
    """Return a value as one of another kind.

    Raises:
        HdbenchError: it is none.
    """
    if value is None or (value == "" and kind != "text"):
        return None
    if kind == "list":
        return value if isinstance(value, list) else [cell_of(value)]
    if isinstance(value, list):
        value = "; ".join(map(cell_of, value))
    converted = value_of(cell_of(value), kind)
    if converted is None:
        raise HdbenchError(
            "{item}: {value!r} is not of the kind {kind}: change it first; nothing was changed",
            item=item,
            value=cell_of(value)[:100],
            kind=Message(kind),
        )
    return converted


def _change_rules(collection: CollectionFolder, old: str, new: str, kind: str) -> None:
    """Change what the metric's options say of a field."""
    path = collection.folder / DESCRIPTION
    spec = parse_yaml(text_in(collection.folder, DESCRIPTION))
    protocols = {
        name: _renamed(options, old, new) for name, options in spec.get("protocols", {}).items()
    }
    for options in protocols.values() if kind else ():
        compare = {path: how for path, how in options.get("compare", {}).items() if path != new}
        options["compare"] = compare | ({new: COMPARE[kind]} if kind in COMPARE else {})
    if protocols != spec.get("protocols", {}):
        write_whole(path, yaml_of(spec | {"protocols": protocols}).encode())


def _renamed(options: Any, old: str, new: str) -> Any:
    """Return options in which a field, or a list of that name, has another name; or is left out."""

    def named(each: Any) -> list[Any]:
        if not isinstance(each, str) or each.removesuffix("[]") != old:
            return [each]
        return [new + each.removeprefix(old)] if new else []

    if isinstance(options, dict):
        return {
            to: _renamed(each, old, new) for name, each in options.items() for to in named(name)
        }
    if isinstance(options, list):
        return [_renamed(to, old, new) for each in options for to in named(each)]
    return options
