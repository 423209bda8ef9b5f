"""The Space under many requests of those who annotate, and when it is told to end."""

import json
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import pytest
from annotating.pages import blocked, write_collection
from filelock import FileLock
from gradio_client import handle_file
from space.servers import forks, free_port, wait_for_client

from hdbench.space.annotate.accounts import add_account

MANY = 45
"""More than the threads that Starlette has for all requests."""

MODELS = 60


@pytest.fixture
def data(tmp_path):
    """A folder with a collection whose picture takes much longer than anybody waits."""
    folder = blocked(write_collection(tmp_path / "data/cards"))
    (folder / "history").mkdir()
    return tmp_path / "data"


def write_answers(path, sample):
    """Answers of so many models that they are scored for a while."""
    rows = (sample / "hdb/zettelkatalog/example_predictions.jsonl").read_text().splitlines()
    with path.open("w") as file:
        for number in range(MODELS):
            for row in rows:
                file.write(json.dumps(json.loads(row) | {"model": f"m{number}"}) + "\n")
    return path


@pytest.mark.nightly
def test_the_space_answers_and_ends_whatever_its_threads_do(data, sample, tmp_path):
    password = add_account(tmp_path / "accounts", "anna")
    answers = write_answers(tmp_path / "answers.jsonl", sample)
    port = str(free_port())
    url = f"http://127.0.0.1:{port}/"
    with ExitStack() as stack:
        # Short, as there are sockets in it; and what is annotated must not be in it.
        scratch = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
        env = os.environ | {
            "TMPDIR": scratch,
            "HDBENCH_ANNOTATE_FOLDER": str(data),
            "HDBENCH_ANNOTATE_ACCOUNTS": str(tmp_path / "accounts"),
        }
        command = ["-m", "hdbench", "space", "--port", port]
        server = forks().start(*command, cwd=sample, env=env)
        stack.callback(end, server)
        client = wait_for_client(url)
        # As another process does that writes metadata.jsonl.
        stack.enter_context(FileLock(data / "cards/history/.metadata.jsonl.lock"))
        anna = stack.enter_context(httpx.Client(timeout=60, auth=("anna", password)))
        items = f"{url}annotate/cards/items/"
        done = {"what": "status", "field": "", "to": "done", "after": None}

        def change(number):
            return anna.post(f"{items}{number % 3}/change", json=done).json()

        def picture(_):
            with suppress(httpx.TransportError):
                return anna.get(f"{items}0/pages/0").status_code

        people = stack.enter_context(ThreadPoolExecutor(MANY))
        told = list(people.map(change, range(MANY)))
        assert sum("status" in each for each in told) == 3
        pictures = [people.submit(picture, number) for number in range(MANY)]
        assert anna.get(url).status_code == 200
        assert anna.get(f"{url}annotate/cards/").status_code == 200
        assert anna.get(f"{url}annotate/cards/start").status_code == 200
        assert pictures[-1].result() == 503
        pictures += [people.submit(picture, number) for number in range(8)]
        stream = stack.enter_context(httpx.Client(timeout=60))
        beats = stack.enter_context(stream.stream("GET", f"{url}gradio_api/heartbeat/abc"))
        assert beats.status_code == 200
        job = client.submit("zettelkatalog", handle_file(answers), api_name="/score")
        while len(working(scratch)) < 2:  # that of the server, and of the process that scores
            assert not job.done()
            time.sleep(0.05)
        server.terminate()
        assert server.wait(timeout=15) == 1
        assert working(scratch) == []
        assert 200 not in {each.result() for each in pictures}


def working(scratch):
    """The folders of the server, and of the processes that score."""
    return [each for each in os.listdir(scratch) if each.startswith("hdbench-")]


def end(server):
    with suppress(ProcessLookupError):
        server.kill()
