"""What the scripts that measure speed share."""

import statistics
import time
from collections.abc import Callable, Mapping


def medians(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each task, the tasks taking turns; a first round warms up."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}
