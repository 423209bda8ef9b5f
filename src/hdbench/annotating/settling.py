"""What several annotators entered, each alone, put together: where they agree, and where not."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hdbench.annotating.assigned import (
    all_finished,
    before_settling,
    is_plain,
    own_states,
    truth_of,
)
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
from hdbench.benchmarks.provenance import Provenance
from hdbench.errors import HdbenchError, Message

_UNSPELLABLE = frozenset(".[]")


def seen_by(
    annotator: str,
    item: str,
    changes: Collection[Change],
    annotators: tuple[str, ...],
    *,
    base: dict[str, Any] | None,
    made: Provenance | None,
) -> ItemState:
    """Return what somebody may see of an item.

    Args:
        annotator: the pseudonym.
        item: the item's id.
        changes: all its changes.
        annotators: who annotates it without seeing what the others entered; nobody for most items.
        base: the record in `metadata.jsonl`.
        made: how it was made; None if that is not known.
    """
    if is_plain(changes, annotators):
        return fold(item, changes, base, made)
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
    """The changes that `seen_by` shows the result of."""
    if stage is Stage.plain:
        return list(changes)
    if stage is Stage.own:
        return [each for each in before_settling(list(changes)) if each.by == annotator]
    return [each for each in changes if stage is Stage.settling and each.how == SETTLED]


def _settling_state(
    item: str, changes: Collection[Change], own: Mapping[str, ItemState]
) -> ItemState:
    """An item that all its annotators are done with, as far as it is settled.

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
    """The status that all annotators gave an item; None if they gave different ones."""
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
    """Whether it notes what was there, or what annotators have in common: nobody chose it."""
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
    """The fields that were chosen or typed on top of what the annotators have in common."""
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
