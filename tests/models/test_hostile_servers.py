"""Servers of bare sockets: what is no HTTP, has no end, or comes unasked for."""

import gzip
import json
import time
import tracemalloc

import pytest
from helpers.backends import Heard, made
from models.faulty_server import FaultyServer, Response, completion, error
from models.raw_server import RawServer, answer, packed

from hdbench.errors import HdbenchError
from hdbench.models.backend import SILENT, Question
from hdbench.models.endpoint_backend import EndpointBackend
from hdbench.models.run import as_answer
from hdbench.models.run_folder import AnswersFile, read_answers

pytestmark = pytest.mark.nightly

ITEMS = [str(number) for number in range(6)]


def ask(server, items=ITEMS, observer=SILENT, **options):
    backend = made(
        *(EndpointBackend, "m", "Read it."),
        endpoint=server.url,
        **{"pause": 0.05, "timeout": 5.0, "concurrency": 1} | options,
    )
    questions = (Question(item, [], f"text <{item}>") for item in items)
    return dict(backend.answer(questions, observer=observer))


def item_in(text):
    return text[text.rindex("<") + 1 : text.rindex(">")]


def two_at_once(item):
    return [answer(item) + answer("of another")]


def second_later(item):
    return [answer(item), 0.05, answer("of another")]


def rest_of_a_second(item):
    return [answer(item) + answer("of another")[:40], 0.05, answer("of another")[40:]]


@pytest.mark.parametrize("responses", [two_at_once, second_later, rest_of_a_second])
def test_a_second_response_is_never_the_answer_to_the_next_item(responses):
    def talk(connection):
        while (text := connection.request()) is not None:
            for part in responses(item_in(text)):
                if isinstance(part, float):
                    time.sleep(part)
                else:
                    connection.send(part)

    with RawServer(talk) as server:
        replies = ask(server)
    assert {item: reply.text for item, reply in replies.items()} == {item: item for item in ITEMS}


def test_unrequested_response_affects_one_item_at_most():
    """A server that greets its first caller with an answer."""

    def talk(connection):
        if server.connections == 1:
            connection.send(answer("of another"))
        while (text := connection.request()) is not None:
            connection.send(answer(item_in(text)))

    with RawServer(talk) as server:
        replies = ask(server)
    wrong = {item for item, reply in replies.items() if reply.text != item}
    assert wrong <= {"0"}
    assert server.connections == len(ITEMS)


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = json.dumps(completion("{}")).encode()


def sized(start, *headers):
    return b"\r\n".join([start, *headers, b"Content-Length: %d" % len(BODY), b"", BODY])


