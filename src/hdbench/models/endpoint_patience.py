"""How long a busy server is waited for."""

import time

from hdbench.errors import HdbenchError, Message
from hdbench.models.amounts import as_time
from hdbench.models.backend import Observer
from hdbench.models.endpoint_response import Unanswered

PATIENCE = 1800.0
"""Seconds without an answer from a busy server that end a run, besides those of one request."""


class ServerPatience:
    """Ends a run where a server answers nothing for long, and only says that it is busy.

    Args:
        seconds: how long that may be.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: float | None = None
        self._notified = False

    def answered(self) -> None:
        """Begin anew: a request was answered."""
        self._since = None

    def busy(self, failure: Unanswered, place: str, observer: Observer) -> None:
        """Note that a request was not answered.

        Args:
            failure: why.
            place: the server.
            observer: notified the first time.

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
        if not self._notified:
            self._notified = True
            observer.notice(patience_of(self._seconds))


def patience_of(seconds: float) -> Message:
    """Return the notice, in advance, of how long a busy server is waited for."""
    return Message(
        "if the server only says that it is busy, the run ends after {time} without an answer, and "
        "the same command resumes it",
        time=as_time(seconds),
    )
