"""Ranks as an array of jobs in Slurm, submitted by datatrove's executor."""

import inspect
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datatrove.executor.slurm import SlurmPipelineExecutor
from datatrove.utils.logging import logger
from pydantic import TypeAdapter, ValidationError

from hdbench.common.jsonio import write_json
from hdbench.common.names import did_you_mean
from hdbench.errors import HdbenchError, escaped
from hdbench.running.cluster.step import Asking, release_locks
from hdbench.running.cluster.workers import STARTS
from hdbench.running.shards.launch import Shards
from hdbench.running.shards.merging import merge_if_last
from hdbench.running.shards.queue import queued_jobs, read_jobs

if TYPE_CHECKING:
    from hdbench.running.planning import RunPlan

SBATCH = "sbatch."
"""Before the name of an option that only sbatch has, such as `sbatch.account`."""
SHORT = ("account", "constraint", "exclude", "gres", "nodelist", "reservation")
"""Options of sbatch that may be given without it."""
OF_SBATCH = ("SBATCH_ARRAY_INX", "SBATCH_CLUSTERS", "SBATCH_JOB_NAME")
"""Variables that sbatch would take instead of what hdbench says: the jobs would not be found."""

KILLED = ("134", "135", "136", "137", "139")
"""Exit statuses of a process that crashed or was killed, but not by SIGTERM or SIGUSR1, with which
Slurm ends or requeues a job."""

_OURS = frozenset(
    (
        *("pipeline", "tasks", "workers", "logging_dir", "job_name", "skip_completed"),
        *("depends", "depends_job_id", "run_on_dependency_fail"),
        *("job_id_position", "job_id_retriever"),
        *("sbatch_args", "srun_args", "slurm_logs_folder", "nodes_per_task", "requeue_signals"),
        *("max_array_launch_parallel", "condaenv"),
    )
)
"""Options of executors that hdbench sets itself, or that are not plain values."""
_FREE = ("dependencies", "env_command", "secrets", "storage")
"""Options that are a line of the shell, or that are checked elsewhere."""
_OURS_OF_SBATCH = frozenset(
    (
        *("array", "output", "error", "job-name", "export", "dependency", "wrap", "parsable"),
        *("open-mode", "chdir", "nodes", "ntasks", "requeue", "no-requeue", "wait", "test-only"),
        *("clusters", "cluster-constraint"),  # squeue would ask another one
    )
)


