"""The collection that is open in the editor, read and changed by its page."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from hdbench.answers.answers import Answers
from hdbench.answers.field_paths import field_paths
from hdbench.answers.files import open_container
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import SCHEMA
from hdbench.benchmarks.spec import BLIND, DRAFT, IMPORTED
from hdbench.collections.truth.events import SETTLED, WHATS, list_name
from hdbench.collections.truth.form import form_of
from hdbench.collections.truth.item_state import ItemState, Stage
from hdbench.collections.truth.media import BrowserImage, CollectionMedia
from hdbench.collections.truth.metadata import TakenError, check_collection
from hdbench.collections.truth.store import Store
from hdbench.collections.truth.suggestions import Suggested, Suggestions, read_authorities
from hdbench.common.display.differences import marked_values
from hdbench.common.texts import Texts
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.run import is_run, read_run_info, run_name


class Draft(NamedTuple):
    """A run whose answers can be filled in.

    Attributes:
        run: the name of the run, for the history.
        model: the model.
        answers: the answers by item.
    """

    run: str
    model: str
    answers: Answers

    def record(self, item: str) -> dict[str, Any] | None:
        """Return the model's record for an item; None if it gave none.

        Raises:
            HdbenchError: it cannot be loaded.
        """
        value = self.answers.take(item).prediction
        return value if isinstance(value, dict) else None


def read_drafts(
    paths: Sequence[Path], items: Sequence[str], folder: str, schema: AnswerSchema
) -> list[Draft]:
    """Return the runs that drafts come from.

    Args:
        paths: run folders, or files of answers in any form.
        items: the ids of the collection.
        folder: the collection's name in messages.
        schema: the form of its records.

    Raises:
        HdbenchError: one of them is unusable, or answers another benchmark.
    """
    drafts = []
    for path in paths:
        info = read_run_info(path) if is_run(path) else None
        container = open_container(path, schema, ids=lambda: items)
        for name in container.runs:
            run = info.run if info else run_name(path)
            model = info.model if info else name or run_name(path)
            answers = Answers(container, name, items, folder, schema)
            drafts.append(Draft(run, model, answers))
    if len({draft.run for draft in drafts}) < len(drafts):
        raise HdbenchError("two runs have the same name: rename one of them")
    return drafts


_Value = TypeVar("_Value")

_SHOWN = ("record", "status", "comment", "how", "by", "head", "stage")
"""The attributes of an item's state that the page gets as they are."""

_TEXTS = Texts(Path(__file__).parent / "texts")


