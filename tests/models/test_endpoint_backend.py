import gc
import gzip
import itertools
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import tracemalloc
from contextlib import closing

import pypdfium2
import pytest
from helpers.backends import Heard, made
from models.faulty_server import FaultyServer, Response, completion, error
from PIL import Image

from hdbench.common.bounds import MAX_RESPONSE
from hdbench.errors import HdbenchError
from hdbench.models.backend import (
    Decoding,
    ImageLimits,
    Question,
)
from hdbench.models.endpoint_backend import EndpointBackend
from hdbench.models.server import Server

KEY = "sk-sentinel-5f1d0c"
SCHEMA = {"type": "object", "properties": {"year": {"type": "integer"}, "place": {"const": None}}}
RETRIES = 2  # of OpenAI's client
OPEN = Response(completion('{"year": 1924}'))


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in list(os.environ):
        if name.endswith("_KEY") or name == "HF_TOKEN" or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def make_backend(server, *, decoding=None, limits=None, **options):
    return made(
        *(EndpointBackend, "served-model", "Read the card."),
        endpoint=server if isinstance(server, str) else server.url,
        decoding=decoding,
        limits=limits or ImageLimits(),
        **{"pause": 0.05, "timeout": 20.0} | options,
    )


def ask(server, questions, **options):
    return dict(make_backend(server, **options).answer(questions))


def in_turn(*responses):
    """For each item the first response to its first request, and so on; the last for the rest."""
    return lambda request: responses[min(request.attempt, len(responses)) - 1]


def only_for(number, question, response):
    """One response for an item, and the usual one for the others."""
    data = question(number).media[0].read_bytes()
    return lambda request: response if request.images == [data] else OPEN


def test_an_answer_comes_with_tokens_seconds_and_finish_reason(question):
    with FaultyServer(lambda _: Response(completion("{}"), seconds=0.05)) as server:
        reply = ask(server, [question(0)])["item-0"]
    assert (reply.text, reply.error, reply.finish_reason) == ("{}", None, "stop")
    assert reply.tokens == {"input": 812, "output": 34}
    assert 0.05 <= reply.seconds < 20
    assert not reply.constrained


def test_images_are_received_byte_for_byte_in_their_order(tmp_path):
    pages = [tmp_path / "p2.jpg", tmp_path / "p1.png", tmp_path / "p3.webp"]
    for number, path in enumerate(pages):
        Image.new("RGB", (20 + number, 10), "white").save(path)
    with FaultyServer() as server:
        ask(server, [Question("letter", pages)])
    [request] = server.requests
    assert request.images == [path.read_bytes() for path in pages]
    assert request.mimes == ["data:image/jpeg", "data:image/png", "data:image/webp"]


def test_pages_of_a_pdf_are_received_up_to_the_limit(tmp_path):
    document = pypdfium2.PdfDocument.new()
    for _ in range(3):
        document.new_page(72, 144)
    document.save(tmp_path / "paper.pdf")
    with FaultyServer() as server:
        ask(server, [Question("paper", [tmp_path / "paper.pdf"])], limits=ImageLimits(100, 2))
    [request] = server.requests
    assert request.mimes == ["data:image/jpeg"] * 2


def test_prompt_model_and_decoding_are_sent(question):
    decoding = Decoding(max_new_tokens=99, temperature=0.5, top_p=0.9, seed=7)
    with FaultyServer() as server:
        ask(server, [question(0)], decoding=decoding)
    [request] = server.requests
    body = {name: value for name, value in request.body.items() if name != "messages"}
    assert body == {
        "model": "served-model",
        "max_tokens": 99,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
    }
    assert request.text == "Read the card."
    assert [message["role"] for message in request.body["messages"]] == ["user"]
    assert request.path == "/v1/chat/completions"
    assert request.headers["accept-encoding"] == "identity"


