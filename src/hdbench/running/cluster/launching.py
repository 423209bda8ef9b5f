"""A run on an engine: its items in shards, its ranks, and its answers in one file at the end."""

import json
import os
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name

from hdbench.answers.folders import LAUNCH
from hdbench.answers.run_info import MAX_BYTES, RUN_FILE
from hdbench.common.jsonio import write_json
from hdbench.common.regular_files import read_at_most
from hdbench.errors import HdbenchError, Message, joined, shortened
from hdbench.running.answers_file import AnswersFile, is_failed
from hdbench.running.backend import Asked, BackendKind, InShard, Question
from hdbench.running.cluster.jobs import uploads
from hdbench.running.cluster.workers import accelerators
from hdbench.running.endpoint_client import check_connection
from hdbench.running.endpoint_server import Server
from hdbench.running.engine_kinds import ENGINES, EngineKind, RanksEnd
from hdbench.running.folder import RunFolder, record_of
from hdbench.running.image_readers import usable_processors
from hdbench.running.image_shards.sources import without_query
from hdbench.running.planning import Prepared, RunPlan
from hdbench.running.run import RunOutcome
from hdbench.running.run_progress import FIRST_PROBLEMS
from hdbench.running.shards.launch import AUTO, MAX_TASKS, Launch, Shards, now
from hdbench.running.shards.merging import alone, settle
from hdbench.running.shards.queue import ended_early, queued_jobs


@dataclass(frozen=True)
class Engine:
    """Engine with its options; it starts the ranks of a run.

    Attributes:
        name: that of one of `ENGINES`.
        tasks: into how many parts the items are split, each a rank.
        workers: how many ranks run at the same time; None leaves it to the engine.
        options: of the executor, as they were given.

    Raises:
        HdbenchError: there is no such engine, or these numbers make no sense.
    """

    name: str
    tasks: int
    workers: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise HdbenchError(
                "--engine {name}: choose one of {names}", name=self.name, names=", ".join(ENGINES)
            )
        if not 1 <= self.tasks <= MAX_TASKS:
            raise HdbenchError(
                "--tasks {tasks}: must be from 1 to {most:,}", tasks=self.tasks, most=MAX_TASKS
            )

    @property
    def kind(self) -> EngineKind:
        """Return the engine as it declares itself."""
        return ENGINES[self.name]

    def at_once(self, backend: BackendKind, devices: int) -> int | None:
        """Return how many ranks run at the same time; None if nothing is limited here.

        Args:
            backend: the one that asks.
            devices: how many accelerators this machine has.
        """
        if not self.kind.runs_here or self.workers is not None:
            return self.workers
        most = max(1, devices) if backend.loads_model else usable_processors()
        return min(self.tasks, most)

    def described(self, plan: RunPlan, folder: Path) -> Message:
        """Return a description of the launch, in one line.

        Raises:
            HdbenchError: see `check_engine`.
        """
        check_engine(plan, self, folder)
        parts = [Message("engine: {name}, {tasks:,} tasks", name=self.name, tasks=self.tasks)]
        if at_once := self.at_once(plan.asked.kind, len(accelerators())):
            parts.append(Message("{count:,} at the same time", count=at_once))
        else:
            parts.append(Message("as many as there is room for"))
        if plan.asked.kind.is_remote and (most := plan.asked.concurrency):
            parts.append(Message("each with at most {count} requests at once", count=most))
        line = joined(parts)
        if self.kind.uploads_items:
            line = joined([line, uploads(plan.choice.questions, self.options["storage"])], "; ")
        return line


