"""Threads for requests: those that wait for their turn wait without a thread."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread

from hdbench.errors import HdbenchError

THREADS = 12
"""Maximum number of threads of all editors in a process; other pages have threads of their own."""

PATIENCE = 10.0
"""Maximum seconds for which a request waits for those before it."""

_threads = CapacityLimiter(THREADS)

_Value = TypeVar("_Value")


class BusyError(HdbenchError):
    """Too much comes before a request: nothing was done."""

    def __init__(self) -> None:
        super().__init__("busy with what was asked before: try again in a moment")


def one_at_a_time() -> CapacityLimiter:
    """Return the turns of requests of which only one is answered at a time."""
    return CapacityLimiter(1)


async def in_thread(
    turns: CapacityLimiter, function: Callable[..., _Value], *arguments: object
) -> _Value:
    """Call a function in a thread when it is its turn.

    Args:
        turns: of which requests it waits for its turn.
        function: what is called.
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
        # It has its place: what `to_thread` would wait for otherwise is for all pages.
        free = CapacityLimiter(1)
        return await to_thread.run_sync(partial(function, *arguments), limiter=free)