class OnSlurm(SlurmPipelineExecutor):  # type: ignore[misc]
    """An array of jobs; the last one that ends merges the shards.

    It leaves out datatrove's job that adds up statistics: after a failed job, that would stay in
    the queue forever.

    A process that is killed begins again in its job, and asks what is missing.

    Attributes:
        ranks: those that are submitted; None are all.
    """

    ranks: Sequence[int] | None = None

    def run(self) -> None:
        """Submit the jobs; within a job, run its ranks."""
        super().run()
        if "SLURM_ARRAY_TASK_ID" in os.environ:
            release_locks()
            asking = self.pipeline[0]
            shards = Shards.of(Path(asking.path))
            if shards is not None and shards.launch.id == asking.launch:
                merge_if_last(shards)

    def get_incomplete_ranks(
        self, ranks: Sequence[int] | None = None, skip_completed: bool | None = None
    ) -> list[int]:
        """Return the ranks that are submitted, unless others are given."""
        candidates = self.ranks if ranks is None else ranks
        incomplete: list[int] = super().get_incomplete_ranks(candidates, skip_completed)
        return incomplete

    def jobs(self) -> dict[str, str]:
        """Return rank → its job, once all are submitted; empty if they needed several arrays."""
        ranks = range(self.tasks) if self.ranks is None else self.ranks
        if 0 < self.max_array_size * self.tasks_per_job < len(ranks):
            return {}
        return {
            str(rank): f"{self.job_id}_{position // self.tasks_per_job}"
            for position, rank in enumerate(ranks)
        }

    def launch_merge_stats(self) -> None:
        """Do nothing: see the class."""

    def get_sbatch_args(self, max_array: int = 1) -> dict[str, Any]:
        """Return the options of sbatch; those that were not chosen are left to the cluster."""
        arguments = super().get_sbatch_args(max_array)
        return {name: value for name, value in arguments.items() if value is not None}

    def get_launch_file_contents(self, sbatch_args: dict[str, Any], run_script: str) -> str:
        """Return the script of a job, with every value quoted: paths and options are not commands.

        Only `env_command` is one.
        """
        options = [
            f"#SBATCH --{name}" + (f'="{value}"' if value != "" else "")
            for name, value in sbatch_args.items()
        ]
        pickled = self.logging_dir.resolve_paths("executor.pik")
        # Without -P, the folder that the user is in could hold a module that is imported.
        module = [sys.executable, "-P", "-m", "datatrove.tools.launch_pickled_pipeline"]
        before = ["srun", "-l", "-n", "1"] if self.with_srun else []
        lines = [
            "#!/bin/bash",
            *options,
            *([self.env_command] if self.env_command else []),
            *([f"source {shlex.quote(self.venv_path)}"] if self.venv_path else []),
            "set -xe",
            "export PYTHONUNBUFFERED=TRUE",
            f"for start in $(seq {STARTS}); do",
            f"status=0; {shlex.join([*before, *module, pickled])} || status=$?",
            f"case $status in {'|'.join(KILLED)}) ;; *) break ;; esac",
            "done",
            "exit $status",
        ]
        return "\n".join(lines) + "\n"


def slurm_executor(
    shards: Shards,
    options: Mapping[str, str],
    workers: int | None,
    ranks: Sequence[int] | None = None,
) -> OnSlurm:
    """Return the executor that submits the ranks of a launch.

    Args:
        shards: the launch.
        options: as they were given.
        workers: how many ranks run at the same time.
        ranks: those that are submitted again; None are all.

    Raises:
        HdbenchError: an option is unknown or has no usable value.
    """
    launch, logs = shards.launch, str(shards.logs.absolute())
    if ranks is not None:  # jobs that wait still read which ranks were theirs
        logs += f"/{secrets.token_hex(4)}"
    settings: dict[str, Any] = {"time": None, "partition": None, "qos": None}
    settings |= slurm_options(options)
    executor = OnSlurm(
        pipeline=[Asking(shards.run, launch.id)],
        tasks=launch.tasks,
        workers=workers or -1,
        logging_dir=logs,
        job_name=launch.job,
        **settings,
    )
    executor.ranks = ranks
    return executor


def submit(
    shards: Shards,
    options: Mapping[str, str],
    workers: int | None,
    ranks: Sequence[int] | None = None,
) -> None:
    """Submit ranks to Slurm; if it refuses the first ones, nothing is left of the shards.

    The arguments are those of `slurm_executor`.

    Raises:
        HdbenchError: sbatch refuses some jobs, or what they need cannot be written.
    """
    logger.disable("datatrove")  # in this process; ranks have logs of their own
    try:
        executor = slurm_executor(shards, options, workers, ranks)
        executor.run()
        write_json(shards.jobs, read_jobs(shards) | executor.jobs())
    except subprocess.CalledProcessError as error:
        if ranks is not None or queued_jobs(shards):
            raise HdbenchError(
                "{run}: sbatch refused some of the jobs (it says why above), and others wait or "
                "run: see hdbench status {run}; to stop them: scancel --name={job}",
                run=shards.run,
                job=shards.launch.job,
            ) from error
        shards.close()
        shards.remove()
        raise HdbenchError(
            "{run}: sbatch refused the jobs (status {status}; it says why above): nothing was "
            "launched",
            run=shards.run,
            status=error.returncode,
        ) from error
    except OSError as error:
        raise HdbenchError(
            "{run}: {why}: run again once it is fixed", run=shards.run, why=escaped(str(error))
        ) from error


