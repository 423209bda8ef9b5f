"""What each rank does on a machine that does not see the run's folder."""

import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datatrove.pipeline.base import PipelineStep
from datatrove.utils.logging import logger
from tenacity import Retrying, stop_after_attempt, wait_exponential

from hdbench.errors import HdbenchError, Message, escaped
from hdbench.running.cluster.step import Asking, release_locks
from hdbench.running.shards.launch import Shards
from hdbench.running.shards.ranks import KEPT_EVERY
from hdbench.running.shards.remote import Remote

FIRST_KEPT = 15.0
"""Seconds until a rank first stores something: that it has started."""
ATTEMPTS = 6
"""How often storing a rank's last answers is tried; the waits add up to a minute."""


class AskingThere(PipelineStep):  # type: ignore[misc]  # datatrove has no types
    """Asks the questions of a rank whose part is in a storage.

    datatrove writes the attributes into the storage: no keys are among them.

    Args:
        storage: its URL.
        launch: the id of the launch.
    """

    name = "Asking there"
    type = "hdbench"

    def __init__(self, storage: str, launch: str) -> None:
        super().__init__()
        self.storage = storage
        self.launch = launch

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        """Copy the rank's part here, ask, and copy the answers back every few minutes.

        Raises:
            HdbenchError: see `Asking.run`; or the storage cannot be read or written.
        """
        with tempfile.TemporaryDirectory(prefix="hdbench-") as folder:
            with _one_line_for_logs():
                remote = Remote(self.storage, self.launch)
                shards = remote.take(rank, Path(folder))
            try:
                with _kept(remote, shards, rank):
                    Asking(Path(folder), self.launch).run(data, rank, world_size)
            finally:
                release_locks()


@contextmanager
def _kept(remote: Remote, shards: Shards, rank: int) -> Iterator[None]:
    """Copy what a rank has into the storage regularly, and at the end, however it ends."""

    def keep() -> None:
        remote.keep(shards, rank)

    last = Retrying(stop=stop_after_attempt(ATTEMPTS), wait=wait_exponential(2), reraise=True)
    try:
        with now_and_then(keep, KEPT_EVERY, logger.warning, first=FIRST_KEPT):
            yield
    finally:
        with _one_line_for_logs():
            last(keep)


@contextmanager
def _one_line_for_logs() -> Iterator[None]:
    """Of what leaves here, datatrove logs the values of all variables, keys among them."""
    try:
        yield
    except Exception as failure:
        logger.error(traceback.format_exc())
        raise HdbenchError(why(failure)) from None


@contextmanager
def now_and_then(
    action: Callable[[], None],
    seconds: float,
    tell_failure: Callable[[Message], None],
    first: float | None = None,
) -> Iterator[None]:
    """Do something regularly, in a thread, while the context lasts.

    Args:
        action: what to do; if it raises HdbenchError, it is done again later.
        seconds: how often.
        tell_failure: is told why it failed.
        first: seconds until it is done for the first time; by default `seconds`.
    """
    over = threading.Event()

    def repeat() -> None:
        wait = seconds if first is None else first
        while not over.wait(wait):
            wait = seconds
            try:
                action()
            except HdbenchError as error:
                tell_failure(error.message)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def why(error: BaseException) -> Message:
    """What an error says: one of ours in any language, one of a library in one line."""
    if isinstance(error, HdbenchError):
        return error.message
    return Message(escaped(" ".join(str(error).split())[:500]) or type(error).__name__)
