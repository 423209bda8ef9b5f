import os
import signal
import socket
import subprocess
import sys

import pytest


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


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
