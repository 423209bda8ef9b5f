"""Whether jobs of a launch are still in Slurm's queue."""

import os
import shutil
import subprocess
import time

from hdbench.errors import HdbenchError
from hdbench.running.shards.launch import Shards

ENDING = 30.0
"""Seconds that jobs may take to leave the queue after they ended."""


def queued_jobs(shards: Shards) -> dict[str, str]:
    """Job → its state, for those that wait or run; none if the engine has no queue.

    Raises:
        HdbenchError: Slurm cannot be asked.
    """
    name = shards.launch.job
    if name is None:
        return {}
    if shutil.which("squeue") is None:
        raise HdbenchError(
            f"{shards.run}: was launched with --engine slurm as {name}, and there is no squeue "
            "here to ask whether it is still in the queue: run this where there is one"
        )
    # Such as SQUEUE_STATES, which a person may have set, would hide some of them.
    environment = {key: text for key, text in os.environ.items() if not key.startswith("SQUEUE_")}
    end = time.monotonic() + ENDING
    while True:
        asked = ["squeue", "--noheader", "--array", f"--name={name}", "--format=%i %T"]
        done = subprocess.run(  # noqa: S603
            asked, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = (done.stderr.strip() or "it says nothing").splitlines()[-1]
            raise HdbenchError(
                f"{shards.run}: was launched with --engine slurm as {name}, and Slurm does not "
                f"say whether it is still in the queue: {said}: try again later"
            )
        jobs = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " " in line)
        if set(jobs.values()) != {"COMPLETING"} or time.monotonic() > end:
            return jobs
        time.sleep(0.5)
