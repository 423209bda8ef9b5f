"""How a run is going, from its files alone."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hdbench.errors import HdbenchError, Message, joined, shortened
from hdbench.reading.folders import OUR_ANSWERS
from hdbench.reading.run_info import RunInfo, read_run_info
from hdbench.running.amounts import as_rate, as_time, as_usd
from hdbench.running.answers_file import about_schema, is_failed, read_answers
from hdbench.running.shards.launch import Shards, Tokens
from hdbench.running.shards.merging import alone, lock_of, remote_of, schema_of, sums, tell
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
        schema_kept: how many answers keep the schema that they were to be held to.
        schema_broken: how many do not.
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
    schema_kept: int = 0
    schema_broken: int = 0
    driven: bool = False
    ranks: list[Rank] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """All of it, in ASCII: a terminal takes some other characters for commands."""
        value = asdict(self) | {"tokens": self.tokens.model_dump()}
        return json.dumps(value, indent=2)

    def lines(self) -> list[Message]:
        """What to tell a person."""
        said = [self._answered()]
        said.append(joined([self.benchmark, self.model]))
        if self.rate and self.seconds_left is not None:
            each, left = as_rate(self.rate), as_time(self.seconds_left)
            said.append(Message("rate: {rate}, {time} left", rate=each, time=left))
        if self.tokens.input or self.tokens.output:
            said.append(
                Message(
                    "tokens: {input:,} in, {output:,} out",
                    input=self.tokens.input,
                    output=self.tokens.output,
                )
            )
        if self.cost_usd is not None:
            said.append(Message("cost of these tasks: {cost}", cost=as_usd(self.cost_usd)))
        if self.schema_kept or self.schema_broken:
            said.append(about_schema({True: self.schema_kept, False: self.schema_broken}))
        return said if self.engine is None else [*said, *self._of_tasks(self.engine)]

    def _answered(self) -> Message:
        said = Message(
            "{place}: {answered:,} items answered"
            if self.items is None
            else "{place}: {answered:,} of {items:,} items answered",
            place=self.run,
            answered=self.recorded - self.failed,
            items=self.items or 0,
        )
        if not self.failed:
            return said
        return joined([said, Message("{failed:,} failed", failed=self.failed)])

    def _of_tasks(self, engine: str) -> Iterator[Message]:
        counts = Counter(each.state for each in self.ranks)
        yield Message(
            "engine {engine}, {tasks:,} tasks: {counts}",
            engine=engine,
            tasks=self.tasks or 0,
            counts=joined(
                [
                    Message("{count:,} {state}", count=counts[state], state=name)
                    for state, name in _STATES.items()
                    if counts[state]
                ]
            ),
        )
        for state in _NAMED:
            if ranks := [_place(each) for each in self.ranks if each.state == state]:
                yield Message(
                    "{state}: {ranks}", state=_STATES[state], ranks=shortened(ranks, SHOWN)
                )
        errors = {each.error: each.rank for each in reversed(self.ranks) if each.error}
        for error, rank in list(reversed(errors.items()))[:SHOWN]:
            yield Message("rank {rank}: {why}", rank=rank, why=error)
        for item, error in self.problems.items():
            yield Message("{place}: {why}", place=item, why=error)
        if self.engine == "slurm" and counts["running"] and any(map(counts.get, _EARLY)):
            yield Message("run again: the command submits what ended early, while the others go on")
        elif not counts["running"] and not self.driven:
            yield self._next(counts)

    def _next(self, counts: Counter[Seen]) -> Message:
        if counts["done"] == self.tasks:
            return Message(
                "all tasks are done: merge them with hdbench status {run} --merge", run=self.run
            )
        if counts["waiting"] and self.engine != "local":
            return Message("the tasks that wait are in the queue of the engine; if not, run again")
        return Message("no task is running: run again: the command asks what is missing")


_STATES: dict[Seen, Message] = {
    "done": Message("done"),
    "running": Message("running"),
    "waiting": Message("waiting"),
    "stopped": Message("stopped"),
    "failed": Message("failed"),
    "died": Message("died"),
}
_NAMED: tuple[Seen, ...] = ("running", "failed", "died", "stopped")
"""Of ranks in these states it is said which they are."""
_EARLY: tuple[Seen, ...] = ("failed", "died", "stopped")


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
        recorded, failed, tokens, schema = _recorded(folder)
        return Status(
            str(folder),
            info.model,
            info.benchmark,
            _items(info),
            recorded,
            failed,
            tokens=tokens,
            schema_kept=schema[True],
            schema_broken=schema[False],
        )
    launch = shards.launch
    states = [said for _, _, said in found if said is not None]
    tokens, cost = sums(states)
    schema = schema_of(states)
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
        schema_kept=launch.kept + schema[True],
        schema_broken=launch.broken + schema[False],
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
        tell(Message("{why}: what follows is what was known before", why=error))


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


def _recorded(folder: Path) -> tuple[int, int, Tokens, Counter[bool]]:
    recorded = failed = 0
    tokens, schema = Tokens(), Counter[bool]()
    for answer in read_answers(folder / OUR_ANSWERS):
        recorded += 1
        failed += is_failed(answer)
        tokens += Tokens.of(answer)
        if isinstance(kept := answer.get("keeps_schema"), bool):
            schema[kept] += 1
    return recorded, failed, tokens, schema


def _place(rank: Rank) -> Message:
    shown = Message("{rank}", rank=rank.rank)
    if rank.host:
        shown = Message("{rank} on {host}", rank=rank.rank, host=rank.host)
    if rank.items:
        shown = Message(
            "{rank} ({answered:,} of {items:,})",
            rank=shown,
            answered=rank.answered,
            items=rank.items,
        )
    return shown
