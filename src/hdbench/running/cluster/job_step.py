"""A rank at work on a machine that does not see the run's folder."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from datatrove.utils.logging import logger
from tenacity import Retrying, stop_after_attempt, wait_exponential

from hdbench.running.cluster.step import Asking, release_locks
from hdbench.running.run_progress import repeating
from hdbench.running.shards.launch import KEPT_EVERY, Shards
from hdbench.running.shards.remote import Remote

FIRST_KEPT = 15.0
"""Seconds until a rank first stores something: that it has started."""
ATTEMPTS = 6
"""How often storing a rank's last answers is tried; the waits add up to a minute."""


def ask_there(storage: str, launch: str, rank: int) -> None:
    """Copy a rank's part here, ask, and copy the answers back every few minutes.

    Args:
        storage: the URL of the storage that the part is in.
        launch: the id of the launch.
        rank: its number.

    Raises:
        HdbenchError: see `Asking.run`; or the storage cannot be read or written.
    """
    with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
        remote = Remote(storage, launch)
        shards = remote.take(rank, Path(folder))
        try:
            with _kept(remote, shards, rank):
                Asking(Path(folder), launch).run(None, rank, shards.launch.tasks)
        finally:
            release_locks()


@contextmanager
def _kept(remote: Remote, shards: Shards, rank: int) -> Iterator[None]:
    """Copy what a rank has into the storage regularly, and at the end, however it ends."""

    def keep() -> None:
        remote.keep(shards, rank)

    last = Retrying(stop=stop_after_attempt(ATTEMPTS), wait=wait_exponential(2), reraise=True)
    try:
        with repeating(keep, KEPT_EVERY, first=FIRST_KEPT, tell_failure=logger.warning):
            yield
    finally:
        last(keep)
