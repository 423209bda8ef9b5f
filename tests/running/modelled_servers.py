"""Servers as models, in a time of their own: how many answers `RequestPace` gets out of them."""

import heapq
import itertools
import random

from hdbench.running.endpoint_pace import RequestPace

REFUSED_AFTER = 0.005


class Modelled:
    """A client that asks a model of a server for many items, as `EndpointBackend` does.

    Args:
        respond: number of requests at work, time and random numbers → seconds until the answer;
            or, if it is refused, None or a tuple of the seconds that it asks to wait.

    Attributes:
        rate: answers per second.
        most_at_once: the most requests at work.
        refused: how many were.
    """

    def __init__(self, respond, *, items=3000, most=None, seed=0):
        self.now = 0.0
        self.refused = self.most_at_once = 0
        self._respond, self._random = respond, random.Random(seed)
        self._pace = RequestPace(most, clock=lambda: self.now)
        self._at_work, self._events, self._order = 0, [], itertools.count()
        self._run(items)
        self.rate = items / self.now

    def _run(self, items):
        new, begun, done, again = items, 0, 0, []
        while done < items:
            pace = self._pace
            while self.now >= pace.waits_until and self._at_work < pace.at_once:
                if again:
                    attempt = again.pop()
                elif new and begun < pace.at_once:
                    attempt, new, begun = 1, new - 1, begun + 1
                else:
                    break
                self._ask(attempt)
            time, _, kind, *what = heapq.heappop(self._events)
            if self.now < pace.waits_until < time and (again or new):
                heapq.heappush(self._events, (time, next(self._order), kind, *what))
                self.now = pace.waits_until
                continue
            self.now = time
            if kind == "again":
                again.append(what[0])
                continue
            self._at_work -= 1
            if kind == "answer":
                pace.answered()
                done, begun = done + 1, begun - 1
            else:
                asked, retry_after, attempt = what
                pace.busy(asked, retry_after)
                wait = min(2.0**attempt, 30) * (0.5 + self._random.random())
                wait = wait if retry_after is None else retry_after
                self._later(wait, "again", attempt + 1)

    def _ask(self, attempt):
        self._at_work += 1
        self._pace.began(self._at_work)
        response = self._respond(self._at_work, self.now, self._random)
        if isinstance(response, float):
            self.most_at_once = max(self.most_at_once, self._at_work)
            self._later(response, "answer")
        else:
            self.refused += 1
            told = response[0] if response else None
            self._later(REFUSED_AFTER, "refused", self.now, told, attempt)

    def _later(self, seconds, *what):
        heapq.heappush(self._events, (self.now + seconds, next(self._order), *what))


def around(seconds, numbers):
    """Answers differ in length: seconds that vary by 40 %."""
    return seconds * numbers.lognormvariate(0, 0.4)


def room_for(count, told=None):
    """A server that refuses what is more than it has room for."""
    refusal = None if told is None else (told,)
    return lambda at_work, _, numbers: around(1, numbers) if at_work <= count else refusal


def limited_to(rate, burst=20):
    """A server with a limit on the rate (a token bucket)."""
    tokens, before = burst, 0.0

    def respond(_, now, numbers):
        nonlocal tokens, before
        tokens, before = min(burst, tokens + (now - before) * rate), now
        if tokens < 1:
            return (1.0,)
        tokens -= 1
        return around(0.3, numbers)

    return respond


def slower_with_load(best):
    """A server whose latency grows so that its rate falls above a load; `best` / 2 at most."""
    return lambda at_work, _, numbers: around(1 + (at_work / best) ** 2, numbers)


def queueing(count):
    """A server that works on so many requests, and lets the others wait."""
    return lambda at_work, _, numbers: around(max(1, at_work / count), numbers)
