"""Scoring the parts of a run in several processes."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.container import Container
from hdbench.answers.json_lines import AnswerLines, LinesFile
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.errors import HdbenchError
from hdbench.evaluation.part_scorer import PartScorer, Rules, ScoredTask, Task, seldom_collected

WAITING = 3
"""Number of tasks for each process at a time, so that none waits and few are in memory."""


@dataclass(frozen=True)
class _Work:
    """Data that a process gets at its start.

    Attributes:
        benchmark: the benchmark.
        prompts: the prompts that the model was given, besides the benchmark's own.
        rules: how the answers are scored.
        files: the files whose lines the keys of answers are; None if the answers themselves come.
    """

    benchmark: Benchmark
    prompts: tuple[str, ...]
    rules: Sequence[Rules]
    files: Sequence[LinesFile] | None


class Workers:
    """Processes that score tasks; open them with `started`."""

    def __init__(self, pool: ProcessPoolExecutor, number: int, container: Container) -> None:
        self._pool, self._number, self._container = pool, number, container

    @classmethod
    @contextmanager
    def started(
        cls,
        number: int,
        benchmark: Benchmark,
        prompts: tuple[str, ...],
        rules: Sequence[Rules],
        container: Container,
    ) -> Iterator["Workers"]:
        """Processes, until the block ends; they end with this one, however it does.

        Args:
            number: how many.
            benchmark: the benchmark.
            prompts: the prompts that the model was given, besides the benchmark's own.
            rules: how the answers are scored.
            container: the answers.

        Raises:
            HdbenchError: one of the processes was killed.
        """
        files = None if container.lines is None else container.lines.files
        pool = ProcessPoolExecutor(
            number,
            # The same on every system; a fork of a process with threads could hang.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start,
            initargs=(_Work(benchmark, prompts, rules, files),),
        )
        try:
            yield cls(pool, number, container)
        except BrokenProcessPool as error:
            raise HdbenchError(
                "--workers: one of the processes was killed, perhaps for want of memory: use fewer"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)

    def scored(self, tasks: Iterable[Task]) -> Iterator[ScoredTask]:
        """Yield what came of each task, in their order.

        Raises:
            HdbenchError: see `PartScorer.score`.
        """
        waiting: deque[Future[ScoredTask]] = deque()
        for task in tasks:
            waiting.append(self._pool.submit(_score, self._to_send(task)))
            if len(waiting) > WAITING * self._number:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _to_send(self, task: Task) -> Task:
        """Return the task, with the answers themselves if another process cannot load them."""
        if self._container.lines is not None:
            return task
        return task._replace(keys=[None if key is None else self._sent(key) for key in task.keys])

    def _sent(self, key: Any) -> WrittenAnswer | HdbenchError:
        try:
            return self._container.load(key)
        except HdbenchError as error:
            return error  # raised in its turn: what comes before it may be wrong too


_scorer: PartScorer


def _start(work: _Work) -> None:
    """Get a process ready."""
    global _scorer  # noqa: PLW0603  a process has one, for all its tasks
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process hears it too, and ends this one
    threading.Thread(target=_end_with_main, daemon=True).start()
    schema = work.benchmark.answer_schema(*work.prompts)
    source = _Sent() if work.files is None else AnswerLines(work.files, schema)
    _scorer = PartScorer(work.benchmark, schema, source, work.rules)


def _end_with_main() -> None:
    main = multiprocessing.parent_process()
    if main is not None:
        main.join()
        os._exit(1)


def _score(task: Task) -> ScoredTask:
    with seldom_collected():
        return _scorer.score(task)


class _Sent:
    """Answers that are sent instead of their keys, or what is wrong with them."""

    def load(self, key: WrittenAnswer | HdbenchError) -> WrittenAnswer:
        if isinstance(key, HdbenchError):
            raise key
        return key

    def where(self, _: Any) -> str:
        return "the answers"
