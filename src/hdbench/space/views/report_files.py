"""Reports as separate pages, which the Space's page shows in a frame.

A report has megabytes. Within the page it would go through Gradio's queue, and stay in the
server's memory for each visitor.
"""

import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from hdbench.common.texts import language_of
from hdbench.space.context import uploads
from hdbench.space.server.guard import FRAMED_BY
from hdbench.space.server.page import PARAMETER
from hdbench.space.views.summary import render

POLICY = f"sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; {FRAMED_BY}"
"""A report may run its own script and open the Hub in a new tab, but reach nothing around it, even
if it is opened alone."""

_FOLDER = re.compile(r"[A-Za-z0-9_-]{32}")
_BYTES = 24  # for a name of 32 characters, which cannot be guessed


@contextmanager
def downloads() -> Iterator[Path]:
    """Make a folder among the uploads, whose files Gradio deletes once a component has them.

    If the block fails, the folder is deleted.
    """
    folder = uploads() / secrets.token_urlsafe(_BYTES)
    folder.mkdir(parents=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def report_address(report: Path, language: str) -> str:
    """Return the address of a report in `downloads`, relative to the Space's page."""
    return f"scored/{report.parent.name}/{report.name}?{PARAMETER}={language}"


async def _report(request: Request) -> Response:
    folder, name = request.path_params["folder"], request.path_params["name"]
    path = uploads() / folder / name
    if not (_FOLDER.fullmatch(folder) and name.endswith(".html") and path.is_file()):
        language = language_of(request.headers.get("accept-language"))
        page = render("gone.html", language)
        return HTMLResponse(page, 404, {"Content-Security-Policy": POLICY})
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "private, no-store"}
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


REPORTS = Route("/scored/{folder}/{name}", _report)
"""The route of all reports on uploads."""


def thumbnails() -> Path:
    """Return the folder of the small pictures in reports."""
    return uploads().parent / "thumbnails"
