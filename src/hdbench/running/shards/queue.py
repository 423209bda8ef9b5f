"""Jobs of a launch that still wait or run: in Slurm's queue, or at Hugging Face."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hdbench.common.folder_files import MAX_TEXT
from hdbench.common.regular_files import read_at_most
from hdbench.errors import HdbenchError, Message
from hdbench.running.shards.launch import Launch, Shards

if TYPE_CHECKING:
    from huggingface_hub import JobInfo

ENDING = 30.0
"""Seconds that jobs may take to leave the queue after they ended."""
JOB_LABEL = "datatrove_job_name"
"""The label with the name of jobs at Hugging Face; those of hdbench 0.2 have the same."""
DONE = "COMPLETED"
OVER = (DONE, "ERROR", "CANCELED", "DELETED")
"""Stages of jobs at Hugging Face that have ended, the first as they should."""


def queued_jobs(shards: Shards) -> dict[str, str]:
    """Return job → its state, for those that wait or run; empty if the engine has no queue.

    Raises:
        HdbenchError: Slurm, or Hugging Face, cannot be asked.
    """
    name = shards.launch.job
    if name is None:
        return {}
    if shards.launch.storage is not None:
        stages = {job.id: job.status.stage for job in jobs_of(shards.launch)}
        return {job: stage for job, stage in stages.items() if stage not in OVER}
    if shutil.which("squeue") is None:
        raise HdbenchError(
            "{run}: was launched with --engine slurm as {job}, and there is no squeue here to ask "
            "whether it is still in the queue: run this where there is one",
            run=shards.run,
            job=name,
        )
    # A variable such as SQUEUE_STATES, which a person may have set, would hide some of them.
    environment = {key: text for key, text in os.environ.items() if not key.startswith("SQUEUE_")}
    end = time.monotonic() + ENDING
    while True:
        command = ["squeue", "--noheader", "--array", f"--name={name}", "--format=%i %T"]
        done = subprocess.run(  # noqa: S603
            command, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise HdbenchError(
                "{run}: was launched with --engine slurm as {job}, and Slurm does not say whether "
                "it is still in the queue: {why}: try again later",
                run=shards.run,
                job=name,
                why=lines[-1] if lines else Message("it says nothing"),
            )
        jobs = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " " in line)
        if set(jobs.values()) != {"COMPLETING"} or time.monotonic() > end:
            return jobs
        time.sleep(0.5)


def read_jobs(shards: Shards) -> dict[str, str]:
    """Return rank → the job that it was last submitted in, where that is known."""
    try:
        jobs = json.loads(read_at_most(shards.jobs, MAX_TEXT))
    except (OSError, ValueError):
        return {}
    return jobs if isinstance(jobs, dict) else {}


def ended_early(shards: Shards, queued: Mapping[str, str]) -> list[int]:
    """Return the ranks that are not done and have no job that waits or runs.

    Args:
        shards: the launch.
        queued: the jobs that wait or run; see `queued_jobs`.
    """
    submitted, ranks = read_jobs(shards), []
    for rank in shards.ranks:
        state = shards.said(rank)
        jobs = {submitted.get(str(rank)), state.job if state else None} - {None}
        over = jobs and jobs.isdisjoint(queued) and not shards.is_held(rank)
        if over and not (state and state.state == "done"):
            ranks.append(rank)
    return ranks


def jobs_of(launch: Launch) -> "list[JobInfo]":
    """Return the jobs of a launch at Hugging Face, also those that have ended.

    Raises:
        HdbenchError: Hugging Face cannot be asked.
    """
    import huggingface_hub  # noqa: PLC0415  slow to import

    labels = {JOB_LABEL: str(launch.job)}
    try:
        return list(huggingface_hub.list_jobs(labels=labels, namespace=launch.namespace))
    except Exception as error:  # over HTTP, about the token or the request
        reason = " ".join(str(error).split())[:300]
        raise HdbenchError(
            "Hugging Face does not say whether jobs of {job} still run: {why}: try again later",
            job=launch.job,
            why=reason,
        ) from error


def how_to_stop(shards: Shards, jobs: dict[str, str]) -> str:
    """Return the command that stops jobs which wait or run."""
    launch = shards.launch
    if launch.storage is None:
        return f"scancel --name={launch.job}"
    account = f" --namespace {launch.namespace}" if launch.namespace else ""
    return "; ".join(f"hf jobs cancel{account} {job}" for job in list(jobs)[:3])
