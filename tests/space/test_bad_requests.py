"""Every route of the Space with requests that nobody's browser makes."""

import os
import re
import tempfile

import pytest
from helpers.bad_requests import Client, refused
from space.servers import APP, forks, free_port, wait_for_client

pytestmark = pytest.mark.nightly

CALL = {
    "data": ["zettelkatalog", {"path": "x", "meta": {"_type": "gradio.FileData"}}, "documented"]
}
ROUTES = [
    ("GET", "/", None),
    ("GET", "/report/{n}", None),
    ("GET", "/report/zettelkatalog/{n}", None),
    ("GET", "/picture/zettelkatalog/small?item={n}", None),
    ("GET", "/picture/{n}/{n}", None),
    ("GET", "/file/{n}/{n}", None),
    ("GET", "/?tab={n}&benchmark={n}&id={n}&run={n}&recorded={n}", None),
    ("GET", "/board?benchmark={n}&strict={n}", None),
    ("POST", "/stop", {"id": "x"}),
    ("POST", "/gradio_api/call/score", CALL),
    ("POST", "/gradio_api/run/predict", {"data": [], "fn_index": 0, "session_hash": "x"}),
    ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": 0, "session_hash": "x"}),
]


def test_bad_requests_neither_crash_the_space_nor_log_tracebacks(sample, tmp_path):
    port = free_port()
    settings = {
        "HDBENCH_NAMESPACE": str(sample / "hdb"),
        "GRADIO_SERVER_PORT": str(port),
    }
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch, (tmp_path / "log").open("w") as log:
        env = os.environ | settings | {"TMPDIR": scratch}
        server = forks().start(APP, cwd=tmp_path, env=env, stderr=log, stdout=log)
        try:
            url = f"http://127.0.0.1:{port}/"
            wait_for_client(url)
            client = Client(url)
            tried, wrong, said = refused(client, ROUTES, tmp_path / "log")
            assert client.ask("GET", "/")[0] == 200
        finally:
            server.terminate()
            server.wait(timeout=180)
    assert tried > 500
    assert wrong == []
    # Gradio logs a traceback of its own where a program calls a function as no page does.
    raised = [re.findall('File "(.*?)"', each)[-1] for each in said.split("Traceback (")[1:]]
    assert [each for each in raised if "/gradio/" not in each] == []
