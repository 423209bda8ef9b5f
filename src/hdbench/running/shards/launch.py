"""A launch: the remaining items, in contiguous parts, and the reports of their ranks."""

import os
import shutil
import socket
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.folders import LAUNCH, MERGING, SHARDS
from hdbench.answers.json_files import parse_file
from hdbench.common.checked import read_text_file, validate
from hdbench.common.folder_files import MAX_TEXT
from hdbench.common.jsonio import write_json
from hdbench.common.regular_files import read_at_most
from hdbench.errors import HdbenchError, write_reason
from hdbench.running.backend import Asked

LOGS = "logs"
AUTO = "auto"
MAX_TASKS = 99_999
STORAGE = r"^(hf://buckets/[\w.-]+|s3:/|gs:/|az:/)(/[\w.-]+)+/?$"
"""URLs of storages that machines without a shared file system can reach; no keys, no query."""
NAMESPACE = r"^[\w.-]{1,96}$"

FRESH = 60.0
"""Seconds without a report after which a rank on another machine counts as dead."""
KEPT_EVERY = 300.0
"""Seconds between two copies of all its answers that a rank puts into a storage."""

Said = Literal["running", "stopped", "failed", "done"]
Seen = Literal["waiting", "running", "died", "stopped", "failed", "done"]


class Tokens(BaseModel):
    """Tokens of requests and of answers."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    input: int = 0
    output: int = 0

    @classmethod
    def of(cls, answer: WrittenAnswer) -> "Tokens":
        """Return the tokens of an answer; zero if they were not counted."""
        counted = answer.get("tokens") or {}
        return cls(input=counted.get("input", 0), output=counted.get("output", 0))

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(input=self.input + other.input, output=self.output + other.output)


class Launch(BaseModel):
    """Contents of `launch.json`, which is written last when shards are made, and removed first.

    Attributes:
        id: of this launch; a process of an earlier one, which may come late, sees another.
        engine: what starts the ranks.
        tasks: how many ranks there are.
        workers: how many of them at the same time; None is not limited by hdbench.
        started: when, in ISO 8601.
        host: on which machine.
        job: the name that the jobs have in the queue of the engine, if it has one.
        total: how many items the run has.
        recorded: for how many of them something was recorded before.
        failed: for how many of these only an error was recorded.
        kept: how many of them keep the schema that they were to be held to.
        broken: how many do not.
        asked: who is asked and how. No keys.
        prompt: the prompt's text.
        answer_schema: the benchmark's answer schema.
        storage: where the ranks get their parts and keep their answers; None is the run's folder.
        namespace: whose account the jobs run under; None is the user's own.
        dtype: in which a local model computes; `auto` as long as no rank has said it, since the
            machine that launches may have no accelerator; None for other backends.
        served: what the server said in an earlier sitting about the model that it serves.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    engine: str = Field(pattern=r"^[a-z]{1,20}$")
    tasks: int = Field(ge=1, le=MAX_TASKS)
    workers: int | None
    started: str
    host: str
    job: str | None = Field(default=None, pattern=r"^hdbench-[0-9a-f]{8}$")
    total: int
    recorded: int
    failed: int
    kept: int = 0
    broken: int = 0
    asked: Asked
    prompt: str
    answer_schema: dict[str, Any] | None
    storage: str | None = Field(default=None, pattern=STORAGE)
    namespace: str | None = Field(default=None, pattern=NAMESPACE)
    dtype: str | None = None
    served: dict[str, Any] | None = None


class RankState(BaseModel):
    """State of a rank, which it reports every few seconds.

    Attributes:
        state: `stopped` by a signal, and `failed` with an error.
        host: the machine.
        pid: the process there.
        job: the engine's id of the job, such as Slurm's `17_3`.
        started: when this process began, in ISO 8601.
        updated: when it said this.
        items: how many items the rank has.
        answered: for how many of them something is recorded.
        failed: for how many of these only an error is recorded.
        new: how many of them were recorded by this process.
        seconds: since the first question was asked by this process.
        tokens: of all recorded answers of the rank.
        cost_usd: what they cost, if the server lists its prices.
        kept: how many of the recorded answers keep the schema that they were to be held to.
        broken: how many do not.
        error: why it failed, in one line.
        problems: the first errors of items, by id.
        hardware: what it runs on.
        dtype: in which a local model computes.
    """

    model_config = ConfigDict(extra="ignore")

    state: Said
    host: str
    pid: int
    job: str | None = None
    started: str
    updated: str
    items: int
    answered: int = 0
    failed: int = 0
    new: int = 0
    seconds: float = 0.0
    tokens: Tokens = Tokens()
    cost_usd: float | None = None
    kept: int = 0
    broken: int = 0
    error: str | None = None
    problems: dict[str, str] = {}
    hardware: dict[str, Any] = {}
    dtype: str | None = None


