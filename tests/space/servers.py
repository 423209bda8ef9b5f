"""Servers of their own, for tests that want other settings."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
from gradio_client import Client

APP = str(Path(__file__).parents[2] / "spaces/scorer/app.py")
"""The Space as the Hub serves it."""


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@contextmanager
def serving(*arguments, cwd, **environment):
    """The address of a server of its own."""
    port = str(free_port())
    server = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"GRADIO_SERVER_PORT": port} | environment,
    )
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(timeout=60)


def wait_for_client(url, **options):
    deadline = time.monotonic() + 180
    while True:
        try:
            return Client(url, verbose=False, **options)
        except (httpx.TransportError, ValueError):
            assert time.monotonic() < deadline
            time.sleep(0.2)
