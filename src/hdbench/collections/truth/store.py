"""The ground truths of a folder as one person edits them: the store behind the editor."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from hdbench.benchmarks.spec import IMPORTED
from hdbench.collections.truth.event_files import ChangedError, People
from hdbench.collections.truth.events import Change, Event, Found, Undo, What, as_name, as_time, now
from hdbench.collections.truth.fields import get, parse_field, with_value
from hdbench.collections.truth.item_state import Base, ItemState, Stage, base_of, seen_by
from hdbench.collections.truth.metadata import Metadata, TakenError
from hdbench.common.validation import validate
from hdbench.errors import HdbenchError


class States:
    """The states of a folder's items, for somebody who looks at them; nothing is written.

    Args:
        folder: the collection.
        person: who looks at them; empty for somebody who reads nothing alone.

    Attributes:
        folder: same as in Args.
        person: same as in Args.
        metadata: the rows of the collection.
        people: what people did.

    Raises:
        HdbenchError: the folder is not a collection in the plain form; or what people did cannot be
            used, or is about items that the collection does not have.
    """

    def __init__(self, folder: Path, person: str = "") -> None:
        self.folder, self.person = folder, person
        self.metadata, self.people = Metadata(folder), People(folder)
        self._states: dict[str, tuple[object, ItemState]] = {}  # with what it was computed from
        self._numbers: dict[str, int] = {}
        self.refresh()

    def refresh(self) -> bool:
        """Read what others have changed; return whether any state may be another one."""
        self.people.refresh()
        is_other = self.metadata.refresh() or self.people.numbers() != self._numbers
        self._check_items()
        self._numbers = self.people.numbers()
        return is_other

    def of(self, item: str) -> ItemState:
        """Return the state of an item.

        Raises:
            HdbenchError: there is no such item.
        """
        if item not in self.metadata.rows:
            raise HdbenchError("{item!r}: no such item", item=item[:100])
        readers, base = self.people.readers.get(item, ()), self.base(item)
        known, made_of = self._states.get(item), (self.people.stamp(item), readers, base)
        if known is None or known[0] != made_of:
            state = seen_by(self.person, item, self.people.changes(item), readers, base)
            known = self._states[item] = made_of, state
        return known[1]

    def base(self, item: str) -> Base | None:
        """Return the record that an item had before anybody changed it; None without one."""
        if (found := self.people.found.get(item)) or self.people.stamp(item)[0]:
            return base_of(found or ())
        row = self.metadata.rows[item]
        return None if row.record is None else Base(row.record, row.made)

    def _check_items(self) -> None:
        """Refuse a list of items from which some have gone that people worked on."""
        missing = (self.people.items() | self.people.readers.keys()) - self.metadata.rows.keys()
        if missing:
            raise HdbenchError(
                "{place}: lacks {item!r} ({count:,} in all), for which people entered something: "
                "put the missing rows back; nothing was written",
                place=self.metadata.path,
                item=min(missing)[:100],
                count=len(missing),
            )


class Store(States):
    """A folder that one person has open, beside others with files of their own.

    Every method can be called from several threads. Changes by others, and by the same person in
    other windows, are seen at the next call.

    Args:
        folder: the collection, whose `metadata.jsonl` is brought up to date; later if another
            process is writing it.
        person: the person's name.

    Attributes:
        items: the ids, in the order of `metadata.jsonl`.

    Raises:
        HdbenchError: the name cannot be used; see also `States`.
    """

    def __init__(self, folder: Path, person: str) -> None:
        super().__init__(folder, as_name(person))
        self.items = list(self.metadata.rows)
        with self.people.writing(self.person):
            pass  # so that what is wrong is said now
        self._turn = threading.RLock()
        self._is_due = True
        with suppress(TakenError):  # otherwise it is done at the next flush
            self.flush(wait=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def state(self, item: str) -> ItemState:
        """Return the state of an item.

        Raises:
            HdbenchError: there is no such item.
        """
        return self.states([item])[0]

    def states(self, items: Sequence[str] | None = None) -> list[ItemState]:
        """Return the states of some items, in their order; by default of all items.

        Raises:
            HdbenchError: an item is no longer in `metadata.jsonl`.
        """
        with self._turn:
            self._refresh()  # once: it looks at every file
            return [self.of(item) for item in (self.items if items is None else items)]

    def change(
        self,
        item: str,
        kind: What,
        field: str,
        to: Any,
        *,
        after: str | None,
        how: str,
        model: str | None = None,
    ) -> ItemState:
        """Change an item; when this returns, it is saved.

        Args:
            item: the item's id.
            kind: what is changed.
            field: the path of a field of the ground truth; empty for the whole record, and for a
                status or comment.
            to: the value from now on.
            after: the value of `head` for it.
            how: the origin of the value; see `Change`.
            model: the model that wrote it, if it is a draft.

        Returns:
            The current state of the item.

        Raises:
            ChangedError: `after` is not the head; nothing is written.
            HdbenchError: there is no such item or field, the value cannot be held, or it cannot be
                saved; nothing is written.
        """
        with self._turn, self.people.writing(self.person):
            self._refresh()
            state = self.of(item)
            if after != (state.head or {}).get(kind):
                raise ChangedError("{item}: was changed in the meantime", item=item)
            if state.stage is Stage.others:
                raise HdbenchError(
                    "{item}: is read by others, who do not see your entries", item=item
                )
            top, value = _of_field(state, field, to) if kind == "ground_truth" else (field, to)
            numbers = self.people.numbers()
            made = {
                "by": self.person,
                "at": self._time(item),
                "kind": kind,
                "item": item,
                "field": top,
                "value": value,
                "how": how,
                "model": model,
                "alone": state.stage is Stage.own,
                "seen": {name: numbers[name] for name in numbers if name != self.person},
            }
            return self._save(item, validate(Change, made, self.people.file(self.person)))

    def undo(self, item: str) -> ItemState:
        """Undo the person's last change of an item.

        Raises:
            HdbenchError: there is none, or somebody has changed the same field since.
        """
        with self._turn, self.people.writing(self.person):
            self._refresh()
            changes, is_alone = self.people.changes(item), self.of(item).stage is Stage.own
            own = [
                change
                for change in changes
                if change.by == self.person and change.alone == is_alone
            ]
            if not own:
                raise HdbenchError(
                    "{item}: {name} has nothing to undo", item=item, name=self.person
                )
            last = max(own, key=lambda change: change.number)
            if any(_replaces(change, last) for change in changes):
                raise HdbenchError(
                    "{item}: {field} was changed again since, so that {name}'s change is not "
                    "undone: change it by hand",
                    item=item,
                    field=last.field or last.kind,
                    name=self.person,
                )
            return self._save(
                item, Undo(by=self.person, at=self._time(item), item=item, undoes=last.number)
            )

    def flush(self, *, wait: bool = True) -> None:
        """Bring `metadata.jsonl` up to date.

        Args:
            wait: whether to wait for another process that is writing it.

        Raises:
            TakenError: another process is writing it.
            HdbenchError: it cannot be written.
        """
        with self._turn:
            self._refresh()
            if not self._is_due:
                return
            metadata = self.metadata
            with metadata.writing() if wait else metadata.writing(0):
                self._refresh()  # otherwise this could write less than another process just did
                states = map(self.of, self.people.items())
                metadata.write(state for state in states if state.stage is Stage.plain)
                self.people.seal()
                self._is_due = False

    def close(self) -> None:
        """Bring `metadata.jsonl` up to date."""
        self.flush()

    def _refresh(self) -> None:
        self._is_due |= self.refresh()

    def _time(self, item: str) -> str:
        """Return the current time; just after the last change where a clock is wrong."""
        last = max((change.at for change in self.people.changes(item)), default="")
        time = now()
        if time > last:
            return time
        return as_time(datetime.fromisoformat(last) + timedelta(milliseconds=1))

    def _save(self, item: str, event: Event) -> ItemState:
        base = self.base(item)
        events = [event]
        noted = {each.by for each in self.people.found.get(item, ())}
        if base is not None and self.person not in noted:
            # Otherwise it would be lost once metadata.jsonl is written, or where only this person's
            # file is copied to.
            how, model = base.made or (IMPORTED, None)
            found = Found(
                by=self.person, at=event.at, item=item, record=base.record, how=how, model=model
            )
            events = [found, event]
        self.people.append(events)
        self._is_due = True
        return self.of(item)


def _of_field(state: ItemState, field: str, to: Any) -> tuple[str, Any]:
    """Return the field of the record that a path is in, and its value from then on.

    Raises:
        HdbenchError: the path does not fit the record.
    """
    path = parse_field(field)
    if not path:
        return "", to
    top = path[:1]
    try:
        return str(top[0]), get(with_value(state.record, path, to), top)
    except KeyError as error:
        raise HdbenchError(
            "{item}: {field!r}: there is no such field", item=state.item, field=field[:100]
        ) from error


def _replaces(change: Change, other: Change) -> bool:
    """Return whether somebody else set the same field after another change, knowing of it."""
    overlaps = not change.field or not other.field or change.field == other.field
    is_same = change.kind == other.kind and change.by != other.by
    return is_same and overlaps and change.knows(other)
