"""Two people without a server: one hands over a history, the other takes it in."""

import io
import json
import tempfile
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hdbench.annotating.annotation import Annotation, read_annotation, write_annotation
from hdbench.annotating.assigned import is_plain
from hdbench.annotating.assigning import with_assignments
from hdbench.annotating.changes import (
    MAX_CHANGE,
    MAX_ITEM_CHANGES,
    Change,
    as_line,
    base_change,
    check_pseudonym,
    is_pseudonym,
    read_change,
    same_change,
)
from hdbench.annotating.folding import Conflict, fold
from hdbench.annotating.history import SUFFIX, History
from hdbench.annotating.metadata import Metadata
from hdbench.common.checked import validate
from hdbench.common.jsonio import parse_line, write_whole
from hdbench.errors import HdbenchError, os_reason
from hdbench.reading.members import Zip

MAX_CHANGES = 1_000_000
"""Maximum number of changes in a history that is taken in."""


ASSIGNED = "annotation.json"
"""The file in such a ZIP that says which items are assigned to whom."""


class Merged(NamedTuple):
    """What `merge` did.

    Attributes:
        taken: how many changes are new.
        known: how many were there already.
        conflicts: what has to be settled in the items that changed.
        assigned: how many items are assigned to several people that were not before.
    """

    taken: int
    known: int
    conflicts: tuple[Conflict, ...]
    assigned: int


def hand_over(folder: Path, annotator: str, path: Path) -> int:
    """Write an annotator's history into a ZIP, and which items are assigned to whom.

    Args:
        folder: the collection.
        annotator: the pseudonym.
        path: the ZIP; never one that is there already.

    Returns:
        How many changes it has.

    Raises:
        HdbenchError: there is neither of both, or the file exists or cannot be written.
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
        _add(archive, f"{annotator}{SUFFIX}", b"".join(map(as_line, changes)))
        if annotation.assignments or annotation.blind:
            _add(archive, ASSIGNED, json.dumps(shared).encode())
    write_whole(path, packed.getvalue())
    return len(changes)


def merge(folder: Path, path: Path) -> Merged:
    """Take in what `hand_over` wrote elsewhere; what is there already stays as it is.

    Args:
        folder: the collection.
        path: the ZIP, untrusted.

    Raises:
        HdbenchError: it is not such a ZIP, has changes of items that the folder does not have, or
            a known change with other content, or its annotator has the folder open. Nothing is
            taken in then.
    """
    metadata = Metadata(folder)
    annotator, changes, theirs = _unpacked(path)
    for change in changes:
        if change.item not in metadata.records:
            raise HdbenchError(
                "{place}: has a change of {item!r}, which is not in {folder}: is it the "
                "history of another collection?",
                place=path,
                item=change.item[:100],
                folder=folder,
            )
    history = History(folder)
    with history.lock(annotator):
        history.refresh()
        history.repair(annotator)
        new = _new(changes, annotator, history, path)
        with metadata.writing():  # as another process may assign or merge just now
            annotation = read_annotation(folder)
            joined = with_assignments(annotation, theirs, metadata.records, path)
            if joined != annotation:
                write_annotation(folder, joined)  # first: what is assigned must not be seen before
        lines = [as_line(change) for change in _bases(new, metadata, history) + new]
        touched = history.append(annotator, lines) if lines else set()
        with metadata.writing():
            # Otherwise this could write less than another process just did.
            touched |= history.refresh() | metadata.refresh()
            # Also what is known already: a merge may have been killed before it wrote that.
            due = touched | {change.item for change in changes}
            # Who has annotated an assigned item sees nothing of the others before it is settled.
            states = [
                fold(
                    item,
                    history.changes[item].values(),
                    metadata.records[item],
                    metadata.made[item],
                )
                for item in sorted(due & metadata.records.keys())
                if is_plain(history.changes[item].values(), joined.annotators(item))
            ]
            metadata.write(states)
    conflicts = tuple(one for state in states if state.item in touched for one in state.conflicts)
    assigned = sum(not annotation.annotators(item) for item in joined.assigned_items)
    return Merged(len(new), len(changes) - len(new), conflicts, assigned)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    # A date of its own would say when somebody worked, and make equal histories differ.
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, data)


def _own(history: History, annotator: str) -> list[Change]:
    """An annotator's changes, in the order in which they were made."""
    changes = {one: each for known in history.changes.values() for one, each in known.items()}
    return [changes[one] for one in dict.fromkeys(history.own.get(annotator, ()))]


