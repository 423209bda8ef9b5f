"""Limits on requests that Gradio does not have, and the parts of it that are closed to visitors."""

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hdbench.common.texts import language_of
from hdbench.space.context import SpaceContext, uploads
from hdbench.space.texts import text

UPLOAD = "/gradio_api/upload"
"""Prefix of the paths of a program's requests that bring files."""

FORMS = frozenset({"/score", "/compare", "/run", "/stop"})
"""Paths of the forms of our own pages, which may bring files, and which Gradio never sees."""

WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of requests that have no body and ask for no work."""

MAX_BODY = 2**20
"""Maximum bytes of a request that is not an upload."""

MAX_FILES_OF_FULL_SIZE = 6
"""Maximum number of files of the largest size in one upload: as many as are compared at a time."""

MIN_FREE = 2**30
"""Bytes of the disk that uploads leave free: reports and downloads need some, too."""

FRAMED_BY = "frame-ancestors 'self' https://huggingface.co https://*.hf.space"
"""The policy on frames: the Hub shows a Space in one."""

SANDBOX = f"sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; {FRAMED_BY}"
"""The policy of a report: it may run its own script and open the Hub in a new tab, but reach
nothing around it, even if it is opened alone."""

CLOSED = re.compile(
    r"(/gradio_api)?/(deep_link|component_server|custom_component|vibe-|undo-vibe|runs|run-history"
    r"|dev/|process_recording|monitoring|profiling|stream/|proxy=|login|logout|token\b|file=https?:)",
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
    """Refuses requests that are too large, for closed routes or with addresses, and sets headers.

    Gradio bounds each file of an upload, but neither all of them together nor other requests, which
    it holds in memory; and where a file's path is an address, it fetches that, however large it is.
    Uvicorn reads no more of a body than its stated length. A refusal is one line in the visitor's
    language, in the form in which Gradio's page shows errors.
    """

    def __init__(self, app: ASGIApp, context: SpaceContext) -> None:
        self._app = app
        self._largest = MAX_FILES_OF_FULL_SIZE * context.max_upload + MAX_BODY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", FRAMED_BY)
                headers.update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        is_upload = scope["path"] in FORMS or scope["path"].startswith(UPLOAD)
        refused = self._refused(scope, headers.get("content-length", ""), is_upload=is_upload)
        if refused is None and scope["method"] not in WITHOUT_BODY and not is_upload:
            try:
                body = await Request(scope, receive).body()
            except ClientDisconnect:
                return
            checked = _checked(body)
            if checked is None:
                refused = 400, "refused_content"
            else:
                receive = _receiving(checked, receive)
        app = self._app
        if refused is not None:
            status, key = refused
            line = text(key, language_of(headers.get("accept-language")))
            app = JSONResponse({"detail": line}, status, {"Connection": "close"})
        await app(scope, receive, answer)

    def _refused(self, scope: Scope, length: str, *, is_upload: bool) -> tuple[int, str] | None:
        """Return the status and the text's key for a request whose headers are reason enough."""
        if CLOSED.match(scope["path"]):
            return 403, "refused_closed"
        if scope["method"] in WITHOUT_BODY:
            return None
        if not length.isdecimal():
            return 411, "refused_no_length"
        if int(length) > (self._largest if is_upload else MAX_BODY):
            return 413, "refused_too_large"
        if is_upload and shutil.disk_usage(uploads()).free < int(length) + MIN_FREE:
            return 507, "refused_full"
        return None


def _checked(body: bytes) -> bytes | None:
    """Return a body that names no address as a file; None if it does, or is not JSON."""
    try:
        payload = json.loads(body or b"null")
        if any("://" in str(path) for path in _paths(payload)):
            return None
        # The checked value is passed on, as the bytes might be read in another way.
        # A NaN or a lone surrogate, which JSON does not have, would make Gradio fail.
        return json.dumps(payload, allow_nan=False, ensure_ascii=False).encode() if body else b""
    except (ValueError, RecursionError):
        return None


def _paths(payload: Any) -> Iterator[Any]:
    """Yield the paths in a request: Gradio takes any object with a path for a file."""
    waiting = [payload]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            if "path" in value:
                yield value["path"]


def _receiving(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives an application a body that has been read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving
