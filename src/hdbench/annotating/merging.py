"""Exchange of histories between two people without a server.

All of a history is checked before anything is written.
"""

import io
import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hdbench.annotating.annotation import (
    Annotation,
    Assignment,
    read_annotation,
    with_assignments,
    write_annotation,
)
from hdbench.annotating.assigned import is_plain
from hdbench.annotating.changes import (
    MAX_CHANGE,
    MAX_ITEM_CHANGES,
    MAX_TIPS,
    Change,
    as_line,
    as_text,
    check_pseudonym,
    is_pseudonym,
    read_change,
    same_change,
)
from hdbench.annotating.conflicts import Conflict
from hdbench.annotating.folding import JOIN
from hdbench.annotating.history import SUFFIX, History
from hdbench.annotating.metadata import Metadata
from hdbench.answers.members import Zip
from hdbench.common.checked import validate
from hdbench.common.jsonio import parse_line, write_whole
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

MAX_CHANGES = 1_000_000
"""Maximum number of changes in a history that is merged."""

MAX_ITEM_BYTES = 64 * 2**20
"""Maximum number of bytes of all changes to one item in such a history."""

ASSIGNED = "annotation.json"
"""The file in such a ZIP with the assignments of items."""


class HandedOver(NamedTuple):
    """Content of a ZIP that somebody handed over; nothing proves who wrote it.

    Attributes:
        annotator: the pseudonym of the history's author.
        changes: the history, each change once, in the order in which they were made.
        annotation: the assignments of items.
    """

    annotator: str
    changes: list[Change]
    annotation: Annotation


def hand_over(folder: Path, annotator: str, path: Path) -> int:
    """Write an annotator's history and the assignments of items into a ZIP.

    Args:
        folder: the collection.
        annotator: the pseudonym.
        path: the ZIP, which must not exist.

    Returns:
        The number of changes.

    Raises:
        HdbenchError: there are neither changes nor assignments, or the file exists or cannot be
            written.
    """
    check_pseudonym(annotator)
    Metadata(folder)
    history = History(folder)
    changes = _own(history, annotator)
    annotation = read_annotation(folder)
    shared = annotation.model_dump(mode="json", include={"assignments", "blind"})
    if not changes and not annotation.assignments:
        raise HdbenchError(
            "{place}: {name} has changed nothing here yet",
            place=history.file(annotator),
            name=annotator,
        )
    if path.exists():
        raise HdbenchError("{place}: exists already: choose another name", place=path)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        members = {f"{annotator}{SUFFIX}": b"".join(map(as_line, changes))}
        if annotation.assignments or annotation.blind:
            members[ASSIGNED] = json.dumps(shared).encode()
        for name, data in members.items():
            # A real date would reveal when somebody worked, and make equal histories differ.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    write_whole(path, packed.getvalue())
    return len(changes)


def read_hand_over(path: Path) -> HandedOver:
    """Read a ZIP of `hand_over`; nothing is written.

    Args:
        path: the ZIP, untrusted.

    Raises:
        HdbenchError: it is not such a ZIP, or has too many changes.
    """
    with read_errors(path):
        archive = Zip(path, str(path))
    try:
        names = [name for name in (*archive.names, *archive.others) if name != ASSIGNED]
        annotator = names[0].removesuffix(SUFFIX) if names else ""
        if len(names) != 1 or not names[0].endswith(SUFFIX) or not is_pseudonym(annotator):
            raise HdbenchError(
                "{place}: must have the history of one annotator, such as anna{ending}, and "
                "nothing else: hdbench hand-over writes such a file",
                place=path,
                ending=SUFFIX,
            )
        with tempfile.TemporaryDirectory(prefix="hdbench-") as scratch:
            changes = _read(archive.unpacked(names[0], Path(scratch)), annotator, path)
        annotation = Annotation()
        if ASSIGNED in archive.names:
            data = parse_line(archive.read(ASSIGNED), f"{path}: {ASSIGNED}")
            annotation = validate(Annotation, data, Path(f"{path}: {ASSIGNED}"))
        return HandedOver(annotator, changes, annotation)
    finally:
        archive.close()


