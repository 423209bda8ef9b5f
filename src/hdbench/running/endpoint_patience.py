"""How long a server may go on saying that it is busy."""

import time

from hdbench.errors import HdbenchError, Message
from hdbench.running.amounts import as_time
from hdbench.running.backend import Observer
from hdbench.running.endpoint_response import Unanswered

PATIENCE = 1800.0
"""Seconds without an answer from a busy server that end a run, besides those of one request."""


class Patience:
    """Ends a run where a server answers nothing for long, and only says that it is busy.

    Args:
        seconds: how long that may be.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: float | None = None
        self._told = False

    def answered(self) -> None:
        """Begin anew: a request was answered."""
        self._since = None

    def busy(self, failure: Unanswered, place: str, observer: Observer) -> None:
        """Note that a request was not answered.

        Args:
            failure: why.
            place: the server.
            observer: is told the first time what comes of it.

        Raises:
            HdbenchError: nothing was answered for too long.
        """
        now = time.monotonic()
        if self._since is None:
            self._since = now
        if now - self._since > self._seconds:
            raise HdbenchError(
                "{place}: nothing was answered for {time}, only: {why}: run again later: the "
                "command resumes where it stopped",
                place=place,
                time=as_time(now - self._since),
                why=failure,
            )
        if not self._told:
            self._told = True
            observer.notice(patience_of(self._seconds))


def patience_of(seconds: float) -> Message:
    """What is said in advance of a server that stays busy."""
    return Message(
        "if the server only says that it is busy, the run ends after {time} without an answer, and "
        "the same command resumes it",
        time=as_time(seconds),
    )
