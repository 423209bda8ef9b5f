"""Counts of all items, once each of them was seen: few bytes for each of a million."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

TAKEN, CHECK, CHECKED = "taken", "check", "checked"
"""Decisions about a value: it is taken over, a person has to look at it, or one did already."""

IS_TAKEN = b'"decision": "taken"'
"""In the line of an item of which a value is taken over, and in no other: quotation marks within
texts are escaped."""


class TrustCounts:
    """Counts, and what the work list and the control sample are made from.

    Attributes:
        counts: field → `taken`, `checked`, or why a person has to look at it → how many.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._fields: dict[tuple[str, ...], int] = {}
        self._of_item = array("L")
        self._doubt = array("d")
        self._taken = array("b")

    def __len__(self) -> int:
        return len(self._of_item)

    def add(self, fields: Mapping[str, Mapping[str, Any]]) -> None:
        """Count an item.

        Args:
            fields: as the line of the item has them.
        """
        look = []
        doubt, taken = 0.0, 0
        for name, value in fields.items():
            decision = value["decision"]
            if decision == CHECK:
                look.append(name)
                doubt += 1 - value.get("score", 0.0)
                self.counts[name][value["reason"]] += 1
            else:
                taken |= decision == TAKEN
                self.counts[name][decision] += 1
        self._of_item.append(self._fields.setdefault(tuple(look), len(self._fields)))
        self._doubt.append(doubt)
        self._taken.append(taken)

    def worst_first(self) -> list[tuple[int, tuple[str, ...], float]]:
        """Return the items that a person has to look at: place, fields, and doubt.

        The doubt is the sum over these fields of 1 - trust score: about how many are wrong. Of
        equal ones, those that come first in the benchmark do.
        """
        fields = list(self._fields)
        doubt = np.frombuffer(self._doubt)
        order = np.argsort(-doubt, kind="stable").tolist() if len(doubt) else []
        found = ((place, fields[self._of_item[place]], self._doubt[place]) for place in order)
        return [each for each in found if each[1]]

    def with_taken(self) -> Sequence[int]:
        """Return the places of the items that have a value that is taken over."""
        return [place for place, taken in enumerate(self._taken) if taken]