@dataclass(frozen=True)
class Launched:
    """Jobs that were submitted, and go on without this process.

    Attributes:
        folder: the run's.
        shards: what was launched.
        again: the ranks that had ended early and were submitted again; None if all are new.
    """

    folder: Path
    shards: Shards
    again: Sequence[int] | None = None

    def lines(self) -> list[Message]:
        """Return the lines that report the submission to the user."""
        launch = self.shards.launch
        if self.again is None:
            line = Message(
                "{place}: {items:,} items in {tasks:,} tasks were submitted as {job}",
                place=self.folder,
                items=launch.total - launch.recorded,
                tasks=launch.tasks,
                job=launch.job,
            )
        else:
            line = Message(
                "{place}: what had ended early was submitted again as {job}: {ranks}",
                place=self.folder,
                job=launch.job,
                ranks=shortened([Message("rank {rank}", rank=rank) for rank in self.again]),
            )
        return [line, Message("next: hdbench status {run}", run=self.folder)]


def read_engine_options(options: list[str]) -> dict[str, str]:
    """Return options given as KEY=VALUE.

    Raises:
        HdbenchError: one is not, or is given twice.
    """
    values: dict[str, str] = {}
    for text in options:
        name, sign, value = text.partition("=")
        name = name.strip().replace("-", "_") if not name.startswith("sbatch.") else name.strip()
        if not sign or not re.fullmatch(r"[\w.-]+", name):
            raise HdbenchError("--engine-option {given}: must be KEY=VALUE", given=text)
        if name in values:
            raise HdbenchError("--engine-option {option}: is given twice", option=name)
        values[name] = value.strip()
    return values


def check_engine(plan: RunPlan, engine: Engine, folder: Path) -> None:
    """Refuse a launch that is not possible from here.

    Raises:
        HdbenchError: an option is unknown, the engine is not on this machine, or a secret would be
            written to a file.
    """
    if find_spec("fcntl") is None:
        raise HdbenchError(
            "--engine needs locks that Windows does not have: leave it out, or use WSL"
        )
    resolve_name(engine.kind.check)(plan, engine.options, folder)
    endpoint = plan.asked.endpoint
    if endpoint is not None and (Server.at(endpoint).user or "?" in endpoint):
        raise HdbenchError(
            "--endpoint: with --engine the address is written to a file, so it must not hold a "
            "password or a query: set HDBENCH_API_KEY instead"
        )
    media = (file for question in plan.choice.questions for file in question.media)
    shards = {file.shard for file in media if isinstance(file, InShard)}
    if any(without_query(shard) != shard for shard in shards):
        raise HdbenchError(
            "--images: with --engine the addresses are written to files, so they must not have a "
            "query, which may hold a secret: download the shards, or leave out --engine"
        )


def launch(
    plan: RunPlan, folder: Path, engine: Engine, *, retry_failed: bool = False
) -> RunOutcome | Launched:
    """Ask what has not been asked yet, on an engine.

    Args:
        plan: the run.
        folder: its folder.
        engine: what starts the ranks.
        retry_failed: see `run_model`.

    Returns:
        The outcome if this process waits for the engine; otherwise, what was submitted.

    Raises:
        HdbenchError: see `check_engine`, `RunPlan.run` and `settle`; the server cannot be connected
            to; or a rank failed. What was recorded is kept.
    """
    check_engine(plan, engine, folder)
    questions = plan.choice.questions
    prepared = plan.prepared(folder)
    about_model = prepared.settings["settings"]
    if not engine.kind.runs_here and "dtype" in about_model:
        about_model["dtype"] = _recorded_dtype(folder)
    if engine.kind.only_submits and (again := _submitted_again(plan, engine, folder, prepared)):
        return again
    end = RanksEnd()
    with RunFolder.opened(folder, prepared.settings) as run:
        answers = run.answers
        if retry_failed:
            answers.forget_failed()
        left = [question for question in questions if question.id not in answers.failed]
        if left:
            if engine.kind.runs_here and plan.asked.endpoint is not None:
                # With other engines, the server may be where only the tasks reach it.
                check_connection(Server.at(plan.asked.endpoint), plan.asked.timeout)
            shards = _shards(plan, prepared, engine, run, left)
            end = resolve_name(engine.kind.start)(shards, engine.options, shards.launch.workers)
            if engine.kind.only_submits:
                return Launched(folder, shards)
            settle(folder)
        outcome = _outcome(len(questions), answers)
    outcome.interrupted = end.interrupted
    if end.failure is not None:
        raise HdbenchError(
            "{why}: {recorded:,} of {items:,} items are recorded; fix it and run again: the "
            "command resumes where it stopped",
            why=end.failure,
            recorded=outcome.answered,
            items=outcome.items,
        )
    return outcome


