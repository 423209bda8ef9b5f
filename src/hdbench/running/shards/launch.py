"""What is launched: the items that were left, in contiguous parts, one for each rank."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hdbench.common.checked import validate
from hdbench.common.folder_files import MAX_TEXT
from hdbench.common.jsonio import write_json
from hdbench.common.regular_files import read_at_most
from hdbench.errors import HdbenchError, write_reason
from hdbench.reading.answer import WrittenAnswer
from hdbench.reading.json_files import parse_file
from hdbench.reading.parts import LAUNCH, MERGING, SHARDS

LOGS = "logs"
AUTO = "auto"
MAX_TASKS = 99_999
STORAGE = r"^(hf://buckets/[\w.-]+|s3:/|gs:/|az:/)(/[\w.-]+)+/?$"
"""URLs of storages that machines without a common file system can reach; no keys, no query."""
NAMESPACE = r"^[\w.-]{1,96}$"


class Tokens(BaseModel):
    """Tokens of requests and of answers."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    input: int = 0
    output: int = 0

    @classmethod
    def of(cls, answer: WrittenAnswer) -> "Tokens":
        """Those of an answer; none if they were not counted."""
        counted = answer.get("tokens") or {}
        return cls(input=counted.get("input", 0), output=counted.get("output", 0))

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(input=self.input + other.input, output=self.output + other.output)


class Launch(BaseModel):
    """What `launch.json` says; it is written last when shards are made, and removed first.

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
        asked: who is asked and how: the fields of `planning.Asked`. No keys.
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
    asked: dict[str, Any]
    prompt: str
    answer_schema: dict[str, Any] | None
    storage: str | None = Field(default=None, pattern=STORAGE)
    namespace: str | None = Field(default=None, pattern=NAMESPACE)
    dtype: str | None = None
    served: dict[str, Any] | None = None


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
        """The shards of a run; None if there are none.

        Shards without `launch.json` were being made or removed when that was killed: nobody asks
        or answers there.

        Raises:
            HdbenchError: `launch.json` is damaged.
        """
        for name in (LAUNCH, MERGING):
            path = run / SHARDS / name
            if not path.is_file():  # a pipe might never end
                continue
            try:
                text = read_at_most(path, MAX_TEXT).decode("utf-8")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise HdbenchError(
                    "{place}: cannot be read: {why}", place=path, why=error
                ) from error
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

    def items(self, rank: int) -> Path:
        """The questions of a rank."""
        return self.path / f"{rank:05d}.items.jsonl"

    def answers(self, rank: int) -> Path:
        """The answers of a rank."""
        return self.path / f"{rank:05d}.jsonl"

    def state(self, rank: int) -> Path:
        """What a rank says about itself."""
        return self.path / f"{rank:05d}.json"

    def lock(self, rank: int) -> Path:
        """What the process of a rank holds locked as long as it lives."""
        return self.path / f"{rank:05d}.lock"

    @property
    def jobs(self) -> Path:
        """Which job each rank was submitted in last, for an engine with a queue."""
        return self.path / "jobs.json"

    @property
    def logs(self) -> Path:
        """What the engine writes for itself.

        Each launch has a place of its own: a late job of an earlier one finds nothing to start.
        """
        return self.path / LOGS / self.launch.id

    @property
    def is_open(self) -> bool:
        """Whether ranks of this launch may ask: it is not being merged, and is still the same."""
        try:
            text = (self.path / LAUNCH).read_text(encoding="utf-8")
            return Launch.model_validate_json(text).id == self.launch.id
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """From now on, no process begins to ask: one that comes late finds no `launch.json`."""
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
    """Remove shards that nobody asks or answers; see `Shards.of`."""
    folder = run / SHARDS
    if folder.is_dir() and not any((folder / name).exists() for name in (LAUNCH, MERGING)):
        shutil.rmtree(folder)
