"""How much is read from one run, if the caller sets a bound."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_most: ContextVar[int | None] = ContextVar("most", default=None)


@contextmanager
def at_most(fields: int) -> Iterator[None]:
    """Bound the answers of each run within the block, in this thread or task and no other.

    Args:
        fields: the maximum number of values in all answers of a run.
    """
    token = _most.set(fields)
    try:
        yield
    finally:
        _most.reset(token)


def most_fields() -> int | None:
    """How many values the answers of a run may have; None if there is no bound."""
    return _most.get()


def number_of_values(answer: Any) -> int:
    """The number of values in an answer, at any depth; an empty object or list counts as one.

    Example:
        >>> number_of_values({"title": "Stellingen", "pages": [1, 2], "notes": {}})
        4
    """
    number, left = 0, [answer]
    while left:
        value = left.pop()
        if isinstance(value, dict | list) and value:
            left.extend(value.values() if isinstance(value, dict) else value)
        else:
            number += 1
    return number
