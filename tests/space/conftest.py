import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from space.servers import APP, free_port, serving, wait_for_client


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


@pytest.fixture(scope="session")
def samples_url(samples):
    """The address of a Space over the samples of all benchmarks."""
    with serving(APP, cwd=samples, HDBENCH_DOCUMENTATION="https://docs.example") as url:
        wait_for_client(url)
        yield url


@pytest.fixture
def visit(visit_at, url):
    """Open the Space over the sample."""
    return partial(visit_at, url)
