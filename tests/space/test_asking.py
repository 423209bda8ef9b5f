"""What is refused before Gradio sees it: too many requests, and files that were not uploaded."""

import asyncio
import json
import time
from collections import Counter

import httpx
import pytest
from space.pages import upload
from space.servers import files_below, serving, wait_for_client
from space.visitors import Visitor, run

from hdbench.space.server import asking
from hdbench.space.server.asking import Gate

pytestmark = pytest.mark.slow

GONE = {
    "en": "This file is not here, or no longer here: please upload it again.",
    "de": "Diese Datei liegt hier nicht oder nicht mehr vor. Bitte laden Sie sie noch einmal hoch.",
}
ADDRESS = "This is an address: please upload the file itself."
TOO_OFTEN = "Too many requests are coming from your address: please try again in ten seconds."


@pytest.fixture
def uploads(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "files"))
    (tmp_path / "files/deep").mkdir(parents=True)
    (tmp_path / "files/deep/a.jsonl").touch()
    (tmp_path / "b.jsonl").touch()
    (tmp_path / "files/link.jsonl").symlink_to(tmp_path / "b.jsonl")
    return tmp_path / "files"


class Behind:
    """A gate, and the bodies that it lets through."""

    def __init__(self):
        self.bodies = []
        self.gate = Gate(self._app)

    async def _app(self, scope, receive, send):
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        self.bodies.append(body + message["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def post(self, content, path="/gradio_api/queue/join", address="192.0.2.1"):
        async def posted():
            transport = httpx.ASGITransport(self.gate, client=(address, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
                return await client.post(path, content=content)

        return run(posted())


def file(path):
    return {"path": str(path), "meta": {"_type": "gradio.FileData"}}


def test_uploads_are_let_through_wherever_they_are_named(uploads):
    behind = Behind()
    asked = {"data": ["zettelkatalog", [file(uploads / "deep/a.jsonl")], None, "http://a/"]}
    for body in (asked, {}, None):
        assert behind.post(json.dumps(body)).status_code == 200
    assert [json.loads(body) for body in behind.bodies] == [asked, {}, None]
    assert behind.post(b"").status_code == 200
    assert behind.bodies[-1] == b""


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/etc/passwd", GONE["en"]),
        ("files", GONE["en"]),
        ("files/none.jsonl", GONE["en"]),
        ("files/deep/../../b.jsonl", GONE["en"]),
        ("files/link.jsonl", GONE["en"]),
        ("x" * 5_000, GONE["en"]),
        ("http://192.0.2.1/a.jsonl", ADDRESS),
        ("HTTPS://192.0.2.1/a.jsonl", ADDRESS),
        ("file:///etc/passwd", ADDRESS),
    ],
)
@pytest.mark.parametrize(
    "route", ["queue/join", "call/score", "call/v2/score", "run/predict", "api/predict"]
)
def test_no_other_file_reaches_gradio(uploads, path, told, route):
    path = path if "://" in path or path.startswith("/") else uploads.parent / path
    behind = Behind()
    for asked in ({"data": [file(path)]}, {"deep": [[{"data": {"path": str(path)}}]]}):
        answer = behind.post(json.dumps(asked), f"/gradio_api/{route}")
        assert (answer.status_code, answer.json()) == (400, {"detail": told})
    assert behind.bodies == []


@pytest.mark.parametrize("path", ["5", "null", "[]", '{"a": "b"}', '"a\\u0000b"'])
def test_what_is_no_path_is_no_file(uploads, path):
    behind = Behind()
    assert behind.post(f'{{"data": [{{"path": {path}}}]}}').json() == {"detail": GONE["en"]}
    assert behind.bodies == []


def test_gradio_reads_what_was_checked(uploads):
    """However it reads a name that comes twice."""
    behind = Behind()
    upload = json.dumps(str(uploads / "deep/a.jsonl"))
    assert behind.post(f'{{"path": "http://192.0.2.1/", "path": {upload}}}').status_code == 200
    assert b"192.0.2.1" not in behind.bodies[0]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe\xff", b"[" * 100_000, b"1" * 5_000])
def test_what_is_not_json_is_refused(uploads, body):
    behind = Behind()
    answer = behind.post(body)
    assert (answer.status_code, answer.json()) == (
        400,
        {"detail": "This request is not valid JSON."},
    )
    assert behind.bodies == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("call/score", {"data": [None, None, "documented"]}),
        ("call/compare", {"data": [None]}),
        ("call/v2/score", {"file": None, "benchmark": None}),
    ],
)
def test_a_call_without_a_benchmark_is_refused(uploads, path, body):
    behind = Behind()
    answer = behind.post(json.dumps(body), f"/gradio_api/{path}")
    assert (answer.status_code, answer.json()) == (
        400,
        {"detail": "This request names no benchmark."},
    )
    assert behind.bodies == []


@pytest.mark.parametrize("body", [{"data": []}, {"data": ["zettelkatalog", None]}, {}, [], None])
def test_a_call_may_have_no_values_and_null_for_others(uploads, body):
    behind = Behind()
    assert behind.post(json.dumps(body), "/gradio_api/call/score").status_code == 200
    assert [json.loads(each) for each in behind.bodies] == [body]


def test_an_address_that_asks_too_often_waits_and_no_other(uploads, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(asking, "MAX_ASKED", 3)
    behind = Behind()
    assert [behind.post("{}").status_code for _ in range(5)] == [200] * 3 + [429] * 2
    assert behind.post("{}").json() == {"detail": TOO_OFTEN}
    assert behind.post("{}", address="192.0.2.2").status_code == 200
    now[0] += asking.WINDOW + 1
    assert behind.post("{}").status_code == 200
    assert len(behind.bodies) == 5


SERVE = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext
from hdbench.space.server import asking

asking.WINDOW = 1_000
serve(SpaceContext(Path("hdb"), max_waiting=5))
"""


@pytest.mark.nightly
def test_a_flood_from_one_address_keeps_nobody_out(sample):
    """Requests of every kind, for whose answers nobody waits."""

    async def flood(visitor, number):
        found = visitor.config["dependencies"][number % len(visitor.config["dependencies"])]
        asked = {"fn_index": found["id"], "session_hash": f"s{number}"}
        posted = await visitor.http.post(
            "gradio_api/queue/join", json=asked | {"data": [None] * len(found["inputs"])}
        )
        return posted.status_code

    async def visits(url):
        async with Visitor(url, "192.0.2.1") as hog, Visitor(url, "192.0.2.2") as visitor:
            flooding = [asyncio.create_task(flood(hog, number)) for number in range(200)]
            await asyncio.sleep(0.2)
            line = '{"id": "sample-01", "prediction": {}}\n'
            file = await visitor.upload("one.jsonl", line)
            event, told = await visitor.call("score", "zettelkatalog", file, "documented")
            assert (event, told[0]["runs"][0]["answered"]) == ("complete", 1)
            return Counter(await asyncio.gather(*flooding))

    with serving("-c", SERVE, cwd=sample) as url:
        wait_for_client(url)
        answered = run(visits(url))
    assert answered == {200: asking.MAX_ASKED, 429: 200 - asking.MAX_ASKED}


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_visitor_whose_upload_is_gone_is_told_so(browser, url, scratch, language):
    context = browser.new_context(locale=language)  # `visit` minds that the console names the 400
    page = context.new_page()
    page.goto(url)
    page.locator("#score").wait_for()
    upload(page, "gone.jsonl", '{"id": "sample-01", "prediction": {}}')
    page.locator("#report iframe").wait_for()
    uploaded = [path for path in files_below(scratch) if path.name == "gone.jsonl"]
    assert uploaded
    for path in uploaded:
        path.unlink()
    page.locator("#score").click()
    page.get_by_text(GONE[language]).wait_for()
    context.close()