def _outcome(items: int, before: AnswersFile) -> RunOutcome:
    """Return the outcome of a launch, given the run's answers as they were before."""
    after = AnswersFile(before.path)
    errors = {
        answer["id"]: str(answer["error"])
        for answer in after.recorded()
        if is_failed(answer) and answer["id"] not in before.failed
    }
    outcome = RunOutcome(items, repaired=before.repaired)
    outcome.errors = dict(islice(errors.items(), FIRST_PROBLEMS))
    outcome.count(after)
    return outcome


def _shards(
    plan: RunPlan, prepared: Prepared, engine: Engine, run: RunFolder, left: Sequence[Question]
) -> Shards:
    """Write the questions that are left in as many parts as there are tasks."""
    failed = run.answers.failed
    number = secrets.token_hex(4)
    launch = Launch(
        id=number,
        engine=engine.name,
        tasks=min(engine.tasks, len(left)),
        workers=engine.at_once(plan.asked.kind, len(accelerators())),
        started=now(),
        host=socket.gethostname(),
        job=None if engine.kind.runs_here else f"hdbench-{number}",
        total=len(plan.choice.questions),
        recorded=len(failed),
        failed=sum(failed.values()),
        kept=run.answers.schema[True],
        broken=run.answers.schema[False],
        asked=_asked(plan),
        prompt=prepared.prompt,
        answer_schema=prepared.schema,
        storage=engine.options.get("storage"),
        namespace=engine.options.get("namespace"),
        dtype=prepared.settings["settings"].get("dtype"),
        served=run.last_hardware.get("served"),
    )
    settings = launch.model_dump(include={"engine", "tasks", "workers"})
    run.begin_sitting(items=launch.total, launch=launch.id, **settings)
    return Shards.made(run.path, launch, (question.line() for question in left), len(left))


def _recorded_dtype(folder: Path) -> str:
    """Return the dtype of the run so far: a local model here may have another device."""
    try:
        record = json.loads(read_at_most(folder / RUN_FILE, MAX_BYTES))
        return str(record["settings"]["dtype"])
    except (OSError, ValueError, KeyError, TypeError):
        return AUTO  # the run does not exist yet, or `RunFolder.opened` says what is wrong with it


def _asked(plan: RunPlan) -> Asked:
    """Return who is asked, with a path that is valid wherever a task starts."""
    model = plan.asked.model
    return replace(plan.asked, model=os.path.abspath(model)) if Path(model).is_dir() else plan.asked


def _submitted_again(
    plan: RunPlan, engine: Engine, folder: Path, prepared: Prepared
) -> Launched | None:
    """Submit ranks again that ended early while others wait or run; None if none did.

    Raises:
        HdbenchError: the run has other settings, or the ranks cannot be submitted.
    """
    if Shards.of(folder) is None:
        return None
    with alone(folder):
        shards = Shards.of(folder)  # it may have been merged meanwhile
        if shards is None or shards.launch.engine != engine.name or not shards.is_open:
            return None
        jobs = queued_jobs(shards)
        ranks = ended_early(shards, jobs)
        if not jobs or not ranks:
            return None
        record_of(folder, prepared.settings)
        # Ranks that have not begun use the address given now.
        shards.launch = shards.launch.model_copy(update={"asked": _asked(plan)})
        write_json(shards.path / LAUNCH, shards.launch.model_dump())
        at_once = sum(state != "PENDING" for state in jobs.values())
        workers = None if engine.workers is None else max(1, engine.workers - at_once)
        resolve_name(engine.kind.start)(shards, engine.options, workers, ranks)
    return Launched(folder, shards, ranks)
