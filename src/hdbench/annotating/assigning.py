"""Items that are given to several annotators, who do not see each other's entries."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hdbench.annotating.annotation import Assignment, read_annotation, write_annotation
from hdbench.annotating.changes import check_pseudonym
from hdbench.annotating.history import History
from hdbench.annotating.metadata import Metadata
from hdbench.errors import HdbenchError


class Drawn(NamedTuple):
    """What `assign` did.

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

    Only items are drawn that nobody has begun: without a ground truth, open, and not assigned.

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
            f"{', '.join(annotators)}: needs two or more different pseudonyms, such as anna,ben"
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
            for item, record in metadata.records.items()
            if record is None and item not in begun and not annotation.annotators(item)
        ]
        if items is None:
            items = len(free)
        if not 0 < items <= len(free):
            raise HdbenchError(
                f"{folder}: has {len(free):,} items that nobody has begun and that are not "
                f"assigned yet, so that {items:,} of them cannot be drawn"
            )
        drawn = set(random.Random(seed).sample(free, items))  # noqa: S311  no secret
        assignment = Assignment(
            annotators=tuple(annotators),
            items=tuple(item for item in free if item in drawn),
            seed=seed if items < len(free) else None,
        )
        more = {"assignments": (*annotation.assignments, assignment)}
        write_annotation(folder, annotation.model_copy(update=more))
    return Drawn(assignment, len(free))