def test_too_many_requests_are_repeated_after_the_given_time(question):
    busy = Response(error("slow down"), 429, {"Retry-After": "1"})
    with FaultyServer(in_turn(busy, OPEN)) as server:
        # With waits of an hour, only a server's own can be short.
        reply = ask(server, [question(0)])["item-0"]
    assert reply.text == '{"year": 1924}'
    assert len(server.requests) == 2
    assert reply.seconds < 1  # the wait is not in it


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        Response(error("oops"), 500),
        Response(b"<html>busy</html>", 503, {"Content-Type": "text/html"}),
        Response(b'{"choices": [{"mess', length=500),
        Response(b'{"choices": [{"mess'),
        Response(b"<html>Welcome to nginx</html>", 200, {"Content-Type": "text/html"}),
        Response(b"[" * 200_000),
        Response(b"\xff\xfe{}"),
        Response(
            gzip.compress(json.dumps(completion()).encode()), headers={"Content-Encoding": "gzip"}
        ),
        Response(json.dumps(completion()).encode() + b" " * MAX_RESPONSE),
    ],
    ids=itertools.count(),
)
def test_a_fault_that_passes_costs_no_answer(question, fault):
    with FaultyServer(in_turn(fault, fault, OPEN)) as server:
        reply = ask(server, [question(0)])["item-0"]
    assert (reply.text, reply.error) == ('{"year": 1924}', None)
    assert len(server.requests) == 3


@pytest.mark.slow
def test_a_fault_that_stays_is_the_error_of_its_item_alone(question):
    fault = Response(error("CUDA error:\n\tout of memory\x1b[31m"), 500)
    with FaultyServer(only_for(1, question, fault)) as server:
        replies = ask(server, map(question, range(4)))
    assert sorted(replies) == ["item-0", "item-1", "item-2", "item-3"]
    assert replies["item-1"].text is None
    expected = "no answer: 500 Internal Server Error: CUDA error: out of memory\\x1b[31m"
    assert replies["item-1"].error == expected
    assert [replies[f"item-{n}"].error for n in (0, 2, 3)] == [None] * 3
    assert len(server.requests) == 3 + 1 + RETRIES


@pytest.mark.nightly
@pytest.mark.parametrize(
    "fault", [Response(b"", seconds=None), Response({"padding": "x" * 1000}, drip=0.05)]
)
def test_a_server_that_hangs_or_drips_is_given_up(question, fault):
    with FaultyServer(only_for(1, question, fault)) as server:
        replies = ask(server, map(question, range(3)), timeout=2.0)
    assert replies["item-1"].error == "no answer: no answer within 2 s"
    assert replies["item-0"].text == replies["item-2"].text == '{"year": 1924}'
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (error("the image is too large"), "the image is too large"),
        ({"error": "too large"}, "too large"),
        ({"detail": [{"loc": ["body"], "msg": "too large", "input": KEY}]}, "too large ['body']"),
        ({"message": "too large"}, "too large"),
        (b"too\nlarge", "too large"),
    ],
)
def test_refused_item_is_not_repeated_and_keeps_server_message(question, body, message):
    with FaultyServer(only_for(1, question, Response(body, 400))) as server:
        replies = ask(server, map(question, range(3)))
    assert replies["item-1"].error == f"refused: 400 Bad Request: {message}"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "message"), [(401, "refuses the key in HDBENCH_API_KEY"), (402, "no requests")]
)
def test_a_wrong_key_ends_the_run_without_being_shown(question, monkeypatch, status, message):
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    refused = Response(error(f"Incorrect API key provided: {KEY}"), status)
    with (
        FaultyServer(lambda _: refused) as server,
        pytest.raises(HdbenchError, match=message) as caught,
    ):
        ask(server, map(question, range(9)))
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_server_that_is_not_there_ends_the_run_at_once(question):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(HdbenchError, match="is the server running") as caught:
            # With waits of an hour a second attempt would be noticed.
            ask(address, [question(0)])
    assert address in str(caught.value)


@pytest.mark.nightly
def test_lost_server_ends_the_run_and_leaves_items_for_the_next(question):
    replies = {}
    with FaultyServer() as server:
        backend = make_backend(server, concurrency=2, patience=1.0)
        got = backend.answer(map(question, range(100)))
        for id_, reply in itertools.islice(got, 5):
            replies[id_] = reply
    with pytest.raises(HdbenchError, match="the command resumes where it stopped") as caught:
        replies.update(got)
    assert "nothing was answered for " in str(caught.value)
    assert all(reply.error is None for reply in replies.values())


