"""The state of an item: the sum of its changes, in any order."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hdbench.annotating.changes import WHATS, Change, base_change
from hdbench.annotating.conflicts import Conflict, conflicts_of
from hdbench.annotating.fields import Growing, parse_field
from hdbench.annotating.provenance import provenance_of
from hdbench.benchmarks.provenance import IMPORTED, Provenance

JOIN = "+"
"""Separator of the ids of several last changes in `ItemState.head`."""


class Stage(StrEnum):
    """Stage of an item that several people annotate without seeing each other's entries."""

    plain = "plain"
    """It is like any other: not assigned to anybody, or settled."""
    own = "own"
    """The annotator sees nothing but their own entries."""
    others = "others"
    """Others annotate it: nothing is shown."""
    settling = "settling"
    """All its annotators are done, and their differences are being settled."""


@dataclass(frozen=True)
class Disagreement:
    """A field that annotators, each alone, gave different values.

    Attributes:
        field: the field; empty for the whole record.
        values: pseudonym → value; None if there is none.
        is_settled: whether one of the values, or another one, was chosen.
    """

    field: str
    values: dict[str, Any]
    is_settled: bool


@dataclass(frozen=True)
class ItemState:
    """State of an item. Treat it as read-only.

    Attributes:
        item: the item's id.
        record: the ground truth; None if there is none.
        status: one of `STATUSES`.
        comment: the comment; empty if there is none.
        how: how the last change of the ground truth was made; empty if there was none yet.
        by: the pseudonyms of all who changed anything, sorted.
        head: for each of `WHATS`, the last changes, which a further change is made on top of; None
            if there is no change. Pass it back unchanged: it has several ids where there are
            conflicts.
        conflicts: the conflicts that have to be settled.
        stage: the stage of an item that several people annotate, each alone.
        differences: their differences; known once they are all done.
        made: how the ground truth as a whole was made; None if only a record in `metadata.jsonl`
            is known, without its provenance.
    """

    item: str
    record: dict[str, Any] | None
    status: str
    comment: str
    how: str
    by: tuple[str, ...]
    head: dict[str, str | None]
    conflicts: tuple[Conflict, ...]
    stage: Stage = Stage.plain
    differences: tuple[Disagreement, ...] = ()
    made: Provenance | None = None


def fold(
    item: str,
    changes: Iterable[Change],
    base: dict[str, Any] | None,
    made: Provenance | None = None,
) -> ItemState:
    """Return the state that an item's changes add up to.

    Args:
        item: the item's id.
        changes: all changes of that item, in any order, each id once.
        base: the record in `metadata.jsonl`, which counts if no change of the ground truth is
            known.
        made: the provenance in the row there.
    """
    by_part: dict[str, list[Change]] = {part: [] for part in WHATS}
    for change in changes:
        by_part[change.what].append(change)
    ordered = {part: causal_order(of_part) for part, of_part in by_part.items()}
    truths = ordered["ground_truth"]
    head = {part: joined_tips(of_part) for part, of_part in ordered.items()}
    if not truths and base is not None:
        head["ground_truth"] = base_change(item, base, made).id
    base_how = "" if base is None else made.how if made else IMPORTED
    how = truths[-1].how if truths else base_how
    status, comment = ordered["status"], ordered["comment"]
    return ItemState(
        item,
        record_of(truths) if truths else base,
        status[-1].to if status else "open",
        comment[-1].to if comment else "",
        how,
        tuple(
            sorted(
                {
                    change.by
                    for changes in by_part.values()
                    for change in changes
                    if not change.is_base
                }
            )
        ),
        head,
        tuple(conflict for of_part in ordered.values() for conflict in conflicts_of(of_part)),
        made=provenance_of(truths) if truths else made if base is not None else None,
    )


def record_of(truths: Iterable[Change]) -> dict[str, Any] | None:
    """Return the record that changes of a ground truth, in causal order, add up to.

    A change that no longer fits is skipped: it overlaps with one that did not know of it, so that
    both are shown as a conflict.
    """
    record = Growing()
    for change in truths:
        with suppress(KeyError):
            record.put(parse_field(change.field), change.to)
    return record.value if isinstance(record.value, dict) else None


def causal_order(changes: Sequence[Change]) -> list[Change]:
    """Return changes of one item and what, each after those it was made on top of.

    Where that leaves a choice, the earlier one comes first, then the one with the smaller id.
    References to missing changes are ignored, and so are circles, which annotating cannot create.
    """
    if len(changes) <= 1:  # nearly always
        return list(changes)
    by_id = {change.id: change for change in changes}
    waiting = {
        change.id: {parent for parent in change.parents if parent in by_id and parent != change.id}
        for change in changes
    }
    children: dict[str, list[str]] = defaultdict(list)
    for child, parents in waiting.items():
        for parent in parents:
            children[parent].append(child)
    ready = [(change.at, change.id) for change in changes if not waiting[change.id]]
    heapq.heapify(ready)
    circling = iter(sorted((change.at, change.id) for change in changes))
    order: dict[str, Change] = {}
    while len(order) < len(by_id):
        _, first = heapq.heappop(ready) if ready else next(circling)
        if first in order:
            continue
        order[first] = by_id[first]
        for child in children[first]:
            waiting[child].discard(first)
            if not waiting[child] and child not in order:
                heapq.heappush(ready, (by_id[child].at, child))
    return list(order.values())


def tips(ordered: Sequence[Change]) -> list[str]:
    """Return the ids of the changes that no other one was made on top of, in order."""
    behind = {parent for change in ordered for parent in change.parents if parent != change.id}
    last = [change.id for change in ordered if change.id not in behind]
    return last or [change.id for change in ordered[-1:]]  # a circle has none


def joined_tips(ordered: Sequence[Change]) -> str | None:
    """Return the last changes, as in `ItemState.head`."""
    return JOIN.join(tips(ordered)) or None