class Shards:
    """The folder `shards` of a run: create it with `made`, find it with `of`.

    Attributes:
        run: the run's folder.
        path: the folder.
        launch: what it says about itself.
    """

    def __init__(self, run: Path, launch: Launch) -> None:
        self.run = run
        self.path = run / SHARDS
        self.launch = launch

    @classmethod
    def of(cls, run: Path) -> "Shards | None":
        """Return the shards of a run; None if there are none.

        Shards without `launch.json` are left by a process that was killed while it made or removed
        them: no process works on them.

        Raises:
            HdbenchError: `launch.json` is damaged.
        """
        for name in (LAUNCH, MERGING):
            path = run / SHARDS / name
            if not path.is_file():  # a pipe might never end
                continue
            try:
                text = read_text_file(path)
            except HdbenchError:
                if path.exists():
                    raise
                continue
            return cls(run, validate(Launch, parse_file(text, str(path)), path))
        return None

    @classmethod
    def made(cls, run: Path, launch: Launch, lines: Iterable[bytes], items: int) -> "Shards":
        """Write the questions of each rank, in contiguous parts of about the same size.

        Args:
            run: the run's folder, without shards.
            launch: what `launch.json` says; it has at most as many tasks as there are items.
            lines: a line for each question, in order.
            items: how many there are.

        Raises:
            HdbenchError: they cannot be written; nothing is left of them.
        """
        shards = cls(run, launch)
        remaining = iter(lines)
        try:
            shards.path.mkdir()
            for rank in range(launch.tasks):
                size = items * (rank + 1) // launch.tasks - items * rank // launch.tasks
                with shards.items(rank).open("wb") as file:
                    file.writelines(next(remaining) for _ in range(size))
                    file.flush()
                    os.fsync(file.fileno())
            write_json(shards.path / LAUNCH, launch.model_dump())
        except BaseException as error:
            shutil.rmtree(shards.path, ignore_errors=True)
            if isinstance(error, OSError):
                raise HdbenchError(
                    "{place}: cannot be written: {why}; nothing was launched",
                    place=shards.path,
                    why=write_reason(error),
                ) from error
            raise
        return shards

    @property
    def ranks(self) -> range:
        """Return the numbers of all ranks."""
        return range(self.launch.tasks)

    def items(self, rank: int) -> Path:
        """Return the file with the questions of a rank."""
        return self.path / f"{rank:05d}.items.jsonl"

    def answers(self, rank: int) -> Path:
        """Return the file with the answers of a rank."""
        return self.path / f"{rank:05d}.jsonl"

    def state(self, rank: int) -> Path:
        """Return the file in which a rank says how it is doing."""
        return self.path / f"{rank:05d}.json"

    def lock(self, rank: int) -> Path:
        """Return the file that the process of a rank holds locked as long as it lives."""
        return self.path / f"{rank:05d}.lock"

    @property
    def jobs(self) -> Path:
        """Return the file that says in which job each rank was submitted last."""
        return self.path / "jobs.json"

    @property
    def logs(self) -> Path:
        """Return the folder of what the engine writes for itself.

        Each launch has its own folder: a late job of an earlier one finds nothing to start.
        """
        return self.path / LOGS / self.launch.id

    def said(self, rank: int) -> RankState | None:
        """Return a rank's last report; None if it has not begun."""
        path = self.state(rank)
        if not path.is_file():  # a pipe might never end
            return None
        try:
            return RankState.model_validate_json(read_at_most(path, MAX_TEXT))
        except (OSError, ValueError):
            return None

    def all_said(self) -> list[RankState]:
        """Return the last reports of the ranks that have begun."""
        return [state for rank in self.ranks if (state := self.said(rank))]

    def say(self, rank: int, state: RankState) -> None:
        """Write a rank's report; if that fails, the next one comes soon."""
        with suppress(HdbenchError):
            write_json(self.state(rank), state.model_dump())

    def seen(self, rank: int) -> tuple[Seen, RankState | None]:
        """Return a rank's state, as far as its files show it, and its last report."""
        state = self.said(rank)
        if state is None:
            return ("running" if self.is_held(rank) else "waiting"), None
        if state.state != "running":
            return state.state, state
        if self.launch.storage is not None:
            alive = _age(state) < 3 * KEPT_EVERY
        else:
            same_host = state.host == socket.gethostname()
            alive = self.is_held(rank) or (not same_host and _age(state) < FRESH)
        return ("running" if alive else "died"), state

    def is_held(self, rank: int) -> bool:
        """Return whether a process holds the lock of a rank, as far as this machine can see."""
        return is_locked(self.lock(rank))

    @property
    def is_open(self) -> bool:
        """Return whether its ranks may ask: it is not being merged, and is still the same."""
        try:
            text = (self.path / LAUNCH).read_text(encoding="utf-8")
            return Launch.model_validate_json(text).id == self.launch.id
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """Let no more processes begin to ask: a late one finds no `launch.json`."""
        if (self.path / LAUNCH).exists():
            (self.path / LAUNCH).rename(self.path / MERGING)

    def reopen(self) -> None:
        """Undo `close`."""
        (self.path / MERGING).rename(self.path / LAUNCH)

    def remove(self) -> None:
        """Remove the folder.

        What cannot be removed, since it is open on NFS as a job's own log is, is left to the next
        launch: see `remove_remains`.
        """
        (self.path / MERGING).unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)


def remove_remains(run: Path) -> None:
    """Remove shards that no process works on any more; see `Shards.of`."""
    folder = run / SHARDS
    if folder.is_dir() and not any((folder / name).exists() for name in (LAUNCH, MERGING)):
        shutil.rmtree(folder)


def is_locked(path: Path) -> bool:
    """Return whether a process here, or where locks are shared, holds a file locked.

    The file is not changed: it may belong to someone else and be anything.
    """
    try:
        import fcntl  # noqa: PLC0415  not on Windows, where no run makes shards
    except ModuleNotFoundError:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def now() -> str:
    """Return the time, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _age(state: RankState) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(state.updated)).total_seconds()
    except (TypeError, ValueError):
        return float("inf")