@pytest.mark.nightly
def test_a_server_that_comes_back_answers_all(question):
    replies = {}
    with FaultyServer() as server:
        backend = make_backend(server, concurrency=2)
        got = backend.answer(map(question, range(12)))
        for id_, reply in itertools.islice(got, 3):
            replies[id_] = reply
    with FaultyServer(port=server.port):
        replies.update(got)
    assert len(replies) == 12
    assert all(reply.error is None for reply in replies.values())


def test_a_server_that_refuses_everything_ends_the_run(question):
    refused = Response(error("Unsupported parameter: 'max_tokens'"), 400)
    with (
        FaultyServer(lambda _: refused) as server,
        pytest.raises(HdbenchError, match="Unsupported parameter: 'max_tokens'"),
    ):
        ask(server, map(question, range(100)))
    assert len(server.requests) < 20


def test_only_closed_schema_without_optional_keys_is_strict(question):
    closed = {
        "type": "object",
        "additionalProperties": False,
        "required": ["ads"],
        "properties": {"ads": {"type": "array", "items": {"type": "string"}}},
    }
    optional = closed | {"required": []}
    within = closed | {"properties": {"ads": optional}}
    choice = {"anyOf": [closed]}
    with FaultyServer() as server:
        for schema in (closed, optional, within, choice):
            ask(server, [question(0)], decoding=Decoding(schema=True), schema=schema)
    formats = [request.body["response_format"]["json_schema"] for request in server.requests]
    assert [each["strict"] for each in formats] == [True, False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "response_format is not supported"),
        (422, "Failed to compile the grammar"),
        (500, "unsupported JSON schema: $defs"),
        (501, "not implemented"),
    ],
)
def test_a_refused_schema_is_sent_once_and_then_left_out(question, status, message):
    def respond(request):
        if "response_format" in request.body:
            return Response(error(message), status, seconds=0.05)
        return OPEN

    with FaultyServer(respond) as server:
        replies = ask(
            server,
            map(question, range(12)),
            decoding=Decoding(schema=True),
            schema=SCHEMA,
            concurrency=6,
        )
    assert len(replies) == 12
    assert not any(reply.error or reply.constrained for reply in replies.values())
    # What a server calls its own failure is repeated, as it could be one.
    tried = 1 if status < 500 else 1 + RETRIES
    assert sum("response_format" in request.body for request in server.requests) == tried
    assert len(server.requests) == tried + 12


@pytest.mark.parametrize(
    ("key", "refused"),
    [
        (KEY, error("Unsupported value: 'temperature' does not support 0 with this model.")),
        (KEY, error("Model incompatible request argument supplied: temperature")),
        (KEY, error("Provider returned error", metadata={"raw": "temperature is deprecated"})),
        # A local server's own key, which is part of max_tokens.
        ("token", error("invalid temperature: only 1 is allowed for this model")),
    ],
)
def test_parameters_that_a_model_does_not_take_are_left_out_once(
    question, monkeypatch, key, refused
):
    def respond(request):
        if "max_tokens" in request.body:
            said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            return Response(error(said + "'max_completion_tokens' instead."), 400)
        return Response(refused, 400) if "temperature" in request.body else OPEN

    monkeypatch.setenv("HDBENCH_API_KEY", key)
    heard = Heard()
    with FaultyServer(respond) as server:
        decoding = Decoding(max_new_tokens=512, temperature=0.0, seed=1)
        backend = make_backend(server, decoding=decoding, concurrency=4)
        replies = dict(backend.answer(map(question, range(8)), observer=heard))
        assert backend.hardware()["not_sent"] == ["max_tokens", "temperature"]
    assert not any(reply.error for reply in replies.values())
    asked = [request.body for request in server.requests if "messages" in (request.body or {})]
    assert len(asked) == 8 + 2
    assert asked[-1]["max_completion_tokens"] == asked[0]["max_tokens"]
    assert asked[-1]["seed"] == 1
    said = [each for each in heard.said if "does not take" in each]
    assert [each.rpartition(": ")[2] for each in said] == [
        "max_completion_tokens is sent instead",
        "it is not sent",
    ]


