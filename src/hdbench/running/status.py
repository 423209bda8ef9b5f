"""How a run is going, from its files alone."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hdbench.errors import HdbenchError, shortened
from hdbench.reading.folders import OUR_ANSWERS
from hdbench.reading.run_info import RunInfo, read_run_info
from hdbench.running.amounts import as_time, as_usd
from hdbench.running.answers_file import is_failed, read_answers
from hdbench.running.shards.launch import Shards, Tokens
from hdbench.running.shards.merging import alone, lock_of, remote_of, sums, tell
from hdbench.running.shards.ranks import RankState, Seen, is_locked, seen

SHOWN = 8
"""How many ranks of a kind are named."""


@dataclass(frozen=True)
class Rank:
    """How one rank is doing.

    Attributes:
        rank: its number.
        state: how it is doing.
        items: how many items it has; None if it has not begun.
        answered: for how many of them something is recorded.
        failed: for how many of these only an error is recorded.
        host: the machine it runs or ran on.
        job: the engine's id of the job.
        updated: when it last said something, in ISO 8601.
        error: why it failed, in one line.
    """

    rank: int
    state: Seen
    items: int | None = None
    answered: int = 0
    failed: int = 0
    host: str | None = None
    job: str | None = None
    updated: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Status:
    """How a run is going.

    Attributes:
        run: its folder.
        model: the model.
        benchmark: the benchmark.
        items: how many items it has; None if its files do not say so.
        recorded: for how many of them something is recorded.
        failed: for how many of these only an error is recorded.
        engine: what runs or ran the shards; None if there are none.
        tasks: how many ranks there are.
        started: when they were launched, in ISO 8601.
        rate: items per second, of the ranks that run.
        seconds_left: at that rate.
        tokens: of the recorded answers.
        cost_usd: of the shards, if the server lists prices.
        driven: whether a command is at work on the run, as far as this machine can see.
        ranks: the ranks of the shards, in order.
        problems: the first errors, by id.
    """

    run: str
    model: str
    benchmark: str
    items: int | None
    recorded: int
    failed: int
    tokens: Tokens
    engine: str | None = None
    tasks: int | None = None
    started: str | None = None
    rate: float | None = None
    seconds_left: float | None = None
    cost_usd: float | None = None
    driven: bool = False
    ranks: list[Rank] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """All of it, in ASCII: a terminal takes some other characters for commands."""
        value = asdict(self) | {"tokens": self.tokens.model_dump()}
        return json.dumps(value, indent=2)

    def lines(self) -> list[str]:
        """What to tell a person."""
        of = "" if self.items is None else f" of {self.items:,}"
        said = [f"{self.run}: {self.recorded - self.failed:,}{of} items answered"]
        if self.failed:
            said[0] += f", {self.failed:,} failed"
        said.append(f"{self.benchmark}, {self.model}")
        if self.rate and self.seconds_left is not None:
            each = f"{self.rate:.1f}/s" if self.rate >= 1 else f"{1 / self.rate:.1f} s each"
            said.append(f"rate: {each}, {as_time(self.seconds_left)} left")
        if self.tokens.input or self.tokens.output:
            said.append(f"tokens: {self.tokens.input:,} in, {self.tokens.output:,} out")
        if self.cost_usd is not None:
            said.append(f"cost of these tasks: {as_usd(self.cost_usd)}")
        if self.engine is None:
            return said
        counts = Counter(each.state for each in self.ranks)
        parts = [f"{counts[state]:,} {state}" for state in _STATES if counts[state]]
        said.append(f"engine {self.engine}, {self.tasks:,} tasks: {', '.join(parts)}")
        for state in ("running", "failed", "died", "stopped"):
            if ranks := [_place(each) for each in self.ranks if each.state == state]:
                said.append(f"{state}: {shortened(ranks, SHOWN)}")
        errors = {each.error: each.rank for each in reversed(self.ranks) if each.error}
        said += [f"rank {rank}: {error}" for error, rank in reversed(errors.items())][:SHOWN]
        said += [f"{item}: {error}" for item, error in self.problems.items()]
        if not counts["running"] and not self.driven:
            said.append(self._next(counts))
        return said

    def _next(self, counts: Counter[Seen]) -> str:
        if counts["done"] == self.tasks:
            return f"all tasks are done: merge them with hdbench status {self.run} --merge"
        if counts["waiting"] and self.engine != "local":
            return "the tasks that wait are in the queue of the engine; if not, run again"
        return "no task is running: run again: the command asks what is missing"


_STATES: tuple[Seen, ...] = ("done", "running", "waiting", "stopped", "failed", "died")


def read_status(folder: Path) -> Status:
    """How a run is going; if its ranks do not see its folder, what they say is fetched first.

    Raises:
        HdbenchError: the folder is not a run, or is damaged.
    """
    info = read_run_info(folder)
    shards = Shards.of(folder)
    found = []
    if shards is not None:
        _fetch(shards)
        found = [(rank, *seen(shards, rank)) for rank in range(shards.launch.tasks)]
    if shards is None or Shards.of(folder) is None:  # they were merged meanwhile
        recorded, failed, tokens = _recorded(folder)
        items = _items(info)
        return Status(
            str(folder), info.model, info.benchmark, items, recorded, failed, tokens=tokens
        )
    launch = shards.launch
    states = [said for _, _, said in found if said is not None]
    tokens, cost = sums(states)
    recorded = launch.recorded + sum(said.answered for said in states)
    problems: dict[str, str] = {}
    for said in states:
        problems |= said.problems
    rate = sum(
        said.new / said.seconds
        for _, state, said in found
        if state == "running" and said is not None and said.seconds
    )
    return Status(
        str(folder),
        info.model,
        info.benchmark,
        launch.total,
        recorded,
        launch.failed + sum(said.failed for said in states),
        tokens=tokens,
        engine=launch.engine,
        tasks=launch.tasks,
        started=launch.started,
        rate=round(rate, 4) or None,
        seconds_left=round((launch.total - recorded) / rate, 1) if rate else None,
        cost_usd=cost,
        driven=is_locked(lock_of(folder)),
        ranks=[_rank(*each) for each in found],
        problems=dict(list(problems.items())[:SHOWN]),
    )


def _fetch(shards: Shards) -> None:
    """Fetch what is not here, unless a command is at work on the run, which does so itself."""
    if shards.launch.storage is None or is_locked(lock_of(shards.run)):
        return
    try:
        with alone(shards.run):
            if shards.is_open and (remote := remote_of(shards)) is not None:
                remote.fetch(shards)
    except HdbenchError as error:
        tell(f"{error}: what follows is what was known before")


def _rank(rank: int, state: Seen, said: RankState | None) -> Rank:
    if said is None:
        return Rank(rank, state)
    return Rank(
        rank,
        state,
        said.items,
        said.answered,
        said.failed,
        said.host,
        said.job,
        said.updated,
        said.error,
    )


def _items(info: RunInfo) -> int | None:
    """How many items the run has, as its last sitting says."""
    items = info.sittings[-1].get("items") if info.sittings else None
    return items if isinstance(items, int) else None


def _recorded(folder: Path) -> tuple[int, int, Tokens]:
    recorded = failed = 0
    tokens = Tokens()
    for answer in read_answers(folder / OUR_ANSWERS):
        recorded += 1
        failed += is_failed(answer)
        tokens += Tokens.of(answer)
    return recorded, failed, tokens


def _place(rank: Rank) -> str:
    where = f" on {rank.host}" if rank.host else ""
    done = f" ({rank.answered:,} of {rank.items:,})" if rank.items else ""
    return f"{rank.rank}{where}{done}"
