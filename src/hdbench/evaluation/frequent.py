"""Frequent values among many items, counted in bounded memory."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

EXAMPLES = 5
"""Maximum number of ids that are named."""


@dataclass(slots=True)
class Seen:
    """Count of something that was seen, and the first items that show it.

    Attributes:
        count: how often.
        ids: the first items.
        shown: how it is shown to a person.
        truth: the ground truth of the first item.
        truths_differ: whether another item has a different ground truth.
    """

    count: int = 0
    ids: list[str] = field(default_factory=list)
    shown: str = ""
    truth: Any = None
    truths_differ: bool = False

    def add(self, item_id: str) -> None:
        """Count it once more."""
        self.count += 1
        if len(self.ids) < EXAMPLES:
            self.ids.append(item_id)

    def take(self, later: "Seen") -> None:
        """Count how often it was seen in later items."""
        self.count += later.count
        self.ids += later.ids[: EXAMPLES - len(self.ids)]


class Frequent:
    """The most frequent among any number of keys, in bounded memory (Misra and Gries, 1982).

    With at most `size` different keys, the counts are exact. With more, a count can be too low by
    one in `size + 1` of everything that was added, but never too high.

    Example:
        >>> frequent = Frequent(2)
        >>> for number, letter in enumerate("abacada"):
        ...     _ = frequent.add(letter, str(number))
        >>> [(letter, seen.count) for letter, seen in frequent.most()]
        [('a', 3), ('d', 1)]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._seen: dict[Hashable, Seen] = {}

    def add(self, key: Hashable, item_id: str) -> Seen | None:
        """Count a key once more; if too many are kept, count each of them once less instead."""
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) == self.size:
                self._forget()
                return None
            seen = self._seen[key] = Seen()
        seen.add(item_id)
        return seen

    def most(self) -> list[tuple[Any, Seen]]:
        """Return the kept keys, the most frequent first; among equals, the one kept longest."""
        return sorted(self._seen.items(), key=lambda entry: -entry[1].count)

    def _forget(self) -> None:
        for seen in self._seen.values():
            seen.count -= 1
        self._seen = {key: seen for key, seen in self._seen.items() if seen.count}
