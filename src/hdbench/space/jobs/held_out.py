"""The quota of looks at held-out totals: each look gives away a little of them."""

import datetime
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from hdbench.benchmarks.spec import HELD_OUT_ENDING
from hdbench.evaluation.held_out import read_held_out
from hdbench.space.context import SpaceContext

MAX_LOOKS = 3
"""Maximum times a day that the totals of a benchmark are shown to one address."""

MIN_ANSWERED = 20
"""Minimum number of held-out items with an answer, or all of them if there are fewer: the totals of
one answer would say whether it is right. Who makes up the other answers can still learn that, but
no faster than `MAX_LOOKS` allows."""

MAX_COUNTED = 100_000
"""Maximum addresses that are counted in a day: further ones are shown nothing."""


class HeldOutAccess(NamedTuple):
    """Access to held-out totals for one scored file.

    Attributes:
        path: the file with the ground truths; None if today's looks are used up.
    """

    path: Path | None


class HeldOutQuota:
    """Counts looks in memory, by address and benchmark; any number of threads may use it.

    Args:
        context: the Space's context; without `held_out`, there is nothing to look at.

    Raises:
        HdbenchError: a file in the folder is not what its benchmark holds out.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._paths: dict[str, Path] = {}
        self._lock = Lock()
        self._day = _today()
        self._counts: Counter[tuple[str, str]] = Counter()
        if context.held_out is None:
            return
        for name, benchmark in context.benchmarks.items():
            path = context.held_out / f"{name}{HELD_OUT_ENDING}"
            if path.is_file():
                read_held_out(benchmark, path)
                self._paths[name] = path.resolve()

    def take(self, address: str, benchmark: str) -> HeldOutAccess | None:
        """Return a look, which counts from now on.

        Args:
            address: the visitor's address.
            benchmark: the benchmark's name.

        Returns:
            None if the benchmark has nothing that is held out.
        """
        if benchmark not in self._paths:
            return None
        key = (address, benchmark)
        with self._lock:
            if self._day != _today():
                self._day, self._counts = _today(), Counter()
            is_new = key not in self._counts
            if self._counts[key] >= MAX_LOOKS or (is_new and len(self._counts) >= MAX_COUNTED):
                return HeldOutAccess(None)
            self._counts[key] += 1
            return HeldOutAccess(self._paths[benchmark])

    def give_back(self, address: str, benchmark: str) -> None:
        """Uncount a look that showed nothing."""
        with self._lock:
            if self._counts[address, benchmark]:
                self._counts[address, benchmark] -= 1


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
