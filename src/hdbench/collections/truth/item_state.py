"""The state of an item: the sum of what people changed."""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from hdbench.benchmarks.spec import AUDITED, BLIND, DRAFT, IMPORTED, Provenance
from hdbench.collections.truth.events import SETTLED, WHATS, Change, Found, What

_ABSENT = object()
"""Stands for a field that a record does not have."""


class Stage(StrEnum):
    """Stage of an item that several people read without seeing each other's entries."""

    plain = "plain"
    """It is like any other: read by one person, or settled."""
    own = "own"
    """The person sees nothing but their own entries."""
    others = "others"
    """Others read it: nothing is shown."""
    settling = "settling"
    """All its readers are done, and their differences are being settled."""


@dataclass(frozen=True)
class Conflict:
    """Values of one field by people who did not know of each other's.

    Attributes:
        kind: what they are about.
        field: the field, within objects that differ in nothing else; empty for a status or comment.
        changes: the changes, the one whose value stands for now last.
        values: the value of the field in each of them.
    """

    kind: What
    field: str
    changes: tuple[Change, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class ItemState:
    """State of an item. Treat it as read-only.

    Attributes:
        item: the item's id.
        record: the ground truth; None if there is none.
        status: one of `STATUSES`.
        comment: the comment; empty if there is none.
        how: how the last change of the ground truth was made; empty if there was none yet.
        by: the names of all who changed anything, sorted.
        head: for each of `WHATS`, the changes that are known; None without one. Pass it back
            unchanged.
        conflicts: the fields whose values have to be settled.
        stage: the stage of an item that several people read.
        made: how the ground truth as a whole was made; None if there is none, or if only a record
            in `metadata.jsonl` is known, without its provenance.
    """

    item: str
    record: dict[str, Any] | None = None
    status: str = "open"
    comment: str = ""
    how: str = ""
    by: tuple[str, ...] = ()
    head: dict[str, str | None] | None = None
    conflicts: tuple[Conflict, ...] = ()
    stage: Stage = Stage.plain
    made: Provenance | None = None


class _Held(NamedTuple):
    """A value that a change gives a field."""

    change: Change
    value: Any


class Base(NamedTuple):
    """The record that an item had before anybody changed it.

    Attributes:
        record: the record.
        made: its provenance; None if that is unknown.
    """

    record: dict[str, Any]
    made: Provenance | None = None


def base_of(found: Iterable[Found]) -> Base | None:
    """Return the record that was there first; None if there was none."""
    first = min(found, key=lambda each: (each.at, each.by), default=None)
    return None if first is None else Base(first.record, first.made)


def fold(item: str, changes: Sequence[Change], base: Base | None) -> ItemState:
    """Return the state that an item's changes add up to.

    Args:
        item: the item's id.
        changes: its changes, each after those that it knows.
        base: the record that was there before.
    """
    by_kind: dict[str, list[Change]] = {kind: [] for kind in WHATS}
    for change in changes:
        by_kind[change.kind].append(change)
    truths = by_kind["ground_truth"]
    record, conflicts = _record_of(truths, base and base.record)
    said: dict[str, Any] = {"status": "open", "comment": ""}
    for kind in ("status", "comment"):
        held: list[_Held] = []
        for change in by_kind[kind]:
            held = _with(held, change, change.value)
        if held:
            said[kind] = _said(held)[-1].value
        if (conflict := _conflict(held, "")) is not None:
            conflicts.append(conflict)
    base_how = "" if base is None else base.made.how if base.made else IMPORTED
    return ItemState(
        item,
        record,
        said["status"],
        said["comment"],
        truths[-1].how if truths else base_how,
        tuple(sorted({change.by for change in changes})),
        {kind: _head(of_kind) for kind, of_kind in by_kind.items()},
        tuple(conflicts),
        made=_made(truths, base) if record is not None else None,
    )


def _with(held: Sequence[_Held], change: Change, value: Any) -> list[_Held]:
    """Return the values of a field once a change is made, which replaces those that it knows."""
    return [*(each for each in held if not change.knows(each.change)), _Held(change, value)]


def _record_of(
    truths: Sequence[Change], base: dict[str, Any] | None
) -> tuple[dict[str, Any] | None, list[Conflict]]:
    """Return the record that changes add up to, and what people have to settle.

    A change of the whole record sets each of its fields, and removes all others.
    """
    record: dict[str, Any] | None = base
    held: defaultdict[str, list[_Held]] = defaultdict(list)
    fields = dict.fromkeys(base or ())
    is_there = base is not None
    for change in truths:
        whole = change.value if not change.field else None
        fields |= dict.fromkeys([change.field] if change.field else whole or ())
        is_there = bool(change.field) or whole is not None
        for field in [change.field] if change.field else fields:
            value = change.value if change.field else (whole or {}).get(field, _ABSENT)
            held[field] = _with(held[field], change, value)
    if not truths:
        return record, []
    values = {
        field: _said(held[field])[-1].value if held[field] else (base or {})[field]
        for field in fields
    }
    record = {field: value for field, value in values.items() if value is not _ABSENT}
    conflicts = [
        conflict for field in fields if (conflict := _conflict(held[field], field)) is not None
    ]
    return (record if record or is_there else None), conflicts


def _said(held: Sequence[_Held]) -> Sequence[_Held]:
    """Return the values that say something, the one that stands for now last; all if none does.

    A record that was begun says nothing yet of fields that are empty, unless its reader is done.
    """
    said = [
        each
        for each in held
        if each.change.field or each.change.alone or folded(each.value) is not None
    ]
    return said or held


def _conflict(held: Sequence[_Held], field: str) -> Conflict | None:
    """Return what has to be settled between values of people who did not know of each other."""
    said = _said(held)
    if len({_plain(each.value) for each in said}) < 2:  # noqa: PLR2004
        return None
    field, inner = _innermost(field, [each.value for each in said])
    values = tuple(None if value is _ABSENT else value for value in inner)
    return Conflict(said[0].change.kind, field, tuple(each.change for each in said), values)


def _innermost(field: str, values: list[Any]) -> tuple[str, list[Any]]:
    """Return the field of an object that alone differs, such as `publication.year`, and its values.

    Of objects that differ in more than one, it is themselves.
    """
    while all(isinstance(value, dict) for value in values):
        by_name = {
            name: [each.get(name, _ABSENT) for each in values] for each in values for name in each
        }
        differing = [name for name, inner in by_name.items() if len(set(map(_plain, inner))) > 1]
        if len(differing) > 1 or not re.fullmatch(r"[^.\[\]]+", differing[0]):
            break
        field, values = f"{field}.{differing[0]}", by_name[differing[0]]
    return field, values


def _made(truths: Sequence[Change], base: Base | None) -> Provenance | None:
    """Return how a ground truth was made.

    A record with any value that may come from a draft counts as a draft, however much of it was
    corrected since; of several drafts, the last one counts. What people settled counts as a draft
    if one of them had one.
    """
    if not truths:
        return base.made if base and base.made and base.made.how != IMPORTED else None
    ways = {base.made.how if base.made else IMPORTED: None} if base else {}
    models = {base.made.how: base.made.model} if base and base.made else {}
    for change in truths:
        if change.model:
            models[change.how] = change.model
        if change.how == SETTLED:
            if not change.field:
                kept = {way: None for way in ways if way.startswith(DRAFT)}
                ways = kept or {way: None for way in ways if way != IMPORTED}
            ways = ways or {BLIND: None}
        elif change.field:
            ways.pop(change.how, None)
            ways[change.how] = None
        elif not change.alone:
            ways = {change.how: None}
        else:
            ways[change.how] = None
    drafts = [way for way in ways if way.startswith(DRAFT)]
    how = next((way for way in (*drafts[-1:], AUDITED, IMPORTED, BLIND) if way in ways), None)
    return None if how is None else Provenance(how, models.get(how))


def _head(changes: Sequence[Change]) -> str | None:
    last: dict[str, int] = {}
    for change in changes:
        last[change.by] = max(change.number, last.get(change.by, 0))
    return " ".join(f"{name}:{number}" for name, number in sorted(last.items())) or None


def seen_by(
    person: str, item: str, changes: Sequence[Change], readers: Sequence[str], base: Base | None
) -> ItemState:
    """Return the state of an item as somebody may see it.

    Args:
        person: who looks at it.
        item: the item's id.
        changes: all its changes, each after those that it knows.
        readers: the people who read it, each alone; nobody for most items.
        base: the record that was there before.
    """
    if not readers:
        return fold(item, changes, base)
    own = own_states(item, changes, readers)
    if not all_finished(own):
        if person in own:
            return replace(own[person], stage=Stage.own)
        return ItemState(item, head=dict.fromkeys(WHATS), stage=Stage.others)
    state = fold(item, changes, None)
    return replace(state, stage=Stage.settling) if state.conflicts else state


def own_states(
    item: str, changes: Sequence[Change], readers: Sequence[str]
) -> dict[str, ItemState]:
    """Return reader → the item's state by what that person entered alone, from nothing on."""
    alone = [change for change in changes if change.alone]
    return {
        name: fold(item, [change for change in alone if change.by == name], None)
        for name in readers
    }


def all_finished(own: dict[str, ItemState]) -> bool:
    """Return whether all readers of an item, two at least, gave it a status."""
    return len(own) > 1 and all(state.status != "open" for state in own.values())


def _plain(value: Any) -> str:
    """Return a text that is the same for values that say the same.

    Texts are, apart from spaces around them and the Unicode form, and so are all ways to say
    nothing.
    """
    return json.dumps(folded(value), sort_keys=True)


def folded(value: Any) -> Any:
    """Return a value with texts in NFC and stripped; None for nothing, which objects leave out."""
    if isinstance(value, dict):
        inner = {key: folded(each) for key, each in value.items()}
        return {key: each for key, each in inner.items() if each is not None} or None
    if isinstance(value, list):
        entries = [folded(each) for each in value]
        return entries if any(entry is not None for entry in entries) else None
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value).strip() or None
    return None if value is _ABSENT else value
