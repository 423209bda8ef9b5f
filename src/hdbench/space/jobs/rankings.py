"""The recorded runs ranked: computed once, whoever asks, and again when the folder has changed."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from hdbench.building.results_dataset import NAME as RESULTS
from hdbench.errors import HdbenchError, without_folders
from hdbench.leaderboard.boards import Board, leaderboards
from hdbench.results.model_facts import MODELS_FILE, ModelFacts, read_model_facts
from hdbench.results.result import Result
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload, score_upload

State = tuple[tuple[str, int, int], ...]
"""The name, time and size of each file that a result was computed from."""


class Ranking(NamedTuple):
    """The leaderboards of a benchmark under a protocol.

    Attributes:
        boards: the one with the most models first; runs are named after their folders.
        facts: model → what is known about it.
        left_out: why a run, or the facts, could not be used.
    """

    boards: list[Board]
    facts: dict[str, ModelFacts]
    left_out: Sequence[str]


@dataclass
class Work:
    """A ranking that is being computed, or is ready.

    Attributes:
        state: the state of what it is computed from.
        total: how many runs there are.
        done: how many of them are scored.
        ready: the ranking, when it is ready.
    """

    state: State
    total: int
    done: int = 0
    ready: Future[Ranking] = field(init=False)


class Rankings:
    """The rankings of a Space, one computed at a time.

    For each benchmark, protocol and way of reading, the latest one is kept: their number bounds the
    memory.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self._results = context.namespace / RESULTS
        self._lock = Lock()
        self._worker = ThreadPoolExecutor(1, "ranking")
        self._work: dict[tuple[str, str, bool], Work] = {}

    def of(self, benchmark: str, protocol: str, *, strict: bool = False) -> Work:
        """The ranking of the recorded runs as they are now, started if nobody has asked for it yet.

        Args:
            benchmark: its name.
            protocol: `documented` or `published`.
            strict: use the figures in which only valid JSON counts.

        Raises:
            HdbenchError: there is no such benchmark.
        """
        folders = self._context.run_folders(benchmark)
        files = [each for folder in folders.values() for each in folder.iterdir()]
        state = state_of([*files, self._results / MODELS_FILE])
        key = (benchmark, protocol, strict)
        with self._lock:
            work = self._work.get(key)
            if work is None or (work.ready.done() and _is_stale(work, state)):
                work = self._work[key] = Work(state, len(folders))
                work.ready = self._worker.submit(self._rank, key, folders, work)
            return work

    def _rank(self, key: tuple[str, str, bool], folders: dict[str, Path], work: Work) -> Ranking:
        benchmark, protocol, strict = key
        results = []
        left_out: list[str] = []
        facts: dict[str, ModelFacts] = {}
        for folder in folders.values():
            try:
                result = score_run(self._context, benchmark, folder, protocol, details=False)
                results.append(result.strictly() if strict else result)
            except HdbenchError as error:
                left_out.append(error.message)
            work.done += 1
        try:
            facts = read_model_facts(self._results)
        except HdbenchError as error:
            left_out.append(without_folders(error.message, self._results))
        boards = sorted(leaderboards(results, facts=facts), key=lambda board: -len(board.rows))
        return Ranking(boards, facts, left_out)


def score_run(
    context: SpaceContext, benchmark: str, folder: Path, protocol: str, *, details: bool
) -> Result:
    """Score a recorded run; nothing of the server is in the result, or in a message.

    The run is named after its folder: the name it gives itself need not be unique.

    Args:
        context: the Space's context.
        benchmark: the benchmark's name.
        folder: the run's folder.
        protocol: `documented` or `published`.
        details: keep the details of every item.

    Raises:
        HdbenchError: the run cannot be scored, or has answers of several models.
    """
    upload = Upload(benchmark, folder, protocol)
    _, results = score_upload(context, upload, details=details)
    if len(results) > 1:
        raise HdbenchError(
            "{place}: has answers of several models: give each a run", place=folder.name
        )
    (result,) = results.values()
    return replace(result, run=result.run.model_copy(update={"run": folder.name}))


def state_of(files: list[Path]) -> State:
    """A value that changes when one of the files changes or another is added."""
    found = []
    for file in sorted(files):
        if file.is_file():
            about = file.stat()
            found.append((str(file), about.st_mtime_ns, about.st_size))
    return tuple(found)


def _is_stale(work: Work, state: State) -> bool:
    return work.state != state or work.ready.exception() is not None
