"""Values that people decide beside what is said of them.

Doubtful ones, those that people entered differently, and those that most models contradict.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.answers import match_ids
from hdbench.benchmarks.spec import AUDITED
from hdbench.collections.truth.event_files import ChangedError
from hdbench.collections.truth.events import SETTLED, ValueKey, WorkedValue, list_name, now
from hdbench.collections.truth.fields import get, parse_field, with_value
from hdbench.collections.truth.form import typed_value
from hdbench.collections.truth.item_state import Conflict, ItemState
from hdbench.collections.truth.store import Store
from hdbench.collections.truth.value_page import ValuePage
from hdbench.collections.truth.work_list import Candidate, WorkList
from hdbench.common.display.differences import marked
from hdbench.common.validation import validate
from hdbench.common.value_text import BETWEEN, text_of
from hdbench.errors import HdbenchError
from hdbench.report.audit.findings import FoundField


class Decided(NamedTuple):
    """What was decided of a value.

    Attributes:
        by: the person.
        at: the time.
        value: the value; None for nothing.
    """

    by: str
    at: str
    value: Any


class ChoicePage(ValuePage):
    """Values that people choose between what others say of them, or enter anew.

    Args:
        folder: see `ValuePage`.
        person: see `ValuePage`.
        language: see `ValuePage`.
        values: the values, in the order in which they are decided.

    Attributes:
        name: what they are decided for.
    """

    name = "work"

    def __init__(
        self, folder: Path, person: str, language: str | None, values: Sequence[ValueKey]
    ) -> None:
        super().__init__(folder, person, language)
        self._values = values

    @abstractmethod
    def decided(self) -> Mapping[ValueKey, Decided]:
        """Return what was decided of the values, by anybody."""

    @abstractmethod
    def shown(self, key: ValueKey) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """Return what is said of a value, by whom, and what else may be seen beside it."""

    @abstractmethod
    def after(self, key: ValueKey) -> str | None:
        """Return what the page knows of a value, so that it is not overwritten unseen."""

    @abstractmethod
    def save(self, key: ValueKey, after: str | None, made: dict[str, Any]) -> None:
        """Save a decision.

        Raises:
            ChangedError: somebody decided it meanwhile.
            HdbenchError: it cannot be saved.
        """

    @property
    def lists(self) -> Sequence[str]:
        """Return the name of the list that the numbers of requests stand for."""
        return [list_name(self._values)]

    def key(self, number: int) -> ValueKey:
        """Return the value with a number."""
        if not 0 <= number < len(self._values):
            raise HdbenchError("value {number} does not exist", number=number + 1)
        return self._values[number]

    def state(self, after: int = -1) -> dict[str, Any]:
        """Return where it stands for this person."""
        with self.lock:
            decided = self.decided()
            left = [number for number, key in enumerate(self._values) if key not in decided]
            mine = [
                (made.at, number)
                for number, key in enumerate(self._values)
                if (made := decided.get(key)) is not None and made.by == self.person
            ]
            later = [number for number in left if number > after]
            return {
                "phase": "reading" if left else "done",
                "stage": 0,
                "name": self.name,
                "place": len(self._values) - len(left) + 1,
                "all": len(self._values),
                "next": (later or left)[:2],
                "last": max(mine)[1] if mine else None,
            }

    def value(self, number: int) -> dict[str, Any]:
        """Return a value: what is said of it, what can be entered, and what was decided."""
        with self.lock:
            key = self.key(number)
            made = self.decided().get(key)
            candidates, beside = self.shown(key)
            parts = marked([candidate.text for candidate in candidates])
            return {
                "item": key.item,
                **self.asks(key.field),
                "own": made
                and {
                    "what": "value",
                    "value": made.value,
                    "text": _in_words(made.value),
                    "by": made.by,
                },
                "after": self.after(key),
                "before": number - 1 if number else None,
                "place": number + 1,
                "candidates": [
                    {
                        "parts": parts_of_one,
                        "names": list(candidate.runs),
                        "is_nothing": not candidate.text,
                    }
                    for candidate, parts_of_one in zip(candidates, parts, strict=True)
                ],
                **beside,
                **self.media.shown(key.item),
            }

    def read(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save what this person decides of a value, and return the state."""
        key, place = self.key(number), body.get("place")
        with self.lock:
            self.decided()  # what others decided since
            if body.get("after") != self.after(key):
                raise ChangedError("{item}: was decided in the meantime", item=key.item)
            if type(place) is int:
                candidates, _ = self.shown(key)
                if not 0 <= place < len(candidates):
                    raise HdbenchError("there is no such value")
                chosen = candidates[place]
                made = {"how": "candidate", "value": chosen.value, "run": chosen.runs[0]}
            else:
                value = typed_value(body.get("value"), self.asks(key.field))
                made = {"how": "nothing" if value is None else "typed", "value": value}
            self.save(key, body.get("after"), made)
            return self.state(number)