def check_slurm(_: "RunPlan", options: Mapping[str, str], run: Path) -> None:
    """Refuse to submit what Slurm does not take, or from where this cannot work.

    Raises:
        HdbenchError: an option is unknown or has no usable value, the folder has a path that Slurm
            cannot be told, or jobs cannot be submitted from here.
    """
    slurm_options(options)
    if re.search(r'["\\%\x00-\x1f\x7f]', str(run.absolute())):
        raise HdbenchError(
            "{place}: Slurm cannot be told a path with quotation marks, backslashes, percent "
            "signs or control characters: choose another folder with --out",
            place=run,
        )
    if "SLURM_ARRAY_TASK_ID" in os.environ:
        raise HdbenchError("--engine slurm: this is a job of an array itself: leave it out here")
    if chosen := [name for name in OF_SBATCH if name in os.environ]:
        raise HdbenchError(
            "--engine slurm: {variable} is set in the environment, and hdbench has to say this "
            "itself: unset {variable}",
            variable=chosen[0],
        )
    if missing := [name for name in ("sbatch", "squeue") if shutil.which(name) is None]:
        raise HdbenchError(
            "--engine slurm: there is no {program} on this machine: run this where jobs are "
            "submitted",
            program=missing[0],
        )


def slurm_options(options: Mapping[str, str]) -> dict[str, Any]:
    """Return options of the Slurm executor, and of sbatch.

    Raises:
        HdbenchError: one is unknown or has no usable value.

    Example:
        >>> slurm_options({"partition": "gpu", "cpus_per_task": "4", "gres": "gpu:a100:1"})
        {'partition': 'gpu', 'cpus_per_task': 4, 'sbatch_args': {'gres': 'gpu:a100:1'}}
    """
    own, sbatch = {}, {}
    for name, value in options.items():
        if name.startswith(SBATCH) or name in SHORT:
            sbatch[name.removeprefix(SBATCH)] = value
        else:
            own[name] = value
    for name, value in sbatch.items():
        if not re.fullmatch(r"[a-z][a-z-]*", name) or name in _OURS_OF_SBATCH:
            raise HdbenchError(
                "--engine-option {option}: hdbench sets it, or no such option",
                option=f"{SBATCH}{name}",
            )
        _check_plain(name, value)
    return read_options(SlurmPipelineExecutor, own) | ({"sbatch_args": sbatch} if sbatch else {})


def read_options(executor: type, options: Mapping[str, str]) -> dict[str, Any]:
    """Return options of an executor, with the types of its parameters.

    Raises:
        HdbenchError: one is unknown or has no usable value.
    """
    types = typing.get_type_hints(executor.__init__)  # type: ignore[misc]
    names = [name for name in inspect.signature(executor).parameters if name not in _OURS]
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in names:
            more = [*SHORT, f"{SBATCH}NAME"] if "partition" in names else []
            raise HdbenchError(
                "--engine-option {option}: choose one of {names}{near}",
                option=name,
                names=", ".join([*names, *more]),
                near=did_you_mean(name, [*names, *SHORT]),
            )
        if name not in _FREE:
            _check_plain(name, value)
        values[name] = _converted(name, value, types.get(name, str))
    return values


def _converted(name: str, value: str, kind: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise HdbenchError(
            "--engine-option {name}={value}: must be true or false"
            if kind is bool
            else "--engine-option {name}={value}: must be a whole number",
            name=name,
            value=value,
        ) from error


def _check_plain(name: str, value: str) -> None:
    if not value or re.search(r"[\"\\`$\x00-\x1f\x7f]", value):
        raise HdbenchError(
            "--engine-option {option}: must be a plain value, without quotation marks, "
            "backslashes, dollar signs and control characters",
            option=name,
        )
