"""Values computed once for everyone, and again when the files they depend on have changed."""

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

State = tuple[tuple[str, int, int], ...]
"""The name, time and size of each file that a value is computed from."""

Value = TypeVar("Value")


@dataclass
class Computation(Generic[Value]):
    """A value that is being computed, or is ready.

    Attributes:
        state: the state of the files that it is computed from.
        total: the number of its parts, if known.
        done: the number of parts that are done.
        ready: the value, when it is ready.
    """

    state: State
    total: int = 0
    done: int = 0
    ready: Future[Value] = field(init=False)

    def is_stale(self, state: State) -> bool:
        """Return whether it has failed, or was computed from other files."""
        return self.ready.done() and (self.state != state or self.ready.exception() is not None)


class ComputedOnce(Generic[Value]):
    """Values computed one at a time for everyone; the latest one of each key is kept.

    Args:
        name: the name of the thread that computes them.
    """

    def __init__(self, name: str) -> None:
        self._lock = Lock()
        self._worker = ThreadPoolExecutor(1, name)
        self._kept: dict[Hashable, Computation[Value]] = {}

    def get(
        self,
        key: Hashable,
        files: Iterable[Path],
        compute: Callable[[Computation[Value]], Value],
        total: int = 0,
    ) -> Computation[Value]:
        """Return the value of a key, and start computing it if its files have changed.

        Args:
            key: the key of the value.
            files: the files that it is computed from.
            compute: the function that computes it, and counts the parts that are done.
            total: the number of parts.
        """
        state = state_of(files)
        with self._lock:
            entry = self._kept.get(key)
            if entry is None or entry.is_stale(state):
                entry = self._kept[key] = Computation(state, total)
                entry.ready = self._worker.submit(compute, entry)
            return entry


def state_of(files: Iterable[Path]) -> State:
    """Return a value that changes when one of the files changes or another is added."""
    stats: list[tuple[str, Any]] = [(str(file), file.stat()) for file in files if file.is_file()]
    return tuple(sorted((name, about.st_mtime_ns, about.st_size) for name, about in stats))
