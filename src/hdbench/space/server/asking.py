"""Limits on visitors' requests to Gradio: how many, and with which values."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hdbench.common.texts import language_of
from hdbench.space.server.limits import UPLOAD, WITHOUT_BODY, WindowCounter, visitor
from hdbench.space.texts import text

MAX_ASKED = 100
"""Maximum requests from one address in `WINDOW`. Scoring a file takes three; thirty people in a
library, who share an address, may begin at the same time."""

WINDOW = 10.0
"""Seconds in which requests are counted."""

CALL = "/gradio_api/call/"
"""Prefix of the paths of a program's calls."""


class Gate:
    """Refuses requests if there are too many, or if their values cannot be used.

    Gradio takes any number, and keeps what it cannot do yet in memory. It fetches a file whose path
    is an address, and says nothing to the visitor about one that is not there. It passes a null on
    where a program has to name a benchmark. A refusal is one line in the visitor's language, in the
    form in which Gradio's page shows errors.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._requests = WindowCounter(WINDOW)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        is_asked = scope["type"] == "http" and scope["method"] not in WITHOUT_BODY
        if not is_asked or scope["path"].startswith(UPLOAD):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        if self._requests.add(visitor(scope)) > MAX_ASKED:
            await _refused(request, 429, "too_often")(scope, receive, send)
            return
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        try:
            payload = json.loads(body or "null")
            # The checked value is passed on, as the bytes might be read in another way. A NaN or
            # a lone surrogate, which JSON does not have, would make Gradio fail.
            checked = json.dumps(payload, allow_nan=False, ensure_ascii=False).encode()
            key = _incomplete(scope["path"], payload) or await run_in_threadpool(_unusable, payload)
        except (ValueError, RecursionError):
            key = "no_json"
        if key is not None:
            await _refused(request, 400, key)(scope, receive, send)
            return
        await self._app(scope, _receiving(checked if body else b"", receive), send)


def uploads() -> Path:
    """Return the folder where Gradio keeps uploads and downloads; `serve` sets it."""
    return Path(os.environ["GRADIO_TEMP_DIR"])


def _refused(request: Request, status: int, key: str) -> JSONResponse:
    language = language_of(request.headers.get("accept-language"))
    return JSONResponse({"detail": text(key, language)}, status)


def _receiving(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives an application a body that has been read already."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving


def _incomplete(path: str, payload: Any) -> str | None:
    """Return the reason for refusing a program's call; its values may be listed or named."""
    match payload:
        case {"data": [None, *_]} | {"benchmark": None} if path.startswith(CALL):
            return "no_benchmark"
    return None


def _unusable(payload: Any) -> str | None:
    """Return the reason why a file named in a request cannot be used; None if all can be."""
    paths = list(_paths(payload))
    if not all(isinstance(path, str) for path in paths):
        return "not_uploaded"
    if any("://" in path for path in paths):
        return "not_an_address"
    folder = uploads().resolve()
    return None if all(_is_file_in(folder, path) for path in set(paths)) else "not_uploaded"


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


def _is_file_in(folder: Path, path: str) -> bool:
    try:
        resolved = Path(path).resolve()
        return resolved.is_relative_to(folder) and resolved.is_file()
    except (OSError, RuntimeError, ValueError):  # too long, a loop of links, a zero byte
        return False
