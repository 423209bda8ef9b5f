"""Limits on what a visitor may send, and the parts of Gradio that are closed to visitors."""

import asyncio
import ipaddress
import logging
import os
import re
import stat
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hdbench.common.texts import language_of
from hdbench.space.context import SpaceContext
from hdbench.space.texts import text

logger = logging.getLogger(__name__)

UPLOAD = "/gradio_api/upload"
"""Prefix of the paths of requests that upload files."""

WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of requests that have no body and ask for no work."""

MAX_BODY = 2**20
"""Maximum bytes of a request that is not an upload."""

MAX_FILES_OF_FULL_SIZE = 4
"""Maximum number of files of the largest size in one upload."""

VISITORS_PART = 4
"""Number of parts of the disk for uploads, of which one visitor may fill one."""

MAX_PAUSE = 30
"""Maximum seconds in which a request sends nothing, or its headers are not complete."""

MIN_RATE = 16_000
"""Minimum bytes per second of a request: 50 MB may take 55 minutes."""

FRAMED_BY = "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
"""The policy on frames: the Hub shows a Space in one."""

_TIMER = "hdbench.timer"

PROXIES = "127.0.0.1,10.0.0.0/8"
"""The Hub's own proxies, which are trusted to name a visitor's address."""

CLOSED = re.compile(
    r"(/gradio_api)?/(deep_link|component_server|custom_component|vibe-|undo-vibe|runs|run-history"
    r"|dev/|process_recording|monitoring|profiling|stream/|proxy=|login|logout|token|file=https?:)",
    re.IGNORECASE,
)
"""Routes of Gradio that the Space does not need: they store what visitors see in files, give out
another visitor's stream, fetch addresses for a visitor, or serve what does not exist."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Refuses requests that are too large, too slow or for closed routes, and sets headers."""

    def __init__(self, app: ASGIApp, context: SpaceContext) -> None:
        self._app = app
        self._uploads = _Uploads(context)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False
        body = self._body(scope, receive)

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", FRAMED_BY)
                headers.update(HEADERS)
            await send(message)

        async def answer_unless_refused(message: Message) -> None:
            if begun or body.refused is None:
                await answer(message)

        if body.refused is None:
            try:
                await self._app(scope, body.receive, answer_unless_refused)
            except _BodyRefusedError:
                if begun:
                    raise
        if body.refused is not None and not begun:
            await body.refused(scope, receive, answer)

    def _body(self, scope: Scope, receive: Receive) -> "_Body":
        """Return the body of a request, as it comes; refused if its headers are reason enough."""
        path = scope["path"]
        headers = Headers(scope=scope)
        body = _Body(receive, language_of(headers.get("accept-language")))
        length = headers.get("content-length", "")
        if CLOSED.match(path):
            body.refuse(403, "refused_closed")
        elif scope["method"] in WITHOUT_BODY:
            pass
        elif not length.isdecimal():
            body.refuse(411, "refused_no_length")
        elif path.startswith(UPLOAD):
            self._uploads.admit(body, visitor(scope), int(length))
        elif int(length) > MAX_BODY:
            body.refuse(413, "refused_too_large")
        return body


class ConnectionTimer:
    """Closes a connection on which no request is made for too long."""

    def __init__(self) -> None:
        self._answering = 0
        self._closing: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request of a client that has connected."""
        self._transport = transport
        self._wait()

    def begin_answer(self) -> None:
        """Stop waiting, as a request has come: its answer may take any time."""
        self._answering += 1
        self.end()

    def end_answer(self) -> None:
        """Wait for the next request, unless this connection is still answering one."""
        self._answering -= 1
        if not self._answering:
            self._wait()

    def end(self) -> None:
        """Leave the connection alone."""
        if self._closing is not None:
            self._closing.cancel()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._closing = loop.call_later(MAX_PAUSE, self._transport.close)


def impatient(protocol: type[Any]) -> type[Any]:
    """Return one of Uvicorn's protocols, which closes connections on which no request is made.

    Uvicorn itself waits for the headers of a request as long as the client likes, and no setting
    of Uvicorn or h11 changes that. Of the protocol this uses only how Uvicorn makes it, what
    asyncio calls, and that requests have the application's state (the lifespan state of ASGI), in
    which `Answering` finds the connection of its request.

    Args:
        protocol: the class of a connection.
    """

    class Impatient(protocol):  # type: ignore[misc]
        def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
            self.timer = ConnectionTimer()
            super().__init__(app_state=app_state | {_TIMER: self.timer}, **options)

        def connection_made(self, transport: asyncio.Transport) -> None:
            self.timer.begin(transport)
            super().connection_made(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            self.timer.end()
            super().connection_lost(exc)

    return Impatient


class Answering:
    """Keeps a connection open while a request on it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        timer = scope.get("state", {}).get(_TIMER)
        if timer is None:  # the server starts, or the connection was there before `impatient`
            await self._app(scope, receive, send)
            return
        timer.begin_answer()
        try:
            await self._app(scope, receive, send)
        finally:
            timer.end_answer()


class _BodyRefusedError(Exception):
    """Reason to stop reading a body."""


