"""Items that several people annotate without seeing each other's entries."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.annotating.annotation import read_annotation
from hdbench.annotating.changes import SETTLED, WITHOUT_TRUTH, Change
from hdbench.annotating.folding import ItemState, causal_order, fold
from hdbench.annotating.history import History
from hdbench.annotating.metadata import Metadata


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
        own = own_states(item, history.changes.get(item, {}).values(), annotators)
        if not all_finished(own):
            unfinished += 1
        elif all(state.status != "rejected" for state in own.values()):
            finished.append(Annotated(item, {name: truth_of(own[name]) for name in own}))
    return Assigned(finished, unfinished)


def own_states(
    item: str, changes: Collection[Change], annotators: tuple[str, ...]
) -> dict[str, ItemState]:
    """Pseudonym → what that person made of an item alone, on top of nothing."""
    found = before_settling(changes)
    return {
        name: fold(item, [each for each in found if each.by == name], None) for name in annotators
    }


def all_finished(own: dict[str, ItemState]) -> bool:
    """Return whether all annotators of an item said what it is."""
    return all(state.status != "open" for state in own.values())


def truth_of(state: ItemState) -> dict[str, Any] | None:
    """The record of somebody who is done; None if nothing was entered, or nobody can know it."""
    return None if state.status in WITHOUT_TRUTH else state.record


def before_settling(changes: Collection[Change]) -> list[Change]:
    """The changes that do not have behind them what was settled between annotators."""
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
    """Whether an item is like any other: nobody was assigned, or it was settled between them.

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