ENDLESS = {
    "body": (OK + b"\r\n", b"x" * 65536),
    "chunks": (CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    "chunk extension": (CHUNKED + b"1;", b"x" * 65536),
    "trailers": (CHUNKED + b"0\r\n", b"A: b\r\n" * 1000),
    "headers": (OK, b"X-A: b\r\n" * 1000),
    "one header": (OK + b"X-A: ", b"b" * 65536),
    "status line": (b"HTTP/1.1 200 ", b"b" * 65536),
    "interim responses": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 1000),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_has_no_end_is_given_up_in_little_memory(kind):
    start, rest = ENDLESS[kind]

    def talk(connection):
        connection.request()
        connection.send(start)
        while connection.send(rest):
            pass

    tracemalloc.start()
    with RawServer(talk) as server, pytest.raises(HdbenchError) as caught:
        ask(server, timeout=2.0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert "3 items in a row without an answer" in str(caught.value)
    assert most < 64 * 2**20


@pytest.mark.parametrize(
    "drip",
    [(OK, b"X: y\r\n"), (OK + b"Content-Length: 9999\r\n\r\n", b"x"), (CHUNKED, b"1\r\nx\r\n")],
)
def test_what_comes_drop_by_drop_ends_with_the_time_of_a_request(drip):
    def talk(connection):
        connection.request()
        connection.send(drip[0])
        while connection.send(drip[1]):
            time.sleep(0.05)

    with RawServer(talk) as server, pytest.raises(HdbenchError, match="no answer within 1 s"):
        ask(server, timeout=1.0)


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (OK + b"X-A: b\r\n" * 10**6 + b"\r\n", "Receive buffer too long"),
        (packed(gzip.compress(b"\0" * 10**7), "Content-Encoding: gzip"), "is compressed"),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", "connection was lost"),
        (packed(BODY, length=10), "is not JSON, or is cut off"),
        (packed(BODY, length=10**6), "connection was lost"),
        (packed(BODY, length=-1), "connection was lost"),
        (sized(OK + b"Content-Length: 1"), "connection was lost"),
        (OK + b"Content-Length: " + b"9" * 50_000 + b"\r\n\r\n", "connection was lost"),
        (CHUNKED + b"-1\r\nx\r\n", "connection was lost"),
        (CHUNKED + b"f" * 30 + b"\r\nx\r\n", "connection was lost"),
        (sized(b"HTTP/2 200"), "connection was lost"),
        (sized(b"HTTP/1.1 99 Odd"), "connection was lost"),
        (sized(OK.strip(), b"X: a\0b"), "connection was lost"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "connection was lost"),
        (BODY, "connection was lost"),
        (bytes(range(256)) * 100, "connection was lost"),
        (b"HTTP/1.1 101 Now\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "was lost"),
        (packed(b"", status="500 \x1b[31mred"), "500 Internal Server Error"),
        (packed(b"", status="302 Elsewhere"), "answers no requests (302 Found)"),
        (packed(b"", "Location: http://\x1b[31m/", status="307 R"), r"redirects to http://\x1b["),
        (packed(b"[" * 3_000_000), "too many objects and lists"),
        (packed(b'{"choices": [' + b"{}," * 10**6 + b"{}]}"), "too many objects and lists"),
        (
            packed(
                {"error": {"message": {"a": "\x1b" * 10**6}}}, status="500 Internal Server Error"
            ),
            "500 Internal Server Error",
        ),
        (packed(BODY.replace(b"{}", b"\xed\xa0\x80", 1)), "is not JSON"),
        (packed(BODY.decode().encode("utf-16")), "is not JSON"),
        (packed(BODY.replace(b"812", b"9" * 5000)), "is not JSON"),
    ],
)
def test_what_is_no_answer_ends_in_one_line(response, words):
    def talk(connection):
        connection.request()
        connection.send(response)

    with RawServer(talk) as server, pytest.raises(HdbenchError) as caught:
        ask(server)
    said = str(caught.value)
    assert words in said
    assert said.isprintable()
    assert len(said) < 1000


@pytest.mark.parametrize("status", ["200 OK", "500 B"])
@pytest.mark.parametrize("body", [b"[" + b"{}," * 10**6 + b"1]", b"[" + b"[]," * 10**6 + b"1]"])
def test_a_response_of_nothing_but_brackets_takes_no_memory(status, body):
    def talk(connection):
        connection.request()
        connection.send(packed(body, status=status))

    tracemalloc.start()
    with RawServer(talk) as server, pytest.raises(HdbenchError, match="too many objects"):
        ask(server)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10 * len(body)


@pytest.mark.parametrize("value", ["1e999", "-5", "NaN", "9" * 4000, "[1]", "1.5", '"812"', "true"])
def test_tokens_that_cannot_be_are_left_out(value):
    def talk(connection):
        connection.request()
        connection.send(packed(BODY.replace(b"812", value.encode())))

    with RawServer(talk) as server:
        [reply] = ask(server, ["0"]).values()
    assert (reply.text, reply.tokens) == ("{}", {"output": 34})


@pytest.mark.parametrize("text", [r"a\u0000b", r"\ud800", "\x7f", "x" * 7 * 2**20])
def test_an_answer_of_odd_characters_is_kept_as_it_came(text, tmp_path):
    def talk(connection):
        connection.request()
        connection.send(packed(BODY.replace(b"{}", text.encode(), 1)))

    with RawServer(talk) as server:
        [reply] = ask(server, ["0"]).values()
    assert reply.text == json.loads(f'"{text}"', strict=False)
    answers = AnswersFile(tmp_path / "answers.jsonl")
    answers.add(as_answer("0", reply))
    assert [each["text"] for each in read_answers(answers.path)] == [reply.text]


def test_what_a_server_sets_as_cookies_is_not_kept():
    def talk(connection):
        connection.request()
        connection.send(packed(BODY, f"Set-Cookie: c{server.connections}=x; Path=/"))

    heads = []
    with RawServer(talk, heads.append) as server:
        ask(server)
    assert len(heads) >= len(ITEMS)
    assert not any(b"cookie" in head.lower() for head in heads)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("headers", [{"Retry-After": "0.2"}, {}])
@pytest.mark.parametrize("answered_first", [False, True])
def test_server_that_stays_busy_ends_the_run_in_announced_time(status, headers, answered_first):
    """Each refusal has other words, so that no failure is the same as another."""

    def respond(request):
        if answered_first and len(server.requests) == 1:
            return Response(completion("{}"))
        words = f"try again in {len(server.requests)} s"
        return Response(error(words), status, headers)

    heard = Heard()
    with FaultyServer(respond) as server, pytest.raises(HdbenchError) as caught:
        ask(server, map(str, range(1000)), heard, timeout=1.0, patience=1.0)
    assert [
        said for said in heard.said if "asking again, for up to 0 min without an answer" in said
    ]
    assert "nothing was answered for " in str(caught.value)
    assert "the command resumes where it stopped" in str(caught.value)
    assert len(server.requests) < 100


def test_a_server_that_answers_now_and_then_is_waited_for():
    def respond(request):
        if len(server.requests) % 4:
            return Response(error("slow down"), 429, {"Retry-After": "0.1"})
        return Response(completion("{}"))

    with FaultyServer(respond) as server:
        replies = ask(server, map(str, range(12)), timeout=2.0, patience=5.0)
    assert [reply.text for reply in replies.values()] == ["{}"] * 12


def test_model_names_are_printed_without_control_characters():
    names = ["\x1b[31mred", "\u202elive", "a" * 10**6, "\0"]
    unknown = Response(error("no such model"), 404)
    with (
        FaultyServer(lambda _: unknown, models=names) as server,
        pytest.raises(HdbenchError, match="choose one of") as caught,
    ):
        ask(server)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000
    with FaultyServer(models=["\x1b[31mred"]) as server:
        backend = made(EndpointBackend, "m", "p", endpoint=server.url)
        assert str(backend.hardware()["served"]).isprintable()
