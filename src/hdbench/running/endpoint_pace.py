"""The pace of requests to a server: how many at once, and how long a busy one is waited for."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from hdbench.errors import HdbenchError, Message
from hdbench.running.amounts import as_time
from hdbench.running.backend import Observer
from hdbench.running.endpoint_response import Unanswered

START, START_BELOW = 4, 8
"""Requests at once in the beginning: without and with a maximum that was asked for."""
MOST = 64
"""Maximum requests at once, unless another one was asked for."""
LESS = 0.7
"""Share of its requests that a busy server still gets."""
LESS_IF_TOLD = 0.9
"""Share if it says how long to wait, since it then limits the rate itself."""
STEP, FIRST_STEP = 1.5, 2.0
"""Factor between the requests of two trials; the second until a number proved to be too high."""
WORTH = 0.3
"""Part of an increase in requests that must show up as an increase of the rate of answers."""
SLUMP = 0.5
"""A rate below this share of what it was is like a busy server."""
ROUND = 3
"""A rate is that of this many answers for each request at once."""
HOLD, LONGEST_HOLD = 10.0, 120.0
"""Seconds until the next trial; they double with each one that was of no use."""

PATIENCE = 1800.0
"""Seconds without an answer from a busy server that end a run, besides those of one request."""


class RequestPace:
    """Adapts the number of requests at once to a server.

    After each round of answers their rate is compared. From time to time, and at first always, more
    requests at once are tried, and kept if the rate grows enough for it; or fewer, and kept if it
    hardly falls. So a server gets no more than it makes use of, and latency does not grow without
    need. Where a server is busy (429, 503, no answer in time), three in ten requests are taken
    away, and the number that was too much is not tried again for a while. While a server asks to
    wait, no request begins.

    Everything but `at_once` and `most` is for one event loop.

    Args:
        most: requests at once that are never exceeded; None for `MOST`.
        changed: called with each new number.
        clock: of seconds.

    Attributes:
        most: requests at once that are never exceeded.
        at_once: how many there may be now.
        waits_until: when the next one may begin, by the clock.
    """

    def __init__(
        self,
        most: int | None,
        changed: Callable[[int], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most or MOST
        self.at_once = min(self.most, START if most is None else START_BELOW)
        self._changed = changed
        self._clock = clock
        self._limiter: anyio.CapacityLimiter | None = None
        self.waits_until = self._reduced = 0.0
        self._best: tuple[int, float] | None = None  # requests at once that are kept, and the rate
        self._too_many: int | None = None
        self._avoid, self._avoided_until = HOLD, 0.0
        self._upwards = True
        self._step = FIRST_STEP
        self._hold, self._next_trial = HOLD, 0.0
        self._begun: float | None = None
        self._answers = self._peak = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait until a request may begin; yield the time when it does."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self.at_once)
        async with self._limiter:
            while (left := self.waits_until - self._clock()) > 0:
                await anyio.sleep(left)
            self.began(self._limiter.borrowed_tokens)
            yield self._clock()

    def began(self, at_work: int) -> None:
        """Note that a request begins, with the number now at work."""
        self._peak = max(self._peak, at_work)

    def answered(self) -> None:
        """Note that a request was answered, and adapt the pace at the end of a round."""
        now = self._clock()
        if self._begun is None:  # the first answer tells no rate
            self._begun = now
            return
        self._answers += 1
        if self._answers < ROUND * self.at_once:
            return
        rate = self._answers / max(now - self._begun, 1e-9)
        full = self._peak >= self.at_once
        self._begin_round(now)
        if not full:  # not the server, but what asks it is slow
            return
        if self._best is None:
            self._best = (self.at_once, rate)
        elif self.at_once == self._best[0]:
            if rate < SLUMP * self._best[1]:
                self._best = None
                self._set(int(self.at_once * LESS))
                return
            self._best = (self.at_once, 0.7 * self._best[1] + 0.3 * rate)
        elif rate >= self._best[1] * (1 + WORTH * (self.at_once / self._best[0] - 1)):
            self._best = (self.at_once, rate)
            self._hold, self._next_trial = HOLD, 0.0
        else:
            self._set(self._best[0])
            self._turn(now)
        if now >= self._next_trial:
            self._try(now)

    def _try(self, now: float) -> None:
        """Try more requests at once, or fewer."""
        if self._upwards:
            requests = min(max(int(self.at_once * self._step), self.at_once + 1), self.most)
            if self._too_many is not None and now < self._avoided_until:
                requests = min(requests, self._too_many - 1)
        else:
            requests = min(int(self.at_once / self._step), self.at_once - 1)
        if requests < 1 or requests == self.at_once:
            self._turn(now)
        self._set(requests)

    def _turn(self, now: float) -> None:
        self._upwards = not self._upwards
        self._step = STEP
        self._next_trial = now + self._hold
        self._hold = min(2 * self._hold, LONGEST_HOLD)

    def busy(self, begun: float, retry_after: float | None) -> None:
        """Note that a request was not answered because the server is busy.

        Args:
            begun: when it began; what began before the latest reduction tells nothing new.
            retry_after: seconds that the server asks to wait.
        """
        now = self._clock()
        if retry_after is not None:
            self.waits_until = max(self.waits_until, now + retry_after)
        if begun < self._reduced:
            return
        if self._best is not None or self._too_many is None:
            again = self._too_many is not None and self.at_once < STEP**2 * self._too_many
            if retry_after is not None:  # by which it regulates itself
                self._avoid = 3 * retry_after
            else:
                self._avoid = min(2 * self._avoid, LONGEST_HOLD) if again else HOLD
            self._too_many = self.at_once
        self._avoided_until = now + self._avoid
        self._reduced = now
        self._best = None
        self._upwards, self._step, self._hold, self._next_trial = True, STEP, HOLD, 0.0
        self._begin_round(max(now, self.waits_until))
        self._set(int(self.at_once * (LESS if retry_after is None else LESS_IF_TOLD)))

    def _begin_round(self, now: float) -> None:
        self._begun, self._answers, self._peak = now, 0, 0

    def _set(self, at_once: int) -> None:
        at_once = max(1, at_once)
        if at_once != self.at_once:
            self.at_once = at_once
            if self._limiter is not None:
                self._limiter.total_tokens = at_once
            self._changed(at_once)


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
