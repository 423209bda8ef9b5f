"""The work list that people go through in the browser, saved by its page."""

import uuid
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from hdbench.annotating.editor import SCHEMA
from hdbench.annotating.events import ValueKey, WorkedValue, as_name, now
from hdbench.annotating.form import form_of
from hdbench.annotating.media import BrowserImage, CollectionMedia
from hdbench.annotating.people import ChangedError
from hdbench.annotating.single_value import asked, typed_value
from hdbench.annotating.working.clusters import Cluster, clusters_of
from hdbench.annotating.working.entries import EntryField, WorkList
from hdbench.annotating.working.worked_values import WorkedValues
from hdbench.answers.schema import AnswerSchema
from hdbench.common.checked import validate
from hdbench.common.letters import text_of
from hdbench.common.texts import Texts
from hdbench.display.differences import marked
from hdbench.errors import HdbenchError, Message

_TEXTS = Texts(Path(__file__).parents[1] / "texts")

MAX_CLUSTERS = 300
"""Maximum number of clusters that are listed at once."""

CARDS = 24
"""How many items of a cluster are shown at once."""


class WorkPage:
    """A work list that one person goes through in the browser, one request at a time.

    Args:
        folder: the dataset, or the collection.
        work: the list; closed with this.
        annotator: the person's name.
        language: the page's language; None for the browser's.

    Raises:
        HdbenchError: a file is unusable, or the name is.
    """

    def __init__(self, folder: Path, work: WorkList, annotator: str, language: str | None) -> None:
        self._folder = folder
        self._name = folder.resolve().name
        self._work = work
        self._annotator = as_name(annotator)
        self._language = language
        self._media = CollectionMedia(folder)
        self._schema = AnswerSchema.load(folder / SCHEMA)
        self._form = form_of(self._schema)
        self._asked: dict[str, dict[str, Any]] = {}
        self._number_of = {item: number for number, item in enumerate(work.items)}
        self._all = sum(len(work.doubtful(item)) for item in work.items)
        self._worked = WorkedValues(folder, work.seal)
        self._lock = Lock()
        self._clusters: list[Cluster] | None = None
        self._problem = ""
        with self._worked.people.writing(self._annotator):
            pass  # so that what is wrong is said now
        self._clustering = Thread(target=self._cluster, daemon=True)
        self._clustering.start()

    @property
    def notes(self) -> list[str]:
        """Return nothing: there is nothing to be known."""
        return []

    def close(self) -> None:
        """Close the list."""
        self._work.close()

    def start(self) -> dict[str, Any]:
        """Return the data that the page loads once; `first` is the first open item's number."""
        with self._lock:
            first = self._next(-1)
        return {
            "name": self._name,
            "annotator": self._annotator,
            "language": self._language,
            "texts": _TEXTS.translations,
            "items": len(self._work.items),
            "first": 0 if first is None else first,
        }

    def listed(self) -> Sequence[object]:
        """Return what the numbers of requests stand for, in order."""
        return self._work.items

    def state(self) -> dict[str, Any]:
        """Return how many values are done, and which decision of this person can be undone."""
        with self._lock:
            self._worked.refresh()
            return self._state()

    def entry(self, number: int) -> dict[str, Any]:
        """Return an item: its values, what runs and people say, and where the next one is."""
        with self._lock:
            self._worked.refresh()
            return self._entry(number)

    def picture(self, number: int, page: int) -> BrowserImage:
        """Return a page of an item."""
        return self._media.picture(self._item(number), page)

    def thumbnail(self, number: int) -> BrowserImage:
        """Return a small picture of an item."""
        return self._media.thumbnail(self._item(number))

    def decide(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save a decision about a value, and return the item.

        Args:
            number: the item's number.
            body: the `field`; the id of the decision that the page knew of (`after`); and `how`:
                `candidate` with the `place` of one, `typed` with a `value`, or `nothing`.

        Raises:
            ChangedError: somebody decided it meanwhile.
            HdbenchError: it cannot be saved.
        """
        with self._lock, self._worked.people.writing(self._annotator):
            self._worked.refresh()
            item, path = self._item(number), body.get("field")
            if path not in self._work.doubtful(item):
                raise HdbenchError("there is nothing to decide about this field")
            key = ValueKey(item, str(path))
            current = self._worked.current().get(key)
            if body.get("after") != (current and current.id):
                raise ChangedError(self._entry(number))
            made: dict[str, Any] = {"how": body.get("how"), "value": None}
            match body.get("how"):
                case "candidate":
                    field = next(each for each in self._work.fields(item) if each.path == path)
                    chosen = _at(field.candidates, body.get("place"))
                    made |= {"value": chosen.value, "run": chosen.runs[0]}
                case "typed":
                    made["value"] = self._typed(key.field, body.get("value"))
                case "nothing":
                    pass
                case _:
                    raise HdbenchError("how must be candidate, typed or nothing")
            self._worked.add([self._line(key, what="value", **made)])
            return self._entry(number)

    def undo(self, body: dict[str, Any]) -> dict[str, Any]:
        """Undo this person's last decision, with all values it was made for.

        Args:
            body: its `id`, as in the state.

        Raises:
            ChangedError: it is not the last one any more.
            HdbenchError: it cannot be saved.
        """
        with self._lock, self._worked.people.writing(self._annotator):
            self._worked.refresh()
            last = self._worked.last_of(self._annotator)
            if last is None or body.get("id") != last.id:
                raise ChangedError(self._state())
            undoes = last.group or last.id
            self._worked.add([self._line(last.key, what="undo", undoes=undoes)])
            return self._state()

    def clusters(self) -> dict[str, Any]:
        """Return the values that come back and are not all decided, the most frequent first."""
        with self._lock:
            self._worked.refresh()
            if self._clusters is None:
                problem = "" if self._clustering.is_alive() else self._problem
                return {"ready": False, "problem": problem, "clusters": [], "more": False}
            listed: list[dict[str, Any]] = []
            for number, cluster in enumerate(self._clusters):
                if len(listed) == MAX_CLUSTERS:
                    return {"ready": True, "problem": "", "clusters": listed, "more": True}
                left = self._left(cluster)
                if left < 2:  # noqa: PLR2004  a single one does not come back
                    continue
                first = cluster.variants[0]
                listed.append(
                    {
                        "number": number,
                        "label": self._asks(cluster.field)["label"],
                        "kind": self._asks(cluster.field)["kind"],
                        "text": first.text,
                        "spellings": len(cluster.variants),
                        "left": left,
                        "all": cluster.size,
                    }
                )
            return {"ready": True, "problem": "", "clusters": listed, "more": False}

    def cluster(self, number: int, offset: int = 0) -> dict[str, Any]:
        """Return a value that comes back: its spellings, and some of its items.

        Args:
            number: the cluster's number.
            offset: how many items were shown before.
        """
        with self._lock:
            self._worked.refresh()
            return self._shown_cluster(number, offset)

    def decide_cluster(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save a decision about all values of a cluster that are still open, and return the state.

        Args:
            number: the cluster's number.
            body: `how`: `candidate` with the `place` of a spelling, `typed` with a `value`, or
                `nothing`; the places of spellings (`without_spellings`) and the numbers of items
                (`without_items`) that are left out; and how many values the page `expects` it to
                be.

        Raises:
            ChangedError: it would be other values than those that the page expects.
            HdbenchError: it cannot be saved.
        """
        with self._lock, self._worked.people.writing(self._annotator):
            self._worked.refresh()
            cluster = self._cluster_at(number)
            made: dict[str, Any] = {"how": body.get("how"), "value": None}
            match body.get("how"):
                case "candidate":
                    made["value"] = _at(cluster.variants, body.get("place")).value
                case "typed":
                    made["value"] = self._typed(cluster.field, body.get("value"))
                case "nothing":
                    pass
                case _:
                    raise HdbenchError("how must be candidate, typed or nothing")
            keys = self._open_keys(
                cluster,
                _numbers(body.get("without_spellings")),
                _numbers(body.get("without_items")),
            )
            if not keys or body.get("expects") != len(keys):
                raise ChangedError(self._shown_cluster(number, 0))
            group = {"group": uuid.uuid4().hex, "group_size": len(keys)}
            self._worked.add([self._line(key, what="value", **made, **group) for key in keys])
            return self._state()

    def _cluster(self) -> None:
        # In case of an error that nobody expects, which Python prints.
        self._problem = Message("it ended with an error: see the terminal")
        try:
            self._clusters = clusters_of(self._work.doubtful_values())
        except HdbenchError as error:
            self._problem = error.message
        else:
            self._problem = ""

    def _state(self) -> dict[str, Any]:
        current = self._worked.current()
        done = sum(key.field in self._work.doubtful(key.item) for key in current)
        last = self._worked.last_of(self._annotator)
        undo = last and {
            "id": last.id,
            "number": self._number_of.get(last.item),
            "label": self._asks(last.field)["label"],
            "kind": self._asks(last.field)["kind"],
            "text": text_of(last.value),
            "count": last.group_size or 1,
        }
        return {"done": done, "all": self._all, "undo": undo}

    def _entry(self, number: int) -> dict[str, Any]:
        item = self._item(number)
        doubtful = self._work.doubtful(item)
        return {
            "number": number,
            "item": item,
            "next": self._next(number),
            "fields": [
                self._shown(item, field, is_doubtful=field.path in doubtful)
                for field in self._work.fields(item)
            ],
            "state": self._state(),
            **self._media.shown(item),
        }

    def _shown(self, item: str, field: EntryField, *, is_doubtful: bool) -> dict[str, Any]:
        shown = {
            "path": field.path,
            "label": self._asks(field.path)["label"],
            "kind": self._asks(field.path)["kind"],
            "decision": field.decision,
            "value": text_of(field.value),
        }
        if not is_doubtful:
            return shown
        parts = marked([candidate.text for candidate in field.candidates])
        return shown | {
            **self._asks(field.path),
            "reason": field.reason,
            "silent": self._models(field.silent),
            "candidates": [
                {
                    "parts": parts_of_one,
                    "runs": self._models(candidate.runs),
                    "is_nothing": not candidate.text,
                }
                for candidate, parts_of_one in zip(field.candidates, parts, strict=True)
            ],
            "decided": self._decided(ValueKey(item, field.path)),
        }

    def _models(self, runs: Sequence[str]) -> tuple[str, ...]:
        """Return names of runs without the collection's, with which those of files begin."""
        return tuple(name.removeprefix(f"{self._name}_") for name in runs)

    def _decided(self, key: ValueKey) -> dict[str, Any] | None:
        line = self._worked.current().get(key)
        if line is None:
            return None
        return {
            "id": line.id,
            "by": line.by,
            "text": text_of(line.value),
            "value": line.value,
            "how": line.how,
            "run": line.run,
            "count": line.group_size or 1,
        }

    def _shown_cluster(self, number: int, offset: int) -> dict[str, Any]:
        cluster = self._cluster_at(number)
        current = self._worked.current()
        parts = marked([variant.text for variant in cluster.variants])
        cards = [
            (place, item)
            for place, variant in enumerate(cluster.variants)
            for item in variant.items
        ]
        cards.sort(key=lambda card: ValueKey(self._work.items[card[1]], cluster.field) in current)
        return {
            "number": number,
            **self._asks(cluster.field),
            "spellings": [
                {
                    "parts": parts[place],
                    "text": variant.text,
                    "left": sum(
                        ValueKey(self._work.items[item], cluster.field) not in current
                        for item in variant.items
                    ),
                }
                for place, variant in enumerate(cluster.variants)
            ],
            "cards": [
                {
                    "number": item,
                    "item": self._work.items[item],
                    "spelling": place,
                    "is_picture": self._media.text(self._work.items[item]) is None,
                    "decided": self._decided(ValueKey(self._work.items[item], cluster.field)),
                }
                for place, item in cards[offset : offset + CARDS]
            ],
            "left": self._left(cluster),
            "all": cluster.size,
            "state": self._state(),
        }

    def _open_keys(
        self, cluster: Cluster, without_spellings: set[int], without_items: set[int]
    ) -> list[ValueKey]:
        current = self._worked.current()
        keys = (
            ValueKey(self._work.items[item], cluster.field)
            for place, variant in enumerate(cluster.variants)
            if place not in without_spellings
            for item in variant.items
            if item not in without_items
        )
        return [key for key in keys if key not in current]

    def _left(self, cluster: Cluster) -> int:
        return len(self._open_keys(cluster, set(), set()))

    def _next(self, number: int) -> int | None:
        """Return the number of the next item after one that has an open value; None without one."""
        items, current = self._work.items, self._worked.current()
        for place in chain(range(number + 1, len(items)), range(number)):
            item = items[place]
            if any(ValueKey(item, field) not in current for field in self._work.doubtful(item)):
                return place
        return None

    def _line(self, key: ValueKey, **made: Any) -> WorkedValue:
        line = {
            "list": self._work.seal,
            "id": uuid.uuid4().hex,
            **key._asdict(),
            "by": self._annotator,
            "at": now(),
            **made,
        }
        return validate(WorkedValue, line, self._folder)

    def _typed(self, path: str, value: Any) -> Any:
        typed = typed_value(value, self._asks(path))
        if typed is None:
            raise HdbenchError("a typed value must not be empty")
        return typed

    def _asks(self, path: str) -> dict[str, Any]:
        if path not in self._asked:
            self._asked[path] = asked(self._form, self._schema, path)
        return self._asked[path]

    def _item(self, number: int) -> str:
        if not 0 <= number < len(self._work.items):
            raise HdbenchError("item {number} does not exist", number=number + 1)
        return self._work.items[number]

    def _cluster_at(self, number: int) -> Cluster:
        if self._clusters is None or not 0 <= number < len(self._clusters):
            raise HdbenchError("value {number} does not exist", number=number + 1)
        return self._clusters[number]


def _at(found: Sequence[Any], place: Any) -> Any:
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(found):
        raise HdbenchError("no such value among those that are shown")
    return found[place]


def _numbers(given: Any) -> set[int]:
    if not isinstance(given, list) or not all(isinstance(each, int) for each in given):
        raise HdbenchError("what is left out must be a list of numbers")
    return set(given)
