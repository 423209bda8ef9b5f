"""Servers of their own, for tests that want other settings."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import httpx
from gradio_client import Client
from helpers.forks import Forks

APP = str(Path(__file__).parents[2] / "spaces/scorer/app.py")
"""The Space as the Hub serves it."""


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@cache
def forks():
    """Forks of a process that imported the Space, for all servers of this one."""
    return Forks("hdbench.space.app")


@contextmanager
def serving(*arguments, cwd, process=None, **environment):
    """The address of a server of its own: a fork of all servers' process or of the given one; or,
    where it has other settings of the Hub's client, which that reads when it is imported (all but
    the token), a new process."""
    port = str(free_port())
    env = os.environ | {"GRADIO_SERVER_PORT": port} | environment
    of_the_hub = [name for name in environment if name.startswith("HF_") and name != "HF_TOKEN"]
    if process is None and of_the_hub:
        server = subprocess.Popen([sys.executable, *arguments], cwd=cwd, env=env)
    else:
        server = (process or forks()).start(*arguments, cwd=cwd, env=env)
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(timeout=180)


def wait_for_client(url, **options):
    deadline = time.monotonic() + 180
    while True:
        try:
            return Client(url, verbose=False, **options)
        except (httpx.TransportError, ValueError):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def files_below(folder):
    """The files below a folder, in which a server makes and removes others meanwhile."""
    return {Path(where) / name for where, _, names in os.walk(folder) for name in names}


def file(path):
    """A file as a program names it to an endpoint, uploaded or not."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def call(url, data, endpoint="score"):
    """What an endpoint answers to data that no well-behaved client would send."""
    posted = httpx.post(f"{url}gradio_api/call/{endpoint}", json={"data": data})
    if posted.status_code != 200:
        return posted.json()["detail"]
    event = posted.json()["event_id"]
    return httpx.get(f"{url}gradio_api/call/{endpoint}/{event}", timeout=120).text