def _own(history: History, annotator: str) -> list[Change]:
    """Return an annotator's changes, in the order in which they were made."""
    changes: dict[str, Change] = {}
    for by_id in history.changes.values():
        changes |= by_id
    return [changes[change_id] for change_id in dict.fromkeys(history.own.get(annotator, ()))]


def _read(unpacked: Path, annotator: str, path: Path) -> list[Change]:
    """Return the changes in an untrusted history, in which every line must be a change."""
    changes: dict[str, Change] = {}
    weights, sizes = Counter[str](), Counter[str]()
    with unpacked.open("rb") as file:
        for number, raw in enumerate(iter(partial(file.readline, MAX_CHANGE + 1), b""), 1):
            change = read_change(raw, f"{path}:{number}")
            if not change.is_by(annotator):
                raise HdbenchError(
                    "{place}:{number}: a change by {by}, not by {name}",
                    place=path,
                    number=number,
                    by=change.by,
                    name=annotator,
                )
            if changes.setdefault(change.id, change) is change:
                weights[change.item] += change.weight
                sizes[change.item] += len(raw)
            elif not same_change(changes[change.id], change):
                raise HdbenchError(
                    "{place}:{number}: has the id of another change", place=path, number=number
                )
            too_many = len(changes) > MAX_CHANGES or weights[change.item] > MAX_ITEM_CHANGES
            if too_many or sizes[change.item] > MAX_ITEM_BYTES:
                raise HdbenchError(
                    "{place}:{number}: more changes than are taken in", place=path, number=number
                )
    return list(changes.values())


FIRST = "2026-01-01T00:00:00.000Z"
"""The time before which nobody can have annotated with hdbench."""

MAX_SKEW = timedelta(days=1)
"""Maximum difference between the clocks of two computers: time zones can be set wrong."""


@dataclass(frozen=True)
class Incoming:
    """Summary of a merge, for the person who has to allow it.

    Attributes:
        annotator: the pseudonym of the history's alleged author.
        is_known: whether the annotator is assigned anything here, or has a history here.
        changes: the changes that are not here yet.
        records: those of them that record another original ground truth than the one here.
        assignments: the assignments that are not here yet.
        strangers: annotators in these assignments who have neither an assignment nor a history
            here.
        blind: the number of items that may no longer be annotated from a draft.
    """

    annotator: str
    is_known: bool
    changes: Sequence[Change]
    records: Sequence[Change]
    assignments: Sequence[Assignment]
    strangers: Sequence[str]
    blind: int

    @property
    def is_news(self) -> bool:
        """Return whether anything here would change."""
        is_changed = any(not change.is_base for change in self.changes)
        return bool(is_changed or self.records or self.assignments or self.blind)


Ask = Callable[[Incoming], object]
"""Callback before anything is written, if there is anything new; may raise to end the merge."""


class Merged(NamedTuple):
    """Outcome of `merge`.

    Attributes:
        taken: the number of new changes.
        known: the number of changes that were already there.
        conflicts: the conflicts in the items that changed.
        assigned: the number of items that are newly assigned to several people.
    """

    taken: int
    known: int
    conflicts: tuple[Conflict, ...]
    assigned: int


