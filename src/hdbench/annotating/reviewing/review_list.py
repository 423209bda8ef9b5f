"""The list of values that the audit writes and people review."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hdbench.common.checked import Strict, validate
from hdbench.common.jsonio import read_jsonl, write_whole
from hdbench.errors import HdbenchError

RULES = (
    "A finding is a ground-truth value that most good models, by several makers, contradict with "
    "one value. A control is drawn at random from the values that most of them read as the ground "
    "truth has them. All are in random order, and whoever looks is not told which is which."
)


class Entry(Strict):
    """A value to review.

    Attributes:
        key: its key in the reviews; the same in every list with the same value of the same field.
        id: the item's id.
        field: the field's path.
        truth: the ground-truth value, as it was scored; None if there is none.
        value: the models' value; None for nothing.
        kind: `finding` if the models contradict the ground truth, else `control`.
        agreeing: how many good models give this value.
        good: how many good models there are.
    """

    key: str
    id: str
    field: str
    truth: Any
    value: Any
    kind: Literal["finding", "control"]
    agreeing: int
    good: int


class ReviewListHead(Strict):
    """First line of a list.

    Attributes:
        review: the version of the list's form.
        benchmark: the benchmark's name.
        dataset_version: its version.
        dataset_sha256: the hash of its metadata.
        metric: the metric that compared values.
        protocol: the metric's protocol.
        findings: the number of findings.
        controls: the number of controls.
        agreeing_values: the number of values that controls were drawn from.
        agreeing: the share of them that was to be drawn.
        seed: the seed of the draw and of the order.
        rules: the definition of findings and controls, for readers.
    """

    review: Literal[1] = 1
    benchmark: str | None
    dataset_version: str | None
    dataset_sha256: str | None
    metric: str
    protocol: str
    findings: int
    controls: int
    agreeing_values: int
    agreeing: float
    seed: int
    rules: str = RULES


@dataclass(frozen=True)
class ReviewList:
    """List of values to review, in the order in which they are shown."""

    head: ReviewListHead
    entries: tuple[Entry, ...]


def key_of(item: str, field: str, truth: Any) -> str:
    """Return the key of an entry."""
    text = json.dumps([item, field, truth], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_review_list(path: Path, review: ReviewList) -> None:
    """Write a list.

    Raises:
        HdbenchError: the file exists, so people may already have reviewed it, or it cannot be
            written.
    """
    if path.exists():
        raise HdbenchError(
            "{place}: exists already: choose another name, so that no look is lost", place=path
        )
    lines = [review.head.model_dump(), *(entry.model_dump() for entry in review.entries)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def read_review_list(path: Path) -> ReviewList:
    """Read a list.

    Raises:
        HdbenchError: it is not a list, or is incomplete.
    """
    head: ReviewListHead | None = None
    entries: dict[str, Entry] = {}
    for line in read_jsonl(path):
        where = Path(f"{path}:{line.number}")
        if head is None:
            if "review" not in line.value:
                raise HdbenchError("{place}: is not a list of hdbench audit --list", place=path)
            head = validate(ReviewListHead, line.value, where)
            continue
        entry = validate(Entry, line.value, where)
        if entry.key != key_of(entry.id, entry.field, entry.truth):
            raise HdbenchError(
                "{place}: key: does not belong to this value: the list was changed", place=where
            )
        if entry.key in entries:
            raise HdbenchError("{place}: occurs twice", place=where)
        entries[entry.key] = entry
    if head is None or len(entries) != head.findings + head.controls:
        raise HdbenchError("{place}: is not a whole list of hdbench audit --list", place=path)
    return ReviewList(head, tuple(entries.values()))
