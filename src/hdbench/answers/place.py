"""The place of an answer, for messages."""

from collections.abc import Callable
from typing import Any


class AnswerPlace:
    """The place of an answer, which is put into words when a message needs it.

    Args:
        where: says where an answer is, by its key.
        key: the answer's key.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: Callable[[Any], str], key: Any) -> None:
        self._where, self._key = where, key

    def __str__(self) -> str:
        return self._where(self._key)
