"""The state of an item: the sum of its changes, in whatever order they are found."""

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
"""Between the ids of several last changes, in what `ItemState.head` gives."""


class Stage(StrEnum):
    """Stage of an item that several people annotate without seeing each other's entries."""

    plain = "plain"
    """It is like any other: not assigned to anybody, or settled."""
    own = "own"
    """The annotator sees nothing but their own entries."""
    others = "others"
    """Others annotate it: nothing is shown."""
    settling = "settling"
    """All its annotators are done, and what they differ in is settled."""


@dataclass(frozen=True)
class Disagreement:
    """A field that annotators, each alone, gave different values.

    Attributes:
        field: the field; empty for the whole record.
        values: pseudonym → value; None if there is none.
        is_settled: whether one of the values, or another one, was taken.
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
        comment: what was said of it; empty if nothing.
        how: how the last change of the ground truth was made; empty if there was none yet.
        by: who changed anything, sorted.
        head: for each of `WHATS`, what a further change has to be made on top of; None if there is
            no change. Hand it back as it is: it has several ids where there are conflicts.
        conflicts: what has to be settled.
        stage: how far the item is if several people annotate it, each alone.
        differences: what they differ in; known once they are all done.
        made: how the ground truth as a whole was made; None where nothing but a record in
            `metadata.jsonl` is known that does not say it.
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
    """Return what an item's changes add up to.

    Args:
        item: the item's id.
        changes: all changes of that item, in any order, each id once.
        base: the record in `metadata.jsonl`, which counts if no change of the ground truth is
            known.
        made: what the row there says about how it was made.
    """
    found: dict[str, list[Change]] = {what: [] for what in WHATS}
    for change in changes:
        found[change.what].append(change)
    ordered = {what: causal_order(each) for what, each in found.items()}
    truths = ordered["ground_truth"]
    head = {what: joined_tips(each) for what, each in ordered.items()}
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
        tuple(sorted({one.by for each in ordered.values() for one in each if not one.is_base})),
        head,
        tuple(one for each in ordered.values() for one in conflicts_of(each)),
        made=provenance_of(truths) if truths else made if base is not None else None,
    )


def record_of(truths: Iterable[Change]) -> dict[str, Any] | None:
    """Return the record that changes of a ground truth, in causal order, add up to.

    A change that no longer fits is passed over: it overlaps with one that did not know of it, so
    that both are shown as a conflict.
    """
    record = Growing()
    for change in truths:
        with suppress(KeyError):
            record.put(parse_field(change.field), change.to)
    return record.value if isinstance(record.value, dict) else None


def causal_order(changes: Sequence[Change]) -> list[Change]:
    """Return changes of one item and what, each behind those it was made on top of.

    Where that leaves a choice, the earlier one is first, then the one with the smaller id. Changes
    that are not there are as if nobody had built on them, and so is a circle, which nobody can
    make by annotating.
    """
    if len(changes) <= 1:  # nearly always
        return list(changes)
    known = {change.id: change for change in changes}
    waiting = {
        change.id: {each for each in change.parents if each in known and each != change.id}
        for change in changes
    }
    children: dict[str, list[str]] = defaultdict(list)
    for child, parents in waiting.items():
        for parent in parents:
            children[parent].append(child)
    ready = [(each.at, each.id) for each in changes if not waiting[each.id]]
    heapq.heapify(ready)
    circling = iter(sorted((each.at, each.id) for each in changes))
    order: dict[str, Change] = {}
    while len(order) < len(known):
        _, found = heapq.heappop(ready) if ready else next(circling)
        if found in order:
            continue
        order[found] = known[found]
        for child in children[found]:
            waiting[child].discard(found)
            if not waiting[child] and child not in order:
                heapq.heappush(ready, (known[child].at, child))
    return list(order.values())


def tips(ordered: Sequence[Change]) -> list[str]:
    """Return the ids of the changes that no other one was made on top of, in order."""
    behind = {parent for change in ordered for parent in change.parents if parent != change.id}
    found = [change.id for change in ordered if change.id not in behind]
    return found or [change.id for change in ordered[-1:]]  # a circle has none


def joined_tips(ordered: Sequence[Change]) -> str | None:
    """Return what a further change has to be made on top of, as `ItemState.head` gives it."""
    return JOIN.join(tips(ordered)) or None
