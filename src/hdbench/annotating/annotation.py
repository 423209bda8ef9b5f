"""`annotation.yaml`: the annotators of items of a collection, and settings of the editor."""

import random
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import AfterValidator, Field, model_validator

from hdbench.annotating.changes import check_pseudonym
from hdbench.annotating.history import History
from hdbench.annotating.metadata import CollectionRow, Metadata
from hdbench.common.checked import Strict, read_yaml, unfit, validate
from hdbench.common.jsonio import write_whole
from hdbench.common.os_errors import write_errors
from hdbench.errors import HdbenchError, Message

ANNOTATION = "annotation.yaml"
"""The file in the collection's folder; it is never part of a published collection."""

MAX_ANNOTATORS = 100
"""Maximum number of people that an item is assigned to."""

_HEAD = """\
# Who annotates what in this collection. It stays here: build and publish leave it out.
"""


def _pseudonym(name: str) -> str:
    try:
        check_pseudonym(name)
    except HdbenchError as error:
        raise unfit(error.message) from error
    return name


Pseudonym = Annotated[str, AfterValidator(_pseudonym)]


class Assignment(Strict):
    """Items that several annotators look at, without seeing what the others entered.

    Attributes:
        annotators: the pseudonyms; the items wait until there are two people at least.
        items: the ids of the items.
        seed: the seed of the random draw of the items; None if they were not drawn.
    """

    annotators: tuple[Pseudonym, ...] = Field(min_length=1, max_length=MAX_ANNOTATORS)
    items: tuple[str, ...] = Field(min_length=1)
    seed: int | None = None

    def joined_by(self, people: Sequence[str]) -> "Assignment":
        """Return the same items with further people."""
        annotators = tuple(dict.fromkeys([*self.annotators, *people]))
        return self.model_copy(update={"annotators": annotators})

    @model_validator(mode="after")
    def _several(self) -> "Assignment":
        for key, names in {"annotators": self.annotators, "items": self.items}.items():
            if len(set(names)) < len(names):
                wrong = Message("one of its {what} is named twice: leave it there once", what=key)
                raise unfit(wrong)
        return self


class Annotation(Strict):
    """Content of `annotation.yaml`.

    Attributes:
        assignments: the items that several annotators look at.
        blind: the ids of further items that open without a draft.
        authorities: field, such as `persons[].name` → the file with the values to suggest for it,
            in the collection's folder.
        keep_time: whether the time spent on each item is kept.
    """

    assignments: tuple[Assignment, ...] = ()
    blind: tuple[str, ...] = ()
    authorities: dict[str, str] = Field(default_factory=dict)
    keep_time: bool = False

    @model_validator(mode="after")
    def _once(self) -> "Annotation":
        seen = set[str]()
        for assignment in self.assignments:
            if twice := seen & set(assignment.items):
                wrong = Message("{item} is in two assignments: leave it in one", item=min(twice))
                raise unfit(wrong)
            seen |= set(assignment.items)
        return self

    def annotators(self, item: str) -> tuple[str, ...]:
        """Return the people who annotate an item, each alone; nobody for most items."""
        return self._annotators.get(item, ())

    @property
    def double(self) -> Assignment | None:
        """Return the items that were drawn to be read by everybody; None if none were."""
        return next((each for each in self.assignments if each.seed is not None), None)

    @property
    def assigned_items(self) -> Collection[str]:
        """Return the items that several annotators look at."""
        return self._annotators.keys()

    def is_blind(self, item: str) -> bool:
        """Return whether an item opens without a draft."""
        return item in self._blind or bool(self.annotators(item))

    def replaced(self, **fields: Any) -> "Annotation":
        """Return a copy with other values in some fields."""
        return Annotation.model_validate(self.model_dump() | fields)

    # Sets and dicts, as there may be ten thousand items, and the editor asks for each of them.
    @cached_property
    def _annotators(self) -> dict[str, tuple[str, ...]]:
        return {
            item: assignment.annotators
            for assignment in self.assignments
            for item in assignment.items
        }

    @cached_property
    def _blind(self) -> frozenset[str]:
        return frozenset(self.blind)