def merge(folder: Path, path: Path, merger: str, ask: Ask) -> Merged:
    """Merge a ZIP of `hand_over` from elsewhere; existing changes stay as they are.

    Args:
        folder: the collection.
        path: the ZIP, untrusted.
        merger: the pseudonym of the person who merges it.
        ask: see `Ask`.

    Raises:
        HdbenchError: it is not such a ZIP; has changes of items that the folder does not have, an
            existing change with other content, more than can be settled, impossible times, or
            changes by the merger or by somebody who annotates here; or its annotator has the folder
            open. Then nothing is merged.
    """
    check_pseudonym(merger)
    merging = _Merging(folder, path, merger)
    annotator, metadata, history = merging.annotator, merging.metadata, merging.history
    with history.lock(annotator):
        history.refresh()
        new = merging.new()
        added = merging.bases(new) + new
        merging.check_folded(added)
        incoming = merging.incoming(new, read_annotation(folder))
        if incoming.is_news:
            ask(incoming)
        history.repair(annotator)
        with metadata.writing():  # as another process may be assigning or merging
            annotation = read_annotation(folder)
            joined = merging.joined(annotation)
            if joined != annotation:
                write_annotation(folder, joined)  # first: until then, assigned items could be seen
        touched = history.append(annotator, list(map(as_line, added))) if added else set()
        with metadata.writing():
            # Otherwise this could write less than another process has just written.
            touched |= history.refresh() | metadata.refresh()
            # Also existing changes: a merge may have been killed before it wrote their items.
            due = touched | {change.item for change in merging.changes}
            # Annotators of an assigned item see no entries of others until it is settled.
            states = [
                metadata.folded(item, history.changes[item].values())
                for item in sorted(due & metadata.rows.keys())
                if is_plain(history.changes[item].values(), joined.annotators(item))
            ]
            metadata.write(states)
    conflicts = tuple(
        conflict for state in states if state.item in touched for conflict in state.conflicts
    )
    assigned = sum(not annotation.annotators(item) for item in joined.assigned_items)
    return Merged(len(new), len(merging.changes) - len(new), conflicts, assigned)