class Editor:
    """A collection that is open in the browser, for one request at a time.

    Args:
        folder: the collection.
        annotator: the name of the person who makes the changes.
        drafts: runs whose answers can be filled in.
        language: the page's language; None for the browser's.

    Attributes:
        lists: the names of the lists that the numbers of requests stand for.

    Raises:
        HdbenchError: the collection, a run or the name cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        annotator: str,
        drafts: Sequence[Path] = (),
        language: str | None = None,
    ) -> None:
        check_collection(folder)
        schema = AnswerSchema.load(folder / SCHEMA)
        self._name = folder.resolve().name
        self._language = language
        self._form = form_of(schema)
        self._media = CollectionMedia(folder)
        fields = [field.path for field in field_paths(schema)]
        self._authorities = read_authorities(folder, fields)
        self._store = Store(folder, annotator)
        self._annotator = self._store.person
        try:
            self._drafts = read_drafts(drafts, self._store.items, str(folder), schema)
        except BaseException:
            self._store.close()
            raise
        self.lists = [list_name(self._store.items)]
        self._suggestions: Suggestions | None = None
        self._lock = Lock()

    @property
    def notes(self) -> list[str]:
        """Return messages about repaired or skipped lines, for the user."""
        return self._store.metadata.notes

    def close(self) -> None:
        """Write all pending changes, and let others open the collection."""
        with self._lock:
            self._store.close()

    def start(self) -> dict[str, Any]:
        """Return the data that the page loads once: form, texts, and all items with status."""
        with self._lock:
            states, readers = self._store.states(), self._store.people.readers
            return {
                "name": self._name,
                "annotator": self._annotator,
                "language": self._language,
                "texts": _TEXTS.translations,
                "form": self._form,
                "drafts": [draft.model for draft in self._drafts],
                "items": [
                    [
                        state.item,
                        state.status,
                        bool(state.conflicts),
                        state.stage,
                        self._annotator in readers.get(state.item, ()),
                        bool(self._media.files(state.item)),
                    ]
                    for state in states
                ],
            }

    def item(self, number: int) -> dict[str, Any]:
        """Return an item: its state, its media, and whether it is annotated without a draft."""
        item = self._id(number)
        with self._lock:
            state = self._store.state(item)
            is_blind = item in self._store.people.readers
        return {"state": as_json(state), "blind": is_blind, **self._media.shown(item)}

    def page(self, number: int, page: int) -> tuple[bytes, str]:
        """Return a page of an item, and its media type."""
        return self._media.picture(self._id(number), page)

    def thumbnail(self, number: int) -> BrowserImage:
        """Return a small picture of an item."""
        return self._media.thumbnail(self._id(number))

    def change(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Make a change, and return the item's state once it is saved.

        Raises:
            ChangedError: somebody else changed the item first.
            HdbenchError: the change cannot be made.
        """
        item = self._id(number)
        what, field, to = body.get("what"), body.get("field"), body.get("to")
        if what not in WHATS or not isinstance(field, str) or "to" not in body:
            raise HdbenchError("a change needs what, field and to")
        with self._lock:
            is_settled = self._store.state(item).stage is not Stage.own
            is_settled &= body.get("settled") is True
            how = SETTLED if is_settled else self._how(item, what)
            self._store.change(item, what, field, to, after=body.get("after"), how=how)
            if self._suggestions and what == "ground_truth":
                self._suggestions.add(to, field)
            if what == "status":
                with suppress(HdbenchError):  # the change is saved: it was not refused
                    self._store.flush(wait=False)
            return as_json(self._store.state(item))  # by now it may have settled itself

    def now(self, number: int) -> dict[str, Any]:
        """Return the state of an item, when somebody else changed it first."""
        with self._lock:
            return as_json(self._store.state(self._id(number)))

    def undo(self, number: int) -> dict[str, Any]:
        """Undo the annotator's last change of an item.

        Raises:
            HdbenchError: there is nothing to undo.
        """
        item = self._id(number)
        with self._lock:
            return as_json(self._store.undo(item))

    def drafts(self, number: int) -> list[dict[str, Any]]:
        """Return the answers of all models.

        Raises:
            HdbenchError: an answer cannot be read, or the item is annotated without a draft.
        """
        item = self._id(number)
        with self._lock:
            self._check_drafted(item)
            return [
                {"run": draft.run, "model": draft.model, "record": draft.record(item)}
                for draft in self._drafts
            ]

    def fill_in(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Make a model's answer the ground truth, to be corrected.

        Raises:
            ChangedError: somebody else changed the item first.
            HdbenchError: the model gave none, or the item is annotated without a draft.
        """
        item = self._id(number)
        draft = _at(self._drafts, body.get("draft"), Message("there is no such draft"))
        with self._lock:
            self._check_drafted(item)
            record = draft.record(item)
            if record is None:
                raise HdbenchError("{model}: gave no usable answer to this item", model=draft.model)
            state = self._store.change(
                item,
                "ground_truth",
                "",
                record,
                after=body.get("after"),
                how=f"{DRAFT}{draft.run}",
                model=draft.model,
            )
        return as_json(state)

    def suggested(self, field: str, typed: str) -> list[Suggested]:
        """Return values of a field in other items or in its authority file."""
        with self._lock:
            if self._suggestions is None:
                self._suggestions = Suggestions(self._authorities)
                for state in self._store.states():
                    self._suggestions.add(state.record)
            return self._suggestions.of(field, typed)

    def search(self, wanted: str) -> list[int]:
        """Return the items whose id, comment or values contain a text."""
        wanted = wanted.casefold()
        with self._lock:
            states = self._store.states()
        return [number for number, state in enumerate(states) if wanted in _searched(state)]

    def leave(self) -> None:
        """Bring the metadata.jsonl up to date when an item is left.

        Raises:
            HdbenchError: it cannot be written.
        """
        with self._lock, suppress(TakenError):  # then later: no request waits
            self._store.flush(wait=False)

    def _id(self, number: Any) -> str:
        return _at(self._store.items, number, Message("there is no such item"))

    def _check_drafted(self, item: str) -> None:
        if item in self._store.people.readers:
            raise HdbenchError("{item}: is annotated without a draft", item=item)

    def _how(self, item: str, what: str) -> str:
        """Return the provenance of a value entered by hand: a corrected draft remains a draft."""
        state = self._store.state(item)
        if what != "ground_truth" or state.record is None:
            return BLIND
        return state.made.how if state.made else IMPORTED


def as_json(state: ItemState) -> dict[str, Any]:
    """Return an item's state for the page."""
    data = {key: getattr(state, key) for key in _SHOWN}
    data["conflicts"] = [
        {
            "what": conflict.kind,
            "field": conflict.field,
            "changes": [
                {"by": change.by, "at": change.at, "to": value}
                for change, value in zip(conflict.changes, conflict.values, strict=True)
            ],
            "parts": marked_values(list(conflict.values)),
        }
        for conflict in state.conflicts
    ]
    return data


def _at(sequence: Sequence[_Value], number: Any, missing: Message) -> _Value:
    """Return the element with a number that a page sent, or refuse the number."""
    if type(number) is not int or not 0 <= number < len(sequence):
        raise HdbenchError(missing)
    return sequence[number]


def _searched(state: ItemState) -> str:
    return "\n".join([state.item, state.comment, *_values(state.record)]).casefold()


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner)
    elif value is not None:
        yield str(value)