CHUNKS = [
    {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    {"choices": [{"delta": {"content": '{"year": '}}], "system_fingerprint": "fp_44"},
    {"choices": [{"delta": {"content": "1924}"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 812, "completion_tokens": 34}},
]


def stream(*chunks, **headers):
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return Response("".join([*lines, "data: [DONE]\n\n"]).encode(), headers=headers)


@pytest.mark.parametrize(
    ("said", "headers"),
    [
        ("this model only supports stream mode", {"Content-Type": "text/event-stream"}),
        ("please set stream=true", {}),
    ],
)
def test_a_server_that_only_streams_is_asked_for_a_stream(question, said, headers):
    def respond(request):
        if not request.body.get("stream"):
            return Response(error(said), 400)
        if "stream_options" in request.body:
            return Response(error("Unrecognized request argument supplied: stream_options"), 400)
        return stream(*CHUNKS, **headers)

    heard = Heard()
    with FaultyServer(respond) as server:
        backend = make_backend(server)
        replies = dict(backend.answer(map(question, range(4)), observer=heard))
        assert backend.hardware()["streams"]
    assert len(server.requests) == 2 + 4
    assert [reply.text for reply in replies.values()] == ['{"year": 1924}'] * 4
    assert replies["item-3"].tokens == {"input": 812, "output": 34}
    assert replies["item-3"].finish_reason == "stop"
    assert [said for said in heard.said if "only streams" in said]


def test_a_stream_that_nobody_asked_for_is_read(question):
    thoughts = {"choices": [{"delta": {"reasoning_content": "Hm"}}]}
    kind = {"Content-Type": "text/event-stream; charset=utf-8"}
    with FaultyServer(in_turn(stream(thoughts, thoughts, **kind), OPEN)) as server:
        [reply] = ask(server, [question(0)]).values()
    assert (reply.text, reply.error, reply.reasoning) == (None, "reasoning only", "HmHm")
    assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "words"), [(503, "Loading model"), (429, "Rate limit reached, try later")]
)
def test_a_server_that_loads_its_model_or_is_busy_is_waited_for(question, status, words):
    """After OpenAI's client has given up."""
    busy = Response(error(words), status)
    heard = Heard()
    with FaultyServer(in_turn(*[busy] * (2 + RETRIES), OPEN)) as server:
        backend = make_backend(server)
        [(_, reply)] = backend.answer([question(0)], observer=heard)
    assert reply.text == '{"year": 1924}'
    [said] = heard.said
    assert words in said
    assert "asking again, for up to 30 min" in said


@pytest.mark.slow
def test_a_server_that_stays_busy_ends_the_run(question):
    busy = Response(error("Loading model"), 503)
    with (
        FaultyServer(lambda _: busy) as server,
        pytest.raises(HdbenchError, match=r"nothing was answered for .* only: 503 .*Loading"),
    ):
        ask(server, map(question, range(4)), patience=0.01)


def test_an_account_without_money_ends_the_run_at_once(question):
    broke = Response(error("You exceeded your quota", code="insufficient_quota"), 429)
    with (
        FaultyServer(lambda _: broke) as server,
        pytest.raises(HdbenchError, match=r"answers no requests .*exceeded your quota"),
    ):
        ask(server, map(question, range(4)))


def test_only_what_was_set_is_sent_and_nothing_about_this_machine(question, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: 1")
    with FaultyServer() as server:
        ask(server, [question(0)])
    [request] = server.requests
    assert set(request.body) == {"model", "messages"}
    assert {name.lower() for name in request.headers} == {
        *("host", "accept", "accept-encoding", "content-length", "content-type", "user-agent"),
        "connection",
    }


@pytest.mark.parametrize("said", ["max_tokens is too large: 4096", "max_tokens must be below 99"])
def test_a_value_that_is_too_large_is_no_parameter_that_is_not_taken(question, said):
    too_large = Response(error(said), 400)
    with FaultyServer(lambda _: too_large) as server:
        decoding = Decoding(max_new_tokens=4096)
        reply = ask(server, [question(0)], decoding=decoding)["item-0"]
        assert reply.error.startswith("refused: 400")
    assert len(server.requests) == 1


def test_refusal_of_one_item_does_not_turn_off_the_schema(question):
    refused = Response(error("the image does not match our schema"), 400)
    with FaultyServer(only_for(0, question, refused)) as server:
        replies = ask(
            server, map(question, range(3)), decoding=Decoding(schema=True), schema=SCHEMA
        )
    assert replies["item-0"].error.startswith("refused: 400")
    assert replies["item-1"].constrained
    assert replies["item-2"].constrained


@pytest.mark.parametrize(
    ("body", "text", "problem"),
    [
        (completion("{", "length"), "{", None),
        (completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab", None),
        (completion([{"type": "thinking", "thinking": []}, {"text": "b"}]), "b", None),
        (completion("{}", reasoning_content="Hm, a card."), "{}", None),
        (completion(None, reasoning_content="Hm, a"), None, "reasoning only"),
        (completion("", reasoning="Hm, a"), None, "reasoning only"),
        (completion(" \n"), None, "an empty answer"),
        (completion("", "length"), None, "cut off before any text"),
        (completion(None, "tool_calls", tool_calls=[{"id": "1"}]), None, "a tool call"),
        (completion("", "error"), None, "error in the reply: error"),
        (
            {"choices": [{"error": {"message": "upstream"}, "message": {}, "finish_reason": None}]},
            None,
            "error in the reply: upstream",
        ),
        (completion(None, refusal="I cannot\nread that."), None, "refused: I cannot read that."),
        (completion(None, "content_filter"), None, "filtered: "),
        (completion(None, 7), None, "an empty answer"),
    ],
)
def test_what_stands_for_an_answer_is_read(question, body, text, problem):
    with FaultyServer(lambda _: Response(body)) as server:
        reply = ask(server, [question(0)])["item-0"]
    assert reply.text == text
    assert (problem in reply.error) if problem else reply.error is None
    reason = body["choices"][0]["finish_reason"]
    assert reply.finish_reason == (reason if isinstance(reason, str) else None)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, None),
        ("many", None),
        ({}, None),
        ({"prompt_tokens": 5, "completion_tokens": "many"}, {"input": 5}),
        ({"prompt_tokens": -1, "completion_tokens": 0}, {"output": 0}),
        ({"prompt_tokens": True, "completion_tokens": 10**400}, None),
    ],
)
def test_tokens_are_recorded_only_where_they_were_counted(question, usage, tokens):
    with FaultyServer(lambda _: Response(completion() | {"usage": usage})) as server:
        assert ask(server, [question(0)])["item-0"].tokens == tokens


@pytest.mark.parametrize(
    ("cost", "usd"),
    [(0.0125, 0.0125), (0, 0.0), (None, None), ("1", None), (-1, None), (1e300, None)],
)
def test_what_a_request_costs_is_recorded_where_the_server_says_it(question, cost, usd):
    with FaultyServer(lambda _: Response(completion() | {"usage": {"cost": cost}})) as server:
        assert ask(server, [question(0)])["item-0"].usd == usd


def test_an_image_that_cannot_be_read_is_not_sent(question, tmp_path):
    (tmp_path / "bad.jpg").write_bytes(b"\xff\xd8 no image")
    asked = [Question("bad", [tmp_path / "bad.jpg"]), question(0), Question("none", [])]
    with FaultyServer() as server:
        replies = ask(server, asked)
    assert "cannot be read" in replies["bad"].error
    assert replies["none"].error == "the item has no image"
    assert replies["item-0"].error is None
    assert len(server.requests) == 1


@pytest.mark.parametrize("concurrency", [1, 5])
def test_concurrent_requests_reach_but_never_exceed_the_limit(question, concurrency):
    meeting = threading.Barrier(concurrency)

    def respond(request):
        if len(server.requests) > 1:  # the first is alone
            meeting.wait(20)
        return OPEN

    with FaultyServer(respond) as server:
        replies = ask(server, map(question, range(1 + 5 * 4)), concurrency=concurrency)
    assert server.most_at_once == concurrency
    assert not any(reply.error for reply in replies.values())


