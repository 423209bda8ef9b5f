"""How many requests a server gets at once: its capacity, and no more than that."""

import threading
import time

import pytest
from helpers.backends import made
from PIL import Image
from running.faulty_server import FaultyServer, Response, completion, error
from running.modelled_servers import (
    Modelled,
    limited_to,
    queueing,
    room_for,
    slower_with_load,
)

from hdbench.running.backend import Observer, Question
from hdbench.running.endpoint_backend import EndpointBackend
from hdbench.running.endpoint_pace import MOST, START


@pytest.fixture
def asked(tmp_path):
    """Items of one image each."""
    paths = []
    for number in range(200):
        paths.append(tmp_path / f"{number}.png")
        Image.new("RGB", (8, 8), (number, 0, 0)).save(paths[-1])
    return [Question(str(number), [path]) for number, path in enumerate(paths)]


def ask(server, asked, observer=Observer(), **options):  # noqa: B008
    backend = made(
        *(EndpointBackend, "served-model", "Read."),
        endpoint=server.url,
        **{"first_wait": 0.05} | options,
    )
    return dict(backend.answer(asked, observer=observer))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("server", "capacity", "share"),
    [
        (lambda: room_for(20), 20, 0.7),
        (lambda: room_for(20, 1.0), 20, 0.65),
        (lambda: limited_to(20), 20, 0.8),
        (lambda: limited_to(5), 5, 0.7),
        (lambda: slower_with_load(8), 4, 0.65),
        (lambda: queueing(1), 1, 0.85),
        (lambda: queueing(16), 16, 0.8),
        (lambda: queueing(1000), MOST, 0.6),  # a fifth of the time is needed to get there
    ],
)
def test_a_server_is_used_near_its_capacity(server, capacity, share, seed):
    # The mean of a time that varies as `around` makes it is 1.08 times its median.
    assert Modelled(server(), seed=seed).rate > share * capacity / 1.08


@pytest.mark.parametrize("seed", range(3))
def test_what_brings_nothing_is_not_asked_for(seed):
    assert Modelled(queueing(1), seed=seed).most_at_once <= 2 * START
    assert Modelled(slower_with_load(8), seed=seed).most_at_once <= 16
    assert Modelled(queueing(16), seed=seed).most_at_once <= 40


@pytest.mark.parametrize("seed", range(3))
def test_few_requests_are_refused(seed):
    assert Modelled(room_for(20), seed=seed).refused < 30
    assert Modelled(limited_to(20), seed=seed).refused < 150
    assert Modelled(limited_to(5), seed=seed).refused < 300


@pytest.mark.parametrize("most", [1, 3, 30])
def test_a_maximum_is_reached_and_never_exceeded(most):
    assert Modelled(queueing(1000), most=most).most_at_once == most


@pytest.mark.nightly
def test_a_rate_limit_costs_no_item(asked):
    allowed, started, lock = 50.0, time.monotonic(), threading.Lock()
    used = 0

    def respond(_request):
        nonlocal used
        with lock:
            if used >= 10 + allowed * (time.monotonic() - started):
                return Response(error("slow down"), 429, {"Retry-After": "0.2"})
            used += 1
        return Response(completion(), seconds=0.05)

    with FaultyServer(respond) as server:
        replies = ask(server, asked, concurrency=40)
    assert [reply.error for reply in replies.values()] == [None] * 200
    assert len(server.requests) < 400


@pytest.mark.nightly
def test_nothing_is_sent_while_the_server_asks_to_wait(asked):
    refused, sent = [], []

    def respond(request):
        sent.append(time.monotonic())
        if len(sent) == 20:
            refused.append(time.monotonic())
            return Response(error("slow down"), 429, {"Retry-After": "1"})
        return Response(completion(), seconds=0.02)

    with FaultyServer(respond) as server:
        replies = ask(server, asked[:120], concurrency=4)
    assert len(replies) == 120
    # Three others may still have been on their way.
    assert sum(refused[0] + 0.2 < each < refused[0] + 0.9 for each in sent) <= 3


@pytest.mark.nightly
def test_server_that_slows_down_under_load_is_not_overloaded(asked):
    def respond(_request):
        # Long beside what a busy machine adds, from which the rate would seem to grow.
        return Response(completion(), seconds=0.1 * (1 + (server.at_once / 4) ** 2))

    told = []

    class Watching(Observer):
        def at_once(self, requests):
            told.append(requests)

    with FaultyServer(respond) as server:
        replies = ask(server, asked[:60], observer=Watching())
    assert not any(reply.error for reply in replies.values())
    assert server.most_at_once <= 2 * START
    assert told
