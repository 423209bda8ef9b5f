"""The single values that one person reads in the browser, saved by its page."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

from hdbench.collections.truth.event_files import ChangedError
from hdbench.collections.truth.events import Reading, ValueKey, list_name
from hdbench.collections.truth.form import typed_value
from hdbench.collections.truth.readings import (
    Readings,
    ReadingStage,
    offered,
    waits_for_others,
)
from hdbench.collections.truth.value_page import ValuePage
from hdbench.common.validation import validate
from hdbench.errors import HdbenchError


class CheckedPlan(Protocol):
    """A plan whose values people read.

    Its methods are called for every request, and `stages` also while `advance` runs in a thread.

    Attributes:
        hash: the hash of the plan, by which readings belong to it.
    """

    @property
    def hash(self) -> str:
        """Return the hash of the plan."""

    def stages(self) -> Sequence[ReadingStage]:
        """Return the stages that are drawn, also by other processes: one or two.

        Raises:
            HdbenchError: they cannot be read.
        """

    def check_open(self) -> None:
        """Refuse to read on once something was decided by what was read.

        Raises:
            HdbenchError: it was.
        """

    def advance(self) -> None:
        """Learn from the first stage, and draw the second; nothing if that is done already.

        Raises:
            HdbenchError: it cannot be done.
        """


class _Place(NamedTuple):
    """A value's place in the plan.

    Attributes:
        stage: the position of its stage.
        key: the value.
        turn: how many times this person has read it, this time included.
    """

    stage: int
    key: ValueKey
    turn: int


class ValueCheck(ValuePage):
    """A plan whose values one person reads in the browser, one request at a time.

    No answer says what a model or another person read.

    Args:
        folder: the dataset, or the collection.
        plan: the plan.
        annotator: the reader's name.
        language: the page's language; None for the browser's.

    Raises:
        HdbenchError: the plan is not about this folder, a file is unusable, or the name is.
    """

    def __init__(
        self, folder: Path, plan: CheckedPlan, annotator: str, language: str | None
    ) -> None:
        super().__init__(folder, annotator, language)
        self._plan = plan
        self._stages: list[ReadingStage] = []
        self._readings: Readings = {}
        self._places: list[_Place] = []  # by number
        self._numbers: dict[_Place, int] = {}
        self._advancing = Lock()
        self._refresh()

    @property
    def lists(self) -> Sequence[str]:
        """Return the names of the lists that numbers of requests stand for, that of now last."""
        stages = [stage.values for stage in self._stages]
        return [list_name(stages[: number + 1]) for number in range(len(stages))]

    def state(self, after: int = -1) -> dict[str, Any]:
        """Return where the reading stands for this person."""
        with self.lock:
            self._refresh()
            return self._state()

    def value(self, number: int) -> dict[str, Any]:
        """Return a value: where to look, what can be entered, and what this person entered.

        Of one that was read, `place` is its place among those that this person read, and `before`
        the number of the one before it.
        """
        with self.lock:
            self._refresh()
            stage, key, turn = self._place(number)
            own = self._own_of(key, turn)
            mine = self._mine(stage)
            before = mine[: mine.index(number)] if own else []
        return {
            "item": key.item,
            **self.asks(key.field),
            "own": own and {"what": own.what, "value": own.value},
            "after": own and own.id,
            "before": before[-1] if before else None,
            "place": len(before) + 1,
            **self.media.shown(key.item),
        }

    def key(self, number: int) -> ValueKey:
        """Return the value with a number."""
        return self._place(number).key

    def read(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        """Save what was read of a value, and return the state.

        Raises:
            ChangedError: it was read in another window, or its stage is over.
            HdbenchError: it cannot be saved.
        """
        self._plan.check_open()
        with self.lock, self.people.writing(self.person):
            self._refresh()
            stage, key, turn = place = self._place(number)
            own = self._own_of(key, turn)
            is_over = stage < len(self._stages) - 1 or self._own_of(key, turn + 1)
            if is_over or body.get("after") != (own and own.id) or not self._may(place, own):
                raise ChangedError("{item}: was read in the meantime", item=key.item)
            value = None
            if body.get("what") == "value":
                value = typed_value(body.get("value"), self.asks(key.field))
            made = {
                **self.signed(),
                "plan": self._plan.hash,
                "stage": self._stages[stage].name,
                **key._asdict(),
                "what": body.get("what"),
                "value": value,
                "seconds": body.get("seconds"),
                "turn": turn,
            }
            self.people.append([validate(Reading, made, self.folder)])
            self._refresh()
            return self._state()

    def go_on(self, body: dict[str, Any]) -> dict[str, Any]:
        """Draw the next stage if this one is still the last, and return the state.

        Raises:
            HdbenchError: there are values that nobody has read, or it cannot be drawn.
        """
        with self._advancing:
            with self.lock:
                self._refresh()
                stage = len(self._stages) - 1
                if body.get("stage") != stage or self._is_last(stage):
                    return self._state()
                if self._stages[stage].to_read(self._readings):
                    raise HdbenchError("there are values that nobody has read")
            self._plan.advance()
        return self.state()

    def _refresh(self) -> None:
        """Read what others have read and drawn."""
        self.people.refresh()
        self._readings = self.people.readings(self._plan.hash)
        stages = self._plan.stages()
        for stage in stages[len(self._stages) :]:
            for key in stage.values:
                if key.item not in self.media.items:
                    raise HdbenchError(
                        "{item}: {folder} has no such item", item=key.item, folder=self.folder
                    )
        if len(stages) > len(self._stages):
            self._stages = list(stages)
            self._places = [
                _Place(number, key, turn)
                for number, stage in enumerate(stages)
                for turn in range(1, stage.turns + 1)
                for key in stage.values
            ]
            self._numbers = {place: number for number, place in enumerate(self._places)}

    def _state(self) -> dict[str, Any]:
        stage = len(self._stages) - 1
        values, readings = self._stages[stage], self._readings
        mine = self._mine(stage)
        left = offered(values, readings, self.person)
        next_ = [self._next_place(position) for position in left]
        waiting = 0 if left else waits_for_others(values, readings)
        return {
            "phase": self._phase(stage, left, waiting),
            "stage": stage,
            "name": values.name,
            "stages": stage + 1 if self._is_last(stage) else stage + 2,
            "place": len(mine) + 1,
            # Were those counted that come again, it would show which readings are contradicted.
            "all": len(mine) + max(bool(left), sum(place.turn == 1 for place in next_)),
            "next": [self._numbers[place] for place in next_[:2]],
            "last": mine[-1] if mine else None,
            "waiting": waiting,
        }

    def _phase(self, stage: int, left: Sequence[int], waiting: int) -> str:
        if left:
            return "reading"
        if self._is_last(stage):
            return "done"
        return "waiting" if waiting else "ready"

    def _is_last(self, stage: int) -> bool:
        return self._stages[stage].name != "learn"

    def _mine(self, stage: int) -> list[int]:
        """Return the numbers of the values of a stage that this person has read, in that order."""
        mine = [
            (reading.at, self._numbers[_Place(stage, key, reading.turn)])
            for key in self._stages[stage].values
            for reading in self._readings.get(key, ())
            if reading.by == self.person
        ]
        return [number for _, number in sorted(mine)]

    def _own_of(self, key: ValueKey, turn: int) -> Reading | None:
        who = (self.person, turn)
        readings = self._readings.get(key, ())
        return next((reading for reading in readings if (reading.by, reading.turn) == who), None)

    def _may(self, place: _Place, own: Reading | None) -> bool:
        """Return whether a value may be read this time: again only where it is offered."""
        left = offered(self._stages[-1], self._readings, self.person)
        return bool(own) or place.turn == 1 or place in map(self._next_place, left)

    def _next_place(self, position: int) -> _Place:
        """Return the place of a value of the last stage, for its next turn."""
        key = self._stages[-1].values[position]
        by = [reading.by for reading in self._readings.get(key, ())]
        return _Place(len(self._stages) - 1, key, by.count(self.person) + 1)

    def _place(self, number: int) -> _Place:
        if not 0 <= number < len(self._places):
            raise HdbenchError("value {number} does not exist", number=number + 1)
        return self._places[number]
