"""Servers: what they listen on, and processes that end in time."""

import signal
import socket
import subprocess
import sys
import textwrap

import pytest

from hdbench.common.servers import END_SECONDS, GRACE, listening

SERVER = """
    import hashlib, sys, threading, time
    from hdbench.common.servers import end_in_time, interrupt_on_sigterm

    def busy():  # in C, for hours; a process waits for such a thread before it ends
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)

    def begin():
        print("begun", flush=True)
        if sys.argv[1] == "clean":
            ended.set()

    def last():
        print("forced", flush=True)
        if sys.argv[1] == "stuck":
            threading.Event().wait()

    ended = threading.Event()
    interrupt_on_sigterm(end_in_time(begin, last))
    if sys.argv[1] != "clean":
        threading.Thread(target=busy).start()
    try:
        print("ready", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        ended.wait()
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "status", "told"),
    [("clean", 0, "begun\n"), ("busy", 1, "begun\nforced\n"), ("stuck", 1, "begun\nforced\n")],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_whatever_its_threads_do(kind, status, told, number):
    command = [sys.executable, "-c", textwrap.dedent(SERVER), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline() == "ready\n"
            server.send_signal(number)
            server.send_signal(number)  # whoever is impatient
            assert server.wait(timeout=15) == status
        finally:
            server.kill()
        assert server.stdout.read() == told


def test_the_bound_leaves_time_for_requests():
    assert GRACE < END_SECONDS <= 5


def test_answers_do_not_wait_for_an_acknowledgement():
    with listening("127.0.0.1", 0) as served_on, socket.create_connection(served_on.getsockname()):
        accepted, _ = served_on.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
