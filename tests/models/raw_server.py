"""A server of bare sockets on the loopback, for what no HTTP library would send."""

import json
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from models.faulty_server import completion

MODELS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def packed(body: Any, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """A whole response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = len(data) if length is None else length
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {size}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + data


class Connection:
    """One connection, as the server sees it."""

    def __init__(
        self, taken: socket.socket, over: threading.Event, head: Callable[[bytes], None]
    ) -> None:
        self.socket, self.over, self._head = taken, over, head
        self._waiting = b""

    def request(self) -> str | None:
        """The text of the next request for a completion; None at the end of the connection."""
        while (whole := self._request()) is not None:
            if whole.startswith(b"POST"):
                body = json.loads(whole.partition(b"\r\n\r\n")[2])
                return body["messages"][0]["content"][-1]["text"]
            self.send(MODELS)
        return None

    def _request(self) -> bytes | None:
        while True:
            head, found, rest = self._waiting.partition(b"\r\n\r\n")
            if found:
                size = re.search(rb"content-length: (\d+)", head.lower())
                length = int(size[1]) if size else 0
                if len(rest) >= length:
                    self._head(head)
                    self._waiting = rest[length:]
                    return head + found + rest[:length]
            with suppress(OSError):
                if data := self.socket.recv(65536):
                    self._waiting += data
                    continue
            return None

    def send(self, data: bytes) -> bool:
        """Send; whether the other side is still there."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        return not self.over.is_set()


class RawServer:
    """A server while its context lasts.

    Args:
        talk: what is done with each connection, in a thread of its own; then it is closed.
        head: is given the head of each request.

    Attributes:
        connections: how many there were.
    """

    def __init__(
        self,
        talk: Callable[[Connection], None],
        head: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        self._talk, self._head = talk, head
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self.connections = 0
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"

    def __enter__(self) -> "RawServer":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for each in (self._listening, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                taken, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(taken)
            threading.Thread(target=self._serve, args=(taken,), daemon=True).start()

    def _serve(self, taken: socket.socket) -> None:
        with suppress(OSError):
            self._talk(Connection(taken, self._over, self._head))
            taken.shutdown(socket.SHUT_RDWR)
        taken.close()


def answer(text: str) -> bytes:
    """A response with a completion."""
    return packed(completion(text))
