"""Merging shards into the run's answers, once no process works on them any more."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RUN_FILE, read_run_info
from hdbench.common.jsonio import write_json
from hdbench.common.progress import tell
from hdbench.errors import HdbenchError, Message, shortened, write_reason
from hdbench.running.answers_file import AnswersFile, whole_lines
from hdbench.running.shards.launch import (
    AUTO,
    RankState,
    Shards,
    Tokens,
    now,
    remove_remains,
)
from hdbench.running.shards.queue import how_to_stop, queued_jobs

if TYPE_CHECKING:
    from hdbench.running.shards.remote import Remote

AT_ONCE = 1_000
"""Answers that are written together when shards are merged."""
POLL = 0.5
PEEKING = 0.5
"""Seconds after which a folder is taken for locked: `is_locked` holds the lock for a moment."""
LEAVING = 60.0
"""Seconds that a process may take to end after its rank is done."""


def lock_of(run: Path) -> Path:
    """Return the file that a process which writes to a run's folder holds locked."""
    folder = run.resolve()
    return folder.with_name(f".{folder.name}.lock")  # beside it: the folder may be untrusted


@contextmanager
def alone(run: Path) -> Iterator[None]:
    """Be the only process that writes to a run's folder, apart from ranks in their shards.

    Raises:
        HdbenchError: another process is writing to it, or it cannot be written.
    """
    lock = lock_of(run)
    try:
        with FileLock(lock, timeout=PEEKING):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
    except Timeout as error:
        raise HdbenchError(
            "{run}: another hdbench is writing to this folder: wait until it is done, or choose "
            "another folder",
            run=run,
        ) from error
    except OSError as error:
        raise HdbenchError(
            "{run}: cannot be written: {why}; what was answered is kept: run again then, the "
            "command resumes where it stopped",
            run=run,
            why=write_reason(error),
        ) from error


def settle(run: Path, *, wait: bool = True) -> bool:
    """Merge what an earlier launch left in shards. Call it within `alone`.

    Ranks whose driver was killed finish their part: they are waited for.

    Args:
        run: the run's folder.
        wait: wait for ranks on this machine; otherwise refuse.

    Returns:
        Whether there were any shards.

    Raises:
        HdbenchError: ranks wait in a queue or run on another machine, or see `merge`.
    """
    remove_remains(run)
    shards = Shards.of(run)
    if shards is None:
        return False
    if jobs := queued_jobs(shards):
        raise HdbenchError(
            "{run}: {count} of its jobs are still in Slurm's queue: see hdbench status {run}; to "
            "stop them: {command}"
            if shards.launch.storage is None
            else "{run}: {count} of its jobs are still at Hugging Face: see hdbench status {run}; "
            "to stop them: {command}",
            run=run,
            count=len(jobs),
            command=how_to_stop(shards, jobs),
        )
    if (remote := remote_of(shards)) is not None:
        remote.fetch(shards, last=True)
    waited = False
    while running := [rank for rank in shards.ranks if _is_running(shards, rank)]:
        elsewhere = [rank for rank in running if not shards.is_held(rank)]
        if elsewhere or not wait:
            raise HdbenchError(
                "{run}: {ranks}: see hdbench status {run}; wait until they are done, or stop them",
                run=run,
                ranks=_still_running(shards, elsewhere or running),
            )
        if not waited:
            tell(
                Message(
                    "{run}: {ranks}, left by a command that was killed: waiting until they have "
                    "finished their part",
                    run=run,
                    ranks=_still_running(shards, running),
                )
            )
            waited = True
        time.sleep(POLL)
    merge(shards)
    return True


def _is_running(shards: Shards, rank: int) -> bool:
    if shards.launch.job is not None:  # what is not in the queue has ended, whatever it said last
        return shards.is_held(rank)
    return shards.seen(rank)[0] == "running"


def merge_now(run: Path) -> None:
    """Merge at a person's request.

    Raises:
        HdbenchError: it is not a run, another process is writing to it, or see `settle`.
    """
    read_run_info(run)
    with alone(run):
        settle(run, wait=False)


def merge_if_last(shards: Shards) -> None:
    """Merge if all ranks are done and no other process is about to; each calls it at its end."""
    if [state.state for state in shards.all_said()] != ["done"] * shards.launch.tasks:
        return
    try:
        with alone(shards.run):
            current = Shards.of(shards.run)
            if current is not None and current.launch.id == shards.launch.id:
                merge(current)
    except HdbenchError as error:  # its driver merges, or the next command does
        tell(error.message)


