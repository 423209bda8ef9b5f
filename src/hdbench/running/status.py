"""The status of a run, from its files alone."""

import json
from collections import ChainMap, Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.folders import OUR_ANSWERS
from hdbench.answers.run_info import RunInfo, read_run_info
from hdbench.common.progress import tell
from hdbench.errors import HdbenchError, Message, joined, shortened
from hdbench.running.amounts import as_rate, as_time, as_usd
from hdbench.running.answers_file import about_schema, is_failed, read_answers
from hdbench.running.engine_kinds import ENGINES
from hdbench.running.shards.launch import RankState, Seen, Shards, Tokens, is_locked
from hdbench.running.shards.merging import alone, lock_of, remote_of, schema_of, sums

SHOWN = 8
"""Maximum number of ranks of a kind that are named."""


class RankStatus(NamedTuple):
    """State of one rank.

    Attributes:
        rank: its number.
        state: how it is doing.
        said: its last report; None if it has not begun.
    """

    rank: int
    state: Seen
    said: RankState | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        state = self.said.model_dump() if self.said else {"answered": 0, "failed": 0}
        names = ("items", "answered", "failed", "host", "job", "updated", "error")
        return {"rank": self.rank, "state": self.state} | {name: state.get(name) for name in names}

    def shown(self) -> Message:
        """Return its number, with its machine and progress as far as it has reported them."""
        shown = Message("{rank}", rank=self.rank)
        if self.said and self.said.host:
            shown = Message("{rank} on {host}", rank=self.rank, host=self.said.host)
        if self.said and self.said.items:
            shown = Message(
                "{rank} ({answered:,} of {items:,})",
                rank=shown,
                answered=self.said.answered,
                items=self.said.items,
            )
        return shown


@dataclass(frozen=True)
class Status:
    """Status of a run.

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
    ranks: list[RankStatus] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return all of it as JSON in ASCII: terminals take some other characters for commands."""
        own = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}
        ranks = [rank.to_json() for rank in self.ranks]
        return json.dumps(own | {"tokens": self.tokens.model_dump(), "ranks": ranks}, indent=2)

    def lines(self) -> list[Message]:
        """Return the lines that report the status to a person."""
        lines = [self._answered()]
        lines.append(joined([self.benchmark, self.model]))
        if self.rate and self.seconds_left is not None:
            time = as_time(self.seconds_left)
            lines.append(Message("rate: {rate}, {time} left", rate=as_rate(self.rate), time=time))
        if self.tokens.input or self.tokens.output:
            lines.append(
                Message(
                    "tokens: {input:,} in, {output:,} out",
                    input=self.tokens.input,
                    output=self.tokens.output,
                )
            )
        if self.cost_usd is not None:
            lines.append(Message("cost of these tasks: {cost}", cost=as_usd(self.cost_usd)))
        if self.schema_kept or self.schema_broken:
            lines.append(about_schema({True: self.schema_kept, False: self.schema_broken}))
        return lines if self.engine is None else [*lines, *self._of_tasks(self.engine)]

    def _answered(self) -> Message:
        line = Message(
            "{place}: {answered:,} items answered"
            if self.items is None
            else "{place}: {answered:,} of {items:,} items answered",
            place=self.run,
            answered=self.recorded - self.failed,
            items=self.items or 0,
        )
        if not self.failed:
            return line
        return joined([line, Message("{failed:,} failed", failed=self.failed)])

    def _of_tasks(self, engine: str) -> Iterator[Message]:
        counts = Counter(rank.state for rank in self.ranks)
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
            if ranks := [rank.shown() for rank in self.ranks if rank.state == state]:
                yield Message(
                    "{state}: {ranks}", state=_STATES[state], ranks=shortened(ranks, SHOWN)
                )
        errors = {
            rank.said.error: rank.rank
            for rank in reversed(self.ranks)
            if rank.said and rank.said.error
        }
        for error, rank in list(reversed(errors.items()))[:SHOWN]:
            yield Message("rank {rank}: {why}", rank=rank, why=error)
        for item, error in self.problems.items():
            yield Message("{place}: {why}", place=item, why=error)
        only_submits = engine in ENGINES and ENGINES[engine].only_submits
        if only_submits and counts["running"] and any(map(counts.get, _EARLY)):
            yield Message("run again: the command submits what ended early, while the others go on")
        elif not counts["running"] and not self.driven:
            yield self._next(counts, engine)

    def _next(self, counts: Counter[Seen], engine: str) -> Message:
        if counts["done"] == self.tasks:
            return Message(
                "all tasks are done: merge them with hdbench status {run} --merge", run=self.run
            )
        # A run of an earlier version may have an engine that is no longer there.
        runs_here = engine in ENGINES and ENGINES[engine].runs_here
        if counts["waiting"] and not runs_here:
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
"""States whose ranks are named."""
_EARLY: tuple[Seen, ...] = ("failed", "died", "stopped")


def read_status(folder: Path) -> Status:
    """Return the status of a run; what its ranks keep in a storage is fetched first.

    Raises:
        HdbenchError: the folder is not a run, or is damaged.
    """
    info = read_run_info(folder)
    shards = Shards.of(folder)
    ranks: list[RankStatus] = []
    if shards is not None:
        _fetch(shards)
        ranks = [RankStatus(rank, *shards.seen(rank)) for rank in shards.ranks]
    if shards is None or Shards.of(folder) is None:  # they were merged meanwhile
        return _of_answers(folder, info)
    launch = shards.launch
    states = [rank.said for rank in ranks if rank.said is not None]
    tokens, cost = sums(states)
    schema = schema_of(states)
    recorded = launch.recorded + sum(state.answered for state in states)
    problems = ChainMap(*(state.problems for state in reversed(states)))
    rate = sum(
        rank.said.new / rank.said.seconds
        for rank in ranks
        if rank.state == "running" and rank.said is not None and rank.said.seconds
    )
    return Status(
        str(folder),
        info.model,
        info.benchmark,
        launch.total,
        recorded,
        launch.failed + sum(state.failed for state in states),
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
        ranks=ranks,
        problems=dict(islice(problems.items(), SHOWN)),
    )


def _of_answers(folder: Path, info: RunInfo) -> Status:
    """Return the status of a run without shards, from its answers."""
    recorded = failed = 0
    tokens, schema = Tokens(), Counter[bool]()
    for answer in read_answers(folder / OUR_ANSWERS):
        recorded += 1
        failed += is_failed(answer)
        tokens += Tokens.of(answer)
        if isinstance(keeps_schema := answer.get("keeps_schema"), bool):
            schema[keeps_schema] += 1
    items = info.sittings[-1].get("items") if info.sittings else None
    return Status(
        str(folder),
        info.model,
        info.benchmark,
        items if isinstance(items, int) else None,
        recorded,
        failed,
        tokens=tokens,
        schema_kept=schema[True],
        schema_broken=schema[False],
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
