"""What the server gives to a program, and what it refuses."""

import doctest
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from space.servers import serving, wait_for_client

from hdbench.api import score
from hdbench.results import to_record

ROOT = Path(__file__).parents[2]
EXAMPLE = "hdb/zettelkatalog/example_predictions.jsonl"


@pytest.fixture(scope="module")
def client(url):
    return Client(url, verbose=False)


def call(url, data):
    """What an endpoint answers to data that no well-behaved client would send."""
    posted = httpx.post(f"{url}gradio_api/call/score", json={"data": data})
    if posted.status_code != 200:
        return posted.text
    event = posted.json()["event_id"]
    return httpx.get(f"{url}gradio_api/call/score/{event}", timeout=30).text


def test_the_score_is_the_record_of_hdbench_score(client, sample):
    scored = client.predict("zettelkatalog", handle_file(sample / EXAMPLE), api_name="/score")
    expected = to_record(score(str(sample / "hdb/zettelkatalog"), sample / EXAMPLE))
    expected["benchmark"] = "hdb/zettelkatalog"
    expected["answers_sha256"] = expected.pop("answers")["sha256"]
    assert scored == {"runs": [json.loads(json.dumps(expected))]}


def test_only_the_two_endpoints_are_offered(client):
    assert sorted(client.view_api(return_format="dict")["named_endpoints"]) == [
        "/benchmarks",
        "/score",
    ]
    assert client.view_api(return_format="dict")["unnamed_endpoints"] == {}


def test_the_examples_of_its_readme_run(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = {"id": "sample-01", "prediction": {"type": {"type": "Reference"}}}
    Path("answers.jsonl").write_text(json.dumps(line))
    readme = (ROOT / "spaces/scorer/README.md").read_text()
    (examples,) = re.findall(r"```python\n(>>>.*?)```", readme, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(examples, {"url": url}, "README.md", None, None)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(failed=0, attempted=5)


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
    (served,) = scratch.glob("hdbench-space-*")
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


def test_no_address_is_fetched_for_a_visitor(url):
    for address in ("http://127.0.0.1:1/", "HTTPS://127.0.0.1:1/"):
        answer = httpx.get(f"{url}gradio_api/file={address}")
        assert (answer.status_code, answer.text) == (403, "no file of this server")
    file = {"path": "http://127.0.0.1:1/a.jsonl", "meta": {"_type": "gradio.FileData"}}
    assert "upload the file itself" in call(url, ["zettelkatalog", file, "documented"])


@pytest.mark.parametrize("path", ["/etc/passwd", "hdb/zettelkatalog"])
def test_only_what_was_uploaded_is_scored(url, sample, path):
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    answer = call(url, ["zettelkatalog", file, "documented"])
    assert "event: error" in answer
    assert "root:" not in answer
    assert "Traceback" not in answer
    assert str(sample) not in answer


def test_nothing_of_one_visitor_is_in_the_page_of_another(url, client, tmp_path):
    (tmp_path / "secret-name.jsonl").write_text('{"id": "sample-01", "prediction": {}}')
    client.predict("zettelkatalog", handle_file(tmp_path / "secret-name.jsonl"), api_name="/score")
    assert "secret-name" not in httpx.get(url).text
    assert "secret-name" not in httpx.get(f"{url}config").text


LIMITED = """
from pathlib import Path
from hdbench.space.app import serve
from hdbench.space.context import SpaceContext

limits = {"max_upload": 1_000, "max_waiting": 1, "at_once": 1, "keep_seconds": 3}
serve(SpaceContext(Path("hdb"), **limits))
"""


def test_the_app_of_the_hub_serves_the_same(sample):
    with serving(str(ROOT / "spaces/scorer/app.py"), cwd=sample) as url:
        (told,) = wait_for_client(url).predict(api_name="/benchmarks")
    assert told["name"] == "zettelkatalog"


def test_size_and_queue_are_bounded_and_uploads_are_deleted(sample, tmp_path):
    with serving("-c", LIMITED, cwd=sample, TMPDIR=str(tmp_path)) as url:
        wait_for_client(url)

        def send(content):
            files = {"files": ("answers.jsonl", content)}
            return httpx.post(f"{url}gradio_api/upload", files=files)

        assert send(b" " * 1_001).status_code == 413
        (path,) = send(b'{"id": "sample-01", "prediction": {}}').json()
        assert httpx.get(f"{url}gradio_api/file={path}").status_code == 200

        def join(_):
            data = ["zettelkatalog", {"path": path, "meta": {"_type": "gradio.FileData"}}, "x"]
            return httpx.post(f"{url}gradio_api/call/score", json={"data": data})

        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(join, range(60)))
        assert {answer.status_code for answer in answers} == {200, 503}
        assert "Queue is full" in next(each for each in answers if each.is_error).text

        deadline = time.monotonic() + 60
        while Path(path).exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert httpx.get(f"{url}gradio_api/file={path}").status_code == 403
