"""The Space when it is told to end."""

import json
import os
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from gradio_client import handle_file
from space.servers import forks, free_port, wait_for_client

MODELS = 60


def write_answers(path, sample):
    """Answers of so many models that they are scored for a while."""
    rows = (sample / "hdb/zettelkatalog/example_predictions.jsonl").read_text().splitlines()
    with path.open("w") as file:
        for number in range(MODELS):
            for row in rows:
                file.write(json.dumps(json.loads(row) | {"model": f"m{number}"}) + "\n")
    return path


@pytest.mark.nightly
def test_the_space_ends_in_time_and_leaves_nothing_whatever_goes_on(sample, tmp_path):
    answers = write_answers(tmp_path / "answers.jsonl", sample)
    port = str(free_port())
    url = f"http://127.0.0.1:{port}/"
    with ExitStack() as stack:
        # Short, as there are sockets in it.
        scratch = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
        command = ["-m", "hdbench", "space", "--port", port]
        server = forks().start(*command, cwd=sample, env=os.environ | {"TMPDIR": scratch})
        stack.callback(end, server)
        client = wait_for_client(url)
        stream = stack.enter_context(httpx.Client(timeout=60))
        beats = stack.enter_context(stream.stream("GET", f"{url}gradio_api/heartbeat/abc"))
        assert beats.status_code == 200
        job = client.submit("zettelkatalog", handle_file(answers), api_name="/score")
        while not working(scratch, "hdbench-*/tmp*"):  # the folder of the process that scores
            assert not job.done()
            time.sleep(0.05)
        server.terminate()
        server.wait(timeout=15)
        assert working(scratch, "hdbench-*") == []


def working(scratch, pattern):
    return list(Path(scratch).glob(pattern))


def end(server):
    with suppress(ProcessLookupError):
        server.kill()
