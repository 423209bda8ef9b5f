"""An OpenAI-compatible server on the loopback, with faults at will."""

import base64
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """A request for a completion, as it was received.

    Attributes:
        attempt: how often these images were asked for, this time included.
    """

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    images: list[bytes]
    mimes: list[str]
    text: str
    attempt: int


@dataclass(frozen=True)
class Response:
    """What is sent back.

    Attributes:
        body: bytes as they are, anything else as JSON.
        length: what is announced, where it is not the body's length.
        seconds: of waiting before it is sent; None never sends anything.
        drip: seconds between the single bytes of the body.
    """

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    seconds: float | None = 0.0
    drip: float = 0.0

    @property
    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def completion(content: Any = "{}", finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """The body of an answer."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-model",
        "system_fingerprint": "fp_44",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 812, "completion_tokens": 34, "total_tokens": 846},
    }


def error(message: str, **more: Any) -> dict[str, Any]:
    """The body of an error as OpenAI has it."""
    return {"error": {"message": message, "type": "error", **more}}


class FaultyServer:
    """A server in threads of this process, while its context lasts.

    Args:
        respond: what is answered to a request.
        models: what is listed of models, each a name or an object; None is a server without a list.
        models_at: the path of that list.

    Attributes:
        requests: for completions, in the order of their arrival.
        others: methods and paths of all other requests.
        most_at_once: the most requests that were worked on at the same time.
    """

    def __init__(
        self,
        respond: Callable[[Request], Response] = lambda _: Response(completion()),
        models: list[str | dict[str, Any]] | None = None,
        port: int = 0,
        models_at: str = "/v1/models",
    ) -> None:
        self.requests: list[Request] = []
        self.others: list[tuple[str, str, dict[str, str]]] = []
        self.most_at_once = self.at_once = 0
        self.models, self.models_at = models, models_at
        self.closing = threading.Event()
        self._respond = respond
        self._lock = threading.Lock()
        self._attempts: Counter[bytes] = Counter()
        self._http = _Http(("127.0.0.1", port), _handler(self))
        self.port = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "FaultyServer":
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        for connection in self._http.connections:
            with suppress(OSError):  # the other side may have closed it
                connection.shutdown(socket.SHUT_RDWR)

    def received(self, path: str, headers: Mapping[str, str], raw: bytes) -> Response:
        body = json.loads(raw)
        *pictures, text = body["messages"][0]["content"]
        urls = [picture["image_url"]["url"] for picture in pictures]
        images = [base64.b64decode(url.partition(",")[2], validate=True) for url in urls]
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self._attempts[b"".join(images)] += 1
            request = Request(
                path,
                dict(headers),
                body,
                images,
                [url.partition(";base64,")[0] for url in urls],
                text["text"],
                self._attempts[b"".join(images)],
            )
            self.requests.append(request)
        response = self._respond(request)
        if response.seconds is None:
            self.closing.wait()
        else:
            time.sleep(response.seconds)
        with self._lock:
            self.at_once -= 1
        return response


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        self.connections: list[socket.socket] = []
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, *_: object) -> None:
        """A client that goes away is what some tests are about."""


def _handler(server: FaultyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            if self.path.partition("?")[0].endswith("/chat/completions"):
                self.send(server.received(self.path, self.headers, raw))
            else:
                server.others.append(("POST", self.path, dict(self.headers)))
                self.send(Response({}, 404))

        def do_GET(self) -> None:
            server.others.append(("GET", self.path, dict(self.headers)))
            if server.models is None or self.path != server.models_at:
                self.send(Response({"detail": "Not Found"}, 404))
            else:
                listed = [
                    {"id": each, "owned_by": "faulty"} if isinstance(each, str) else each
                    for each in server.models
                ]
                self.send(Response({"object": "list", "data": listed}))

        def send(self, response: Response) -> None:
            if response.seconds is None:
                self.close_connection = True
                return
            data = response.data
            headers = {
                "Content-Type": "application/json",
                "Content-Length": str(len(data) if response.length is None else response.length),
                **response.headers,
            }
            lines = [f"HTTP/1.1 {response.status} Said", *map(": ".join, headers.items()), "", ""]
            head = "\r\n".join(lines).encode()
            if response.drip:
                self.wfile.write(head)
                for byte in data:
                    if server.closing.wait(response.drip):
                        break
                    self.wfile.write(bytes([byte]))
            else:
                self.wfile.write(head + data)
            self.close_connection = response.length is not None

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    return Handler