class WorkPage(ChoicePage):
    """A work list that one person goes through in the browser.

    Args:
        folder: see `ValuePage`.
        work: the list; closed with this.
        person: see `ValuePage`.
        language: see `ValuePage`.
    """

    def __init__(self, folder: Path, work: WorkList, person: str, language: str | None) -> None:
        values = [ValueKey(item, field) for item in work.items for field in work.doubtful(item)]
        super().__init__(folder, person, language, values)
        self._work = work

    def close(self) -> None:
        """Close the list."""
        self._work.close()

    def decided(self) -> Mapping[ValueKey, Decided]:
        """Return what was decided of the values, by anybody."""
        self.people.refresh()
        worked = self.people.worked(self._work.seal)
        return {key: Decided(each.by, each.at, each.value) for key, each in worked.items()}

    def shown(self, key: ValueKey) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """Return what the runs say, why there is doubt, and the item's other values."""
        fields = self._work.fields(key.item)
        this = next(field for field in fields if field.path == key.field)
        doubtful = self._work.doubtful(key.item)
        return this.candidates, {
            "reason": this.reason,
            "silent": this.silent,
            "beside": [
                [self.asks(field.path)["label"], text_of(field.value), field.decision]
                for field in fields
                if field.path not in doubtful
            ],
        }

    def after(self, key: ValueKey) -> str | None:
        """Return the id of the last decision."""
        made = self.people.worked(self._work.seal).get(key)
        return None if made is None else made.id

    def save(self, key: ValueKey, after: str | None, made: dict[str, Any]) -> None:
        """Save a decision."""
        with self.people.writing(self.person):
            line = {"list": self._work.seal, **self.signed(), **key._asdict(), **made}
            self.people.append([validate(WorkedValue, line, self.folder)])


class TruthPage(ChoicePage):
    """Values of the ground truth that one person decides.

    Args:
        store: the collection, which is closed with this.
        language: see `ValuePage`.
        values: see `ChoicePage`.
    """

    how = SETTLED

    def __init__(self, store: Store, language: str | None, values: Sequence[ValueKey]) -> None:
        self._store = store
        self._items = list(dict.fromkeys(key.item for key in values))
        self._states: dict[str, ItemState] = {}
        super().__init__(store.folder, store.person, language, values)

    def close(self) -> None:
        """Bring the ground truths up to date."""
        self._store.close()

    def decided(self) -> Mapping[ValueKey, Decided]:
        """Return what was decided of the values, by anybody."""
        self._states = {state.item: state for state in self._store.states(self._items)}
        made = ((key, self.decided_of(key)) for key in self._values)
        return {key: each for key, each in made if each is not None}

    @abstractmethod
    def decided_of(self, key: ValueKey) -> Decided | None:
        """Return what was decided of a value; None if it is open."""

    def after(self, key: ValueKey) -> str | None:
        """Return the changes of the item that the page knows of."""
        return (self._states[key.item].head or {}).get("ground_truth")

    def save(self, key: ValueKey, after: str | None, made: dict[str, Any]) -> None:
        """Save the value that was chosen."""
        value = made["value"]
        self._store.change(key.item, "ground_truth", key.field, value, after=after, how=self.how)
        with suppress(HdbenchError):  # it is saved: the ground truths can be written later
            self._store.flush(wait=False)

    def last_change(self, key: ValueKey, how: str = "") -> Decided | None:
        """Return the last change of a value's field, or the last one that was made in a way."""
        top = key.field.partition(".")[0]
        made = [
            Decided(change.by, change.at, _at({top: change.value}, key.field))
            for change in self._store.people.changes(key.item)
            if change.field == top and how in ("", change.how)
        ]
        return made[-1] if made else None


class SettlingPage(TruthPage):
    """Values that people gave without knowing of each other's, and that one person settles.

    Args:
        folder: the collection.
        person: see `ValuePage`.
        language: see `ValuePage`.
    """

    name = "settle"

    def __init__(self, folder: Path, person: str, language: str | None) -> None:
        store = Store(folder, person)
        values = [
            ValueKey(state.item, conflict.field)
            for state in store.states()
            for conflict in state.conflicts
            if conflict.kind == "ground_truth"
        ]
        super().__init__(store, language, values)

    def decided_of(self, key: ValueKey) -> Decided | None:
        """Return the last change of a value that is not in conflict any more."""
        return None if self._conflict(key) else self.last_change(key)

    def shown(self, key: ValueKey) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """Return what people say of a value; nothing once it is settled."""
        conflict = self._conflict(key)
        if conflict is None:
            return (), {}
        said = zip(conflict.changes, conflict.values, strict=True)
        return [Candidate(value, _in_words(value), (change.by,)) for change, value in said], {}

    def _conflict(self, key: ValueKey) -> Conflict | None:
        conflicts = self._states[key.item].conflicts
        return next((each for each in conflicts if each.field == key.field), None)


