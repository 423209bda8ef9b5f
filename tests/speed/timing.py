"""What the scripts that measure speed share."""

import statistics
import time
from collections.abc import Callable, Mapping


def medians(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each task, the tasks taking turns; a first round warms up."""
    return {name: statistics.median(taken[1:]) for name, taken in _taken(tasks, rounds).items()}


def fastest(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least seconds of each task, which a busy machine changes least."""
    return {name: min(taken[1:]) for name, taken in _taken(tasks, rounds).items()}


def _taken(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            taken[name].append(time.perf_counter() - start)
    return taken
