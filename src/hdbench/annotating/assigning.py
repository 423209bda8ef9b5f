"""Items that are given to several annotators, who do not see each other's entries."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.annotating.annotation import (
    Annotation,
    Assignment,
    read_annotation,
    write_annotation,
)
from hdbench.annotating.changes import check_pseudonym
from hdbench.annotating.history import History
from hdbench.annotating.metadata import CollectionRow, Metadata
from hdbench.errors import HdbenchError, Message


class Drawn(NamedTuple):
    """Outcome of `assign`.

    Attributes:
        assignment: who annotates what.
        of: how many items could have been drawn.
    """

    assignment: Assignment
    of: int


def assign(
    folder: Path, annotators: Sequence[str], *, items: int | None = None, seed: int = 1
) -> Drawn:
    """Draw items at random, for several annotators, and write it into `annotation.yaml`.

    Only items that nobody has started are drawn: without a ground truth, open, and not assigned.

    Args:
        folder: the collection.
        annotators: their pseudonyms.
        items: how many; None for all.
        seed: that of the draw.

    Raises:
        HdbenchError: there are too few such items, fewer than two annotators, or the folder cannot
            be used.
    """
    if len(set(annotators)) < max(2, len(annotators)):
        raise HdbenchError(
            "{names}: needs two or more different pseudonyms, such as anna,ben",
            names=", ".join(annotators),
        )
    for annotator in annotators:
        check_pseudonym(annotator)
    metadata, history = Metadata(folder), History(folder)
    history.path.mkdir(exist_ok=True)
    with metadata.writing():
        annotation = read_annotation(folder)
        history.refresh()
        begun = {
            item
            for item, changes in history.changes.items()
            if any(change.what != "comment" for change in changes.values())
        }
        free = [
            item
            for item, row in metadata.rows.items()
            if row.record is None and item not in begun and not annotation.annotators(item)
        ]
        if items is None:
            items = len(free)
        if not 0 < items <= len(free):
            raise HdbenchError(
                "{place}: has {free:,} items that nobody has started and that are not assigned "
                "yet: {items:,} cannot be drawn",
                place=folder,
                free=len(free),
                items=items,
            )
        drawn = set(random.Random(seed).sample(free, items))  # noqa: S311  no secret
        assignment = Assignment(
            annotators=tuple(annotators),
            items=tuple(item for item in free if item in drawn),
            seed=seed if items < len(free) else None,
        )
        assignments = (*annotation.assignments, assignment)
        write_annotation(folder, annotation.replaced(assignments=assignments))
    return Drawn(assignment, len(free))


def with_assignments(
    ours: Annotation, theirs: Annotation, rows: Mapping[str, CollectionRow], path: Path
) -> Annotation:
    """Return an `annotation.yaml` with what another copy of the collection assigns besides.

    Args:
        ours: what is there.
        theirs: what the other one says, untrusted.
        rows: item → its row in `metadata.jsonl`.
        path: where the other one comes from.

    Raises:
        HdbenchError: an item is not there, was given to other people, or has a ground truth
            already, which nobody would see any more.
    """
    found = []
    for assignment in theirs.assignments:
        for item in assignment.items:
            here = ours.annotators(item)
            if item not in rows:
                wrong = Message("which is not in this collection")
            elif here and set(here) != set(assignment.annotators):
                wrong = Message("which is assigned to {names} here", names=", ".join(here))
            elif not here and rows[item].record is not None:
                wrong = Message("which has a ground truth here already")
            else:
                continue
            names = ", ".join(assignment.annotators)
            raise HdbenchError(
                "{place}: assigns {item!r} to {names}, {wrong}",
                place=path,
                item=item[:100],
                names=names,
                wrong=wrong,
            )
        if items := tuple(item for item in assignment.items if not ours.annotators(item)):
            found.append(assignment.model_copy(update={"items": items}))
    blind = dict.fromkeys([*ours.blind, *(item for item in theirs.blind if item in rows)])
    return ours.replaced(assignments=(*ours.assignments, *found), blind=tuple(blind))