class AuditPage(TruthPage):
    """Values of the ground truth that most good models contradict, for a second look.

    A list is one value: what models read in it is shown within it.

    Args:
        folder: the collection.
        person: see `ValuePage`.
        language: see `ValuePage`.
        audited: item → what an audit found in it.
    """

    name = "audit"
    how = AUDITED

    def __init__(
        self,
        folder: Path,
        person: str,
        language: str | None,
        audited: Mapping[str, Sequence[FoundField]],
    ) -> None:
        store = Store(folder, person)
        self._found: dict[ValueKey, list[FoundField]] = {}
        for item, fields in _in_collection(audited, store.items, folder).items():
            for each in fields:
                key = ValueKey(item, each.field.partition("[")[0])
                self._found.setdefault(key, []).append(each)
        self._looked_at: dict[ValueKey, Decided] = {}
        self._in_field = Counter((key.item, key.field.partition(".")[0]) for key in self._found)
        super().__init__(store, language, list(self._found))

    def decided_of(self, key: ValueKey) -> Decided | None:
        """Return how a value was corrected, or that this person left it as it was."""
        if self._in_field[key.item, key.field.partition(".")[0]] > 1:
            return self._looked_at.get(key)  # a change is one of all that is in the field
        return self._looked_at.get(key) or self.last_change(key, AUDITED)

    def save(self, key: ValueKey, after: str | None, made: dict[str, Any]) -> None:
        """Save the value that was chosen; one that was there already is not written again."""
        if made["value"] != _at(self._states[key.item].record, key.field):
            super().save(key, after, made)
        self._looked_at[key] = Decided(self.person, now(), made["value"])

    def shown(self, key: ValueKey) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """Return the ground truth, and what it is with what models read."""
        record, found = self._states[key.item].record, self._found[key]
        truth, read = (_at(each, key.field) for each in (record, self._as_read(record, found)))
        said = tuple(dict.fromkeys(each.said for each in found))
        candidates = [Candidate(truth, _in_words(truth), ("",))]
        if _in_words(read) != _in_words(truth):
            candidates.append(Candidate(read, _in_words(read), said))
        is_in_list = any("[" in each.field for each in found)
        return candidates, {"reason": "audited_list" if is_in_list else "audited"}

    def _as_read(self, record: Any, found: Sequence[FoundField]) -> Any:
        """Return a record with what models read, but for values that do not fit their field."""
        begun: dict[str, int] = {}  # list → the entry that it lacks
        for each in found:
            path = each.field
            asks = self.asks(_PLACE.sub("", path))
            while "[]" in path:
                head, _, rest = path.partition("[]")
                end = len(_at(record, head) or ())
                if _at(record, f"{head}[{begun.setdefault(head, end)}]{rest}") is not None:
                    begun[head] = end
                path = f"{head}[{begun[head]}]{rest}"
            with suppress(HdbenchError, KeyError):
                value = typed_value(each.read, asks["entry"] if path.endswith("]") else asks)
                record = with_value(record, parse_field(path), value)
        return record


def _in_collection(
    audited: Mapping[str, Sequence[FoundField]], items: Sequence[str], folder: Path
) -> dict[str, Sequence[FoundField]]:
    """Return the collection's id → what an audit found, in its order.

    Ids may differ as they do in answers: spreadsheet programs drop leading zeros.
    """
    matched = match_ids(audited, items)
    if matched.unknown:
        raise HdbenchError(
            "{place}: has no item {item!r}, which is on the list ({unknown:,} of {of:,} "
            "are not there): is it for another folder?",
            place=folder,
            item=matched.unknown[0],
            unknown=len(matched.unknown),
            of=len(audited),
        )
    own = {listed: item for item, listed in matched.ids.items()}
    return {own.get(listed, listed): fields for listed, fields in audited.items()}


_PLACE = re.compile(r"\[\d*\]")


def _at(record: Any, field: str) -> Any:
    """Return the value of a field, of a list without what is nothing; None if there is none."""
    try:
        value = get(record, parse_field(field))
    except KeyError:
        return None
    return [each for each in value if each is not None] if isinstance(value, list) else value


def _in_words(value: Any) -> str:
    """Return a value as a text; of objects, their values."""
    if isinstance(value, dict):
        return ", ".join(filter(None, map(_in_words, value.values())))
    if isinstance(value, list):
        return BETWEEN.join(filter(None, map(_in_words, value)))
    return text_of(value)
