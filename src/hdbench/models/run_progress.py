"""The progress of a run, reported on standard error while it lasts."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from hdbench.common.texts import current_language, translated
from hdbench.errors import Message, escaped, joined
from hdbench.models.amounts import as_rate
from hdbench.models.backend import Observer

EVERY_SECONDS = 30.0
"""Without a terminal, progress is printed at least this often."""
EVERY_ITEMS = 100
"""Without a terminal, it is also printed each time this many more items are done."""
FIRST_PROBLEMS = 3
"""This many failed items are each reported; later ones are counted."""


class RunProgress(Observer):
    """A bar in a terminal, otherwise a line now and then: create it with `shown`.

    Args:
        items: how many items the run has.
        done: for how many something is already recorded.
        bar: the bar, shown only in a terminal.
        console: standard error.

    Attributes:
        failed: items of this sitting with only an error.
    """

    def __init__(self, items: int, done: int, bar: Progress, console: Console) -> None:
        self._items, self._done, self._before = items, done, done
        self._bar, self._console = bar, console
        asking = self._told(Message("Asking"))
        self._now: Message | None = None
        self._task = bar.add_task(asking, total=items, completed=done, rate="")
        self._started = time.monotonic()
        self.failed = 0

    @classmethod
    @contextmanager
    def shown(cls, items: int, done: int) -> Iterator["RunProgress"]:
        """Show the progress of a sitting as long as the context lasts.

        Args:
            items: how many items the run has.
            done: for how many something is already recorded.
        """
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
            progress = cls(items, done, bar, console)
            if console.is_terminal:
                yield progress
                return
            with repeating(progress.say_where_it_is, EVERY_SECONDS):
                yield progress

    def answered(self, item_id: str, error: str | None) -> None:
        """Count one more recorded item.

        Args:
            item_id: the item.
            error: why it has no answer.
        """
        if error is not None and self.failed < FIRST_PROBLEMS:
            self.notice(Message("{place}: {why}", place=item_id, why=error))
        self._done += 1
        self.failed += error is not None
        self._bar.update(self._task, completed=self._done, rate=self._told(self._rate()))
        if (self._done - self._before) % EVERY_ITEMS == 0 and not self._console.is_terminal:
            self.say_where_it_is()

    def loading(self) -> None:
        """Say that the model is being loaded."""
        self._say_now(Message("loading the model"))

    def writing(self, items: int, tokens: int) -> None:
        """Say which items are being answered, and how far."""
        counts = {"first": self._done + 1, "items": self._items, "tokens": tokens}
        if items == 1:
            self._say_now(Message("item {first} of {items}, {tokens} tokens", **counts))
        else:
            last = self._done + items
            self._say_now(
                Message("items {first} to {last} of {items}, {tokens} tokens", last=last, **counts)
            )

    def _say_now(self, now: Message) -> None:
        self._now = now
        if self._console.is_terminal:
            self._bar.update(self._task, description=self._told(now))

    def notice(self, message: str) -> None:
        """Print a line of its own, above the bar if there is one."""
        self._console.print(escaped(self._told(message)), markup=False)

    def say_where_it_is(self) -> None:
        """Report the progress in one line."""
        parts = [
            self._now
            or Message("{done} of {items} items done", done=self._done, items=self._items),
            Message("{failed} failed", failed=self.failed),
            *([self._rate()] if self._done > self._before else []),
        ]
        self.notice(joined(parts))

    def _rate(self) -> Message:
        return as_rate((self._done - self._before) / max(time.monotonic() - self._started, 1e-9))

    def _told(self, message: str) -> str:
        return translated(message, current_language())


@contextmanager
def repeating(action: Callable[[], None], seconds: float) -> Iterator[None]:
    """Do something regularly, in a thread, while the context lasts."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
