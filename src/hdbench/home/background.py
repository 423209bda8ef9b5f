"""Work that takes longer than a page may: it goes on in threads, and pages show how far it is."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from hdbench.common.progress import listening
from hdbench.errors import HdbenchError, Message

PATIENCE = 1.0
"""Seconds that a page waits for work that may be done soon."""


@dataclass
class Work:
    """A piece of work.

    Attributes:
        stamp: what it depends on, as it was when the work began.
        value: its outcome; None if it is not done, or failed.
        problem: why it failed; empty otherwise.
        done: how many parts of the present step are done.
        total: how many there are; None if that is not known.
    """

    stamp: Hashable
    value: Any = None
    problem: str = ""
    done: int = 0
    total: int | None = None
    _thread: Thread = field(default_factory=Thread)

    @property
    def is_going(self) -> bool:
        """Return whether it goes on."""
        return self._thread.is_alive()

    def begin(self, make: Callable[[], Any]) -> None:
        """Begin it."""
        self._thread = Thread(target=self._run, args=(make,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait a moment for its end."""
        self._thread.join(PATIENCE)

    def _run(self, make: Callable[[], Any]) -> None:
        # In case of an error that nobody expects, which Python prints.
        self.problem = Message("it ended with an error: see the terminal")
        try:
            with listening(self._note):
                self.value = make()
        except HdbenchError as error:
            self.problem = error.message
        else:
            self.problem = ""

    def _note(self, done: int, total: int | None) -> None:
        self.done, self.total = done, total


class Background:
    """The work of a collection, one piece of each name at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._works: dict[str, Work] = {}

    def computed(self, name: str, stamp: Hashable, make: Callable[[], Any]) -> Work:
        """Return a piece of work that only reads, begun unless that was done for these files.

        Args:
            name: its name.
            stamp: what it depends on; with another one, it is done again.
            make: does it.
        """
        with self._lock:
            work = self._works.get(name)
            is_new = work is None or (work.stamp != stamp and not work.is_going)
            if work is None or is_new:
                work = self._works[name] = Work(stamp)
                work.begin(make)
        if is_new:
            work.wait()
        return work

    def start(self, name: str, make: Callable[[], Any]) -> None:
        """Begin a piece of work that a person asked for, unless it goes on already.

        Raises:
            HdbenchError: it failed within a moment.
        """
        work = self.computed(name, object(), make)
        if work.problem and not work.is_going:
            del self._works[name]
            raise HdbenchError(work.problem)

    def last(self, name: str) -> Work | None:
        """Return the last piece of work of a name; None if there was none."""
        return self._works.get(name)
