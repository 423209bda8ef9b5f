"""Choice of the processes that score a run: this one alone, or several where they pay."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from hdbench.answers.bounds import Bounds
from hdbench.errors import HdbenchError
from hdbench.evaluation.opened_run import OpenedRun
from hdbench.evaluation.part_scorer import PartScorer, Rules, ScoredTask, Task

if TYPE_CHECKING:  # multiprocessing is slow to import
    from hdbench.evaluation.workers import Workers

TRIED = 100
"""Number of items in each of the first two parts, which this process scores: with the first, it
reads schemas and modules, and with the second it measures how long an answer takes."""

LEAST = 2.0
"""Seconds of computing that there must be for each process: 0.9 s are lost by starting it."""


@contextmanager
def scorer(
    run: OpenedRun, rules: Sequence[Rules], bounds: Bounds, workers: int
) -> Iterator[Callable[[Iterable[Task]], Iterator[ScoredTask]]]:
    """Give what scores tasks in their order: this process, with others where they pay.

    How much a process gains depends on the metric, whose answers take 0.2 to 12 ms each, on the
    answers and on the machine. So this process scores two small parts itself, and starts others if
    what is left takes `LEAST` seconds or more for each of them.

    Args:
        run: the run.
        rules: how its answers are scored.
        bounds: how much it may have; with a bound on values, this process scores alone.
        workers: the maximum number of processes; 0 is one for each core.

    Raises:
        HdbenchError: the number is negative.
    """
    if workers < 0:
        raise HdbenchError(
            "--workers: {workers} is not a number from 0, which is one per core", workers=workers
        )
    most = workers or os.cpu_count() or 1
    if bounds.values is not None or any(rule.each_item for rule in rules):
        most = 1
    started: list[Workers] = []
    with ExitStack() as stack:

        def others(number: int) -> "Workers":
            if not started:
                from hdbench.evaluation.workers import Workers  # noqa: PLC0415  see above

                prompts = run.info.prompts if run.info else ()
                opened = Workers.started(number, run.benchmark, prompts, rules, run.container)
                started.append(stack.enter_context(opened))
            return started[0]

        def scored(tasks: Iterable[Task]) -> Iterator[ScoredTask]:
            # One for each model, as the bound on values is for each.
            own = PartScorer(run.benchmark, run.schema, run.container, rules, bounds.values)
            left = iter(tasks)
            seconds = 0.0
            for task in islice(left, 2 if most > 1 else None):
                start = time.thread_time()
                part = own.score(task)
                seconds = (time.thread_time() - start) / max(1, task.answered) * task.answers
                yield part
            number = min(most, int(seconds / LEAST))
            yield from others(number).scored(left) if number > 1 else map(own.score, left)

        yield scored