def read_annotation(folder: Path) -> Annotation:
    """Return the content of a collection's `annotation.yaml`; all defaults if there is none.

    Raises:
        HdbenchError: it cannot be read, or is invalid.
    """
    path = folder / ANNOTATION
    if path.is_symlink():
        raise HdbenchError("{place}: is a symbolic link: put the file itself there", place=path)
    return validate(Annotation, read_yaml(path) or {}, path) if path.is_file() else Annotation()


def file_stamp(folder: Path) -> tuple[int, ...]:
    """Return a value that changes when a collection's `annotation.yaml` is written."""
    try:
        stat = (folder / ANNOTATION).lstat()
    except OSError:
        return ()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def write_annotation(folder: Path, annotation: Annotation) -> None:
    """Write a collection's `annotation.yaml`."""
    data = annotation.model_dump(mode="json", exclude_defaults=True)
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    write_whole(folder / ANNOTATION, (_HEAD + text).encode())


class Drawn(NamedTuple):
    """Outcome of `assign`.

    Attributes:
        assignment: the items and their annotators.
        of: how many items could have been drawn.
    """

    assignment: Assignment
    of: int


def assign(
    folder: Path, annotators: Sequence[str], *, items: int | None = None, seed: int = 1
) -> Drawn:
    """Assign items, drawn at random, to several annotators in `annotation.yaml`.

    Only items that nobody has started are drawn: without a ground truth, open, and not assigned.

    Args:
        folder: the collection.
        annotators: their pseudonyms.
        items: how many; None for all.
        seed: the seed of the draw.

    Raises:
        HdbenchError: there are too few such items, or the folder cannot be used.
    """
    for annotator in annotators:
        check_pseudonym(annotator)
    metadata, history = Metadata(folder), History(folder)
    with write_errors(history.path):
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
            seed=seed,
        )
        assignments = (*annotation.assignments, assignment)
        write_annotation(folder, annotation.replaced(assignments=assignments))
    return Drawn(assignment, len(free))


def read_double(folder: Path, annotator: str, items: int) -> Assignment:
    """Let a person read the items that several people read, each alone; the first one draws them.

    Args:
        folder: the collection.
        annotator: the person's pseudonym.
        items: how many items these are.

    Raises:
        HdbenchError: they are another number already, or cannot be drawn; see `assign`.
    """
    check_pseudonym(annotator)
    before = read_annotation(folder).double
    if before is None:
        return assign(folder, [annotator], items=items).assignment
    if len(before.items) != items:
        raise HdbenchError(
            "{place}: {count:,} items are read by several people here: --double {count}",
            place=folder,
            count=len(before.items),
        )
    if annotator in before.annotators:
        return before
    with Metadata(folder).writing():
        annotation = read_annotation(folder)
        joined = [
            each.joined_by([annotator]) if each == annotation.double else each
            for each in annotation.assignments
        ]
        write_annotation(folder, annotation.replaced(assignments=joined))
    return before.joined_by([annotator])


def with_assignments(
    ours: Annotation, theirs: Annotation, rows: Mapping[str, CollectionRow], path: Path
) -> Annotation:
    """Return an `annotation.yaml` with the additional assignments of another copy.

    Args:
        ours: the content that is there.
        theirs: the content of the other copy, untrusted.
        rows: item → its row in `metadata.jsonl`.
        path: the file that the other copy comes from.

    Raises:
        HdbenchError: an item is missing, is assigned to other people, or already has a ground
            truth, which nobody would see any more.
    """
    joined, added = list(ours.assignments), []
    for assignment in theirs.assignments:
        drawn = (assignment.items, assignment.seed)
        same = next((n for n, each in enumerate(joined) if (each.items, each.seed) == drawn), None)
        if same is not None and assignment.seed is not None:
            together = joined[same].joined_by(assignment.annotators)
            if len(together.annotators) <= MAX_ANNOTATORS:
                joined[same] = together
                continue
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
            added.append(assignment.model_copy(update={"items": items}))
    blind = dict.fromkeys([*ours.blind, *(item for item in theirs.blind if item in rows)])
    return ours.replaced(assignments=(*joined, *added), blind=tuple(blind))
