"""Threads for requests; requests wait for their turn without occupying a thread."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread

from hdbench.errors import HdbenchError

THREADS = 12
"""Maximum number of threads of all editors in a process; other pages have threads of their own."""

PATIENCE = 10.0
"""Maximum number of seconds that a request waits for others."""

_threads = CapacityLimiter(THREADS)

_Value = TypeVar("_Value")


class BusyError(HdbenchError):
    """Too many requests come before this one; nothing was done."""

    def __init__(self) -> None:
        super().__init__("busy with what was asked before: try again in a moment")


def one_at_a_time() -> CapacityLimiter:
    """Return a limiter for requests that are answered one at a time."""
    return CapacityLimiter(1)


async def in_thread(
    turns: CapacityLimiter, function: Callable[..., _Value], *arguments: object
) -> _Value:
    """Call a function in a thread when it is its turn.

    Args:
        turns: the limiter of the requests that it waits for.
        function: the function.
        arguments: its arguments.

    Raises:
        BusyError: it was not its turn in time.
    """
    async with AsyncExitStack() as stack:
        try:
            with fail_after(PATIENCE):
                await stack.enter_async_context(turns)
                await stack.enter_async_context(_threads)
        except TimeoutError as error:
            raise BusyError from error
        # It already has a thread: the default limiter of `to_thread` is shared by all pages.
        free = CapacityLimiter(1)
        return await to_thread.run_sync(partial(function, *arguments), limiter=free)
