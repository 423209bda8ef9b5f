"""Engines, which start the parts of a run: each is the same command once more, with `--part`."""

import hashlib
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.executor.slurm import SlurmPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.logging import logger

from hdbench.common import processes
from hdbench.common.texts import VARIABLE, current_language
from hdbench.errors import HdbenchError, escaped, shortened
from hdbench.evaluation.run import part_folder
from hdbench.models.items import part_of
from hdbench.models.run import RunOutcome, RunPlan, read_outcome
from hdbench.models.run_folder import is_locked, lock_of
from hdbench.models.server import Server

LOGS = "logs"
LEAVING = 60.0
"""Seconds that an earlier process of a part may take to end, if its job was requeued."""

logger.disable("datatrove")  # which logs the variables of any failure, also keys


class AskPart(PipelineStep):  # type: ignore[misc]  # datatrove has no types
    """Asks a part of a run, in a process whose lines it prints.

    datatrove writes the attributes to files, so they hold no keys.

    Args:
        run: the run's folder.
        arguments: those of the command, without the engine.
        parts: the parts to ask, such as `2/4`.
        devices: the accelerators among which the parts are divided; none leaves it to them.
        is_job: whether to end with the status of a part that failed.
    """

    name = "Asking"
    type = "hdbench"

    def __init__(
        self,
        run: Path,
        arguments: Sequence[str],
        parts: Sequence[str],
        devices: Sequence[str] = (),
        *,
        is_job: bool,
    ) -> None:
        super().__init__()
        self.path, self.folder = str(run.absolute()), os.getcwd()
        self.arguments, self.parts = list(arguments), list(parts)
        self.devices, self.is_job = list(devices), is_job
        self.language = current_language()

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        """Run the command with `--part`."""
        part = self.parts[rank]
        lock = lock_of(part_folder(Path(self.path), *map(int, part.split("/"))))
        end = time.monotonic() + LEAVING
        while is_locked(lock) and time.monotonic() < end:
            time.sleep(1)
        variables = {VARIABLE: self.language}
        if self.devices:
            variables["CUDA_VISIBLE_DEVICES"] = self.devices[rank % len(self.devices)]
        process = processes.start(
            processes.python("hdbench", *self.arguments, "--part", part),
            folder=Path(self.folder),
            asks_servers=True,
            variables=variables,
            stdin=processes.DEVNULL,
            stdout=processes.PIPE,
            stderr=processes.STDOUT,
        )
        with process:
            for line in process.stdout or ():
                text = escaped(line.decode(errors="replace").rstrip())
                print(f"{part}: {text}", file=sys.stderr, flush=True)  # noqa: T201
        if process.returncode and self.is_job:
            sys.exit(process.returncode)


class OnSlurm(SlurmPipelineExecutor):  # type: ignore[misc]
    """An array of jobs, without datatrove's job that adds up statistics.

    After a failed job, that would stay in the queue forever.
    """

    def launch_merge_stats(self) -> None:
        """Do nothing: see the class."""

    def get_sbatch_args(self, max_array: int = 1) -> dict[str, Any]:
        """Return the options of sbatch; all others are read from variables such as SBATCH_GRES."""
        arguments = super().get_sbatch_args(max_array)
        names = ("array", "job-name", "output", "error", "requeue")
        return {name: arguments[name] for name in names}

    def get_launch_file_contents(self, sbatch_args: dict[str, Any], run_script: str) -> str:
        """Return the script of a job, with every value quoted, for this Python."""
        options = [
            f"#SBATCH --{name}" + (f'="{value}"' if value else "")
            for name, value in sbatch_args.items()
        ]
        pickled = self.logging_dir.resolve_paths("executor.pik")
        command = processes.python("datatrove.tools.launch_pickled_pipeline", pickled)
        return "\n".join(["#!/bin/bash", *options, f"exec {shlex.join(command)}", ""])


