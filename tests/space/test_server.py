"""What the server gives to a program, and what it refuses."""

import doctest
import json
import re
import socket
import zipfile
from pathlib import Path

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from helpers.waiting import until
from space.servers import APP, call, file, files_below, serving, wait_for_client
from space.visits import brought, looked
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from hdbench.api import score
from hdbench.errors import HdbenchError
from hdbench.space import guard
from hdbench.space.app import build_api, serve
from hdbench.space.context import SpaceContext
from hdbench.space.guard import CLOSED, Guard
from hdbench.space.queue import Queue

ROOT = Path(__file__).parents[2]
EXAMPLE = "hdb/zettelkatalog/example_predictions.jsonl"


@pytest.fixture(scope="module")
def client(url):
    return Client(url, verbose=False)


def served_in(scratch):
    """The folders of servers that are going."""
    return [each.parent for each in scratch.glob("hdbench-*/files")]


def test_the_score_is_the_record_of_hdbench_score(client, sample):
    scored = client.predict("zettelkatalog", handle_file(sample / EXAMPLE), api_name="/score")
    expected = score(str(sample / "hdb/zettelkatalog"), sample / EXAMPLE, details=False).to_dict()
    expected["dataset"]["benchmark"] = "hdb/zettelkatalog"
    expected["answers_sha256"] = expected.pop("answers")["sha256"]
    assert scored == {"runs": [json.loads(json.dumps(expected))]}


def test_only_the_documented_endpoints_are_offered(client):
    assert sorted(client.view_api(return_format="dict")["named_endpoints"]) == [
        "/benchmarks",
        "/compare",
        "/score",
    ]
    assert client.view_api(return_format="dict")["unnamed_endpoints"] == {}


def test_the_examples_of_its_readme_run(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = {"id": "sample-01", "prediction": {"type": {"type": "Reference"}}}
    for name in ("answers.jsonl", "others.jsonl"):
        Path(name).write_text(json.dumps(line))
    readme = (ROOT / "spaces/scorer/README.md").read_text()
    examples = "".join(re.findall(r"```python\n(>>>.*?)```", readme, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {"url": url}, "README.md", None, None)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(failed=0, attempted=8)


@pytest.mark.parametrize(
    ("given", "content", "message"),
    [
        (("../etc", "documented"), "{}", "no benchmark '../etc' here: choose one of zettelkatalog"),
        (("zettelkatalog", "documented"), "", "answers.jsonl: no predictions in this file"),
        (("zettelkatalog", "x"), '{"id": "sample-01", "prediction": {}}', "no protocol 'x'"),
    ],
)
def test_an_error_is_one_line_without_paths(client, tmp_path, given, content, message):
    benchmark, protocol = given
    file = tmp_path / "answers.jsonl"
    file.write_text(content)
    with pytest.raises(AppError) as error:
        client.predict(benchmark, handle_file(file), protocol, api_name="/score")
    assert str(error.value).startswith(message)
    assert "/tmp" not in str(error.value)


def test_no_file_of_the_server_is_given_out(url, sample, scratch):
    truth = sample / "hdb/zettelkatalog/metadata.jsonl"
    assert truth.is_file()
    (served,) = served_in(scratch)
    for path in [
        "/etc/passwd",
        str(truth),
        "hdb/zettelkatalog/metadata.jsonl",
        f"{served}/files/../../../../../etc/passwd",
        str(served / "files"),
        "file:///etc/passwd",
        str(ROOT / "src/hdbench/space/app.py"),
    ]:
        for route in ("gradio_api/file=", "file="):
            answer = httpx.get(f"{url}{route}{path}")
            assert answer.status_code in (403, 404), (path, answer.text[:100])
            assert "root:" not in answer.text


ADDRESS = "this request cannot be read: upload files themselves, not their addresses"


def test_no_address_is_fetched_for_a_visitor(url):
    for address in ("http://127.0.0.1:1/", "HTTPS://127.0.0.1:1/"):
        answer = httpx.get(f"{url}gradio_api/file={address}")
        assert (answer.status_code, answer.json()) == (
            403,
            {"detail": "not offered by this server"},
        )
        for value in (file(address), [[file(address)]], {"a": file(address)}):
            assert call(url, ["zettelkatalog", value, "documented"]) == ADDRESS


class Behind:
    """A guard, and the bodies that it lets through."""

    def __init__(self, folder):
        self.bodies = []
        self.client = TestClient(Guard(self._app, SpaceContext(folder)))

    async def _app(self, scope, receive, send):
        self.bodies.append((await receive())["body"])
        await PlainTextResponse("let in")(scope, receive, send)

    def post(self, content):
        return self.client.post("/gradio_api/queue/join", content=content)


def test_gradio_reads_what_was_checked(tmp_path):
    """However it reads a name that comes twice, or is escaped."""
    behind = Behind(tmp_path)
    assert behind.post('{"path": "http://192.0.2.1/", "path": "a"}').text == "let in"
    assert json.loads(behind.bodies.pop()) == {"path": "a"}
    assert behind.post("").text == "let in"
    assert behind.bodies.pop() == b""
    escaped = '{"path": "\\u0068ttp://192.0.2.1/"}'
    for refused in (escaped, "{", b"\xff\xfe\xff", b"[" * 100_000, b"1" * 5_000):
        told = behind.post(refused)
        assert (told.status_code, told.json()) == (400, {"detail": ADDRESS})
    assert behind.bodies == []


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "hdb/zettelkatalog", "../x.jsonl", "", "a\0b", None, 5, "x" * 5_000]
)
def test_only_what_was_uploaded_is_scored(url, path):
    answer = call(url, ["zettelkatalog", file(path), "documented"])
    assert answer == 'event: error\ndata: {"error": null}\n\n'


