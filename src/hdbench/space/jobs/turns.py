"""Turns of visitors' work: short work never waits for long work, and addresses take turns."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Condition
from typing import NamedTuple

from hdbench.space.texts import TextError

SLICE = 1.0
"""Minimum seconds for which work keeps its place. A file of 263 cards is scored in 0.4 s."""

SLICE_IN_ALL = 3.0
"""Minimum seconds for work that has a score by then. 263 cards have their report in 1.2 s."""

LITTLE = 4.0
"""Recent seconds of an address below which its work is not stopped for paused work."""

HALF_LIFE = 600.0
"""Seconds after which half of the time that an address has used no longer counts against it."""

_FORGOTTEN = 0.01
_POLL = 0.25


class Lane(Enum):
    """The state of a piece of work.

    All work begins in a place. When it has had its slice, and somebody waits who has used less than
    half of its time, or other work from its own address that was not begun yet, it is paused, and
    goes on when it is its turn again. As many pieces are paused as there are places: those of the
    addresses that have used least; if these have used little, what makes way for them keeps its
    place somewhat longer. All other work is stopped, and begun again in its turn, as is work from
    an address that already has a paused piece.
    """

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class QueueFullError(TextError):
    """The reason why no more work is accepted."""


@dataclass(eq=False)
class Turn:
    """One piece of work.

    Attributes:
        address: the visitor's address.
        number: the number of pieces that came before it.
        lane: its state.
        since: the time when it was given its place.
        slice: the minimum seconds for which it keeps its place.
    """

    address: str
    number: int
    lane: Lane = Lane.WAITING
    since: float = 0.0
    slice: float = 0.0

    @property
    def runs(self) -> bool:
        """Return whether it has a place."""
        return self.lane == Lane.RUNNING


class _Order(NamedTuple):
    """The rank of a piece of work among all; the lowest is next.

    Attributes:
        running: the number of other pieces from its address that run.
        used: recent seconds of work from its address.
        begun: whether it had begun before.
        number: the number of pieces that came before it.
    """

    running: int
    used: float
    begun: bool
    number: int


class Turns:
    """The places, and the queue for them; any number of threads may use it.

    The next is work from an address with nothing running, then from the one that has used the
    least time recently, then the work that came first.

    Args:
        places: the number of pieces that may run; as many again may be paused.
        max_waiting: the number of pieces that may wait.
        max_per_visitor: the number of pieces that one address may have, waiting or running.
        clock: gives the time in seconds.
    """

    def __init__(
        self,
        places: int,
        max_waiting: int,
        max_per_visitor: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places = places
        self._max_waiting = max_waiting
        self._max_per_visitor = max_per_visitor
        self._clock = clock
        self._turns: list[Turn] = []
        self._came = 0
        self._used: dict[str, tuple[float, float]] = {}  # address → seconds, and when counted
        self._changed = Condition()

    @contextmanager
    def turn(self, address: str) -> Iterator[Turn]:
        """Queue a piece of work from an address until the block ends.

        An address may have half as many waiting as there are places left in the queue, so that a
        few addresses cannot fill it.

        Raises:
            QueueFullError: too much waits, or too much from that address.
        """
        with self._changed:
            waiting = [turn for turn in self._turns if turn.lane in {Lane.WAITING, Lane.STOPPED}]
            of_address = [turn for turn in self._turns if turn.address == address]
            left = self._max_waiting - len(waiting)
            own_waiting = sum(turn.address == address for turn in waiting)
            if left <= 0:
                raise QueueFullError("queue_full")
            if len(of_address) >= self._max_per_visitor or own_waiting >= (left + 1) / 2:
                raise QueueFullError("too_many_of_yours")
            turn = Turn(address, self._came)
            self._came += 1
            self._turns.append(turn)
            self._admit()
        try:
            yield turn
        finally:
            with self._changed:
                self._leave(turn)
                self._turns.remove(turn)
                self._admit()

    def wait(self, turn: Turn) -> int:
        """Wait briefly for a place.

        Returns:
            The number of pieces ahead of it; 0 when it has a place.
        """
        with self._changed:
            if not turn.runs:
                self._changed.wait(_POLL)
            if turn.runs:
                return 0
            now = self._clock()
            key = self._order(turn, now)
            waiting = [other for other in self._turns if not other.runs and other is not turn]
            return 1 + sum(self._order(other, now) < key for other in waiting)

    def look(self, turn: Turn) -> Lane:
        """Return the state of work that was given a place: it may have to make way."""
        with self._changed:
            now = self._clock()
            if turn.runs and now - turn.since > turn.slice and self._is_in_the_way(turn, now):
                self._make_way(turn, now)
            return turn.lane

    def _is_in_the_way(self, turn: Turn, now: float) -> bool:
        """Return whether work that has had its slice makes way for other work."""
        key = self._order(turn, now)
        # Half, as otherwise work of the same length would take turns.
        half = key._replace(used=key.used / 2)
        return any(
            self._order(other, now, leaving=turn) < (key if other.address == turn.address else half)
            for other in self._turns
            if not other.runs
        )

    def _make_way(self, turn: Turn, now: float) -> None:
        """Pause or stop work; work that would have to be stopped may keep its place for a while."""
        used = self._order(turn, now).used
        paused = [other for other in self._turns if other.lane == Lane.PAUSED]
        most = max(paused, key=lambda other: self._lately(other.address, now), default=None)
        if any(other.address == turn.address for other in paused):
            lane = Lane.STOPPED
        elif most is None or len(paused) < self._places:
            lane = Lane.PAUSED
        elif self._lately(most.address, now) > used:
            most.lane, lane = Lane.STOPPED, Lane.PAUSED
        elif used < LITTLE:
            return
        else:
            lane = Lane.STOPPED
        self._leave(turn)
        turn.lane = lane
        self._admit()

    def _admit(self) -> None:
        """Give the free places to the next pieces of work."""
        now = self._clock()
        waiting = [turn for turn in self._turns if not turn.runs]
        free = self._places - sum(turn.runs for turn in self._turns)
        for _ in range(min(free, len(waiting))):
            turn = min(waiting, key=lambda waiter: self._order(waiter, now))
            turn.lane, turn.since, turn.slice = Lane.RUNNING, now, SLICE
            waiting.remove(turn)
        self._changed.notify_all()

    def _leave(self, turn: Turn) -> None:
        """Count the time that work has had its place."""
        if turn.runs:
            now = self._clock()
            seconds = self._lately(turn.address, now) + now - turn.since
            self._used[turn.address] = (seconds, now)
            self._used = {
                address: used
                for address, used in self._used.items()
                if self._lately(address, now) > _FORGOTTEN
            }

    def _lately(self, address: str, now: float) -> float:
        seconds, counted_at = self._used.get(address, (0.0, 0.0))
        return float(seconds * 0.5 ** ((now - counted_at) / HALF_LIFE))

    def _order(self, turn: Turn, now: float, *, leaving: Turn | None = None) -> _Order:
        """Return the rank of work, or its rank if `leaving` did not run."""
        running = [other for other in self._turns if other.runs and other.address == turn.address]
        running_others = sum(other is not leaving and other is not turn for other in running)
        used = self._lately(turn.address, now) + sum(now - other.since for other in running)
        return _Order(running_others, used, turn.lane != Lane.WAITING, turn.number)
