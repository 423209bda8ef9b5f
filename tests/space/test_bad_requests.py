"""Every route of the Space with requests that nobody's browser makes: its own and the editor's."""

import base64
import os
import re
import tempfile

import pytest
from annotating.pages import write_collection
from annotating.test_bad_requests import EDITOR
from helpers.bad_requests import Client, refused
from space.servers import APP, forks, free_port, wait_for_client

from hdbench.space.annotate.accounts import add_account
from hdbench.space.server import asking

pytestmark = pytest.mark.nightly

CALL = {
    "data": ["zettelkatalog", {"path": "x", "meta": {"_type": "gradio.FileData"}}, "documented"]
}
OWN = [
    ("GET", "/", None),
    ("GET", "/report/{n}", None),
    ("GET", "/report/zettelkatalog/{n}", None),
    ("GET", "/first-look/zettelkatalog/small", None),
    ("GET", "/first-look/{n}/{n}", None),
    ("GET", "/annotate/", None),
    ("GET", "/annotate/{n}", None),
    ("POST", "/gradio_api/call/score", CALL),
    ("POST", "/gradio_api/run/predict", {"data": [], "fn_index": 0, "session_hash": "x"}),
    ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": 0, "session_hash": "x"}),
]
ROUTES = OWN + [(method, f"/annotate/cards{path}", good) for method, path, good in EDITOR]


def test_bad_requests_neither_crash_the_space_nor_log_tracebacks(sample, tmp_path):
    write_collection(tmp_path / "data/cards", [{"title": "Faust"}])
    password = add_account(tmp_path / "accounts", "anna")
    port = free_port()
    settings = {
        "HDBENCH_ANNOTATE_FOLDER": str(tmp_path / "data"),
        "HDBENCH_ANNOTATE_ACCOUNTS": str(tmp_path / "accounts"),
        "HDBENCH_NAMESPACE": str(sample / "hdb"),
        "GRADIO_SERVER_PORT": str(port),
    }
    basic = base64.b64encode(f"anna:{password}".encode()).decode()
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch, (tmp_path / "log").open("w") as log:
        env = os.environ | settings | {"TMPDIR": scratch}
        server = forks().start("-c", UNHURRIED, APP, cwd=tmp_path, env=env, stderr=log, stdout=log)
        try:
            url = f"http://127.0.0.1:{port}/"
            wait_for_client(url)
            client = Client(url, Authorization=f"Basic {basic}")
            assert client.ask("GET", "/annotate/cards/start")[0] == 200
            tried, wrong, said = refused(client, ROUTES, tmp_path / "log")
            assert client.ask("GET", "/annotate/cards/start")[0] == 200
        finally:
            server.terminate()
            server.wait(timeout=180)
    assert tried > 2_000
    assert wrong == []
    # Gradio logs a traceback of its own where a program calls a function as no page does.
    raised = [re.findall('File "(.*?)"', each)[-1] for each in said.split("Traceback (")[1:]]
    assert [each for each in raised if "/gradio/" not in each] == []


UNHURRIED = f"""
import runpy, sys
import {asking.__name__} as asking
asking.MAX_ASKED = 10**9  # otherwise nearly all are refused for being so many
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
