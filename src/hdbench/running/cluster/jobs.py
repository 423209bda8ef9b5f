"""Ranks as jobs at Hugging Face, by datatrove's executor; experimental, as that one is."""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import huggingface_hub
from datatrove.executor.jobs import ARRAY_INDEX_ENV_VAR, JobsPipelineExecutor
from datatrove.utils.logging import logger
from huggingface_hub.errors import BucketNotFoundError

import hdbench
from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import InShard, Question
from hdbench.running.cluster.engines import read_options
from hdbench.running.cluster.job_step import AskingThere, now_and_then, why
from hdbench.running.planning import Plan
from hdbench.running.questions import read_questions
from hdbench.running.run_progress import RunProgress
from hdbench.running.shards.launch import LOGS, NAMESPACE, STORAGE, Shards
from hdbench.running.shards.merging import tell
from hdbench.running.shards.queue import how_to_stop, jobs_of, queued_jobs
from hdbench.running.shards.ranks import read_state
from hdbench.running.shards.remote import Remote

FETCHED_EVERY = 60.0
"""Seconds between two looks at what the ranks have kept."""
PACKAGES = {"hf": [], "s3": ["s3fs"], "gs": ["gcsfs"], "az": ["adlfs"]}
"""The beginning of a storage's URL → what jobs need to read it, besides hdbench."""

_APART = ("storage", "dependencies", "secrets")
"""Options that are no plain values of the executor's parameters."""
_BUCKET = re.compile(r"hf://buckets/([^/]+/[^/]+)")


def check_jobs(plan: Plan, options: Mapping[str, str]) -> None:
    """Refuse what cannot run as jobs at Hugging Face.

    Raises:
        HdbenchError: an option is missing, unknown or not usable, anybody can read the storage, or
            the jobs could not get what they need.
    """
    jobs_options(options, plan.asked.backend_name)
    if ARRAY_INDEX_ENV_VAR in os.environ:
        raise HdbenchError("--engine jobs: this is a job itself: leave it out here")
    model = plan.asked.model
    if plan.asked.backend_name == "transformers" and Path(model).is_dir():
        raise HdbenchError(
            "--engine jobs: the jobs do not see the folder {place}: name a model on the Hub",
            place=model,
        )
    media = (each for question in plan.choice.questions for each in question.media)
    here = (each for each in media if isinstance(each, InShard) and "://" not in each.shard)
    if (stored := next(here, None)) is not None:
        raise HdbenchError(
            "--engine jobs: the jobs do not see {place}: put the shards where they can be read, "
            "such as hf://… or s3://…, and name that with --images",
            place=stored.shard,
        )
    Remote(options["storage"], "")  # says which package is missing
    if huggingface_hub.get_token() is None:
        raise HdbenchError("--engine jobs: log in first, with: hf auth login")
    if bucket := _BUCKET.match(options["storage"]):
        _refuse_public(bucket[1])


