"""Work that takes longer than a page may: it runs in threads, and pages show how far it is."""

from collections.abc import Callable, Hashable
from threading import Lock, Thread
from typing import Any, NamedTuple

from hdbench.common.progress import listening
from hdbench.errors import HdbenchError, Message

PATIENCE = 1.0
"""Seconds that a page waits for work that may be done soon."""


class TaskView(NamedTuple):
    """A piece of work at a moment.

    Attributes:
        stamp: what it depends on, as it was when the work began.
        is_going: whether it is running.
        value: its outcome; None if it is not done, or failed.
        problem: why it failed; empty otherwise.
        done: how many parts of the present step are done.
        total: how many there are; None if that is not known.
    """

    stamp: Hashable
    is_going: bool
    value: Any
    problem: str
    done: int
    total: int | None


class Background:
    """The work of a collection, one piece of each name at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._works: dict[str, _Begun] = {}

    def computed(self, name: str, stamp: Hashable, make: Callable[[], Any]) -> TaskView:
        """Return a piece of work that only reads, begun unless that was done for these files.

        Args:
            name: its name.
            stamp: what it depends on; with another one, it is done again.
            make: does it.
        """
        with self._lock:
            work = self._works.get(name)
            is_new = work is None or (work.stamp != stamp and not work.is_going())
            if work is None or is_new:
                work = self._works[name] = _Begun(stamp, make)
        if is_new:
            work.wait()
        return work.now()

    def start(self, name: str, make: Callable[[], Any]) -> None:
        """Begin a piece of work that a person asked for, unless it is running already.

        Raises:
            HdbenchError: it failed within a moment.
        """
        work = self.computed(name, object(), make)
        if work.problem and not work.is_going:
            del self._works[name]
            raise HdbenchError(work.problem)

    def last(self, name: str) -> TaskView | None:
        """Return the last piece of work of a name; None if there was none."""
        work = self._works.get(name)
        return None if work is None else work.now()


class _Begun:
    """A piece of work that was begun.

    Args:
        stamp: what it depends on.
        make: does it.
    """

    def __init__(self, stamp: Hashable, make: Callable[[], Any]) -> None:
        self.stamp = stamp
        self._value: Any = None
        # In case of an error that nobody expects, which Python prints.
        self._problem: str = Message("it ended with an error: see the terminal")
        self._done: tuple[int, int | None] = (0, None)
        self._thread = Thread(target=self._run, args=(make,), daemon=True)
        self._thread.start()

    def is_going(self) -> bool:
        """Return whether it is running."""
        return self._thread.is_alive()

    def wait(self) -> None:
        """Wait a moment for its end."""
        self._thread.join(PATIENCE)

    def now(self) -> TaskView:
        """Return it as it is at this moment."""
        is_going = self.is_going()  # first: what is over has its outcome
        return TaskView(self.stamp, is_going, self._value, self._problem, *self._done)

    def _run(self, make: Callable[[], Any]) -> None:
        try:
            with listening(self._note):
                self._value = make()
        except HdbenchError as error:
            self._problem = error.message
        else:
            self._problem = ""

    def _note(self, done: int, total: int | None) -> None:
        self._done = done, total
