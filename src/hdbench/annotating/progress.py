"""How far the ground truth of a collection is, from its files; nothing is written or locked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from hdbench.annotating.annotation import file_stamp, read_annotation
from hdbench.annotating.assigned import own_states, seen_by
from hdbench.annotating.folding import Stage
from hdbench.annotating.history import History
from hdbench.annotating.metadata import Metadata
from hdbench.common.os_errors import read_errors

_NOBODY = ""
"""No pseudonym: what everybody may see of an item that is assigned to some."""


class ItemProgress(NamedTuple):
    """How far an item is.

    Attributes:
        item: its id.
        has_truth: whether it has a ground truth that all may see.
        status: one of `hdbench.annotating.changes.STATUSES`.
        stage: of an item that several people annotate.
        conflicts: the number of conflicts and differences to be settled.
        waiting: the annotators it is assigned to who are not done with it.
    """

    item: str
    has_truth: bool
    status: str
    stage: Stage
    conflicts: int
    waiting: tuple[str, ...]

    @property
    def is_left(self) -> bool:
        """Return whether nobody has read it yet, or not all to whom it is assigned."""
        is_open = not self.has_truth and self.status == "open"
        return bool(self.waiting) or (is_open and self.stage is not Stage.settling)

    @property
    def is_to_settle(self) -> bool:
        """Return whether people have to decide between what they entered."""
        return bool(self.conflicts)


@dataclass(frozen=True)
class TruthProgress:
    """How far a ground truth is.

    Attributes:
        items: the items, in the order of the collection.
        people: the pseudonyms of those who annotate it, sorted.
        truths: how many items have a ground truth.
        left: how many nobody has read yet, or not all to whom they are assigned.
        to_settle: in how many people have to decide between what they entered.
        assigned: how many are assigned to several people.
        waiting: pseudonym → how many of these the person is not done with.
        places: the places in `items` of those that have a `truth`, are `left` and are to `settle`.
    """

    items: Sequence[ItemProgress] = ()
    people: Sequence[str] = ()
    truths: int = 0
    left: int = 0
    to_settle: int = 0
    assigned: int = 0
    waiting: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, Sequence[int]] = field(default_factory=dict)


class ProgressReader:
    """Reads how far a ground truth is; again only what has changed since. For any thread.

    Args:
        folder: the collection.

    Raises:
        HdbenchError: it is not a collection in the plain form, or its history cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._metadata, self._history = Metadata(folder), History(folder)
        self._annotation, self._stamp = read_annotation(folder), file_stamp(folder)
        self._items: dict[str, ItemProgress] = {}
        self._progress: TruthProgress | None = None

    def read(self) -> TruthProgress:
        """Return the progress by now.

        Raises:
            HdbenchError: a file has become unusable.
        """
        with self._lock, read_errors(self._folder):
            touched = self._metadata.refresh() | self._history.refresh()
            if self._stamp != (stamp := file_stamp(self._folder)):
                self._annotation, self._stamp = read_annotation(self._folder), stamp
                self._items.clear()
                self._progress = None
            if touched or self._progress is None:
                for item in touched:
                    self._items.pop(item, None)
                self._progress = self._counted()
            return self._progress

    def _counted(self) -> TruthProgress:
        items = [self._item(item) for item in self._metadata.rows]
        assignments = self._annotation.assignments
        people = {name for assignment in assignments for name in assignment.annotators}
        places = {
            "truth": [place for place, item in enumerate(items) if item.has_truth],
            "left": [place for place, item in enumerate(items) if item.is_left],
            "settle": [place for place, item in enumerate(items) if item.is_to_settle],
        }
        return TruthProgress(
            items,
            sorted(people | self._history.own.keys()),
            len(places["truth"]),
            len(places["left"]),
            len(places["settle"]),
            sum(item.item in self._annotation.assigned_items for item in items),
            Counter(name for item in items for name in item.waiting),
            places,
        )

    def _item(self, item: str) -> ItemProgress:
        if item not in self._items:
            annotators = self._annotation.annotators(item)
            changes, row = self._history.of(item), self._metadata.rows[item]
            state = seen_by(_NOBODY, item, changes, annotators, row)
            waiting: tuple[str, ...] = ()
            if state.stage is Stage.others:
                own = own_states(item, changes, annotators)
                waiting = tuple(name for name in annotators if own[name].status == "open")
            self._items[item] = ItemProgress(
                item,
                state.record is not None and state.stage is Stage.plain,
                state.status,
                state.stage,
                len(state.conflicts) + sum(not each.is_settled for each in state.differences),
                waiting,
            )
        return self._items[item]
