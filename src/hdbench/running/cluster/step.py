"""A rank at work, whichever engine started it: it asks its questions and keeps the answers."""

import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from datatrove.pipeline.base import PipelineStep
from datatrove.utils.logging import logger
from filelock import FileLock, Timeout
from tenacity import Retrying, stop_after_attempt, wait_exponential

from hdbench.answers.answer import WrittenAnswer
from hdbench.common.os_errors import write_errors
from hdbench.errors import HdbenchError, Message, os_reason
from hdbench.running.answers_file import AnswersFile
from hdbench.running.backend import Observer, make_backend, read_questions
from hdbench.running.endpoint_listing import Prices, check_served
from hdbench.running.run import as_answer
from hdbench.running.run_progress import FIRST_PROBLEMS, asking_again, repeating
from hdbench.running.shards.launch import AUTO, KEPT_EVERY, RankState, Said, Shards, Tokens, now
from hdbench.running.shards.merging import LEAVING
from hdbench.running.shards.remote import Remote

BEAT = 5.0
"""Seconds between reports of a rank."""

FIRST_KEPT = 15.0
"""Seconds until a rank elsewhere first stores its state, which shows that it has started."""
ATTEMPTS = 6
"""Attempts at storing a rank's last answers; the waits add up to a minute."""

_locks: list[FileLock] = []
"""Locks of this process's ranks. They are held until it is about to end, when datatrove has noted
that the ranks are complete and nothing more is written."""


class Asking(PipelineStep):  # type: ignore[misc]  # datatrove has no types
    """Asks the questions of a rank.

    datatrove writes the attributes to `executor.json` and pickles them, so they hold no keys.

    Args:
        run: the run's folder.
        launch: the id of the launch.
    """

    name = "Asking"
    type = "hdbench"

    def __init__(self, run: Path, launch: str) -> None:
        super().__init__()
        self.path = str(run.absolute())
        self.launch = launch

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        """Ask what this rank has not asked yet.

        Raises:
            HdbenchError: nothing can be answered, an item was not asked, or the launch is over.
        """
        run = Path(self.path)
        shards = Shards.of(run)
        if shards is None or shards.launch.id != self.launch:
            raise launch_is_over(run, self.launch)
        with on_sigterm(_end):
            _lock(shards, rank)
            if not shards.is_open:
                raise launch_is_over(run, self.launch)
            try:
                RankWorker(shards, rank).ask()
            except Exception as failure:
                # datatrove logs the variables of any exception that leaves here, including keys.
                logger.error(traceback.format_exc())
                raise HdbenchError(_why(failure)) from None


def launch_is_over(run: Path, launch: str) -> HdbenchError:
    """Return the error of a process that belongs to an earlier launch."""
    return HdbenchError(
        "{run}: the launch {launch} is over: nothing is asked", run=run, launch=launch
    )


