"""Ranks as jobs at Hugging Face; experimental: not tried there yet."""

import os
import re
import sys
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from io import StringIO
from itertools import chain
from pathlib import Path

import huggingface_hub
from huggingface_hub.errors import BucketNotFoundError
from packaging.requirements import Requirement

from hdbench.common.progress import tell
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.output.publishing.wheel import make_wheel
from hdbench.running.backend import BackendKind, InShard, Question, read_questions
from hdbench.running.cluster import job_start
from hdbench.running.cluster.slurm import read_options
from hdbench.running.engine_kinds import RanksEnd
from hdbench.running.planning import RunPlan
from hdbench.running.run_progress import RunProgress, repeating
from hdbench.running.shards.launch import NAMESPACE, STORAGE, Shards
from hdbench.running.shards.queue import DONE, JOB_LABEL, OVER, how_to_stop, jobs_of, queued_jobs
from hdbench.running.shards.remote import Remote

FETCHED_EVERY = 60.0
"""Seconds between two checks of what the ranks have stored."""
PACKAGES = {"hf": [], "s3": ["s3fs"], "gs": ["gcsfs"], "az": ["adlfs"]}
"""The beginning of a storage's URL → what jobs need to read it, besides hdbench."""
IN_JOB = "HDBENCH_JOB"
"""The environment variable that jobs have."""

WHEEL = "hdbench.whl"
"""The name in a storage of the wheel with which jobs get this very hdbench."""

_BUCKET = re.compile(r"hf://buckets/([^/]+/[^/]+)")


@dataclass(frozen=True)
class JobOptions:
    """Options of jobs, as huggingface_hub's `run_uv_job` takes most of them.

    Attributes:
        flavor: the machine.
        image: a Docker image with uv in it.
        dependencies: what is installed in a job besides hdbench, separated by spaces; empty for
            what hdbench, the backend and the storage need.
        timeout: how long a job may take.
        tasks_per_job: how many ranks a job has, one after the other.
        randomize_start_duration: seconds over which the starts are spread.
        namespace: the account that the jobs run under; None is the user's own.
        secrets: names of environment variables that jobs get too, separated by commas.
        max_retries: how often a job that ended early is started again.
        poll_interval: seconds between two checks of the jobs.
        storage: where the parts and the answers are.
    """

    flavor: str = "cpu-basic"
    image: str | None = None
    dependencies: str = ""
    timeout: str = ""
    tasks_per_job: int = 1
    randomize_start_duration: int = 0
    namespace: str | None = None
    secrets: str = ""
    max_retries: int = 1
    poll_interval: int = 15
    storage: str = ""

    def needed(self, backend: BackendKind) -> list[str]:
        """Return what is installed in a job besides hdbench itself."""
        extras = filter(None, ("cluster", backend.extra))
        packages = PACKAGES[self.storage.partition(":")[0]]
        return self.dependencies.split() or [*requirements(list(extras)), *packages]

    def passed(self) -> dict[str, str]:
        """Return the environment variables that a person wants the jobs to have.

        Raises:
            HdbenchError: one is not set.
        """
        names = [name for name in self.secrets.split(",") if name]
        for name in names:
            if name not in os.environ:
                raise HdbenchError(
                    "--engine-option secrets: {variable} is not set in the environment",
                    variable=name,
                )
        return {name: os.environ[name] for name in names}


def check_jobs(plan: RunPlan, options: Mapping[str, str], _: Path) -> None:
    """Refuse what cannot run as jobs at Hugging Face.

    Raises:
        HdbenchError: an option is missing, unknown or not usable, anybody can read the storage, or
            the jobs could not get what they need.
    """
    kind, model = plan.asked.kind, plan.asked.model
    chosen = jobs_options(options)
    chosen.needed(kind)
    if IN_JOB in os.environ:
        raise HdbenchError("--engine jobs: this is a job itself: leave it out here")
    if kind.loads_model and Path(model).is_dir():
        raise HdbenchError(
            "--engine jobs: the jobs do not see the folder {place}: name a model on the Hub",
            place=model,
        )
    media = (file for question in plan.choice.questions for file in question.media)
    local = (file for file in media if isinstance(file, InShard) and "://" not in file.shard)
    if (stored := next(local, None)) is not None:
        raise HdbenchError(
            "--engine jobs: the jobs do not see {place}: put the shards where they can be read, "
            "such as hf://… or s3://…, and name that with --images",
            place=stored.shard,
        )
    Remote(chosen.storage, "")  # says which package is missing
    if huggingface_hub.get_token() is None:
        raise HdbenchError("--engine jobs: log in first, with: hf auth login")
    if bucket := _BUCKET.match(chosen.storage):
        _refuse_public(bucket[1])


