"""Items that several people read, each alone, so that it shows how far they agree."""

import random
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.collections.truth.event_files import People
from hdbench.collections.truth.events import WITHOUT_TRUTH, Change, Double, as_name, now
from hdbench.collections.truth.item_state import ItemState, all_finished, own_states
from hdbench.collections.truth.metadata import Metadata
from hdbench.errors import HdbenchError

SEED = 1
"""The seed by which the items are drawn."""


class ReadByAll(NamedTuple):
    """An item that all its readers are done with.

    Attributes:
        item: the item's id.
        records: person → that person's record before anything was settled; None if they entered
            nothing, or say that no ground truth can be given.
    """

    item: str
    records: dict[str, dict[str, Any] | None]


class DoublyRead(NamedTuple):
    """The items of a collection that several people read.

    Attributes:
        finished: those that all their readers are done with, in the order of the collection.
            Items that somebody rejected are left out: they say nothing about agreement.
        unfinished: the number of items that some reader is not done with yet.
    """

    finished: list[ReadByAll]
    unfinished: int


def read_doubly_read(folder: Path) -> DoublyRead:
    """Return the items that several people read, with their records.

    Args:
        folder: the collection.

    Raises:
        HdbenchError: it is not a collection, or what people did cannot be used.
    """
    people = People(folder)
    finished, unfinished = [], 0
    for item in Metadata(folder).rows:
        if not (names := people.readers.get(item)):
            continue
        own = own_states(item, people.changes(item), names)
        if not all_finished(own):
            unfinished += 1
        elif all(state.status != "rejected" for state in own.values()):
            finished.append(ReadByAll(item, {name: truth_of(own[name]) for name in own}))
    return DoublyRead(finished, unfinished)


def truth_of(state: ItemState) -> dict[str, Any] | None:
    """Return the record of somebody who is done; None if there is or can be none."""
    return None if state.status in WITHOUT_TRUTH else state.record


def read_double(folder: Path, person: str, items: int) -> None:
    """Have a person read items that several people read, each alone; the first one draws them.

    They are drawn among those that nobody has started and that have no ground truth.

    Args:
        folder: the collection.
        person: the person's name.
        items: how many items these are.

    Raises:
        HdbenchError: they are another number already, or there are too few.
    """
    name = as_name(person)
    metadata, people = Metadata(folder), People(folder)
    with people.writing(name):
        drawn = list(people.of_kind(Double))
        if any(event.by == name for event in drawn):
            return
        if drawn:
            first = min(drawn, key=lambda event: event.at)
            if len(first.items) != items:
                raise HdbenchError(
                    "{place}: {count:,} items are read by several people here: give that number",
                    place=folder,
                    count=len(first.items),
                )
            chosen = first.items
        else:
            chosen = _drawn(folder, metadata, people, items)
        people.append([Double(by=name, at=now(), items=chosen, seed=SEED)])


def _drawn(folder: Path, metadata: Metadata, people: People, items: int) -> tuple[str, ...]:
    begun = {
        item
        for item in people.items()
        if any(change.kind != "comment" for change in people.changes(item))
    }
    free = [item for item, row in metadata.rows.items() if row.record is None and item not in begun]
    if not 0 < items <= len(free):
        raise HdbenchError(
            "{place}: has {free:,} items that nobody has started: {items:,} cannot be drawn",
            place=folder,
            free=len(free),
            items=items,
        )
    drawn = set(random.Random(SEED).sample(free, items))  # noqa: S311  no secret
    return tuple(item for item in free if item in drawn)


def waiting_for(item: str, changes: list[Change], readers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the readers who are not done with an item; none at the end."""
    own = own_states(item, changes, readers)
    return tuple(name for name, state in own.items() if state.status == "open")
