"""The progress of long tasks, for a person at a terminal or for a listener."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from hdbench.common.texts import current_language, translated
from hdbench.errors import Message, escaped

Element = TypeVar("Element")

Listener = Callable[[int, int | None], None]
"""A function that is told how many elements are done, and the total, if it is known."""

EVERY = 0.1
"""Seconds between two calls of a listener."""

IN_LINES = 30.0
"""Seconds between two lines where there is no terminal."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def progress(
    elements: Iterable[Element], title: str, total: int | None = None
) -> Iterable[Element]:
    """Return the elements, with a bar on standard error for them if that is a terminal.

    Within `listening` there is no bar: the listener is called instead.

    Args:
        elements: what is iterated over.
        title: the text in front of the bar; its translations are in this package's `messages/`.
        total: how many there are, if known.
    """
    listener = _listener.get()
    if listener is not None:
        return _told(elements, total, listener)
    if not sys.stderr.isatty():
        return elements
    from rich.console import Console  # noqa: PLC0415  slow to import, and needed for a bar only
    from rich.progress import track  # noqa: PLC0415

    console = Console(stderr=True)
    title = translated(Message(title), current_language())
    return track(elements, title, total=total, console=console, transient=True)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener about all progress within the block, in this thread or task and no other.

    Args:
        listener: what to call: seldom, and once at the end of each loop.

    Example:
        >>> with listening(lambda done, total: print(done, "of", total)):
        ...     letters = list(progress("abc", "Letters", total=3))
        1 of 3
        3 of 3
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def in_lines(every: float = IN_LINES) -> Iterator[None]:
    """Print the progress within the block regularly where there is no terminal for a bar.

    Args:
        every: seconds between two lines on standard error.
    """
    if sys.stderr.isatty():
        yield
        return
    due = time.monotonic() + every

    def say(done: int, total: int | None) -> None:
        nonlocal due
        if time.monotonic() >= due or done == total:
            due = time.monotonic() + every
            if total is None:
                tell(Message("{done:,} done", done=done))
            else:
                tell(Message("{done:,} of {total:,} done", done=done, total=total))

    with listening(say):
        yield


def tell(message: Message) -> None:
    """Print a message about something that takes long."""
    print(escaped(translated(message, current_language())), file=sys.stderr, flush=True)  # noqa: T201


def _told(elements: Iterable[Element], total: int | None, listener: Listener) -> Iterator[Element]:
    done, reported, due = 0, 0, 0.0
    for element in elements:
        yield element
        done += 1
        now = time.monotonic()
        if now >= due:
            due, reported = now + EVERY, done
            listener(done, total)
    if reported != done:
        listener(done, total)
