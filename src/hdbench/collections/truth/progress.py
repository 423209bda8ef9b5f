"""How far the ground truth of a collection is, from its files; nothing is written or locked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from hdbench.collections.truth.double import waiting_for
from hdbench.collections.truth.item_state import ItemState, Stage
from hdbench.collections.truth.store import States
from hdbench.common.files import read_errors


class ItemProgress(NamedTuple):
    """How far an item is.

    Attributes:
        state: its state for somebody who reads nothing alone.
        waiting: those who read it alone and are not done with it.
    """

    state: ItemState
    waiting: tuple[str, ...]

    @property
    def has_truth(self) -> bool:
        """Return whether it has a ground truth that all may see."""
        return self.state.record is not None and self.state.stage is Stage.plain

    @property
    def is_left(self) -> bool:
        """Return whether nobody has read it yet, or not all who read it alone."""
        is_open = not self.has_truth and self.state.status == "open"
        return bool(self.waiting) or (is_open and self.state.stage is not Stage.settling)


@dataclass(frozen=True)
class TruthProgress:
    """How far a ground truth is.

    Attributes:
        items: the items, in the order of the collection.
        people: the names of those who work on it, sorted.
        truths: how many items have a ground truth.
        left: how many nobody has read yet, or not all who read them alone.
        to_settle: in how many people have to decide between what they entered.
        assigned: how many several people read, each alone.
        waiting: person → how many of these the person is not done with.
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
        HdbenchError: see `States`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._states = States(folder)
        self._progress: TruthProgress | None = None

    def read(self) -> TruthProgress:
        """Return the progress by now.

        Raises:
            HdbenchError: a file has become unusable.
        """
        with self._lock, read_errors(self._folder):
            if self._states.refresh() or self._progress is None:
                self._progress = self._counted()
            return self._progress

    def _counted(self) -> TruthProgress:
        items = [self._item(item) for item in self._states.metadata.rows]
        places = {
            "truth": [place for place, item in enumerate(items) if item.has_truth],
            "left": [place for place, item in enumerate(items) if item.is_left],
            "settle": [place for place, item in enumerate(items) if item.state.conflicts],
        }
        return TruthProgress(
            items,
            sorted(self._states.people.events),
            len(places["truth"]),
            len(places["left"]),
            len(places["settle"]),
            len(self._states.people.readers),
            Counter(name for item in items for name in item.waiting),
            places,
        )

    def _item(self, item: str) -> ItemProgress:
        readers = self._states.people.readers.get(item, ())
        waiting = waiting_for(item, self._states.people.changes(item), readers) if readers else ()
        return ItemProgress(self._states.of(item), waiting)
