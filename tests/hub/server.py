"""A Hub on the loopback: what huggingface_hub, datasets and evaluate ask of one, in memory.

It stores files without Xet, so that clients want `HF_HUB_DISABLE_XET=1`; `Hub.environment` has all
that a client in a process of its own needs.
"""

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from hub.api import Answer, Call, Refused
from hub.repositories import Commit, File, Repository, is_text

WRITER, READER, EXPIRED = "hf_writer", "hf_reader", "hf_expired"


class Account(NamedTuple):
    """Whose a token is."""

    name: str
    namespaces: tuple[str, ...]
    may_write: bool


class Request(NamedTuple):
    """A request, as it was received."""

    method: str
    path: str
    token: str | None


@dataclass
class Fault:
    """What goes wrong: a status instead of an answer."""

    pattern: str
    status: int
    left: int


@dataclass
class Hub:
    """The state of a Hub, and what tests do to it.

    Attributes:
        url: its address.
        accounts: token → whose it is; a token that is not here has expired.
        jobs: as `/api/jobs` lists them.
        requests: all that were received.
    """

    url: str
    accounts: dict[str, Account]
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    jobs: list[dict[str, Any]] = field(default_factory=list)
    large: dict[str, bytes] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: Any = field(default_factory=threading.RLock)

    @property
    def large_url(self):
        """Where large files are, on another host, to which clients send no token."""
        return self.url.replace("127.0.0.1", "localhost") + "/lfs"

    def environment(self, token=None):
        """The environment of a client in a process of its own."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_TOKEN": token or "",
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def add(self, kind, repo_id, files=(), **settings):
        """A repository with some files, path → bytes."""
        repository = Repository(kind, repo_id, "hdb-operator", **settings)
        self.repositories[kind, repo_id] = repository
        first = repository.commits[repository.branches["main"]]
        content = {path: File(data, not is_text(data)) for path, data in dict(files).items()}
        repository.add(Commit(first.files | content, "files", "", "hdb-operator", first.oid))
        return repository

    def fail(self, pattern, times=1, status=500):
        """Answer the next requests whose method and path match with an error."""
        self.faults.append(Fault(pattern, status, times))

    def fault(self, request):
        """The fault that is due for a request."""
        for fault in self.faults:
            if fault.left and re.search(fault.pattern, f"{request.method} {request.path}"):
                fault.left -= 1
                return fault
        return None


@contextmanager
def serving_hub():
    """A Hub that serves until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.hub = Hub(
        f"http://127.0.0.1:{server.server_port}",
        {
            WRITER: Account("hdb-operator", ("hdb-operator", "hdb"), may_write=True),
            READER: Account("visitor", ("visitor",), may_write=False),
        },
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _handle(self):
        hub = self.server.hub
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(self._chunks())
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        request = Request(self.command, parts.path, bearer or None)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        with hub.lock:
            hub.requests.append(request)
            fault = hub.fault(request)
            if fault:
                answer = Answer({"error": "Internal Error"}, fault.status)
            else:
                try:
                    answer = Call(hub, request, query, self.headers, body).answer()
                except Refused as refused:
                    answer = Answer(refused.body, refused.status, refused.headers)
        answer = answer if isinstance(answer, Answer) else Answer(answer)
        self._send(answer)

    def _send(self, answer):
        data = answer.body
        kind = "application/octet-stream" if isinstance(data, bytes) else "application/json"
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, quote(value, safe=" -._~:/?#[]@!$&'()*+,;=<>\""))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _chunks(self):
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815

    def log_message(self, *_):
        """Say nothing."""
