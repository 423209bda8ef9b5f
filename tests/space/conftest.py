import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from space.servers import free_port

OF_GRADIO = "Method not implemented."  # what its own script warns of after each upload


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    """Where the server keeps its temporary files."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def url(sample, scratch):
    """The address of the Space over the sample, served by the command line."""
    command = [sys.executable, "-m", "hdbench", "space", "--port", str(free_port())]
    with subprocess.Popen(
        command, cwd=sample, env=os.environ | {"TMPDIR": str(scratch)}, stdout=subprocess.PIPE
    ) as server:
        address = server.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:")
        yield address
        server.send_signal(signal.SIGTERM)
    assert [each.name for each in scratch.iterdir() if each.name.startswith("hdbench")] == []


@pytest.fixture
def visit_at(browser):
    """Open a Space at an address; what it complains of, or asks of another host, fails the test."""
    contexts, complaints, requests, own = [], [], [], ["data:"]

    def visit_at(url, *, width=1280, language="en-GB", **options):
        own.append(url)
        context = browser.new_context(
            viewport={"width": width, "height": 900}, locale=language, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        page.locator("#score").wait_for()
        return page

    yield visit_at
    for context in contexts:
        context.close()
    assert [each for each in complaints if each != OF_GRADIO] == []
    assert [each for each in requests if not each.startswith(tuple(own))] == []


@pytest.fixture
def visit(visit_at, url):
    """Open the Space over the sample."""
    return partial(visit_at, url)
