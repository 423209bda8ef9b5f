"""Items that several people annotate, each alone, and how their differences are settled."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.annotation import read_annotation
from hdbench.annotating.changes import MAX_COMMENT, SETTLED, WHATS, WITHOUT_TRUTH, Change, same
from hdbench.annotating.fields import FieldPath, as_field, get, parse_field
from hdbench.annotating.folding import (
    Disagreement,
    ItemState,
    Stage,
    causal_order,
    fold,
    joined_tips,
)
from hdbench.annotating.history import History
from hdbench.annotating.metadata import CollectionRow, Metadata
from hdbench.errors import HdbenchError, Message


class Annotated(NamedTuple):
    """An item that all its annotators are done with.

    Attributes:
        item: the item's id.
        records: pseudonym → that person's record before anything was settled, in the order of the
            assignment; None if they entered nothing, or say that no ground truth can be given.
    """

    item: str
    records: dict[str, dict[str, Any] | None]


class Assigned(NamedTuple):
    """The assigned items of a collection.

    Attributes:
        finished: the items that all their annotators are done with, in the order of the collection.
            Items that somebody rejected are left out: they say nothing about agreement.
        unfinished: the number of items that some annotator is not done with yet.
    """

    finished: list[Annotated]
    unfinished: int


def read_assigned(folder: Path) -> Assigned:
    """Return the assigned items with the records of their annotators.

    Args:
        folder: the collection.

    Raises:
        HdbenchError: it is not a collection, or its history or `annotation.yaml` cannot be used.
    """
    annotation, history = read_annotation(folder), History(folder)
    finished, unfinished = [], 0
    for item in Metadata(folder).rows:
        annotators = annotation.annotators(item)
        if not annotators:
            continue
        own = own_states(item, history.of(item), annotators)
        if not all_finished(own):
            unfinished += 1
        elif all(state.status != "rejected" for state in own.values()):
            finished.append(Annotated(item, {name: truth_of(own[name]) for name in own}))
    return Assigned(finished, unfinished)


def own_states(
    item: str, changes: Collection[Change], annotators: tuple[str, ...]
) -> dict[str, ItemState]:
    """Return pseudonym → the item's state by that person's own changes, starting from nothing."""
    unsettled = before_settling(changes)
    return {
        name: fold(item, [change for change in unsettled if change.by == name], None)
        for name in annotators
    }


def all_finished(own: dict[str, ItemState]) -> bool:
    """Return whether all annotators of an item, two at least, gave it a status."""
    return len(own) > 1 and all(state.status != "open" for state in own.values())


def truth_of(state: ItemState) -> dict[str, Any] | None:
    """Return the record of somebody who is done; None if there is or can be none."""
    return None if state.status in WITHOUT_TRUTH else state.record


def before_settling(changes: Collection[Change]) -> list[Change]:
    """Return the changes that were made on top of nothing that annotators settled."""
    if not any(change.how == SETTLED for change in changes):
        return list(changes)
    settled = set[str]()
    before = []
    for change in causal_order(list(changes)):
        if change.how == SETTLED or not settled.isdisjoint(change.parents):
            settled.add(change.id)
        else:
            before.append(change)
    return before


def is_plain(changes: Collection[Change], annotators: tuple[str, ...]) -> bool:
    """Return whether an item is like any other: not assigned to anybody, or settled.

    The status is settled last, on top of the status that each annotator gave.
    """
    if not annotators:
        return True
    statuses = [change for change in changes if change.what == "status"]
    if not any(change.how == SETTLED for change in statuses):
        return False
    behind: dict[str, set[str]] = {}  # change → authors of it and of those it is made on top of
    for change in causal_order(statuses):
        behind[change.id] = {change.by}.union(
            *(behind.get(parent, ()) for parent in change.parents)
        )
        if change.how == SETTLED and behind[change.id].issuperset(annotators):
            return True
    return False


_UNSPELLABLE = frozenset(".[]")


def seen_by(
    annotator: str,
    item: str,
    changes: Collection[Change],
    annotators: tuple[str, ...],
    row: CollectionRow,
) -> ItemState:
    """Return the state of an item as somebody may see it.

    Args:
        annotator: the pseudonym.
        item: the item's id.
        changes: all its changes.
        annotators: the people who annotate it, each alone; nobody for most items.
        row: its row in `metadata.jsonl`.
    """
    if is_plain(changes, annotators):
        return fold(item, changes, row.record, row.made)
    # Everybody's own state is computed only if it can be needed: that takes time.
    if {change.by for change in changes if change.what == "status"}.issuperset(annotators):
        own = own_states(item, changes, annotators)
        if all_finished(own):
            return _settling_state(item, changes, own)
    if annotator in annotators:
        own = own_states(item, changes, (annotator,))
        return replace(own[annotator], stage=Stage.own)
    return replace(fold(item, (), None), stage=Stage.others)


def visible(changes: Iterable[Change], stage: Stage, annotator: str) -> list[Change]:
    """Return the changes whose result `seen_by` shows."""
    if stage is Stage.plain:
        return list(changes)
    if stage is Stage.own:
        return [change for change in before_settling(list(changes)) if change.by == annotator]
    return [change for change in changes if stage is Stage.settling and change.how == SETTLED]


def _settling_state(
    item: str, changes: Collection[Change], own: Mapping[str, ItemState]
) -> ItemState:
    """Return the state of an item that all its annotators are done with, as far as it is settled.

    A field in which they differ has no value until it is settled.

    Args:
        item: the item's id.
        changes: all its changes.
        own: pseudonym → the item's state by that person's own changes.
    """
    settled = [change for change in changes if change.how == SETTLED]
    folded = fold(item, settled, None)
    records = {name: truth_of(state) for name, state in own.items()}
    agreed, fields = compared(list(records.values()))
    begun = {change.what for change in settled}
    decided = set(_decided(settled))
    around = {field[:end] for field in decided for end in range(len(field) + 1)}
    return replace(
        folded,
        record=folded.record if "ground_truth" in begun else agreed,
        comment=folded.comment if "comment" in begun else _comments(own),
        by=tuple(sorted({change.by for change in changes if not change.is_base})),
        head={
            part: joined_tips(causal_order([change for change in changes if change.what == part]))
            for part in WHATS
        },
        stage=Stage.settling,
        differences=tuple(
            Disagreement(
                as_field(field),
                {name: _at(record, field) for name, record in records.items()},
                field in around or any(field[:end] in decided for end in range(len(field))),
            )
            for field in fields
        ),
    )


def agreed_status(own: Mapping[str, ItemState]) -> str | None:
    """Return the status that all annotators gave an item; None if they gave different ones."""
    statuses = {state.status for state in own.values()}
    return statuses.pop() if len(statuses) == 1 else None


def check_settled(state: ItemState, what: str, to: Any) -> None:
    """Refuse to change items that others annotate, and to finish items that are not settled yet.

    Raises:
        HdbenchError: the change is one of these.
    """
    if state.stage is Stage.others:
        raise HdbenchError(
            "{item}: is annotated by others, who do not see your entries", item=state.item
        )
    left = [difference.field for difference in state.differences if not difference.is_settled]
    if left and what == "status" and to not in WITHOUT_TRUTH:
        raise HdbenchError(
            "{item}: {count} not settled yet: take or enter a value for {field}",
            item=state.item,
            count=len(left),
            field=left[0] or Message("the whole record"),
        )


def is_given(change: Change) -> bool:
    """Return whether a change was chosen by nobody: it records what was there or is agreed on."""
    is_common = change.how == SETTLED and not change.field and same(change.old, change.to)
    return change.is_base or is_common


def compared(values: Sequence[Any]) -> tuple[Any, list[FieldPath]]:
    """Return what values have in common, with null where they differ, and the fields that differ.

    Texts are the same if they are equal apart from spaces around them and the Unicode form. Null,
    an empty text, an empty list and a missing value are the same.

    Example:
        >>> compared([{"title": "Faust ", "year": 1808}, {"title": "Faust", "year": 1809}])
        ({'title': 'Faust', 'year': None}, [('year',)])
    """
    return _compared(values, ())


def _compared(values: Sequence[Any], path: FieldPath) -> tuple[Any, list[FieldPath]]:
    # A missing record is one difference, not one for each field.
    if any(isinstance(value, dict) for value in values) and all(
        isinstance(value, dict) or (path and _is_nothing(value)) for value in values
    ):
        objects = [value if isinstance(value, dict) else {} for value in values]
        return _compared_objects(objects, path)
    if all(map(_is_nothing, values)):
        return next((value for value in values if value is not None), None), []
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) == len(values) and len(set(map(len, lists))) == 1:
        parts = [
            _compared(entries, (*path, index))
            for index, entries in enumerate(zip(*lists, strict=True))
        ]
        return [part for part, _ in parts], [field for _, fields in parts for field in fields]
    first = _plain(values[0])
    return (first, []) if all(same(first, _plain(value)) for value in values) else (None, [path])


def _compared_objects(
    values: Sequence[Mapping[str, Any]], path: FieldPath
) -> tuple[Any, list[FieldPath]]:
    common: dict[str, Any] = {}
    differing: list[FieldPath] = []
    for name in dict.fromkeys(name for value in values for name in value):
        common[name], fields = _compared([value.get(name) for value in values], (*path, name))
        if fields and (not name or not _UNSPELLABLE.isdisjoint(name)):
            return None, [path]
        differing += fields
    return common, differing


def _is_nothing(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_nothing, value.values()))
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _plain(value: Any) -> Any:
    return unicodedata.normalize("NFC", value).strip() if isinstance(value, str) else value


def _at(record: Any, field: FieldPath) -> Any:
    try:
        return get(record, field)
    except KeyError:
        return None


def _decided(settled: Iterable[Change]) -> Iterable[FieldPath]:
    """Return the fields that were chosen or typed on top of what the annotators agree on."""
    truths = [change for change in settled if change.what == "ground_truth"]
    ids = {change.id for change in truths}
    undone = {change.undoes for change in truths}
    return (
        parse_field(change.field)
        for change in truths
        if not (change.undoes or change.id in undone or ids.isdisjoint(change.parents))
    )


def _comments(own: Mapping[str, ItemState]) -> str:
    """Return the comments of the annotators as one comment."""
    comments = [f"{name}: {state.comment}" for name, state in own.items() if state.comment]
    return "\n".join(comments)[:MAX_COMMENT]
