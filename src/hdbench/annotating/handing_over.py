"""Two people without a server: one hands over a history, the other takes it in."""

import io
import json
import tempfile
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hdbench.annotating.annotation import Annotation, read_annotation
from hdbench.annotating.changes import (
    MAX_CHANGE,
    MAX_ITEM_CHANGES,
    Change,
    as_line,
    check_pseudonym,
    is_pseudonym,
    read_change,
    same_change,
)
from hdbench.annotating.history import SUFFIX, History
from hdbench.annotating.metadata import Metadata
from hdbench.answers.members import Zip
from hdbench.common.checked import validate
from hdbench.common.jsonio import parse_line, write_whole
from hdbench.common.os_errors import read_errors
from hdbench.errors import HdbenchError

MAX_CHANGES = 1_000_000
"""Maximum number of changes in a history that is taken in."""

MAX_ITEM_BYTES = 64 * 2**20
"""Maximum number of bytes of all changes to one item in it."""

ASSIGNED = "annotation.json"
"""The file in such a ZIP that says which items are assigned to whom."""


class HandedOver(NamedTuple):
    """What a ZIP says that somebody did; nothing proves who wrote it.

    Attributes:
        annotator: whose history it has.
        changes: the history, each change once, in the order in which they were made.
        annotation: which items are assigned to whom.
    """

    annotator: str
    changes: list[Change]
    annotation: Annotation


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
        members = {f"{annotator}{SUFFIX}": b"".join(map(as_line, changes))}
        if annotation.assignments or annotation.blind:
            members[ASSIGNED] = json.dumps(shared).encode()
        for name, data in members.items():
            # A date of its own would say when somebody worked, and make equal histories differ.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    write_whole(path, packed.getvalue())
    return len(changes)


def read_hand_over(path: Path) -> HandedOver:
    """Read what `hand_over` wrote; nothing is written.

    Args:
        path: the ZIP, untrusted.

    Raises:
        HdbenchError: it is not such a ZIP, or has more changes than are taken in.
    """
    with read_errors(path):
        archive = Zip(path, str(path))
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
        return HandedOver(annotator, changes, annotation)
    finally:
        archive.close()


def _own(history: History, annotator: str) -> list[Change]:
    """An annotator's changes, in the order in which they were made."""
    changes = {one: each for known in history.changes.values() for one, each in known.items()}
    return [changes[one] for one in dict.fromkeys(history.own.get(annotator, ()))]


def _read(unpacked: Path, annotator: str, path: Path) -> list[Change]:
    """The changes in an untrusted history; every line has to be one."""
    changes: dict[str, Change] = {}
    sizes, weights = Counter[str](), Counter[str]()
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
                sizes[change.item] += change.weight
                weights[change.item] += len(raw)
            elif not same_change(changes[change.id], change):
                raise HdbenchError(
                    "{place}:{number}: has the id of another change", place=path, number=number
                )
            too_many = len(changes) > MAX_CHANGES or sizes[change.item] > MAX_ITEM_CHANGES
            if too_many or weights[change.item] > MAX_ITEM_BYTES:
                raise HdbenchError(
                    "{place}:{number}: more changes than are taken in", place=path, number=number
                )
    return list(changes.values())
