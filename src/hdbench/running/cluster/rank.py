"""The process of one rank here: python -m hdbench.running.cluster.rank RUN LAUNCH RANK."""

import os
import sys
from pathlib import Path

from datatrove.io import get_datafolder
from datatrove.utils.logging import add_task_logger, close_task_logger

from hdbench.common.told import VARIABLE, speak, spoken, told
from hdbench.errors import HdbenchError, escaped
from hdbench.running.cluster.step import Asking, launch_is_over, release_locks
from hdbench.running.shards.launch import Shards
from hdbench.running.shards.merging import merge_if_last


def main(run: Path, launch: str, rank: int) -> None:
    """Run a rank, and merge the shards if it is the last one and its driver is gone.

    Not by datatrove's LocalPipelineExecutor: it starts a process for its queue, which would stay
    for ever if this one is killed.

    Raises:
        HdbenchError: see `Asking.run`.
        OSError: there is no space left.
    """
    shards = Shards.of(run)
    if shards is None or shards.launch.id != launch:
        raise launch_is_over(run, launch)
    log = add_task_logger(get_datafolder(str(shards.logs.absolute())), rank)
    try:
        Asking(run, launch).run(None, rank, shards.launch.tasks)
    finally:
        close_task_logger(log)
    release_locks()
    merge_if_last(shards)


if __name__ == "__main__":
    speak(os.environ.get(VARIABLE))  # that of the command that started it
    try:
        main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    except HdbenchError as error:
        sys.exit(f"error: {escaped(told(error.message, spoken()))}")
    except OSError as error:
        sys.exit(f"error: {escaped(str(error))}")