def test_questions_are_taken_only_as_they_can_be_asked(question):
    taken = answered = ahead = 0

    def questions():
        nonlocal taken
        for number in range(200):
            taken += 1
            yield question(number)

    with FaultyServer() as server:
        for _ in make_backend(server, concurrency=4).answer(questions()):
            ahead = max(ahead, taken - answered)
            answered += 1
    assert answered == taken == len(server.requests) == 200
    assert ahead <= 4


def peak_memory(images, items):
    def answer_all(items):
        questions = (Question(image.stem, [image]) for image in itertools.cycle(images))
        with FaultyServer() as server:
            for _ in make_backend(server).answer(itertools.islice(questions, items)):
                server.requests.clear()

    answer_all(20)  # what is imported and cached on the way
    gc.collect()
    tracemalloc.start()
    answer_all(items)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("variable", ["HF_TOKEN", "OPENAI_API_KEY"])
def test_the_keys_of_others_are_not_sent_to_this_server(question, monkeypatch, tmp_path, variable):
    # huggingface_hub reads its variables when it is imported: so a process of its own.
    (tmp_path / "token").write_text("hf_cached")
    code = (
        "import sys, logging; logging.basicConfig(level='DEBUG')\n"
        "from pathlib import Path\n"
        "from hdbench.models.backend import Asked, Question\n"
        "from hdbench.models.endpoint_backend import EndpointBackend\n"
        "b = EndpointBackend(Asked('m', endpoint=sys.argv[1]), 'p', None)\n"
        "print(b.hardware(), dict(b.answer([Question('a', [Path(sys.argv[2])])])))\n"
    )
    environment = {"HF_HOME": str(tmp_path), "HF_DEBUG": "1", variable: KEY, "HF_HUB_OFFLINE": "1"}
    with FaultyServer(models=["m"]) as server:
        done = subprocess.run(
            [sys.executable, "-c", code, server.url, str(question(0).media[0])],
            env=os.environ | environment,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    assert "error=None" in done.stdout
    sent = [server.requests[0].headers, *(headers for _, _, headers in server.others)]
    assert len(sent) == 2
    assert not any(name.lower() == "authorization" for headers in sent for name in headers)
    assert KEY not in done.stdout + done.stderr + str(sent)
    assert "hf_cached" not in done.stdout + done.stderr + str(sent)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://h/v1beta/openai/chat/completions", "http://h/v1beta/openai"),
        ("https://H:443/api/v1/", "https://h/api/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://h/api", "http://h/api"),
        ("http://h/a%20b/v2?x=1#y", "http://h/a%20b/v2"),
    ],
)
def test_an_address_is_taken_as_it_is_typed(address, url):
    assert Server.at(address).url == url


