"""The reviews that one person makes in the browser, read and saved by its page."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any

from hdbench.annotating.editor import SCHEMA
from hdbench.annotating.fields import parse_field
from hdbench.annotating.form import form_of
from hdbench.annotating.media import CollectionMedia
from hdbench.annotating.own_file import ChangedError
from hdbench.annotating.reviewing.looks import Look, ReviewLog, confirms, is_same
from hdbench.annotating.reviewing.review_list import Entry, read_review_list
from hdbench.annotating.single_value import entered_as, node_at, typed_value
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import METADATA
from hdbench.common.regular_files import file_sha256
from hdbench.common.texts import Texts
from hdbench.datasets.building.archive import CHECKSUMS
from hdbench.display.differences import marked_values
from hdbench.errors import HdbenchError

_TEXTS = Texts(Path(__file__).parents[1] / "texts")


class Review:
    """A list that one person reviews in the browser, one request at a time.

    No answer has the ground truth, the models' value or the kind of an entry before that person's
    reading is saved.

    Args:
        folder: the dataset, or the collection.
        path: the list; the looks are beside it.
        annotator: the reviewer's pseudonym.
        language: the page's language; None for the browser's.

    Raises:
        HdbenchError: the list is not about this folder, a file is unusable, or the pseudonym is
            taken.
    """

    def __init__(self, folder: Path, path: Path, annotator: str, language: str | None) -> None:
        self._list = read_review_list(path)
        self._name = folder.resolve().name
        self._annotator = annotator
        self._language = language
        self._media = CollectionMedia(folder)
        form = form_of(AnswerSchema.load(folder / SCHEMA))
        self._fields = [_asked(form, entry.field) for entry in self._list.entries]
        self._check(folder, path)
        self._looks = ReviewLog(path)
        self._lock = Lock()
        self._open = ExitStack()
        self._open.enter_context(self._looks.lock(annotator))

    @property
    def notes(self) -> list[str]:
        """Return messages about skipped or removed lines, for the user."""
        return self._looks.notes

    def close(self) -> None:
        """Let others look under this pseudonym."""
        self._open.close()

    def start(self) -> dict[str, Any]:
        """Return the data that the page loads once: the texts, and the progress of each entry."""
        with self._lock:
            looks = self._looks.all_of(self._annotator)
        states = [_progress(entry, looks.get(entry.key, Look())) for entry in self._list.entries]
        return {
            "name": self._name,
            "annotator": self._annotator,
            "language": self._language,
            "texts": _TEXTS.translations,
            "entries": states,
        }

    def listed(self) -> Sequence[object]:
        """Return what the numbers of requests stand for, in order."""
        return [entry.key for entry in self._list.entries]

    def entry(self, number: int) -> dict[str, Any]:
        """Return an entry: where to look, and, once it was read, the values."""
        entry = self._entry(number)
        with self._lock:
            state = self._state(number)
        return {
            "item": entry.id,
            **self._fields[number],
            "state": state,
            **self._media.shown(entry.id),
        }

    def picture(self, number: int, page: int) -> tuple[bytes, str]:
        """Return a page of an entry's item, and its media type."""
        return self._media.picture(self._entry(number).id, page)

    def read(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save a reading; only then are the values shown.

        Raises:
            ChangedError: it was read in another window.
            HdbenchError: it cannot be saved.
        """
        entry = self._entry(number)
        value = typed_value(body.get("value"), self._fields[number])
        with self._lock:
            look = self._current(number, body)
            if look.reading:
                raise HdbenchError("was read already: take that back first")
            self._looks.add(self._annotator, entry.key, "reading", value=value, blind=not look.seen)
            return self._state(number)

    def judge(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save a verdict.

        Raises:
            ChangedError: it was judged in another window.
            HdbenchError: it is not complete, or cannot be saved.
        """
        entry = self._entry(number)
        verdict, evidence = body.get("verdict"), body.get("evidence", "")
        values: dict[str, Any] = {"verdict": verdict, "evidence": evidence}
        if verdict is None:
            raise HdbenchError("a verdict is needed")
        if verdict == "slip":
            values["new"] = typed_value(body.get("new"), self._fields[number])
            if not str(evidence).strip():
                raise HdbenchError("say what shows it")
        with self._lock:
            if not self._current(number, body).reading:
                raise HdbenchError("read the value first")
            if verdict == "slip" and is_same(values["new"], entry.truth):
                raise HdbenchError("the right value is the one that the ground truth has")
            self._looks.add(self._annotator, entry.key, "verdict", **values)
            return self._state(number)

    def undo(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Undo the verdict or, without one, the reading.

        Raises:
            ChangedError: it was changed in another window.
            HdbenchError: there is nothing to undo.
        """
        entry = self._entry(number)
        with self._lock:
            look = self._current(number, body)
            last = look.verdict or look.reading
            if last is None:
                raise HdbenchError("there is nothing to take back")
            self._looks.add(self._annotator, entry.key, "undo", undoes=last.id)
            return self._state(number)

    def _check(self, folder: Path, path: Path) -> None:
        for entry in self._list.entries:
            if entry.id not in self._media.items:
                raise HdbenchError(
                    "{place}: {item}: {folder} has no such item",
                    place=path,
                    item=entry.id,
                    folder=folder,
                )
        is_built = (folder / "benchmark.yaml").is_file() and (folder / CHECKSUMS).is_file()
        if is_built and file_sha256(folder / METADATA) != self._list.head.dataset_sha256:
            raise HdbenchError(
                "{place}: was made from another version of {name}: {version}: build that one, "
                "or audit this one anew",
                place=path,
                name=folder.name,
                version=self._list.head.dataset_version,
            )

    def _entry(self, number: int) -> Entry:
        if not 0 <= number < len(self._list.entries):
            raise HdbenchError("entry {number} does not exist", number=number + 1)
        return self._list.entries[number]

    def _current(self, number: int, body: dict[str, Any]) -> Look:
        """Return the look that a change is made on top of."""
        look = self._looks.of(self._entry(number).key, self._annotator)
        if body.get("after") != look.last:
            raise ChangedError(self._state(number))
        return look

    def _state(self, number: int) -> dict[str, Any]:
        entry = self._entry(number)
        look = self._looks.of(entry.key, self._annotator)
        state: dict[str, Any] = {"progress": _progress(entry, look), "last": look.last}
        if look.reading is None:
            return state | {"seen": look.seen}
        state |= {
            "reading": look.reading.value,
            "blind": look.reading.blind,
            "confirmed": confirms(entry, look),
            "truth": entry.truth,
            "models": entry.value,
            "parts": marked_values([entry.truth, look.reading.value, entry.value]),
            "agreeing": entry.agreeing,
            "good": entry.good,
        }
        if look.verdict:
            state["verdict"] = look.verdict.model_dump(include={"verdict", "new", "evidence"})
        return state


def _progress(entry: Entry, look: Look) -> str:
    if look.verdict or confirms(entry, look):
        return "judged"
    return "read" if look.reading else "open"


def _asked(form: dict[str, Any], field: str) -> dict[str, Any]:
    """Return the names of a field in each language, and the values that can be entered."""
    node, names = node_at(form, parse_field(field))
    label = {language: name or field for language, name in names.items()}
    return {"label": label, **entered_as(node)}