class _Merging:
    """A hand-over beside the collection that it is merged into.

    Args:
        folder: the collection.
        path: the ZIP.
        merger: the pseudonym of the person who merges it.
    """

    def __init__(self, folder: Path, path: Path, merger: str) -> None:
        self._folder, self._path, self._merger = folder, path, merger
        self.metadata = Metadata(folder)
        self.annotator, self.changes, self._annotation = read_hand_over(path)
        for change in self.changes:
            if change.item not in self.metadata.rows:
                raise HdbenchError(
                    "{place}: has a change of {item!r}, which is not in {folder}: is it the "
                    "history of another collection?",
                    place=path,
                    item=change.item[:100],
                    folder=folder,
                )
        self.history = History(folder)

    def joined(self, annotation: Annotation) -> Annotation:
        """Return the assignments here with those of the ZIP; refuse those that do not fit."""
        return with_assignments(annotation, self._annotation, self.metadata.rows, self._path)

    def incoming(self, new: Sequence[Change], annotation: Annotation) -> Incoming:
        """Return the summary of the merge; refuse assignments that do not fit those here."""
        joined = self.joined(annotation)
        assignments = [each for each in joined.assignments if each not in annotation.assignments]
        known = self.history.own.keys() | {
            name for assignment in annotation.assignments for name in assignment.annotators
        }
        assigned = {name for assignment in assignments for name in assignment.annotators}
        return Incoming(
            self.annotator,
            self.annotator in known,
            new,
            [change for change in new if change.is_base and not self._is_here(change)],
            assignments,
            sorted(assigned - known - {self.annotator}),
            len(joined.blind) - len(annotation.blind),
        )

    def new(self) -> list[Change]:
        """Return the changes that are not here yet; those that are here must be the same."""
        own = set(self.history.own.get(self.annotator, ()))
        for change in self.changes:
            existing = self.history.changes[change.item].get(change.id)
            if existing is not None and not same_change(existing, change):
                raise HdbenchError(
                    "{place}: has the change {change} otherwise than {history}: one of both was "
                    "edited by hand; nothing is taken in",
                    place=self._path,
                    change=change.id,
                    history=self.history.path,
                )
        new = [change for change in self.changes if change.id not in own]
        if not all(change.is_base and self._is_here(change) for change in new):
            self._check_author(own)
        weights = Counter[str]()
        for change in new:
            weights[change.item] += change.weight
        for item, weight in weights.items():
            if len(self.history.changes[item]) + weight > MAX_ITEM_CHANGES:
                raise HdbenchError(
                    "{place}: {item!r}: more changes than are kept",
                    place=self._path,
                    item=item[:100],
                )
        self._check_times(new)
        return new

    def bases(self, new: Sequence[Change]) -> list[Change]:
        """Return the bases of items whose first change this is: their records would be lost."""
        ids = {change.id for change in new}
        bases = []
        for item in dict.fromkeys(change.item for change in new):
            existing = self.history.changes[item].values()
            base = self.metadata.base(item)
            if base and not any(change.what == "ground_truth" for change in existing):
                bases += [base] if base.id not in ids else []
        return bases

    def check_folded(self, added: Sequence[Change]) -> None:
        """Refuse changes after which an item could no longer be annotated."""
        by_item: dict[str, dict[str, Change]] = {}
        for change in added:
            existing = self.history.changes[change.item]
            by_item.setdefault(change.item, dict(existing))[change.id] = change
        for item, changes in by_item.items():
            state = self.metadata.folded(item, changes.values())
            if any((head or "").count(JOIN) > MAX_TIPS for head in state.head.values()):
                raise HdbenchError(
                    "{place}: {item!r}: more than {most} changes that do not know of each other, "
                    "which nobody could settle: nothing is taken in",
                    place=self._path,
                    item=item[:100],
                    most=MAX_TIPS + 1,
                )
            if len(as_text(state.record)) > MAX_CHANGE:
                raise HdbenchError(
                    "{place}: {item!r}: its ground truth would have more than {most} MiB: nothing "
                    "is taken in",
                    place=self._path,
                    item=item[:100],
                    most=MAX_CHANGE >> 20,
                )

    def _is_here(self, base: Change) -> bool:
        """Return whether a base records the ground truth that is here, or is already here."""
        here = self.metadata.base(base.item)
        return (here and here.id) == base.id or base.id in self.history.changes[base.item]

    def _check_author(self, own: set[str]) -> None:
        """Refuse changes under the name of the merger or of somebody who annotates here.

        One person's history only ever grows. So of two histories of the same person, one contains
        the other, unless two people share a name or one of the histories was forged.
        """
        if self.history.is_written_here(self.annotator):
            raise HdbenchError(
                "{place}: has changes by {name} that were not made here, but {name} annotates in "
                "this folder: nothing is taken in; each person, on each computer, needs a "
                "pseudonym of their own. If nobody is {name} here any more, delete {marker}",
                place=self._path,
                name=self.annotator,
                marker=self.history.marker(self.annotator),
            )
        if self.annotator == self._merger:
            raise HdbenchError(
                "{place}: has changes by {name}, which is your own pseudonym here, that are not in "
                "{folder}: nothing is taken in. If you made them on another computer, copy the "
                "folder from there, or choose another pseudonym for this computer",
                place=self._path,
                name=self._merger,
                folder=self._folder,
            )
        missing = own - {change.id for change in self.changes}
        if any(
            change.id in missing and not change.is_base
            for by_id in self.history.changes.values()
            for change in by_id.values()
        ):
            raise HdbenchError(
                "{place}: has new changes by {name}, but lacks some that {history} has: nothing is "
                "taken in; do two people have this name, or was it put together by somebody else?",
                place=self._path,
                name=self.annotator,
                history=self.history.file(self.annotator),
            )

    def _check_times(self, new: Sequence[Change]) -> None:
        """Refuse changes with impossible times."""
        latest = datetime.now(UTC) + MAX_SKEW
        coming = {(change.item, change.id): change for change in self.changes}
        for change in new:
            if change.is_base:
                continue
            at = _time(change, datetime.max)
            existing = self.history.changes[change.item]
            parents = (
                existing.get(parent) or coming.get((change.item, parent))
                for parent in change.parents
            )
            if (
                at > latest
                or change.at < FIRST
                or any(parent and _time(parent, datetime.min) - at > MAX_SKEW for parent in parents)
            ):
                raise HdbenchError(
                    "{place}: {item!r}: a change is said to be of {at}, which is impossible: it is "
                    "before those that it was made on top of, before hdbench, or still to come; "
                    "nothing is taken in",
                    place=self._path,
                    item=change.item[:100],
                    at=change.at,
                )


def _time(change: Change, otherwise: datetime) -> datetime:
    """Return the time of a change; another one if it is not a valid time."""
    try:
        return datetime.fromisoformat(change.at)
    except ValueError:
        return otherwise.replace(tzinfo=UTC)