def jobs_options(options: Mapping[str, str]) -> JobOptions:
    """Return the options of jobs.

    Raises:
        HdbenchError: one is missing, unknown or has no usable value.

    Example:
        >>> given = {"storage": "s3://cards", "timeout": "6h", "tasks_per_job": "2"}
        >>> chosen = jobs_options(given)
        >>> chosen.timeout, chosen.tasks_per_job
        ('6h', 2)
    """
    timeout, storage = options.get("timeout", ""), options.get("storage", "")
    if not re.fullmatch(r"\d{1,6}[mhd]", timeout):
        raise HdbenchError(
            "--engine jobs: say how long a job may take, as in --engine-option timeout=6h "
            "(m, h or d): without it, Hugging Face stops jobs after 30 minutes"
        )
    if not re.search(STORAGE, storage):
        raise HdbenchError(
            "--engine jobs: say where the jobs find their parts, as in --engine-option "
            "storage=hf://buckets/NAME/BUCKET: a private bucket on the Hub, or a folder at s3://, "
            "gs:// or az://, without keys"
        )
    if not re.fullmatch(NAMESPACE, options.get("namespace", "me")):
        raise HdbenchError("--engine-option namespace: must be the name of a user or organization")
    chosen = JobOptions(**read_options(JobOptions, options))
    chosen.passed()
    return chosen


def _refuse_public(bucket: str) -> None:
    try:
        private = huggingface_hub.bucket_info(bucket).private
    except BucketNotFoundError:
        return  # it will be created, private
    except Exception as error:  # over HTTP, or about the token
        raise HdbenchError(
            "{place}: the Hub does not say whether it is private: {why}",
            place=bucket,
            why=_why(error),
        ) from error
    if not private:
        raise HdbenchError(
            "{place}: is public: choose a private bucket for texts and images", place=bucket
        )


def uploads(questions: Iterable[Question], storage: str) -> Message:
    """Return what leaves this machine, and where it goes."""
    count, sizes = 0, []
    for question in questions:
        count += 1
        files = (file for file in question.media if isinstance(file, Path) and file.is_file())
        sizes += [file.stat().st_size for file in files]
    return Message(
        "{questions:,} questions and {files:,} files ({megabytes:.1f} MB) go to {storage}, private"
        if _BUCKET.match(storage)
        else "{questions:,} questions and {files:,} files ({megabytes:.1f} MB) go to {storage}; "
        "make sure it is private",
        questions=count,
        files=len(sizes),
        megabytes=sum(sizes) / 1e6,
        storage=storage,
    )


def run_jobs(shards: Shards, options: Mapping[str, str], workers: int | None) -> RanksEnd:
    """Upload the parts, start the jobs, and wait for them; what they answered is fetched.

    Args:
        shards: the launch.
        options: as they were given.
        workers: how many jobs run at the same time.

    Raises:
        HdbenchError: the storage cannot be written, or jobs cannot be started or watched; those
            that run go on.
    """
    chosen = jobs_options(options)
    remote = _given(shards, chosen.storage)
    with RunProgress.shown(shards.launch.total, shards.launch.recorded) as progress:

        def look() -> None:
            remote.fetch(shards)
            progress.at_ranks(shards)

        try:
            # huggingface_hub prints a line for each job.
            with (
                repeating(look, FETCHED_EVERY, tell_failure=progress.notice),
                redirect_stdout(StringIO()),
            ):
                _run_all(shards, chosen, chosen.needed(shards.launch.asked.kind), workers)
        except (Exception, KeyboardInterrupt) as error:  # of HTTP, of the storage, of a person
            raise HdbenchError(
                "{place}: {why}: {rest}", place=shards.run, why=_why(error), rest=_going_on(shards)
            ) from error
        look()
    return RanksEnd(_failure(shards))


def _run_all(
    shards: Shards, options: JobOptions, dependencies: list[str], workers: int | None
) -> None:
    """Run all ranks, a few jobs at the same time; one that ends early is started again."""
    tasks, size = shards.launch.tasks, max(1, options.tasks_per_job)
    waiting = deque(range(first, min(first + size, tasks)) for first in range(0, tasks, size))
    at_once = workers or len(waiting)
    running: dict[str, range] = {}
    starts: Counter[range] = Counter()
    while waiting or running:
        while waiting and len(running) < at_once:
            ranks = waiting.popleft()
            running[_started(shards, options, dependencies, ranks)] = ranks
            starts[ranks] += 1
        time.sleep(options.poll_interval)
        for job, ranks in list(running.items()):
            about = huggingface_hub.inspect_job(job_id=job, namespace=options.namespace)
            if about.status.stage in OVER:
                del running[job]
                if about.status.stage != DONE and starts[ranks] <= options.max_retries:
                    waiting.append(ranks)