class RankWorker:
    """A rank at work.

    Args:
        shards: its launch.
        rank: its number.
    """

    def __init__(self, shards: Shards, rank: int) -> None:
        self._shards = shards
        self._rank = rank
        self._answers = AnswersFile(shards.answers(rank))
        self._questions = list(read_questions(shards.items(rank)))
        self._first: float | None = None
        self._prices: Prices | None = None
        self._state = RankState(
            state="running",
            host=socket.gethostname(),
            pid=os.getpid(),
            job=_job(),
            started=now(),
            updated=now(),
            items=len(self._questions),
        )
        for answer in self._answers.recorded():
            self._count(answer)

    def ask(self) -> None:
        """Ask, and report progress every few seconds.

        Raises:
            HdbenchError: nothing can be answered, or an item was not asked.
        """
        self._say()
        state: Said = "stopped"
        try:
            with repeating(self._say, BEAT), write_errors(self._answers.path):
                self._ask()
            state = "done"
        except Exception as failure:
            state, self._state.error = "failed", _why(failure)
            raise HdbenchError(self._state.error) from failure
        finally:
            self._state.state = state
            self._say()

    def _ask(self) -> None:
        left = [question for question in self._questions if question.id not in self._answers.failed]
        if not left:
            return
        launch = self._shards.launch
        backend = make_backend(launch.asked, launch.prompt, launch.answer_schema)
        try:
            dtype, hardware = backend.settings().get("dtype"), dict(backend.hardware())
            if launch.dtype not in (None, AUTO, dtype):
                raise HdbenchError(
                    "the model computes in {dtype} on {host}, and in {before} in the run so far: "
                    "choose machines with the same devices",
                    dtype=dtype,
                    host=self._state.host,
                    before=launch.dtype,
                )
            self._state.dtype, self._state.hardware = dtype, hardware
            check_served(launch.served, hardware.get("served"))
            self._prices = backend.prices()
            self._first = time.monotonic()
            with closing(backend.answer(iter(left), observer=_Log())) as got:
                for item_id, reply in got:
                    answer = as_answer(item_id, reply)
                    self._answers.add(answer)
                    self._state.new += 1
                    self._count(answer)
                    if reply.error is not None:
                        logger.warning(f"{item_id}: {reply.error}")
        finally:
            backend.close()
        if missing := [question.id for question in left if question.id not in self._answers.failed]:
            raise HdbenchError(
                "{count} items were not asked, such as {first}",
                count=len(missing),
                first=missing[0],
            )

    def _count(self, answer: WrittenAnswer) -> None:
        state = self._state
        state.tokens += Tokens.of(answer)
        if "error" in answer and len(state.problems) < FIRST_PROBLEMS:
            # A new dictionary: another thread may be writing the old one.
            state.problems = state.problems | {answer["id"]: str(answer["error"])}

    def _say(self) -> None:
        state, answers, prices = self._state, self._answers, self._prices
        state.updated = now()
        state.answered = len(answers.failed)
        state.failed = sum(answers.failed.copy().values())
        state.kept, state.broken = answers.schema[True], answers.schema[False]
        if self._first is not None:
            state.seconds = round(time.monotonic() - self._first, 3)
        state.cost_usd = None if prices is None else prices.of(**state.tokens.model_dump())
        self._shards.say(self._rank, state)


def ask_there(storage: str, launch: str, rank: int) -> None:
    """Copy a rank's part here, ask, and copy the answers back every few minutes.

    Args:
        storage: the URL of the storage that the part is in.
        launch: the id of the launch.
        rank: its number.

    Raises:
        HdbenchError: see `Asking.run`; or the storage cannot be read or written.
    """
    with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
        remote = Remote(storage, launch)
        shards = remote.take(rank, Path(folder))
        try:
            with _kept(remote, shards, rank):
                Asking(Path(folder), launch).run(None, rank, shards.launch.tasks)
        finally:
            release_locks()


@contextmanager
def _kept(remote: Remote, shards: Shards, rank: int) -> Iterator[None]:
    """Copy a rank's answers into the storage regularly and at the end, however it ends."""

    def keep() -> None:
        remote.keep(shards, rank)

    last = Retrying(stop=stop_after_attempt(ATTEMPTS), wait=wait_exponential(2), reraise=True)
    try:
        with repeating(keep, KEPT_EVERY, first=FIRST_KEPT, tell_failure=logger.warning):
            yield
    finally:
        last(keep)


def release_locks() -> None:
    """Release the locks of this process's ranks: it writes nothing more to the shards."""
    while _locks:
        _locks.pop().release()


class _Log(Observer):
    """Writer of what a backend says into the log of the rank."""

    def notice(self, message: str) -> None:
        logger.info(message)

    def retrying(self, item_id: str, failure: str, seconds: float) -> None:
        logger.warning(asking_again(item_id, failure, seconds))


def _lock(shards: Shards, rank: int) -> None:
    """Hold the lock of a rank until `release_locks`, or the end of this process.

    A requeued job may begin before its earlier process has ended.
    """
    lock = FileLock(shards.lock(rank), timeout=LEAVING)
    try:
        lock.acquire()
    except Timeout as error:
        raise HdbenchError(
            "{run}: rank {rank} is running in another process", run=shards.run, rank=rank
        ) from error
    except OSError as error:
        raise HdbenchError(
            "{place}: {why}", place=shards.lock(rank), why=os_reason(error)
        ) from error
    _locks.append(lock)


@contextmanager
def on_sigterm(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle SIGTERM, which schedulers send before they kill, while the context lasts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


def _job() -> str | None:
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}") for name in ("JOB_ID", "TASK_ID"))
    return f"{array}_{task}" if array else None


def _why(error: Exception) -> Message:
    if isinstance(error, HdbenchError):
        return error.message
    reason = " ".join(str(error).split())[:500]
    return Message("{kind}: {why}", kind=type(error).__name__, why=reason)
