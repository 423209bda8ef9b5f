"""Values that people decide beside what is said of them: doubtful ones, and those in conflict."""

import uuid
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hdbench.collections.truth.events import SETTLED, Change, ValueKey, WorkedValue, list_name, now
from hdbench.collections.truth.item_state import Conflict, ItemState
from hdbench.collections.truth.people import ChangedError
from hdbench.collections.truth.store import StaleError, Store
from hdbench.collections.truth.value_page import ValuePage
from hdbench.collections.truth.work_list import Candidate, WorkedValues, WorkList
from hdbench.common.display.differences import marked
from hdbench.common.letters import text_of
from hdbench.common.validation import validate
from hdbench.errors import HdbenchError


class DecidingPage(ValuePage):
    """Values that people choose between what others say of them, or enter anew.

    Args:
        folder: see `ValuePage`.
        person: see `ValuePage`.
        language: see `ValuePage`.
        values: the values, in the order in which they are decided.
    """

    def __init__(
        self, folder: Path, person: str, language: str | None, values: Sequence[ValueKey]
    ) -> None:
        super().__init__(folder, person, language)
        self._values = values

    @abstractmethod
    def decided(self) -> Mapping[ValueKey, WorkedValue | Change]:
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
            StaleError: somebody decided it meanwhile.
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
                "name": "work",
                "stages": 1,
                "place": len(self._values) - len(left) + 1,
                "all": len(self._values),
                "next": (later or left)[:2],
                "last": max(mine)[1] if mine else None,
                "waiting": 0,
                "problem": "",
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
                "own": made and {"what": "value", "value": made.value, "by": made.by},
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
                raise ChangedError(self.state())
            if type(place) is int:
                candidates, _ = self.shown(key)
                if not 0 <= place < len(candidates):
                    raise HdbenchError("there is no such value")
                chosen = candidates[place]
                made = {"how": "candidate", "value": chosen.value, "run": chosen.runs[0]}
            else:
                value = self.typed(key.field, body.get("value"))
                made = {"how": "nothing" if value is None else "typed", "value": value}
            try:
                self.save(key, body.get("after"), made)
            except StaleError as error:
                raise ChangedError(self.state()) from error
            return self.state(number)


class WorkPage(DecidingPage):
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
        self._work, self._worked = work, WorkedValues(folder, work.seal)

    def close(self) -> None:
        """Close the list."""
        self._work.close()

    def decided(self) -> Mapping[ValueKey, WorkedValue]:
        """Return what was decided of the values, by anybody."""
        self._worked.people.refresh()
        return self._worked.current()

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
        made = self._worked.current().get(key)
        return None if made is None else made.id

    def save(self, key: ValueKey, after: str | None, made: dict[str, Any]) -> None:
        """Save a decision."""
        with self._worked.people.writing(self.person):
            line = {
                "list": self._work.seal,
                "id": uuid.uuid4().hex,
                "by": self.person,
                "at": now(),
                **key._asdict(),
                **made,
            }
            self._worked.people.append([validate(WorkedValue, line, self.folder)])


class SettlingPage(DecidingPage):
    """Values that people gave without knowing of each other's, and that one person settles.

    Args:
        folder: the collection.
        person: see `ValuePage`.
        language: see `ValuePage`.
    """

    def __init__(self, folder: Path, person: str, language: str | None) -> None:
        self._store = Store(folder, person)
        values = [
            ValueKey(state.item, conflict.field)
            for state in self._store.states()
            for conflict in state.conflicts
            if conflict.kind == "ground_truth"
        ]
        self._states: dict[str, ItemState] = {}
        super().__init__(folder, person, language, values)

    def close(self) -> None:
        """Bring the ground truths up to date."""
        self._store.close()

    def decided(self) -> Mapping[ValueKey, Change]:
        """Return what was settled since the page was opened."""
        items = list(dict.fromkeys(key.item for key in self._values))
        self._states = {state.item: state for state in self._store.states(items)}
        found: dict[ValueKey, Change] = {}
        for key in self._values:
            if self._conflict(key) is None:
                made = [each for each in self._store.history(key.item) if each.field == key.field]
                found |= {key: made[-1]} if made else {}
        return found

    def shown(self, key: ValueKey) -> tuple[Sequence[Candidate], dict[str, Any]]:
        """Return what people say of a value; nothing once it is settled."""
        conflict = self._conflict(key)
        if conflict is None:
            return (), {}
        said = zip(conflict.changes, conflict.values, strict=True)
        return [Candidate(value, text_of(value), (change.by,)) for change, value in said], {}

    def after(self, key: ValueKey) -> str | None:
        """Return the changes of the item that the page knows of."""
        return (self._states[key.item].head or {}).get("ground_truth")

    def save(self, key: ValueKey, after: str | None, made: dict[str, Any]) -> None:
        """Save the value that is settled on."""
        value = made["value"]
        self._store.change(key.item, "ground_truth", key.field, value, after=after, how=SETTLED)

    def _conflict(self, key: ValueKey) -> Conflict | None:
        conflicts = self._states[key.item].conflicts
        return next((each for each in conflicts if each.field == key.field), None)
