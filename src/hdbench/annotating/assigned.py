"""Items that several people annotate, each alone, and how what they differ in is settled."""

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
        records: pseudonym → what that person made of it before anything was settled, in the order
            of the assignment; None if they entered nothing, or say that there is no ground truth to
            be had.
    """

    item: str
    records: dict[str, dict[str, Any] | None]


class Assigned(NamedTuple):
    """The assigned items of a collection.

    Attributes:
        finished: those that all their annotators are done with, in the order of the collection.
            Items that one of them rejected are left out: they say nothing about how far people
            agree.
        unfinished: the number of those that not all their annotators are done with yet.
    """

    finished: list[Annotated]
    unfinished: int


def read_assigned(folder: Path) -> Assigned:
    """Return what the annotators of each assigned item made of it.

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
    """Return pseudonym → what that person made of an item alone, on top of nothing."""
    found = before_settling(changes)
    return {
        name: fold(item, [each for each in found if each.by == name], None) for name in annotators
    }


def all_finished(own: dict[str, ItemState]) -> bool:
    """Return whether all annotators of an item said what it is."""
    return all(state.status != "open" for state in own.values())


def truth_of(state: ItemState) -> dict[str, Any] | None:
    """Return the record of somebody who is done; None if there is none, or none to be had."""
    return None if state.status in WITHOUT_TRUTH else state.record


def before_settling(changes: Collection[Change]) -> list[Change]:
    """Return the changes that do not have behind them what was settled between annotators."""
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

    The last thing that is settled is the status, with what each of them said of it behind it.
    """
    if not annotators:
        return True
    statuses = [change for change in changes if change.what == "status"]
    if not any(change.how == SETTLED for change in statuses):
        return False
    behind: dict[str, set[str]] = {}  # change → who made it or one that it has behind it
    for change in causal_order(statuses):
        behind[change.id] = {change.by}.union(*(behind.get(each, ()) for each in change.parents))
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
    """Return what somebody may see of an item.

    Args:
        annotator: the pseudonym.
        item: the item's id.
        changes: all its changes.
        annotators: who annotates it without seeing what the others entered; nobody for most items.
        row: its row in `metadata.jsonl`.
    """
    if is_plain(changes, annotators):
        return fold(item, changes, row.record, row.made)
    # What everybody made of it is put together only if it can be needed: that takes time.
    if {change.by for change in changes if change.what == "status"}.issuperset(annotators):
        own = own_states(item, changes, annotators)
        if all_finished(own):
            return _settling_state(item, changes, own)
    if annotator in annotators:
        own = own_states(item, changes, (annotator,))
        return replace(own[annotator], stage=Stage.own)
    return replace(fold(item, (), None), stage=Stage.others)


def visible(changes: Iterable[Change], stage: Stage, annotator: str) -> list[Change]:
    """Return the changes that `seen_by` shows the result of."""
    if stage is Stage.plain:
        return list(changes)
    if stage is Stage.own:
        return [each for each in before_settling(list(changes)) if each.by == annotator]
    return [each for each in changes if stage is Stage.settling and each.how == SETTLED]


def _settling_state(
    item: str, changes: Collection[Change], own: Mapping[str, ItemState]
) -> ItemState:
    """Return an item that all its annotators are done with, as far as it is settled.

    Until a field is settled in which they differ, it has no value.

    Args:
        item: the item's id.
        changes: all its changes.
        own: pseudonym → what that person made of it alone.
    """
    settled = [change for change in changes if change.how == SETTLED]
    folded = fold(item, settled, None)
    records = {name: truth_of(state) for name, state in own.items()}
    agreed, fields = compared(list(records.values()))
    whats = {change.what for change in settled}
    decided = set(_decided(settled))
    around = {field[:end] for field in decided for end in range(len(field) + 1)}
    return replace(
        folded,
        record=folded.record if "ground_truth" in whats else agreed,
        comment=folded.comment if "comment" in whats else _comments(own),
        by=tuple(sorted({change.by for change in changes if not change.is_base})),
        head={
            what: joined_tips(causal_order([each for each in changes if each.what == what]))
            for what in WHATS
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
    statuses = {each.status for each in own.values()}
    return statuses.pop() if len(statuses) == 1 else None


def check_settled(state: ItemState, what: str, to: Any) -> None:
    """Refuse to change what others annotate, and to finish what is not settled yet.

    Raises:
        HdbenchError: it is.
    """
    if state.stage is Stage.others:
        raise HdbenchError(
            "{item}: is annotated by others, who do not see your entries", item=state.item
        )
    left = [each.field for each in state.differences if not each.is_settled]
    if left and what == "status" and to not in WITHOUT_TRUTH:
        raise HdbenchError(
            "{item}: {count} not settled yet: take or enter a value for {field}",
            item=state.item,
            count=len(left),
            field=left[0] or Message("the whole record"),
        )


def is_given(change: Change) -> bool:
    """Return whether nobody chose it: it notes what was there, or what people agree on."""
    is_common = change.how == SETTLED and not change.field and same(change.old, change.to)
    return change.is_base or is_common


def compared(values: Sequence[Any]) -> tuple[Any, list[FieldPath]]:
    """Return what values have in common, and the fields in which they differ, which are null in it.

    Texts are the same if they are to the letter, but for spaces around them and the Unicode form.
    Null, an empty text, an empty list, and what is missing are one.

    Example:
        >>> compared([{"title": "Faust ", "year": 1808}, {"title": "Faust", "year": 1809}])
        ({'title': 'Faust', 'year': None}, [('year',)])
    """
    return _compared(values, ())


def _compared(values: Sequence[Any], path: FieldPath) -> tuple[Any, list[FieldPath]]:
    # A record that is missing as a whole is one difference, and not one in each field.
    if any(isinstance(each, dict) for each in values) and all(
        isinstance(each, dict) or (path and _is_nothing(each)) for each in values
    ):
        return _compared_objects([each if isinstance(each, dict) else {} for each in values], path)
    if all(map(_is_nothing, values)):
        return next((value for value in values if value is not None), None), []
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) == len(values) and len(set(map(len, lists))) == 1:
        parts = [
            _compared(each, (*path, place)) for place, each in enumerate(zip(*lists, strict=True))
        ]
        return [part for part, _ in parts], [field for _, fields in parts for field in fields]
    first = _plain(values[0])
    return (first, []) if all(same(first, _plain(each)) for each in values) else (None, [path])


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
    """Return the fields that were chosen or typed on top of what the annotators have in common."""
    truths = [change for change in settled if change.what == "ground_truth"]
    ids = {change.id for change in truths}
    undone = {change.undoes for change in truths}
    return (
        parse_field(change.field)
        for change in truths
        if not (change.undoes or change.id in undone or ids.isdisjoint(change.parents))
    )


def _comments(own: Mapping[str, ItemState]) -> str:
    """Return what the annotators said of an item, as one comment."""
    said = [f"{name}: {state.comment}" for name, state in own.items() if state.comment]
    return "\n".join(said)[:MAX_COMMENT]