def start_parts(
    engine: str, tasks: int, plan: RunPlan, run: Path, arguments: Sequence[str], *, again: bool
) -> RunOutcome | str:
    """Start the parts of a run that are not finished.

    Args:
        engine: local or slurm.
        tasks: how many parts there are.
        plan: the whole run.
        run: its folder.
        arguments: those of the command, without the engine.
        again: also start parts with items for which only an error is recorded.

    Returns:
        The outcome, or the name of the jobs that were submitted.

    Raises:
        HdbenchError: they cannot be started, or are still in the queue.
    """
    endpoint = plan.asked.endpoint
    if endpoint is not None and (Server.at(endpoint).user or "?" in endpoint):
        raise HdbenchError(
            "--endpoint: with --engine the address is written to a file, so it must not hold a "
            "password or a query: set HDBENCH_API_KEY instead"
        )
    unfinished = _unfinished(plan, run, tasks, again=again)
    logs = str(run.absolute() / LOGS)
    parts = [f"{number}/{tasks}" for number in unfinished]
    if engine == "slurm" and unfinished:
        return _submit(AskPart(run, arguments, parts, is_job=True), logs)
    devices = accelerators() if plan.asked.kind.loads_model else ()
    interrupted = False
    if unfinished:
        asking = AskPart(run, arguments, parts, devices, is_job=False)
        executor = LocalPipelineExecutor(
            [asking], tasks=len(parts), workers=len(parts), logging_dir=logs, skip_completed=False
        )
        try:
            executor.run()
        except KeyboardInterrupt:
            interrupted = True
    outcome = read_outcome(len(plan.choice.questions), run, interrupted=interrupted)
    left = _unfinished(plan, run, tasks, again=False)
    if left and not interrupted:
        raise HdbenchError(
            "{place}: not finished: {parts}: {recorded:,} of {items:,} items are recorded; what "
            "they printed says why; run again: the command asks what is missing",
            place=run,
            parts=shortened([part_folder(run, number, tasks).name for number in left]),
            recorded=outcome.answered,
            items=outcome.items,
        )
    return outcome


def _submit(step: AskPart, logs: str) -> str:
    """Submit an array of jobs, and return its name."""
    job = f"hdbench-{hashlib.sha256(step.path.encode()).hexdigest()[:8]}"
    executor = OnSlurm(
        [step],
        tasks=len(step.parts),
        time="",
        partition="",
        job_name=job,
        logging_dir=logs,
        skip_completed=False,
    )
    try:
        queued = processes.run(["squeue", "--noheader", "--array", f"--name={job}", "--format=%i"])
        if jobs := queued.stdout.split():
            raise HdbenchError(
                "{place}: {count} of its jobs are still in Slurm's queue: wait, or stop them with "
                "scancel --name={job}",
                place=step.path,
                count=len(jobs),
                job=job,
            )
        executor.run()
    except FileNotFoundError as error:
        raise HdbenchError(
            "--engine slurm: there is no {program} on this machine: run this where jobs are "
            "submitted",
            program=str(error),
        ) from error
    except processes.CalledProcessError as error:
        raise HdbenchError(
            "{place}: Slurm refused the jobs (status {status}; it says why above)",
            place=step.path,
            status=error.returncode,
        ) from error
    return job


def _unfinished(plan: RunPlan, run: Path, tasks: int, *, again: bool) -> list[int]:
    """Return the parts that have items without an answer, counted from 1.

    Args:
        plan: the whole run.
        run: its folder.
        tasks: how many parts there are.
        again: count items for which only an error is recorded as not answered.

    Raises:
        HdbenchError: there are fewer items than parts.
    """
    unfinished = []
    for number in range(1, tasks + 1):
        size = len(part_of(plan.choice, number, tasks).questions)
        part = read_outcome(size, part_folder(run, number, tasks))
        if part.answered - (part.failed if again else 0) < size:
            unfinished.append(number)
    return unfinished


def accelerators() -> list[str]:
    """Return the accelerators of this machine, as CUDA_VISIBLE_DEVICES names them."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [device.strip() for device in chosen.split(",") if device.strip()]
    try:
        listed = processes.run(["nvidia-smi", "-L"])
    except (FileNotFoundError, processes.CalledProcessError):
        return []
    return [str(number) for number, _ in enumerate(listed.stdout.splitlines())]
