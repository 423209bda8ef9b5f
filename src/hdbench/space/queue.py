"""The queue of work that pages watch: each piece is found again by its key while it is kept."""

import time
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event, Lock
from typing import Any

from hdbench.errors import HdbenchError
from hdbench.space.texts import TextError
from hdbench.space.work import Progress

PATIENCE = 90.0
"""Seconds after which work ends that no page asks about any more; a page asks every second, and in
a hidden window every minute."""

Steps = Callable[[], Generator[Any, None, None]]
"""What a piece of work does: it yields its `Progress`, and each state in which it can be shown."""


class QueuedWork:
    """A piece of work: how far it is, and what there is to show of it.

    Attributes:
        progress: how far it is; None before it says so.
        shown: its latest state to show; None before there is one.
        problem: the reason why it failed.
        is_left: whether it ended because nobody asked about it.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._begun, self._done = Event(), Event()
        self._seen = self._changed = time.monotonic()
        self.progress: Progress | None = None
        self.shown: Any = None
        self.problem: HdbenchError | None = None
        self.is_left = False

    @property
    def has_begun(self) -> bool:
        """Whether it no longer waits for its place."""
        return self._begun.is_set()

    @property
    def is_done(self) -> bool:
        """Whether nothing of it will change."""
        return self._done.is_set()

    @property
    def age(self) -> float:
        """Seconds since it was last asked about, or changed."""
        return time.monotonic() - max(self._seen, self._changed)

    def see(self) -> None:
        """Take note that somebody asks about it."""
        self._seen = time.monotonic()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is done, for whoever asks meanwhile.

        Args:
            seconds: the maximum time; None for as long as it takes.
        """
        end = time.monotonic() + (seconds or float("inf"))
        while not self._done.wait(min(1.0, max(0.0, end - time.monotonic()))):
            self.see()
            if time.monotonic() >= end:
                return

    def do(self, *, patience: float) -> None:
        """Do it, unless nobody asks about it any more."""
        self._begun.set()
        try:
            with closing(self._steps()) as steps:
                for message in steps:
                    if time.monotonic() - self._seen > patience:
                        self.is_left = True
                        raise TextError("left")
                    if isinstance(message, Progress):
                        self.progress = message
                    else:
                        self.shown = message
        except HdbenchError as error:
            self.problem = error
        except Exception:
            self.problem = TextError("failed")
            raise
        finally:
            self._changed = time.monotonic()
            self._done.set()


class Queue:
    """Pieces of work, of which so many are done at the same time, in the order in which they come.

    Args:
        places: how many are done at the same time.
        most: how many may wait.
        keep: seconds for which one is kept that is done.
        patience: see `PATIENCE`.
    """

    def __init__(self, places: int, *, most: int, keep: float, patience: float = PATIENCE) -> None:
        self._pool = ThreadPoolExecutor(places)
        self._most, self._keep, self._patience = most, keep, patience
        self._pieces: dict[Hashable, QueuedWork] = {}
        self._lock = Lock()

    def find(self, key: Hashable) -> QueuedWork | None:
        """Return the piece of work with a key, if it is kept."""
        piece = self._pieces.get(key)
        if piece is not None:
            piece.see()
        return piece

    def piece(self, key: Hashable, steps: Steps) -> QueuedWork:
        """Return the piece of work with a key, which begins as soon as there is a place.

        Args:
            key: the key.
            steps: what is done, unless it is kept.

        Raises:
            HdbenchError: too many wait already.
        """
        with self._lock:
            self._pieces = {
                each: old
                for each, old in self._pieces.items()
                if not old.is_done or (old.age < self._keep and not old.is_left)
            }
            if (piece := self.find(key)) is not None:
                return piece
            if sum(not each.has_begun for each in self._pieces.values()) >= self._most:
                raise TextError("queue_full")
            piece = self._pieces[key] = QueuedWork(steps)
            self._pool.submit(piece.do, patience=self._patience)
            return piece

    def ahead(self, piece: QueuedWork) -> int:
        """Return how many pieces come before one that waits, those that are being done included."""
        pieces = list(self._pieces.values())
        before = pieces[: pieces.index(piece)] if piece in pieces else []
        return sum(not each.is_done for each in before)

    def end(self) -> None:
        """Begin no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
