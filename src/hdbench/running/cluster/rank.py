"""The process of one rank here: python -m hdbench.running.cluster.rank RUN LAUNCH RANK."""

import sys
from pathlib import Path

from hdbench.errors import HdbenchError, escaped
from hdbench.running.cluster.engines import OneRank
from hdbench.running.cluster.step import Asking, release_locks
from hdbench.running.shards.launch import Shards
from hdbench.running.shards.merging import merge_if_last


def main(run: Path, launch: str, rank: int) -> None:
    """Run a rank, and merge the shards if it is the last one and its driver is gone.

    Raises:
        HdbenchError: see `Asking.run`.
        OSError: there is no space left.
    """
    shards = Shards.of(run)
    if shards is None or shards.launch.id != launch:
        raise HdbenchError(f"{run}: the launch {launch} is over: nothing is asked")
    OneRank(
        [Asking(run, launch)],
        tasks=shards.launch.tasks,
        local_tasks=1,
        local_rank_offset=rank,
        workers=1,
        logging_dir=str(shards.logs.absolute()),
    ).run()
    release_locks()
    merge_if_last(shards)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    except (HdbenchError, OSError) as error:
        sys.exit(f"error: {escaped(str(error))}")