class _Body:
    """The body of a request, as it comes.

    Attributes:
        refused: the response that replaces the application's.
        size: bytes that have come.
        charge: called with the bytes that have come, and whether that is all.
    """

    def __init__(self, receive: Receive, language: str) -> None:
        self._language = language
        self.refused: PlainTextResponse | None = None
        self.size = 0
        self.charge: Callable[[int, bool], None] = lambda _size, _complete: None
        self._receive = receive
        self._complete = False
        self._begun = time.monotonic()

    def refuse(self, status: int, key: str, **values: object) -> None:
        """Answer with a text of the interface, and close the connection."""
        body = text(key, self._language, **values)
        self.refused = PlainTextResponse(body, status, {"Connection": "close"})

    async def receive(self) -> Message:
        """Return the next message from the server, as the application asks for it."""
        if self._complete:
            return await self._receive()
        late = self._begun + MAX_PAUSE + self.size / MIN_RATE
        try:
            async with asyncio.timeout(min(MAX_PAUSE, late - time.monotonic())):
                message = await self._receive()
        except TimeoutError as error:
            self.refuse(408, "refused_too_slow")
            raise _BodyRefusedError from error
        if message["type"] == "http.request":
            self._complete = not message.get("more_body", False)
            self.size += len(message.get("body", b""))
            self.charge(self.size, self._complete)
            if self.refused is not None:
                raise _BodyRefusedError
        return message


class _Uploads:
    """The bytes that each visitor has uploaded recently.

    The received part of an aborted upload counts too: it stays on disk until it is swept.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._keep = context.keep_seconds
        self._largest = MAX_FILES_OF_FULL_SIZE * context.max_upload + MAX_BODY
        self._most = context.max_disk // VISITORS_PART
        self._sent: defaultdict[str, deque[_UploadSize]] = defaultdict(deque)

    def admit(self, body: _Body, address: str, length: int) -> None:
        """Charge a visitor for an upload as it comes, or refuse it."""
        now = time.monotonic()
        for sender, sent in list(self._sent.items()):
            while sent and sent[0].since < now - self._keep:
                sent.popleft()
            if not sent:
                del self._sent[sender]
        if length > self._largest:
            body.refuse(413, "refused_too_large")
        elif self._total(address) + length > self._most:
            self._refuse(body)
        else:
            upload = _UploadSize(now)
            self._sent[address].append(upload)

            def charge(size: int, complete: bool) -> None:
                # A small file takes up space on the disk, too.
                upload.size = max(size, MAX_BODY) if complete else size
                if self._total(address) > self._most and not complete:
                    self._refuse(body)

            body.charge = charge

    def _total(self, address: str) -> int:
        return sum(upload.size for upload in self._sent.get(address, ()))

    def _refuse(self, body: _Body) -> None:
        minutes = max(1, self._keep // 60)
        body.refuse(429, "refused_too_many", minutes=minutes)


@dataclass
class _UploadSize:
    """An upload: when it began, and how many bytes of it have come."""

    since: float
    size: int = 0


class WindowCounter:
    """Counts by address, reset after some seconds.

    Args:
        seconds: the number of seconds until a reset.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._counts: Counter[str] = Counter()
        self._ends = 0.0

    def add(self, address: str, number: int = 1) -> int:
        """Add to the count of an address, and return the count."""
        now = time.monotonic()
        if now > self._ends:
            self._counts.clear()
            self._ends = now + self._seconds
        self._counts[address] += number
        return self._counts[address]


def visitor(scope: Scope) -> str:
    """Return the address that a request comes from, as `network` gives it.

    Behind a proxy that the server trusts, it is the one that the proxy names
    (Uvicorn's `FORWARDED_ALLOW_IPS`), so that nobody can choose it.
    """
    client = scope.get("client")
    return network(str(client[0])) if client else ""


def network(address: str) -> str:
    """Return the key of a visitor: for IPv6 the network, in which a host chooses its address.

    Example:
        >>> network("192.0.2.1"), network("2001:db8::1:2"), network("testclient")
        ('192.0.2.1', '2001:db8::/64', 'testclient')
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        mapped = ip.ipv4_mapped
        return str(mapped or ipaddress.ip_network((int(ip), 64), strict=False))
    return str(ip)


def believe_proxies() -> None:
    """On the Hub, take visitors' addresses from its proxies, unless the operator sets others."""
    if "SPACE_ID" in os.environ:
        os.environ.setdefault("FORWARDED_ALLOW_IPS", PROXIES)


def sweep(folder: Path, *, keep_seconds: float, max_bytes: int) -> None:
    """Delete old files, and the oldest ones of more than the disk may hold.

    Args:
        folder: the folder of uploads and of files made from them.
        keep_seconds: the maximum age of a file.
        max_bytes: maximum bytes of all files together.
    """
    now, total = time.time(), 0
    for changed, size, path in sorted(_files(folder), reverse=True):
        total += size
        if changed < now - keep_seconds or total > max_bytes:
            path.unlink(missing_ok=True)


def keep_swept(folder: Path, context: SpaceContext) -> None:
    """Sweep a folder regularly, in a separate thread, as long as the program runs.

    A sweep that fails is logged, and the next one comes at its usual time.
    """

    def sweeping() -> None:
        while True:
            time.sleep(min(5, context.keep_seconds / 10))
            try:
                sweep(folder, keep_seconds=context.keep_seconds, max_bytes=context.max_disk)
            except Exception:
                logger.exception("old uploads could not be deleted: trying again")

    threading.Thread(target=sweeping, daemon=True).start()


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield time, size and path of all files, skipping files and folders that disappear."""
    for parent, _, names in os.walk(folder):  # Path.rglob raises where a folder has gone
        for name in names:
            path = Path(parent, name)
            with suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield status.st_mtime, status.st_size, path
