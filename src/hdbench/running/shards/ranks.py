"""The ranks of a launch: what each says about itself, and whether it is still there."""

import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from hdbench.common.folder_files import MAX_TEXT
from hdbench.common.jsonio import write_json
from hdbench.common.regular_files import read_at_most
from hdbench.errors import HdbenchError
from hdbench.running.shards.launch import Shards, Tokens

FRESH = 60.0
"""Seconds after which a rank on another machine that said nothing is taken for dead."""
KEPT_EVERY = 300.0
"""Seconds between two copies of all its answers that a rank puts into a storage."""

Said = Literal["running", "stopped", "failed", "done"]
Seen = Literal["waiting", "running", "died", "stopped", "failed", "done"]


class RankState(BaseModel):
    """What a rank says about itself, every few seconds.

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

    model_config = ConfigDict(extra="ignore", frozen=True)

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


def read_state(shards: Shards, rank: int) -> RankState | None:
    """What a rank said last; None if it has not begun."""
    path = shards.state(rank)
    if not path.is_file():  # a pipe might never end
        return None
    try:
        return RankState.model_validate_json(read_at_most(path, MAX_TEXT))
    except (OSError, ValueError):
        return None


def write_state(path: Path, said: RankState) -> None:
    """Keep what a rank says; if it cannot be written, it is said again later."""
    with suppress(HdbenchError):
        write_json(path, said.model_dump())


def seen(shards: Shards, rank: int) -> tuple[Seen, RankState | None]:
    """How a rank is doing, as far as its files show, and what it said last."""
    said = read_state(shards, rank)
    if said is None:
        return ("running" if is_locked(shards.lock(rank)) else "waiting"), None
    if said.state != "running":
        return said.state, said
    if shards.launch.storage is not None:
        alive = _age(said) < 3 * KEPT_EVERY
    else:
        here = said.host == socket.gethostname()
        alive = is_locked(shards.lock(rank)) or (not here and _age(said) < FRESH)
    return ("running" if alive else "died"), said


def is_locked(path: Path) -> bool:
    """Whether a process of this machine, or of one that shares its locks, holds a file locked.

    The file is only looked at: it may belong to somebody else, and be anything.
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
    """The time, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _age(said: RankState) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(said.updated)).total_seconds()
    except (TypeError, ValueError):
        return float("inf")