def jobs_options(options: Mapping[str, str], backend: str) -> dict[str, Any]:
    """Options of the executor for jobs.

    Args:
        options: as they were given.
        backend: the name of the backend.

    Raises:
        HdbenchError: one is missing, unknown or has no usable value.

    Example:
        >>> given = {"storage": "s3://cards", "timeout": "6h", "tasks_per_job": "2"}
        >>> chosen = jobs_options(given, "endpoint")
        >>> chosen["timeout"], chosen["tasks_per_job"], chosen["dependencies"][1]
        ('6h', 2, 's3fs')
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
    extras = "cluster,vlm" if backend == "transformers" else "cluster"
    needed = [f"hdbench[{extras}]=={hdbench.__version__}", *PACKAGES[storage.partition(":")[0]]]
    plain = {name: text for name, text in options.items() if name not in _APART}
    return {
        **read_options(JobsPipelineExecutor, plain),
        "dependencies": options.get("dependencies", "").split() or needed,
        "secrets": _secrets(options.get("secrets", "")),
    }


def _secrets(names: str) -> dict[str, str]:
    """The environment variables that a person wants the jobs to have; datatrove writes none."""
    found = {}
    for name in filter(None, names.split(",")):
        if name not in os.environ:
            raise HdbenchError(
                "--engine-option secrets: {variable} is not set in the environment", variable=name
            )
        found[name] = os.environ[name]
    return found


def _refuse_public(bucket: str) -> None:
    try:
        private = huggingface_hub.bucket_info(bucket).private
    except BucketNotFoundError:
        return  # it will be created, private
    except Exception as error:  # of HTTP, of its token
        raise HdbenchError(
            "{place}: the Hub does not say whether it is private: {why}",
            place=bucket,
            why=why(error),
        ) from error
    if not private:
        raise HdbenchError(
            "{place}: is public: choose a private bucket for texts and images", place=bucket
        )


def uploads(questions: Iterable[Question], storage: str) -> Message:
    """What leaves this machine, and where it goes."""
    count, sizes = 0, []
    for question in questions:
        count += 1
        files = (each for each in question.media if isinstance(each, Path) and each.is_file())
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


def run_jobs(
    shards: Shards, options: Mapping[str, str], backend: str, workers: int | None
) -> Message | None:
    """Upload the parts, start the jobs, and wait for them; what they answered is fetched.

    Args:
        shards: the launch.
        options: as they were given.
        backend: the name of the backend.
        workers: how many jobs run at the same time.

    Returns:
        Why a rank failed; None if all are done.

    Raises:
        HdbenchError: the storage cannot be written, or jobs cannot be started or watched; those
            that run go on.
    """
    launch, storage = shards.launch, options["storage"]
    chosen = jobs_options(options, backend)
    remote = _given(shards, storage)
    logger.disable("datatrove")  # in this process; ranks have logs of their own
    executor = JobsPipelineExecutor(
        pipeline=[AskingThere(storage, launch.id)],
        tasks=launch.tasks,
        workers=workers or -1,
        logging_dir=f"{remote.url}/{LOGS}",
        job_name=launch.job,
        **chosen,
    )
    with RunProgress.shown(launch.total, launch.recorded) as progress:

        def look() -> None:
            remote.fetch(shards)
            states = [said for rank in range(launch.tasks) if (said := read_state(shards, rank))]
            done = launch.recorded + sum(said.answered for said in states)
            progress.at(done, sum(said.failed for said in states))

        try:
            # huggingface_hub prints a line for each job.
            with now_and_then(look, FETCHED_EVERY, progress.notice), redirect_stdout(StringIO()):
                executor.run()
        except (Exception, KeyboardInterrupt) as error:  # of HTTP, of the storage, of a person
            raise HdbenchError(
                "{place}: {why}: {rest}", place=shards.run, why=why(error), rest=_going_on(shards)
            ) from error
        look()
    return _failure(shards)


def _given(shards: Shards, storage: str) -> Remote:
    """The storage with all parts; if it cannot be written, nothing is left of the launch."""
    remote = Remote(storage, shards.launch.id)
    items = map(shards.items, range(shards.launch.tasks))
    questions = chain.from_iterable(map(read_questions, items))
    tell(Message("{place}: {why}", place=shards.run, why=uploads(questions, storage)))
    try:
        if bucket := _BUCKET.match(storage):
            huggingface_hub.create_bucket(bucket[1], private=True, exist_ok=True)
        remote.give(shards)
    except BaseException as error:
        with suppress(HdbenchError):
            remote.remove()
        shards.close()
        shards.remove()
        if isinstance(error, Exception):
            raise HdbenchError("{why}: nothing was launched", why=why(error)) from error
        raise
    return remote


def _going_on(shards: Shards) -> Message:
    """What goes on without this process."""
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
    """Why the first rank that is not done is not."""
    for rank in range(shards.launch.tasks):
        said = read_state(shards, rank)
        if said is not None and said.state == "done":
            continue
        reason = (said.error if said else None) or Message("its job ended early")
        with suppress(HdbenchError):
            jobs = [job.id for job in jobs_of(shards.launch) if job.status.stage != "COMPLETED"]
            if jobs:
                reason = Message("{why} (see hf jobs logs {job})", why=reason, job=jobs[0])
        return Message("rank {rank}: {why}", rank=rank, why=reason)
    return None
