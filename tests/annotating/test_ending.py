"""The editor's server under many requests, and when it is told to end."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from annotating.pages import Served, blocked, write_collection
from filelock import FileLock

from hdbench.collections.truth.store import Store

MANY = 45
"""More than the threads that Starlette has for all requests."""


def half_a_request(url):
    """A request that never comes to its end."""
    at = urlsplit(url)
    connection = socket.create_connection((at.hostname, at.port))
    head = f"POST {at.path}leave HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Length: 99\r\n"
    connection.sendall(f"{head}Content-Type: application/json\r\n\r\n{{".encode())
    return closing(connection)


def ask_often(ask):
    """The same at the same time, by as many as there are."""
    with ThreadPoolExecutor(MANY) as people:
        return list(people.map(ask, range(MANY)))


@pytest.mark.nightly
def test_server_answers_and_ends_while_lock_is_held_elsewhere(tmp_path):
    folder = write_collection(tmp_path / "cards")
    served = Served(folder)
    try:
        people = folder / "people"
        # As another process does that writes metadata.jsonl.
        with FileLock(people / ".metadata.jsonl.lock"), httpx.Client(timeout=25) as client:
            done = {"what": "status", "field": "", "to": "done", "after": None}

            def ask(number):
                return client.post(f"{served.url}items/{number % 3}/change", json=done).json()

            told = ask_often(ask)
            assert sum("status" in each for each in told) == 3
            assert all("status" in each or "stale" in each for each in told)
            assert client.get(served.url).status_code == 200
            with half_a_request(served.url):
                served.process.terminate()
                assert served.process.wait(timeout=15) == 1  # it could not write metadata.jsonl
    finally:
        with suppress(ProcessLookupError):
            served.process.kill()
    with Store(folder, "anna") as store:
        assert {store.state(item).status for item in store.items} == {"done"}


@pytest.mark.nightly
def test_what_is_cancelled_at_the_end_is_said_in_one_line(tmp_path):
    with (tmp_path / "errors").open("w") as errors:
        served = Served(write_collection(tmp_path / "cards"), errors=errors)
        with ExitStack() as requests:
            for _ in range(5):
                requests.enter_context(half_a_request(served.url))
            assert httpx.get(served.url).status_code == 200  # those before it are being read, too
            assert served.end() == 0
    said = (tmp_path / "errors").read_text()
    assert said.count("\n") <= 1, said


@pytest.mark.nightly
def test_stuck_pictures_block_neither_threads_nor_shutdown(tmp_path):
    folder = blocked(write_collection(tmp_path / "cards", [{"title": "Faust"}, None]))
    served = Served(folder)
    try:
        with httpx.Client(timeout=60) as client:

            def ask(_):
                try:
                    return client.get(f"{served.url}items/0/pages/0").status_code
                except httpx.TransportError:
                    return "ended"

            with ThreadPoolExecutor(MANY) as people:
                asked = [people.submit(ask, number) for number in range(MANY)]
                others = [client.get(f"{served.url}{path}").status_code for path in ("", "start")]
                assert others == [200, 200]
                served.process.terminate()
                assert served.process.wait(timeout=15) == 1
                assert 200 not in {each.result() for each in asked}
    finally:
        with suppress(ProcessLookupError):
            served.process.kill()
