"""The ground truths of a folder as one annotator edits them: the store behind the editor."""

import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from hdbench.annotating.annotation import Annotation, file_stamp, read_annotation
from hdbench.annotating.assigned import (
    agreed_status,
    check_settled,
    is_given,
    own_states,
    seen_by,
    visible,
)
from hdbench.annotating.changes import (
    MAX_ITEM_CHANGES,
    MAX_TIPS,
    SETTLED,
    Change,
    as_line,
    same,
)
from hdbench.annotating.conflicts import Conflict
from hdbench.annotating.fields import FieldPath, as_field, get, parse_field, with_value
from hdbench.annotating.folding import JOIN, ItemState, Stage, causal_order, record_of
from hdbench.annotating.history import History
from hdbench.annotating.metadata import Metadata, TakenError
from hdbench.annotating.own_file import now
from hdbench.errors import HdbenchError, Message

__all__ = ["Change", "Conflict", "ItemState", "StaleError", "Store"]


class StaleError(HdbenchError):
    """The item has changed since it was read; nothing was written.

    Attributes:
        state: the current state of the item.
    """

    def __init__(self, state: ItemState) -> None:
        super().__init__(Message("{item}: was changed in the meantime", item=state.item))
        self.state = state


class Store:
    """A folder that one annotator has open, beside others with their own histories.

    Every method can be called from several threads. Changes by others are seen at the next call.

    Attributes:
        items: the ids, in the order of `metadata.jsonl`.
        annotator: the pseudonym.
        notes: messages about repaired or skipped lines, for the user.
    """

    def __init__(self, folder: Path, annotator: str, stack: ExitStack) -> None:
        self.annotator = annotator
        self._metadata = Metadata(folder)
        self.items = list(self._metadata.rows)
        self._history = History(folder)
        self._folder = folder
        self._stamp = file_stamp(folder)
        self._annotation = read_annotation(folder)
        stack.enter_context(self._history.lock(annotator))
        self._history.refresh()  # what was written before the lock was ours
        self._history.repair(annotator)
        self._stack = stack
        self._turn = threading.RLock()
        self._states: dict[str, ItemState] = {}
        self._note_bases()
        self._due = set(self._history.changes)
        if unknown := self._due - self._metadata.rows.keys():
            self._history.notes.append(
                Message(
                    "{place}: has changes of items that are not in metadata.jsonl, such as "
                    "{item!r} ({count}); they are left as they are",
                    place=self._history.path,
                    item=min(unknown)[:100],
                    count=len(unknown),
                )
            )
        with suppress(TakenError):  # otherwise it is done at the next flush
            self.flush(wait=False)

    @classmethod
    def open(cls, folder: Path, annotator: str) -> Self:
        """Open a folder, and bring its `metadata.jsonl` up to date.

        If another process is writing that file, it is brought up to date later.

        Args:
            folder: the collection.
            annotator: the pseudonym.

        Raises:
            HdbenchError: the folder is not a collection in the plain form, the pseudonym is not
                usable, or another process has the folder open under it.
        """
        with ExitStack() as stack:
            store = cls(folder, annotator, stack)
            store._stack = stack.pop_all()
            return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def notes(self) -> list[str]:
        """Return messages about repaired or skipped lines, for the user."""
        return [*self._metadata.notes, *self._history.notes]

    def state(self, item: str) -> ItemState:
        """Return the state of an item.

        Raises:
            HdbenchError: there is no such item.
        """
        with self._turn:
            self._refresh()
            return self._state(item)

    def states(self, items: Sequence[str] | None = None) -> list[ItemState]:
        """Return the states of some items, in their order; by default of all items.

        Raises:
            HdbenchError: an item is no longer in `metadata.jsonl`.
        """
        with self._turn:
            self._refresh()  # once: it looks at every history
            return [self._state(item) for item in (self.items if items is None else items)]

    def annotation(self) -> Annotation:
        """Return the current content of `annotation.yaml`."""
        with self._turn:
            self._refresh()
            return self._annotation

    def waiting(self) -> dict[str, int]:
        """Return pseudonym → the number of assigned items that the annotator is not done with."""
        counts = Counter[str]()
        with self._turn:
            self._refresh()
            for item in self.items:
                if self._state(item).stage in {Stage.own, Stage.others}:
                    own = self._own(item)
                    counts.update(name for name, state in own.items() if state.status == "open")
        return dict(counts)

    def history(self, item: str) -> list[Change]:
        """Return the changes of an item that the annotator may see.

        Each comes after those it was made on top of; otherwise they are in the order of time.

        Raises:
            HdbenchError: there is no such item.
        """
        with self._turn:
            self._refresh()
            return causal_order(self._visible(self._state(item)))

    def change(
        self,
        item: str,
        what: str,
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
            what: `ground_truth`, `status` or `comment`.
            field: the path of a field of the ground truth; empty for the whole record, and for a
                status or comment.
            to: the value from now on.
            after: the value of `head` for it.
            how: the origin of the value; see `Change`.
            model: the model that wrote it, if it is a draft.

        Returns:
            The current state of the item.

        Raises:
            StaleError: `after` is not the head; nothing is written.
            HdbenchError: there is no such item or field, the value cannot be held, or it cannot be
                saved; nothing is written.
        """
        with self._turn:
            self._refresh()
            state = self._state(item)
            if after != state.head.get(what):
                raise StaleError(state)
            check_settled(state, what, to)
            way = SETTLED if state.stage is Stage.settling else how
            return self._save(state, _NewChange(what, field, to, way, model=model))

    def undo(self, item: str) -> ItemState:
        """Undo the annotator's last change of an item that is not undone yet.

        Raises:
            HdbenchError: there is none, or somebody has changed the same field since.
        """
        with self._turn:
            self._refresh()
            state = self._state(item)
            return self._save(state, self._undoing(state))

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
            if not self._due:
                return
            with self._metadata.writing() if wait else self._metadata.writing(0):
                self._refresh()  # otherwise this could write less than another process just did
                self._forget(self._metadata.refresh())
                items = self._due & self._metadata.rows.keys()
                self._settle(items)
                states = [self._state(item) for item in sorted(items)]
                self._metadata.write(state for state in states if state.stage is Stage.plain)
                self._due.clear()

    def close(self) -> None:
        """Bring `metadata.jsonl` up to date, and let other processes open the folder."""
        with self._turn, self._stack:
            self.flush()

    def _note_bases(self) -> None:
        """Record the bases that a history needs if it was copied here without the others."""
        bases = []
        for item, changes in self._history.changes.items():
            truths = [change for change in changes.values() if change.what == "ground_truth"]
            missing = {parent for change in truths for parent in change.parents} - changes.keys()
            has_base = any(change.is_base for change in truths)
            if missing and item in self._metadata.rows and not has_base:
                base = self._metadata.base(item)
                bases += [as_line(base)] if base else []
        if bases:
            self._history.append(self.annotator, bases)

    def _state(self, item: str) -> ItemState:
        if item not in self._metadata.rows:
            raise HdbenchError("{item!r}: no such item", item=item[:100])
        if item not in self._states:
            changes, row = self._history.of(item), self._metadata.rows[item]
            annotators = self._annotation.annotators(item)
            self._states[item] = seen_by(self.annotator, item, changes, annotators, row)
        return self._states[item]

    def _visible(self, state: ItemState) -> list[Change]:
        return visible(self._history.of(state.item), state.stage, self.annotator)

    def _own(self, item: str) -> dict[str, ItemState]:
        """Return the state of an assigned item by each annotator's own changes."""
        return own_states(item, self._history.of(item), self._annotation.annotators(item))

    def _settle(self, items: Iterable[str]) -> None:
        """Settle the items whose annotators agree entirely."""
        lines = []
        for item in sorted(items):
            state = self._state(item)
            agree = state.stage is Stage.settling and not state.differences
            if agree and (status := agreed_status(self._own(item))):
                # An item with too many changes is left to somebody who opens it and gets the error.
                with suppress(HdbenchError):
                    lines += self._lines(state, _NewChange("status", "", status, SETTLED))
        if lines:
            self._forget(self._history.append(self.annotator, lines))

    def _refresh(self) -> None:
        self._forget(self._history.refresh())
        if self._stamp != (stamp := file_stamp(self._folder)):
            self._annotation, self._stamp = read_annotation(self._folder), stamp
            self._states.clear()  # also of items that nobody has changed yet
            self._due |= self._history.changes.keys()

    def _forget(self, items: set[str]) -> None:
        self._due |= items
        for item in items:
            self._states.pop(item, None)

    def _save(self, state: ItemState, new: "_NewChange") -> ItemState:
        """Write a change on top of the item's state."""
        lines = self._lines(state, new)
        self._history.note_written_here(self.annotator)
        self._forget(self._history.append(self.annotator, lines))
        return self._state(state.item)

    def _lines(self, state: ItemState, new: "_NewChange") -> list[bytes]:
        """Return the lines of a change and of those that have to be recorded before it."""
        item, changes = state.item, self._history.changes.get(state.item, {})
        if len(changes) >= MAX_ITEM_CHANGES:
            raise HdbenchError(
                "{item}: has {most:,} changes, and no more are kept",
                item=item,
                most=MAX_ITEM_CHANGES,
            )
        lines = []
        base = self._metadata.base(item)
        if base and not any(change.what == "ground_truth" for change in changes.values()):
            # Otherwise it would be lost once metadata.jsonl is written.
            lines.append(as_line(base))
        head = dict(state.head)
        for part in [*self._agreed(state, new.what), new]:
            *also, after = (head.get(part.what) or "").split(JOIN)
            old, was_there = _before(state, part)
            change = Change(
                uuid.uuid4().hex,
                item,
                self.annotator,
                now(),
                part.what,
                part.field,
                old,
                part.to,
                after or None,
                part.how,
                tuple(also[-MAX_TIPS:]),  # more can be there only if they were not merged
                part.undoes,
                was_there,
                part.model,
            )
            head[part.what] = change.id
            lines.append(as_line(change))
        return lines

    def _agreed(self, state: ItemState, what: str) -> "list[_NewChange]":
        """Return the changes with agreed values, which are settled before a change of `what`.

        The status is last: with it, the item is settled, even if the process is killed in between.
        """
        if state.stage is not Stage.settling:
            return []
        begun = {change.what for change in self._visible(state)}
        agreed = []
        if what != "comment" and "ground_truth" not in begun:
            agreed.append(_NewChange("ground_truth", "", state.record, SETTLED))
        if what == "status" and "comment" not in begun and state.comment:
            agreed.append(_NewChange("comment", "", state.comment, SETTLED))
        return agreed

    def _undoing(self, state: ItemState) -> "_NewChange":
        """Return the change that undoes the annotator's last one."""
        item, changes = state.item, {change.id: change for change in self._visible(state)}
        ids = self._history.own.get(self.annotator, ())
        own = [changes[change_id] for change_id in ids if change_id in changes]
        undone = {change.undoes for change in own if change.undoes}
        last = next(
            (
                change
                for change in reversed(own)
                if not (change.undoes or change.id in undone or is_given(change))
            ),
            None,
        )
        if last is None:
            raise HdbenchError("{item}: {name} has nothing to undo", item=item, name=self.annotator)
        value, is_there = _before(state, _NewChange(last.what, last.field, None, last.how))
        if not (is_there and same(value, last.to)):
            raise HdbenchError(
                "{item}: {field} was changed again since, so that {name}'s change is not undone: "
                "change it by hand",
                item=item,
                field=last.field or last.what,
                name=self.annotator,
            )
        if last.what != "ground_truth":
            return _NewChange(last.what, "", last.old, last.how, last.id)
        ordered = causal_order([change for change in changes.values() if change.what == last.what])
        earlier = ordered[: ordered.index(last)]
        how = earlier[-1].how if earlier else last.how
        if last.was_there:
            return _NewChange(last.what, last.field, last.old, how, last.id)
        # The field did not exist, and perhaps not even the object that contains it.
        field, to = _without(state.record, record_of(earlier), parse_field(last.field), last.to)
        return _NewChange(last.what, as_field(field), to, how, last.id)


class _NewChange(NamedTuple):
    """A change that is to be made."""

    what: str
    field: str
    to: Any
    how: str
    undoes: str | None = None
    model: str | None = None


def _before(state: ItemState, new: _NewChange) -> tuple[Any, bool]:
    """Return the value that a change replaces, and whether there is one.

    Raises:
        HdbenchError: the field does not fit the record.
    """
    if new.what == "status":
        return state.status, True
    if new.what == "comment":
        return state.comment, True
    path = parse_field(new.field)
    try:
        with_value(state.record, path, new.to)
    except KeyError as error:
        raise HdbenchError(
            "{item}: {field!r}: there is no such field", item=state.item, field=new.field[:100]
        ) from error
    try:
        return get(state.record, path), True
    except KeyError:
        return None, False


def _without(record: Any, before: Any, path: FieldPath, to: Any) -> tuple[FieldPath, Any]:
    """Return the field to change and its value so that an added value is removed.

    Args:
        record: the record as it is.
        before: the record before the value was added.
        path: the field of the value.
        to: the value.
    """
    outer, was_null = path, False
    for end in range(len(path)):
        try:
            if get(before, path[:end]) is not None:
                continue
            is_null = True
        except KeyError:
            is_null = False
        try:
            is_alone = same(get(record, path[:end]), with_value(None, path[end:], to))
        except KeyError:
            is_alone = False
        if is_alone:  # otherwise it contains more by now
            outer, was_null = path[:end], is_null
            break
    if was_null:
        return outer, None
    holder = get(record, outer[:-1])
    if isinstance(holder, dict):
        return outer[:-1], {key: value for key, value in holder.items() if key != outer[-1]}
    return outer[:-1], [value for index, value in enumerate(holder) if index != outer[-1]]
