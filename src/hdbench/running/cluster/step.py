"""What each rank does, whatever engine started it: ask its questions and keep the answers."""

import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from datatrove.pipeline.base import PipelineStep
from datatrove.utils.logging import logger
from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from hdbench.errors import HdbenchError, Message, os_reason, write_reason
from hdbench.reading.answer import WrittenAnswer
from hdbench.running.answers_file import AnswersFile
from hdbench.running.backend import Backend, Observer
from hdbench.running.planning import Asked, make_backend
from hdbench.running.prices import Prices, prices_of
from hdbench.running.questions import read_questions
from hdbench.running.run import as_answer
from hdbench.running.run_progress import FIRST_PROBLEMS, asking_again
from hdbench.running.served import check_served
from hdbench.running.shards.launch import AUTO, Launch, Shards, Tokens
from hdbench.running.shards.merging import LEAVING
from hdbench.running.shards.ranks import RankState, Said, now, write_state

BEAT = 5.0
"""Seconds between what a rank says about itself."""

_held: list[FileLock] = []
"""Locks of this process's ranks. They are held until it is about to end, when datatrove has noted
that the ranks are complete and nothing more is written."""


class Asking(PipelineStep):  # type: ignore[misc]  # datatrove has no types
    """Asks the questions of a rank.

    datatrove writes the attributes to `executor.json` and pickles them: no keys are among them.

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
        with _stopped_by_signals():
            _lock(shards, rank)
            if not shards.is_open:
                raise launch_is_over(run, self.launch)
            try:
                Rank(shards, rank).ask()
            except Exception as failure:
                # Of what leaves here, datatrove logs the values of all variables, keys among them.
                logger.error(traceback.format_exc())
                raise HdbenchError(_why(failure)) from None


def launch_is_over(run: Path, launch: str) -> HdbenchError:
    """A process of an earlier launch came late."""
    return HdbenchError(
        "{run}: the launch {launch} is over: nothing is asked", run=run, launch=launch
    )


class Rank:
    """A rank at work.

    Args:
        shards: its launch.
        rank: its number.
    """

    def __init__(self, shards: Shards, rank: int) -> None:
        self._path = shards.state(rank)
        self._launch = shards.launch
        self._answers = AnswersFile(shards.answers(rank))
        self._questions = list(read_questions(shards.items(rank)))
        self._began = now()
        self._first: float | None = None
        self._new = 0
        self._tokens = Tokens()
        self._problems: dict[str, str] = {}
        self._prices: Prices | None = None
        self._hardware: dict[str, Any] = {}
        self._dtype: str | None = None
        for answer in self._answers.recorded():
            self._count(answer)

    def ask(self) -> None:
        """Ask, and say every few seconds how it is going.

        Raises:
            HdbenchError: nothing can be answered, or an item was not asked.
        """
        over = threading.Event()

        def beat() -> None:
            while not over.wait(BEAT):
                self._say("running")

        self._say("running")
        beating = threading.Thread(target=beat, daemon=True)
        beating.start()
        state: Said = "stopped"
        why: Message | None = None
        try:
            self._ask()
            state = "done"
        except OSError as failure:
            state = "failed"
            why = Message(
                "{place}: cannot be written: {why}",
                place=self._answers.path,
                why=write_reason(failure),
            )
            raise HdbenchError(why) from failure
        except Exception as failure:
            state, why = "failed", _why(failure)
            raise
        finally:
            over.set()
            beating.join()
            self._say(state, why)

    def _ask(self) -> None:
        left = [each for each in self._questions if each.id not in self._answers.failed]
        if not left:
            return
        backend = backend_of(self._launch)
        try:
            self._dtype = backend.settings().get("dtype")
            if self._launch.dtype not in (None, AUTO, self._dtype):
                raise HdbenchError(
                    "the model computes in {dtype} on {host}, and in {before} in the run so far: "
                    "choose machines with the same devices",
                    dtype=self._dtype,
                    host=socket.gethostname(),
                    before=self._launch.dtype,
                )
            self._hardware = dict(backend.hardware())
            check_served(self._launch.served, self._hardware.get("served"))
            self._prices = prices_of(backend)
            self._first = time.monotonic()
            with closing(backend.answer(iter(left), observer=_Log())) as got:
                for item_id, reply in got:
                    answer = as_answer(item_id, reply)
                    self._answers.add(answer)
                    self._new += 1
                    self._count(answer)
                    if reply.error is not None:
                        logger.warning(f"{item_id}: {reply.error}")
        finally:
            backend.close()
        if missing := [each.id for each in left if each.id not in self._answers.failed]:
            raise HdbenchError(
                "{count} items were not asked, such as {first}",
                count=len(missing),
                first=missing[0],
            )

    def _count(self, answer: WrittenAnswer) -> None:
        self._tokens += Tokens.of(answer)
        if "error" in answer and len(self._problems) < FIRST_PROBLEMS:
            self._problems[answer["id"]] = str(answer["error"])

    def _say(self, state: Said, error: str | None = None) -> None:
        spent = 0.0 if self._first is None else time.monotonic() - self._first
        cost = None if self._prices is None else self._prices.of(**self._tokens.model_dump())
        said = RankState(
            state=state,
            host=socket.gethostname(),
            pid=os.getpid(),
            job=_job(),
            started=self._began,
            updated=now(),
            items=len(self._questions),
            answered=len(self._answers.failed),
            failed=sum(self._answers.failed.copy().values()),
            new=self._new,
            seconds=round(spent, 3),
            tokens=self._tokens,
            cost_usd=cost,
            kept=self._answers.schema[True],
            broken=self._answers.schema[False],
            error=error,
            problems=self._problems.copy(),
            hardware=self._hardware,
            dtype=self._dtype,
        )
        write_state(self._path, said)


def backend_of(launch: Launch) -> Backend:
    """The backend of a launch, with keys from this process's environment."""
    asked = TypeAdapter(Asked).validate_python(launch.asked)
    return make_backend(asked, launch.prompt, launch.answer_schema)


def release_locks() -> None:
    """Say that this process has ended its ranks and writes nothing more to the shards."""
    while _held:
        _held.pop().release()


class _Log(Observer):
    """What a backend says, in the log of the rank."""

    def notice(self, message: str) -> None:
        logger.info(message)

    def retrying(self, item_id: str, failure: str, seconds: float) -> None:
        logger.warning(asking_again(item_id, failure, seconds))


def _lock(shards: Shards, rank: int) -> None:
    """Hold the lock of a rank until `release_locks`, or the end of this process.

    A job that was put back into the queue may begin before the process it was has ended.
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
    _held.append(lock)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """End cleanly on SIGTERM, which schedulers send before they kill."""

    def stop(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _job() -> str | None:
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}") for name in ("JOB_ID", "TASK_ID"))
    return f"{array}_{task}" if array else None


def _why(error: Exception) -> Message:
    if isinstance(error, HdbenchError):
        return error.message
    said = " ".join(str(error).split())[:500]
    return Message("{kind}: {why}", kind=type(error).__name__, why=said)