def merge(shards: Shards) -> None:
    """Append the answers in shards to those of the run, and remove the shards.

    May be killed at any moment: what was appended already is not appended again.

    Raises:
        HdbenchError: a rank is still there, a shard is damaged, or there is no space left; the
            shards are kept.
        OSError: there is no space left; the shards are kept.
    """
    shards.close()
    _wait_for_ends(shards)
    answers = AnswersFile(shards.run / OUR_ANSWERS)
    waiting: list[tuple[bytes, WrittenAnswer]] = []
    for rank in shards.ranks:
        intact = 0
        for _, line, answer in whole_lines(shards.answers(rank)):
            intact += 1
            if answer["id"] not in answers.failed:
                waiting.append((line, answer))
            if len(waiting) >= AT_ONCE:
                answers.append(waiting)
                waiting = []
        state = shards.said(rank)
        if state is not None and state.answered > intact:
            tell(
                Message(
                    "{place}: has {found} of {count} answers that were written to it: the others "
                    "are asked again",
                    place=shards.answers(rank),
                    found=intact,
                    count=state.answered,
                )
            )
    answers.append(waiting)
    _end_sitting(shards)
    try:
        if (remote := remote_of(shards)) is not None:
            remote.remove()
    except HdbenchError as error:
        tell(Message("{why}: remove it yourself", why=error))
    shards.remove()


def _wait_for_ends(shards: Shards) -> None:
    """Wait until no process is left that began before the shards were closed."""
    end = time.monotonic() + LEAVING
    for rank in shards.ranks:
        while shards.is_held(rank):
            if time.monotonic() > end:
                shards.reopen()
                raise HdbenchError("{run}: rank {rank} is still running", run=shards.run, rank=rank)
            time.sleep(POLL)


def sums(states: Sequence[RankState]) -> tuple[Tokens, float | None]:
    """Return the tokens and US dollars of some ranks, as last reported.

    The cost is None unless it is known for all of them.
    """
    costs = [state.cost_usd for state in states if state.answered]
    known_costs = [cost for cost in costs if cost is not None]
    tokens = sum((state.tokens for state in states), Tokens())
    return tokens, sum(known_costs) if known_costs and len(known_costs) == len(costs) else None


def schema_of(states: Sequence[RankState]) -> Counter[bool]:
    """Return how many answers of some ranks keep the schema, or do not, as last reported."""
    return sum((Counter({True: state.kept, False: state.broken}) for state in states), Counter())


def in_sitting(schema: Mapping[bool, int]) -> dict[str, Any]:
    """Return a sitting's entry on the schema; empty where none was to be kept."""
    counts = {"kept": schema.get(True, 0), "broken": schema.get(False, 0)}
    return {"schema": counts} if any(counts.values()) else {}


def _end_sitting(shards: Shards) -> None:
    """Complete the entry of this launch in run.json."""
    record = json.loads((shards.run / RUN_FILE).read_text(encoding="utf-8"))
    states = shards.all_said()
    for sitting in record.get("sittings", ()):
        if sitting.get("launch") == shards.launch.id:
            tokens, cost = sums(states)
            sitting |= {
                "ended": max((state.updated for state in states), default=now()),
                "hardware": next((state.hardware for state in states if state.hardware), {}),
                "hosts": sorted({state.host for state in states}),
                "tokens": tokens.model_dump(),
                "cost_usd": cost,
                **in_sitting(schema_of(states)),
            }
    dtypes = {state.dtype for state in states if state.dtype}
    if shards.launch.dtype == AUTO and len(dtypes) == 1:
        record.setdefault("settings", {})["dtype"] = dtypes.pop()
    write_json(shards.run / RUN_FILE, record)


def remote_of(shards: Shards) -> "Remote | None":
    """Return the storage of a launch whose ranks do not see the run's folder; else None."""
    if shards.launch.storage is None:
        return None
    from hdbench.running.shards.remote import Remote  # noqa: PLC0415  slow to import

    return Remote(shards.launch.storage, shards.launch.id)


def _still_running(shards: Shards, ranks: list[int]) -> Message:
    descriptions = []
    for rank in ranks:
        state = shards.said(rank)
        if state is None:
            descriptions.append(Message("rank {rank}", rank=rank))
        else:
            descriptions.append(
                Message(
                    "rank {rank} ({host}, process {pid})", rank=rank, host=state.host, pid=state.pid
                )
            )
    return Message(
        "{ranks} is still running",
        plural="{ranks} are still running",
        count=len(ranks),
        ranks=shortened(descriptions),
    )