def _unpacked(path: Path) -> tuple[str, list[Change], Annotation]:
    """Whose history a ZIP has, its changes, each once, and which items are assigned to whom."""
    try:
        archive = Zip(path, str(path))
    except OSError as error:
        raise HdbenchError(
            "{place}: cannot be read: {why}", place=path, why=os_reason(error)
        ) from error
    try:
        names = [name for name in (*archive.names, *archive.others) if name != ASSIGNED]
        annotator = names[0].removesuffix(SUFFIX) if names else ""
        if len(names) != 1 or not names[0].endswith(SUFFIX) or not is_pseudonym(annotator):
            raise HdbenchError(
                "{place}: must have the history of one annotator, such as anna{ending}, and "
                "nothing else: hdbench annotate --hand-over writes such a file",
                place=path,
                ending=SUFFIX,
            )
        with tempfile.TemporaryDirectory(prefix="hdbench-") as scratch:
            changes = _read(archive.unpacked(names[0], Path(scratch)), annotator, path)
        annotation = Annotation()
        if ASSIGNED in archive.names:
            said = parse_line(archive.read(ASSIGNED), f"{path}: {ASSIGNED}")
            annotation = validate(Annotation, said, Path(f"{path}: {ASSIGNED}"))
        return annotator, changes, annotation
    finally:
        archive.close()


def _read(unpacked: Path, annotator: str, path: Path) -> list[Change]:
    """The changes in an untrusted history; every line has to be one."""
    changes: dict[str, Change] = {}
    sizes: Counter[str] = Counter()
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
                sizes[change.item] += 1
            elif not same_change(changes[change.id], change):
                raise HdbenchError(
                    "{place}:{number}: has the id of another change", place=path, number=number
                )
            if len(changes) > MAX_CHANGES or sizes[change.item] > MAX_ITEM_CHANGES:
                raise HdbenchError(
                    "{place}:{number}: more changes than are taken in", place=path, number=number
                )
    return list(changes.values())


def _new(changes: list[Change], annotator: str, history: History, path: Path) -> list[Change]:
    """The changes that are not there yet; what is there has to be the same."""
    there = set(history.own.get(annotator, ()))
    for change in changes:
        known = history.changes[change.item].get(change.id)
        if known is not None and not same_change(known, change):
            raise HdbenchError(
                "{place}: has the change {change} otherwise than {history}: one of both was "
                "edited by hand; nothing is taken in",
                place=path,
                change=change.id,
                history=history.path,
            )
    new = [change for change in changes if change.id not in there]
    for item, size in Counter(change.item for change in new).items():
        if len(history.changes[item]) + size > MAX_ITEM_CHANGES:
            raise HdbenchError(
                "{place}: {item!r}: more changes than are kept", place=path, item=item[:100]
            )
    return new


def _bases(new: list[Change], metadata: Metadata, history: History) -> list[Change]:
    """The records here of items whose first change this is: they would be lost otherwise."""
    ids = {change.id for change in new}
    bases = []
    for item in dict.fromkeys(change.item for change in new):
        record, known = metadata.records[item], history.changes[item].values()
        if record is not None and not any(each.what == "ground_truth" for each in known):
            base = base_change(item, record, metadata.made[item])
            if base.id not in ids:
                bases.append(base)
    return bases