@pytest.mark.parametrize(
    ("address", "variable"),
    [
        ("https://router.huggingface.co/v1", "HF_TOKEN"),
        ("https://Router.HuggingFace.co./v1", "HF_TOKEN"),
        ("http://router.huggingface.co/v1", None),
        ("https://nothuggingface.co/v1", None),
        ("https://huggingface.co.example.org/v1", None),
        ("https://huggingface.co@example.org/v1", None),
        ("https://example.org/huggingface.co/v1", None),
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("http://localhost:8000/v1", None),
    ],
)
def test_a_key_is_for_its_own_host_alone(monkeypatch, address, variable):
    monkeypatch.setenv("HF_TOKEN", "hf_1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert Server.at(address).variable == variable
    monkeypatch.setenv("HDBENCH_API_KEY", "own")
    assert Server.at(address)[3:] == ("own", "HDBENCH_API_KEY")


def test_neither_key_nor_images_follow_a_redirect(question, monkeypatch):
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    with FaultyServer() as other:
        target = {"Location": f"{other.url}/chat/completions?key={KEY}"}
        with (
            FaultyServer(lambda _: Response(b"", 307, target)) as server,
            pytest.raises(HdbenchError, match="redirects to") as caught,
        ):
            ask(server, map(question, range(3)))
    assert other.requests == other.others == []
    assert other.url in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.slow
def test_the_key_is_in_no_output(question, monkeypatch, capfd, caplog):
    monkeypatch.setenv("HDBENCH_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    fault = Response(error(f"bad key {KEY}"), 500)
    with FaultyServer(only_for(1, question, fault), models=["served-model"]) as server:
        backend = make_backend(server)
        replies = dict(backend.answer(map(question, range(3))))
        said = [backend.settings(), backend.hardware(), replies, vars(backend), repr(backend)]
    out = capfd.readouterr()
    assert KEY not in str(said) + out.out + out.err + caplog.text
    assert "bad key …" in replies["item-1"].error


@pytest.mark.slow
def test_a_password_in_the_address_is_used_and_not_shown(question, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    with FaultyServer(only_for(1, question, Response(error("secret%"), 500))) as server:
        address = server.url.replace("://", "://reader:secret%25@") + "?api-version=1#top"
        backend = make_backend(address)
        replies = dict(backend.answer(map(question, range(2))))
    assert server.requests[0].headers["Authorization"] == "Basic cmVhZGVyOnNlY3JldCU="
    assert server.requests[0].path == "/v1/chat/completions?api-version=1"
    assert backend.hardware()["address"] == server.url
    said = [replies, backend.settings(), backend.hardware(), vars(backend)]
    assert "secret" not in str(said) + caplog.text


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "",
        "http://[::1",
        "http://h:99999/",
    ],
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(HdbenchError, match="--endpoint: give an address such as http://localhost"):
        make_backend(address)


def test_unsendable_key_is_refused_without_being_shown(monkeypatch):
    monkeypatch.setenv("HDBENCH_API_KEY", "schlüssel eins")
    with pytest.raises(HdbenchError, match="HDBENCH_API_KEY") as caught:
        make_backend("http://localhost/v1")
    assert "eins" not in str(caught.value)


def test_closing_cancels_what_is_asked_and_leaves_nothing_behind(question, caplog, capfd):
    quick = [question(number).media[0].read_bytes() for number in range(2)]
    hanging = threading.Event()

    def respond(request):
        if request.images[0] in quick:
            hanging.wait(0 if request.images[0] == quick[0] else 20)
            return OPEN
        if len(server.requests) == 5:
            hanging.set()
        return Response(b"", seconds=None)

    with FaultyServer(respond) as server:
        got = make_backend(server, timeout=600.0).answer(map(question, range(9)))
        assert [next(got)[0], next(got)[0]] == ["item-0", "item-1"]
        assert server.at_once == 3
        got.close()
        assert not [each.name for each in threading.enumerate() if "portal" in each.name]
    gc.collect()
    assert caplog.text == ""
    assert capfd.readouterr().err == ""


def test_ctrl_c_ends_hanging_requests_without_noise(question):
    code = (
        "import os, signal, sys, threading\n"
        # What a shell starts in the background, as tests may be, ignores it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pathlib import Path\n"
        "from hdbench.models.backend import Asked, Question\n"
        "from hdbench.models.endpoint_backend import EndpointBackend\n"
        "b = EndpointBackend(Asked('m', endpoint=sys.argv[1]), 'p', None)\n"
        "questions = [Question(p, [Path(p)]) for p in sys.argv[2:]]\n"
        "got = b.answer(questions)\n"
        "next(got)\n"
        "try:\n"
        "    print('waiting', flush=True)\n"
        "    next(got)\n"
        "except KeyboardInterrupt:\n"
        "    for thread in set(threading.enumerate()) - {threading.current_thread()}:\n"
        "        thread.join(120)\n"
        "    print('ended', threading.active_count(), flush=True)\n"
    )
    first = question(0).media[0].read_bytes()
    hanging = threading.Event()

    def respond(request):
        if request.images == [first]:
            return OPEN
        if len(server.requests) == 5:
            hanging.set()
        return Response(b"", seconds=None)

    with FaultyServer(respond) as server:
        paths = [str(question(number).media[0]) for number in range(9)]
        process = subprocess.Popen(
            [sys.executable, "-c", code, server.url, *paths],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() == "waiting\n", process.stderr.read()
        assert hanging.wait(120)
        process.send_signal(2)
        out, err = process.communicate(timeout=120)
    assert (out, err) == ("ended 1\n", "")
