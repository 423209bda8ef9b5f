"""Values of a collection's ground truth that most models contradict, read again by people."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from hdbench.annotating.reviewing.accepted import ReviewOutcome, outcome_of
from hdbench.annotating.reviewing.looks import LOOKS, ReviewLog, confirms
from hdbench.annotating.reviewing.review_list import (
    ReviewList,
    read_review_list,
    write_review_list,
)
from hdbench.benchmarks.benchmark import METADATA
from hdbench.common.os_errors import write_errors
from hdbench.common.regular_files import file_sha256
from hdbench.errors import HdbenchError
from hdbench.evaluation.runs import load_runs, with_same_items
from hdbench.evaluation.score import Settings
from hdbench.home.stamped import Stamped, stamp_of
from hdbench.output.audit.findings import audit
from hdbench.output.audit.lists import AGREEING, review_list
from hdbench.output.audit.models import is_witness

if TYPE_CHECKING:
    from hdbench.home.collection import Collection

REVIEWS = "reviews"
"""The folder, beside the collection, of lists of values that are read again."""


class ReviewView(NamedTuple):
    """Values that are read again.

    Attributes:
        path: their list.
        values: how many there are.
        judged: pseudonym → how many of them the person has judged.
        outcome: what came of it.
    """

    path: Path
    values: int
    judged: Mapping[str, int]
    outcome: ReviewOutcome


class Reviews:
    """The values of a collection's ground truth that are read again, in files beside it.

    Args:
        collection: the collection.
    """

    def __init__(self, collection: "Collection") -> None:
        self._collection = collection
        self._lock = Lock()
        self._lists: dict[Path, Stamped[ReviewList]] = {}
        self._seen: dict[Path, tuple[object, ReviewView]] = {}
        self._hash: tuple[Path, Stamped[str]] | None = None

    def view(self) -> ReviewView | None:
        """Return the last list that was made of the dataset as it is built; None without one.

        Raises:
            HdbenchError: a file cannot be used.
        """
        with self._lock:
            built = self._built_hash()
            for path in sorted(self._folder.glob("*.jsonl"), key=stamp_of, reverse=True):
                review = self._list(path)
                if review.head.dataset_sha256 == built:
                    return self._view(path, review)
            return None

    def make(self, runs: Sequence[Path]) -> Path:
        """List the values that most good runs contradict, in a file of its own.

        Args:
            runs: the runs.

        Raises:
            HdbenchError: see `hdbench.output.audit.findings.audit`; or there is nothing to list.
        """
        settings = Settings("documented", details=True)
        loaded = load_runs(runs, benchmark=str(self._collection.built), settings=settings)
        scored = {name: each for name, each in loaded.items() if each.ids and is_witness(each)}
        if not scored:
            raise HdbenchError("No item with a ground truth has been answered yet.")
        asked, _ = with_same_items(scored, runs)
        listed = review_list(audit(asked), asked, agreeing=AGREEING, seed=1)
        if not listed.entries:
            raise HdbenchError("most models contradict no value: there is nothing to read again")
        with write_errors(self._folder):
            self._folder.mkdir(exist_ok=True)
        number, name = 1, self._collection.spec.name
        while (path := self._folder / f"{name}-{number}.jsonl").exists():
            number += 1
        write_review_list(path, listed)
        return path

    @property
    def _folder(self) -> Path:
        return self._collection.beside / REVIEWS

    def _built_hash(self) -> str:
        path = self._collection.built / METADATA
        if self._hash is None or self._hash[0] != path:
            self._hash = path, Stamped(lambda: file_sha256(path), [path])
        return self._hash[1].get() if path.is_file() else ""

    def _list(self, path: Path) -> ReviewList:
        read = Stamped(lambda: read_review_list(path), [path])
        return self._lists.setdefault(path, read).get()

    def _view(self, path: Path, review: ReviewList) -> ReviewView:
        looks = path.with_name(f"{path.stem}{LOOKS}")
        stamp = (stamp_of(path), *map(stamp_of, sorted(looks.glob("*.jsonl"))))
        if path not in self._seen or self._seen[path][0] != stamp:
            self._seen[path] = stamp, _seen(path, review)
        return self._seen[path][1]


def _seen(path: Path, review: ReviewList) -> ReviewView:
    log = ReviewLog(path)
    judged = {}
    for name in log.people:
        looks = log.all_of(name)
        judged[name] = sum(
            entry.key in looks
            and (looks[entry.key].verdict is not None or confirms(entry, looks[entry.key]))
            for entry in review.entries
        )
    return ReviewView(path, len(review.entries), judged, outcome_of(review, log))
