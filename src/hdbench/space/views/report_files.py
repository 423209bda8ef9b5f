"""Reports as separate pages, which the Space's page shows in a frame.

A report has megabytes. Within the page it would go through Gradio's queue, and stay in the
server's memory for each visitor.
"""

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from hdbench.common.jsonio import write_whole
from hdbench.common.texts import language_of
from hdbench.space.server.asking import uploads
from hdbench.space.server.limits import FRAMED_BY
from hdbench.space.server.page import PARAMETER
from hdbench.space.views.summary import render

POLICY = f"sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; {FRAMED_BY}"
"""A report may run its own script and open the Hub in a new tab, but reach nothing around it, even
if it is opened alone."""

_NAME = re.compile(r"[A-Za-z0-9_-]{32,64}")
_BYTES = 24  # for a name of 32 characters, which cannot be guessed


def keep_report(page: Path, language: str) -> str:
    """Copy a report to where its visitor can see it, until uploads are deleted.

    Args:
        page: the report's file.
        language: the visitor's language.

    Returns:
        Its address, relative to the Space's page.
    """
    name = secrets.token_urlsafe(_BYTES)
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(page, path)
    return _address(name, language)


def shared_page(key: object, language: str, make: Callable[[], str]) -> str:
    """Keep a page that many visitors see, like a report.

    Args:
        key: what it is made of.
        language: its language.
        make: makes it, unless it is there.

    Returns:
        Its address, relative to the Space's page.
    """
    name = hashlib.sha256(repr((key, language)).encode()).hexdigest()
    path = _path(name)
    try:
        os.utime(path)  # it is deleted when nobody has asked for it for a while
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, make().encode(errors="backslashreplace"))
    return _address(name, language)


async def _report(request: Request) -> Response:
    name = request.path_params["name"]
    if not _NAME.fullmatch(name) or not (path := _path(name)).is_file():
        language = language_of(request.headers.get("accept-language"))
        page = render("gone.html", language)
        return HTMLResponse(page, 404, {"Content-Security-Policy": POLICY})
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "private, no-store"}
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


REPORTS = Route("/report/{name}", _report)
"""The route of all reports."""


def thumbnails() -> Path:
    """Return the folder of the small pictures in reports, which are deleted like them."""
    return uploads().parent / "thumbnails"


def _address(name: str, language: str) -> str:
    return f"report/{name}?{PARAMETER}={language}"


def _path(name: str) -> Path:
    return uploads() / "reports" / f"{name}.html"
