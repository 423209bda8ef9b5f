"""Servers that misbehave: silent, blind, refusing, or somewhere else than they were said to be."""

import itertools

import pytest
from helpers.backends import Heard, made
from models.faulty_server import FaultyServer, Response, completion, error

from hdbench.errors import HdbenchError
from hdbench.models import run_progress
from hdbench.models.endpoint_backend import LOST_AT_FIRST, EndpointBackend
from hdbench.models.run import run_model

pytestmark = pytest.mark.nightly

OPEN = Response(completion('{"year": 1924}'))
SILENT = Response(b"", seconds=None)
BLIND = Response(error("image input is not supported - hint: provide the mmproj"), 500)


def make_backend(address, **options):
    options = {"pause": 0.05, "timeout": 60.0} | options
    return made(EndpointBackend, "m", "Read the card.", endpoint=address, **options)


def first_alone_then(first, rest):
    """One response for the images that come first, another for all others."""
    seen = []

    def respond(request):
        seen.append(request.images)
        return first if request.images == seen[0] else rest

    return respond


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (BLIND, "500 Internal Server Error: image input is not supported - hint: provide the"),
        (Response(b"Welcome"), "is the address right? It begins 'Welcome'"),
        (Response(b""), "It begins ''"),
        (Response(b"<!DOCTYPE html><p>Hello"), "is the address right? It begins"),
        (Response(b'{"choices": [{"\xff": 1}]}'), "not JSON, or is cut off"),
        (Response(b"data: {", headers={"Content-Type": "text/event-stream"}), "not JSON"),
        (Response({"error": "no such tool"}), "error in the reply: no such tool"),
        (Response({"choices": []}), "error in the reply"),
        (Response(b"x", headers={"Content-Encoding": "br"}), "answer is compressed"),
    ],
    ids=itertools.count(),
)
def test_failure_of_every_item_ends_the_run_with_server_message(question, response, words):
    heard = Heard()
    with FaultyServer(lambda _: response) as server:
        got = make_backend(server.url).answer(map(question, range(100)), observer=heard)
        with pytest.raises(HdbenchError) as caught:
            list(got)
    assert words in str(caught.value)
    assert "3 items in a row without an answer" in str(caught.value)
    assert "\n" not in str(caught.value)
    # Each of them three times, and those that were asked beside them.
    assert len(server.requests) <= 3 * (LOST_AT_FIRST + 4)


def test_an_item_that_fails_first_does_not_end_a_run_that_works(question):
    with FaultyServer(first_alone_then(BLIND, OPEN)) as server:
        replies = dict(make_backend(server.url).answer(map(question, range(6))))
    assert "image input is not supported" in replies.pop("item-0").error
    assert [reply.error for reply in replies.values()] == [None] * 5


def test_an_address_where_nothing_is_says_how_it_may_end(question):
    with FaultyServer(lambda _: Response(error("not found"), 404)) as server:
        address = server.url.removesuffix("/v1") + "/api"
        with pytest.raises(HdbenchError, match="or no server at this address, which for most ends"):
            dict(make_backend(address).answer([question(0)]))
    assert [request.path for request in server.requests] == ["/api/chat/completions"]


def test_no_other_address_is_tried_for_an_unknown_model(question):
    with FaultyServer(lambda _: Response(error("no such model"), 404), models=["a"]) as server:
        with pytest.raises(HdbenchError, match="no model 'm': choose one of a"):
            dict(make_backend(server.url).answer([question(0)]))
        assert len(server.requests) == 1


def test_a_run_without_any_answer_ends_with_status_one(here, hdbench):
    with FaultyServer(lambda _: Response(completion(" ")), models=["m"]) as server:
        done = hdbench(
            *("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url),
            *("-o", "run", "--option", "concurrency=1"),
        )
    assert done.returncode == 1
    assert "run: 0 of 8 items answered, 8 failed" in done.stdout
    assert done.stderr.splitlines() == [
        *(f"sample-0{number}: an empty answer" for number in (1, 2, 3)),
        "error: run: no item was answered, of 8 asked",
    ]


def test_without_a_terminal_a_line_says_now_and_then_how_it_goes(
    question, tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr(run_progress, "EVERY_SECONDS", 0)
    refused, failing = Response(error("no"), 400), [question(3).media[0].read_bytes()]
    with FaultyServer(lambda sent: refused if sent.images == failing else OPEN) as server:
        run_model(
            make_backend(server.url, concurrency=1),
            [question(number) for number in range(4)],
            tmp_path / "run",
            {"benchmark": "hdb/zettelkatalog", "model": "m", "items": None},
        )
    assert capfd.readouterr().err.splitlines() == [
        *(f"{done} of 4 items done, 0 failed" for done in (1, 2, 3)),
        "item-3: refused: 400 Bad Request: no",
        "4 of 4 items done, 1 failed",
    ]


@pytest.mark.nightly
def test_a_dry_run_says_what_would_be_asked_and_of_whom(here, hdbench):
    """What failed is asked again only where that is wanted."""
    with FaultyServer(first_alone_then(Response(error("no"), 400), OPEN), ["other", "m"]) as server:
        command = ("run", "hdb/zettelkatalog", "--model", "m", "--endpoint", server.url)
        command = (*command, "-o", "runs/all")
        before = hdbench(*command, "--dry-run")
        assert server.requests == []
        assert not (here / "runs").exists()
        hdbench(*command)
        kept = hdbench(*command, "--dry-run")
        again = hdbench(*command, "--dry-run", "--retry-failed")
    host = server.url.removeprefix("http://").removesuffix("/v1")
    assert before.stdout.splitlines() == [
        "items: 8 of 8 to ask",
        f"the items go to: {host} (this machine)",
        f"address: {server.url}",
        "model: m: the server has it",
        "answers will be recorded in: runs/all",
    ]
    assert kept.stdout.startswith("items: 0 of 8 to ask"), kept.stderr
    assert again.stdout.startswith("items: 1 of 8 to ask"), again.stderr


@pytest.mark.parametrize(("host", "local"), [("0.0.0.0", False), ("127.0.0.1", True)])
def test_a_run_on_another_host_says_where_the_images_go(question, tmp_path, host, local):
    with FaultyServer() as server:
        heard = Heard()
        backend = make_backend(f"http://{host}:{server.port}/v1")
        replies = dict(backend.answer([question(1)], observer=heard))
    assert replies["item-1"].error is None
    assert heard.said == ([] if local else [f"the items go to {host}:{server.port}"])
