"""What a visitor may send, and what of Gradio is closed to visitors."""

import os
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hdbench.space.context import SpaceContext

MAX_BODY = 2**20
"""Bytes of a request that is no upload, at most."""

MAX_FILES_OF_FULL_SIZE = 4
"""Files of the largest size in one upload, at most."""

VISITORS_PART = 4
"""One visitor may fill a quarter of the disk that uploads have."""

FRAMED_BY = "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
"""The Hub shows a Space in a frame."""

PROXIES = "127.0.0.1,10.0.0.0/8"
"""Whom to believe, on the Hub, from which address a visitor comes: its own proxies."""

CLOSED = re.compile(
    r"(/gradio_api)?/(deep_link|component_server|custom_component|vibe-|undo-vibe|runs|run-history"
    r"|dev/|process_recording|monitoring|profiling|stream/|proxy=|login|logout|token|file=https?:)",
    re.IGNORECASE,
)
"""Routes of Gradio that the Space does not need: they keep what visitors see in files, give out
another visitor's stream, fetch addresses for a visitor, or serve what is not there."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Refuses requests that are too large or for what is closed, and sets headers of safety."""

    def __init__(self, app: ASGIApp, context: SpaceContext) -> None:
        self._app = app
        self._context = context
        self._uploads = _Uploads(context)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", FRAMED_BY)
                headers.update(HEADERS)
            await send(message)

        refused = self._refusal(scope)
        await (refused or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        path = scope["path"]
        if CLOSED.match(path):
            return PlainTextResponse("not offered by this server", status_code=403)
        if scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            return None
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            return PlainTextResponse("the request does not say its length", status_code=411)
        if not path.startswith("/gradio_api/upload"):
            too_large = int(length) > MAX_BODY
            return PlainTextResponse("the request is too large", 413) if too_large else None
        return self._uploads.refusal(visitor(scope), int(length))


class _Uploads:
    """How much each visitor has uploaded lately."""

    def __init__(self, context: SpaceContext) -> None:
        self._keep = context.keep_seconds
        self._largest = MAX_FILES_OF_FULL_SIZE * context.max_upload + MAX_BODY
        self._most = context.max_disk // VISITORS_PART
        self._sent: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    def refusal(self, address: str, length: int) -> PlainTextResponse | None:
        now = time.monotonic()
        for other, sent in list(self._sent.items()):
            while sent and sent[0][0] < now - self._keep:
                sent.popleft()
            if not sent:
                del self._sent[other]
        if length > self._largest:
            return PlainTextResponse("the upload is too large", status_code=413)
        if sum(size for _, size in self._sent[address]) + length > self._most:
            minutes = max(1, self._keep // 60)
            told = f"too many uploads from your address: try again in {minutes} minutes"
            return PlainTextResponse(told, status_code=429)
        self._sent[address].append((now, max(length, MAX_BODY)))
        return None


def visitor(scope: Scope) -> str:
    """The address that a request comes from.

    Behind a proxy that the server is told to believe it is the one that the proxy names
    (`FORWARDED_ALLOW_IPS` of Uvicorn), so that nobody can choose it.
    """
    client = scope.get("client")
    return str(client[0]) if client else ""


def believe_proxies() -> None:
    """On the Hub, take visitors' addresses from its proxies, unless the operator says otherwise."""
    if "SPACE_ID" in os.environ:
        os.environ.setdefault("FORWARDED_ALLOW_IPS", PROXIES)


def sweep(folder: Path, *, keep_seconds: float, max_bytes: int) -> None:
    """Delete old files, and the oldest of those that are more than the disk may hold.

    Args:
        folder: where uploads and what is made of them lie.
        keep_seconds: how old a file may be.
        max_bytes: of all files together.
    """
    now, total = time.time(), 0
    for changed, size, path in sorted(_files(folder), reverse=True):
        total += size
        if changed < now - keep_seconds or total > max_bytes:
            path.unlink(missing_ok=True)


def keep_swept(folder: Path, context: SpaceContext) -> None:
    """Sweep a folder now and then, in a thread of its own, as long as the program runs."""

    def sweeping() -> None:
        while True:
            time.sleep(min(5, context.keep_seconds / 10))
            sweep(folder, keep_seconds=context.keep_seconds, max_bytes=context.max_disk)

    threading.Thread(target=sweeping, daemon=True).start()


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for path in folder.rglob("*"):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        if path.is_file():
            yield found.st_mtime, found.st_size, path
