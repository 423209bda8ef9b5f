"""The progress of a run, reported on standard error while it lasts."""

import time
from collections.abc import Iterator
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
from hdbench.models.backend import Observer

EVERY_SECONDS = 30.0
"""Without a terminal, it is printed so often how far the run is."""
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
        self._items, self._done = items, done
        self._bar, self._console = bar, console
        self._now: Message | None = None
        self._said = time.monotonic()
        self._task = bar.add_task(self._told(Message("Asking")), total=items, completed=done)
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
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
            yield cls(items, done, bar, console)

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
        self._bar.update(self._task, completed=self._done)
        self._say_sometimes()

    def loading(self) -> None:
        """Say that the model is being loaded."""
        self._say_now(Message("loading the model"))

    def writing(self, tokens: int) -> None:
        """Say which item is being answered, in a batch its first, and how far."""
        counts = {"item": self._done + 1, "items": self._items, "tokens": tokens}
        self._say_now(Message("item {item} of {items}, {tokens} tokens", **counts))

    def _say_now(self, now: Message) -> None:
        self._now = now
        self._bar.update(self._task, description=self._told(now))
        self._say_sometimes()

    def _say_sometimes(self) -> None:
        if not self._console.is_terminal and time.monotonic() - self._said > EVERY_SECONDS:
            self.say_where_it_is()

    def notice(self, message: str) -> None:
        """Print a line of its own, above the bar if there is one."""
        self._console.print(escaped(self._told(message)), markup=False)

    def say_where_it_is(self) -> None:
        """Report the progress in one line."""
        parts = [
            self._now
            or Message("{done} of {items} items done", done=self._done, items=self._items),
            Message("{failed} failed", failed=self.failed),
        ]
        self.notice(joined(parts))
        self._said = time.monotonic()

    def _told(self, message: str) -> str:
        return translated(message, current_language())
