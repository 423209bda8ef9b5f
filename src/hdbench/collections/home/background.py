"""Work that takes longer than a page may: it runs in threads, and pages show how far it is."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from threading import Lock, Thread
from typing import Any

from hdbench.common.progress import listening
from hdbench.errors import HdbenchError, Message

PATIENCE = 1.0
"""Seconds that a page waits for work that may be done soon."""


@dataclass
class Task:
    """A piece of work.

    Attributes:
        is_going: whether it is running. It comes first: what is over has its outcome.
        value: its outcome; None if it is not done, or failed.
        problem: why it failed; empty otherwise.
        done: how many parts of the present step are done.
        total: how many there are; None if that is not known.
    """

    is_going: bool = True
    value: Any = None
    problem: str = ""
    done: int = 0
    total: int | None = None

    def run(self, make: Callable[[], Any]) -> None:
        """Do it."""
        # In case of an error that nobody expects, which Python prints.
        problem: str = Message("it ended with an error: see the terminal")
        try:
            with listening(self._note):
                self.value = make()
            problem = ""
        except HdbenchError as error:
            problem = error.message
        finally:
            self.problem, self.is_going = problem, False

    def _note(self, done: int, total: int | None) -> None:
        self.done, self.total = done, total


class Background:
    """The work of a collection, one piece of each name at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tasks: dict[str, tuple[Hashable, Task]] = {}

    def computed(self, name: str, stamp: Hashable, make: Callable[[], Any]) -> Task:
        """Return a piece of work that only reads, begun unless that was done for these files.

        Args:
            name: its name.
            stamp: what it depends on; with another one, it is done again.
            make: does it.
        """
        thread = None
        with self._lock:
            known, task = self._tasks.get(name, (None, None))
            if task is None or (known != stamp and not task.is_going):
                task = Task()
                self._tasks[name] = stamp, task
                thread = Thread(target=task.run, args=(make,), daemon=True)
                thread.start()
        if thread:
            thread.join(PATIENCE)
        return replace(task)

    def start(self, name: str, make: Callable[[], Any]) -> None:
        """Begin a piece of work that a person asked for, unless it is running already.

        Raises:
            HdbenchError: it failed within a moment.
        """
        task = self.computed(name, object(), make)
        if task.problem:
            del self._tasks[name]
            raise HdbenchError(task.problem)

    def last(self, name: str) -> Task | None:
        """Return the last piece of work of a name as it is now; None if there was none."""
        known = self._tasks.get(name)
        return known and replace(known[1])