def test_a_null_is_one_line(url):
    for benchmark in (None, "zettelkatalog"):
        assert "please upload it again" in call(url, [benchmark, None, "documented"])


def test_too_large_upload_is_refused_before_it_is_read(tmp_path):
    guard = Guard(PlainTextResponse("let in"), SpaceContext(tmp_path, max_upload=1_000))
    headers = {"content-length": str(2**30), "accept-language": "de"}
    told = TestClient(guard).post("/gradio_api/upload", content=b"x", headers=headers)
    assert told.status_code == 413
    assert told.json()["detail"].startswith("Das ist zu groß.")


def test_an_upload_leaves_room_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    served = TestClient(Guard(PlainTextResponse("let in"), SpaceContext(tmp_path)))
    assert served.post("/gradio_api/upload", content=b"x").text == "let in"
    monkeypatch.setattr(guard, "MIN_FREE", 2**60)
    told = served.post("/gradio_api/upload", content=b"x", headers={"accept-language": "en"})
    assert told.status_code == 507
    assert told.json()["detail"] == "there is no room for uploads at the moment: try again later"
    assert served.post("/gradio_api/queue/join", content=b"{}").text == "let in"


LIMITED = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

limits = {"max_upload": 1_000, "max_waiting": 1, "keep_seconds": 10}
serve(SpaceContext(Path("hdb"), **limits))
"""


@pytest.mark.nightly
def test_size_is_bounded_and_uploads_are_deleted(sample, tmp_path):
    with serving("-c", LIMITED, cwd=sample, TMPDIR=str(tmp_path)) as url:
        wait_for_client(url)

        def send(content):
            files = {"files": ("answers.jsonl", content)}
            return httpx.post(f"{url}gradio_api/upload", files=files)

        assert send(b" " * 1_001).status_code == 413
        too_large = brought(url, files=[("a.jsonl", b" " * 1_001)], benchmark="zettelkatalog")
        assert "larger than 0 MB" in too_large.text
        answers = b'{"id": "sample-01", "prediction": {}}'
        (path,) = send(answers).json()
        assert httpx.get(f"{url}gradio_api/file={path}").status_code == 200
        address = brought(url, files=[("a.jsonl", answers)], benchmark="zettelkatalog")
        assert "a.jsonl" in looked(address)
        assert httpx.get(f"{url}gradio_api/file={path}/../visits").status_code != 200

        until(lambda: not Path(path).exists(), "the deletion")
        assert httpx.get(f"{url}gradio_api/file={path}").status_code == 403
        until(lambda: httpx.get(address).status_code == 404, "the end of the result")
        assert "a.jsonl" not in {file.name for file in files_below(tmp_path)}


OPEN = """
/config /static/ /assets/ /favicon.ico /theme.css /robots.txt /pwa_icon /manifest.json /svelte/
/report/ /user /app_id /info /openapi.json /file= /file/ /reset /heartbeat/ /run/ /api/ /call/
/queue/ /cancel /upload /startup-events /docs /redoc
"""


def test_every_gradio_route_is_known_and_unneeded_ones_closed(sample, url):
    context = SpaceContext(sample / "hdb")
    app = build_api(context, Queue(1, most=1, keep=1)).app
    included = [getattr(each, "original_router", each) for each in app.routes]
    routes = {route.path for each in included for route in getattr(each, "routes", [each])}
    known = tuple(OPEN.split())
    left = {path for path in routes if not CLOSED.match(path)}
    unknown = {path for path in left if not path.removeprefix("/gradio_api").startswith(known)} - {
        "/"
    }
    assert unknown == set()
    for path in (
        "deep_link?session_hash=a",
        "vibe-code",
        "dev/reload",
        "stream/a/b/1/a.ts",
        "runs",
    ):
        assert httpx.get(f"{url}gradio_api/{path}").status_code == 403
    for path in ("monitoring", "monitoring/summary", "login", "logout"):
        assert httpx.get(f"{url}{path}").status_code == 403
    posted = httpx.post(f"{url}gradio_api/component_server", json={"data": [], "fn_name": "x"})
    assert posted.status_code == 403


@pytest.mark.slow
def test_hub_app_serves_the_same_and_reveals_no_token(sample, tmp_path):
    token = "hf_" + "Secret" * 5
    with serving(APP, cwd=sample, HF_TOKEN=token) as url:
        client = wait_for_client(url)
        (benchmark,) = client.predict(api_name="/benchmarks")
        assert benchmark["name"] == "zettelkatalog"
        for path in ("", "config", "gradio_api/info", "gradio_api/app_id", "theme.css"):
            answer = httpx.get(f"{url}{path}")
            assert answer.status_code == 200
            assert token not in answer.text
            assert str(sample) not in answer.text
        (tmp_path / "a.jsonl").write_text('{"id": "sample-01", "prediction": {}}')
        told = client.predict("zettelkatalog", handle_file(tmp_path / "a.jsonl"), api_name="/score")
        assert token not in json.dumps(told)


def test_the_question_whether_it_serves_waits_for_no_page(url):
    assert httpx.head(url).headers["content-length"] == "0"


def test_security_headers_are_set_and_hub_may_frame_the_page(url):
    headers = httpx.get(url).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "https://huggingface.co" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    "name", ["../../../evil.jsonl", "/etc/evil", "a\0b.jsonl", "x" * 1_000, ".."]
)
def test_a_hostile_file_name_stays_in_its_folder(url, scratch, name):
    (served,) = served_in(scratch)
    before = files_below(scratch)
    answer = httpx.post(
        f"{url}gradio_api/upload", files={"files": (name, b"hostile" + name.encode())}
    )
    made = files_below(scratch) - before
    assert all(path.is_relative_to(served / "files") for path in made)
    assert answer.status_code in (200, 400, 500)
    assert "Traceback" not in answer.text


def test_what_is_sent_is_bounded(url):
    small = [("files", (f"{number}.txt", b"x")) for number in range(1_001)]
    assert httpx.post(f"{url}gradio_api/upload", files=small).status_code == 400
    unsaid = httpx.post(f"{url}gradio_api/upload", content=iter([b"x"]))
    assert unsaid.status_code == 411
    data = {"data": ["zettelkatalog", None, "x" * 2**20]}
    assert httpx.post(f"{url}gradio_api/call/score", json=data).status_code == 413
    # The queue cannot be gone round.
    assert httpx.post(f"{url}gradio_api/run/score", json={"data": []}).status_code == 404


@pytest.mark.nightly
def test_a_zip_bomb_is_one_line(client, tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"sample-0{number + 1}.json", b" " * 2**28)
    with pytest.raises(AppError) as error:
        client.predict("zettelkatalog", handle_file(tmp_path / "bomb.zip"), api_name="/score")
    assert "bomb.zip" in str(error.value)
    assert "\n" not in str(error.value)
    assert "/tmp" not in str(error.value)


def test_a_port_that_is_taken_is_said_before_anything_is_loaded(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HdbenchError, match=f"port {port} is taken: choose another .* --port$"):
            serve(SpaceContext(tmp_path), port=port)