def _started(shards: Shards, options: JobOptions, dependencies: list[str], ranks: range) -> str:
    """Start a job for some ranks, and return its id."""
    launch, python = shards.launch, sys.version_info
    arguments = {
        "storage": options.storage,
        "launch": launch.id,
        "wheel": f"{Remote(options.storage, launch.id).url}/{WHEEL}",
        "first": ranks.start,
        "end": ranks.stop,
        "most-wait": options.randomize_start_duration,
    }
    job = huggingface_hub.run_uv_job(
        job_start.__file__,
        script_args=[f"--{name}={value}" for name, value in arguments.items()],
        dependencies=dependencies,
        python=f"{python.major}.{python.minor}",
        image=options.image,
        env={IN_JOB: launch.id, "HF_HUB_DISABLE_PROGRESS_BARS": "1", "PYTHONUNBUFFERED": "1"},
        secrets={"HF_TOKEN": huggingface_hub.get_token(), **options.passed()},
        flavor=options.flavor,
        timeout=options.timeout,
        labels={JOB_LABEL: str(launch.job)},
        namespace=options.namespace,
    )
    return str(job.id)


def _given(shards: Shards, storage: str) -> Remote:
    """Return the storage with all parts in it; if writing fails, nothing is left of the launch."""
    remote = Remote(storage, shards.launch.id)
    items = map(shards.items, shards.ranks)
    questions = chain.from_iterable(map(read_questions, items))
    tell(Message("{place}: {why}", place=shards.run, why=uploads(questions, storage)))
    try:
        if bucket := _BUCKET.match(storage):
            huggingface_hub.create_bucket(bucket[1], private=True, exist_ok=True)
        remote.give(shards, {WHEEL: make_wheel()})
    except BaseException as error:
        with suppress(HdbenchError):
            remote.remove()
        shards.close()
        shards.remove()
        if isinstance(error, Exception):
            raise HdbenchError("{why}: nothing was launched", why=_why(error)) from error
        raise
    return remote


def _going_on(shards: Shards) -> Message:
    """Return a sentence on the jobs that go on without this process."""
    try:
        jobs = queued_jobs(shards)
    except HdbenchError:
        return Message(
            "its jobs may go on: see hdbench status {run}, and run again later", run=shards.run
        )
    if not jobs:
        return Message("none of its jobs is running: fix it and run again")
    return Message(
        "{count} of its jobs go on: see hdbench status {run}, and run again when they are done; to "
        "stop them: {command}",
        count=len(jobs),
        run=shards.run,
        command=how_to_stop(shards, jobs),
    )


def _failure(shards: Shards) -> Message | None:
    """Return why the first unfinished rank is not done; None if all are."""
    for rank in shards.ranks:
        state = shards.said(rank)
        if state is not None and state.state == "done":
            continue
        reason = (state.error if state else None) or Message("its job ended early")
        with suppress(HdbenchError):
            jobs = [job.id for job in jobs_of(shards.launch) if job.status.stage != DONE]
            if jobs:
                reason = Message("{why} (see hf jobs logs {job})", why=reason, job=jobs[0])
        return Message("rank {rank}: {why}", rank=rank, why=reason)
    return None


def _why(error: BaseException) -> Message:
    """Return an error's message: translatable if it is ours, otherwise in one line."""
    if isinstance(error, HdbenchError):
        return error.message
    return Message(escaped(" ".join(str(error).split())[:500]) or type(error).__name__)


def requirements(extras: Collection[str]) -> list[str]:
    """Return the packages that hdbench needs with some extras, as pip and uv take them.

    Args:
        extras: their names, such as `cluster`.

    Raises:
        HdbenchError: hdbench is not installed.
    """
    try:
        lines = distribution("hdbench").requires or ()
    except PackageNotFoundError as error:
        raise HdbenchError(
            "--engine jobs: hdbench is not installed here, so jobs cannot be given it: install it "
            "with pip"
        ) from error
    requirement_lines = []
    for line in lines:
        needed = Requirement(line)
        marker, needed.marker = needed.marker, None
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            requirement_lines.append(str(needed))
    return requirement_lines
