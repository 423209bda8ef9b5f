"""The report of each recorded run, made when someone wants to see it."""

import asyncio
import hashlib
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from hdbench.common.jsonio import write_whole
from hdbench.common.texts import language_of
from hdbench.errors import HdbenchError, escaped
from hdbench.report.page import report_page
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.rankings import score_run, state_of
from hdbench.space.texts import reason, text
from hdbench.space.views.report_files import POLICY

MAX_PAGES = 40
"""How many reports are kept, those requested last; one for 263 cards has 6 MB."""

MAX_WAITING = 8
"""Maximum reports being made or waiting to be: each may take 6 s."""


def run_reports(context: SpaceContext, folder: Path) -> Route:
    """The route of the reports: `report/<benchmark>/<run>?protocol=documented`.

    A run is looked up by name among those that exist; no path is made from what is requested.

    Args:
        context: the Space's context.
        folder: where pages are kept; created if it does not exist.
    """
    folder.mkdir(exist_ok=True)
    return Route("/report/{benchmark}/{run}", _RunReports(context, folder).answer)


class _RunReports:
    def __init__(self, context: SpaceContext, folder: Path) -> None:
        self._context = context
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, "run-report")
        self._waiting: dict[Path, Future[None]] = {}  # used by the server's own thread alone

    async def answer(self, request: Request) -> Response:
        language = language_of(request.headers.get("accept-language"))
        benchmark, run = request.path_params["benchmark"], request.path_params["run"]
        protocol = request.query_params.get("protocol", "documented")
        found = await run_in_threadpool(self._find, benchmark, run, protocol, language)
        if found is None:
            return PlainTextResponse(text("leaderboard_no_run", language), 404)
        run_folder, page = found
        if not page.is_file():
            if page not in self._waiting and len(self._waiting) >= MAX_WAITING:
                busy = text("leaderboard_busy", language)
                return PlainTextResponse(busy, 503, {"Retry-After": "30"})
            try:
                await self._make(page, benchmark, run_folder, protocol, language)
            except HdbenchError as error:
                return PlainTextResponse(escaped(reason(error, language)), 422)
        # Those requested last are kept; the system's own clock could give two the same time.
        now = time.time_ns()
        os.utime(page, ns=(now, now))
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
        return FileResponse(page, media_type="text/html; charset=utf-8", headers=headers)

    def _find(
        self, benchmark: str, run: str, protocol: str, language: str
    ) -> tuple[Path, Path] | None:
        """The folder of a run and the file of its page; None if there is no such run."""
        if benchmark not in self._context.benchmarks or protocol not in PROTOCOLS:
            return None
        run_folder = self._context.run_folders(benchmark).get(run)
        if run_folder is None:
            return None
        what = (benchmark, run, protocol, language, state_of(list(run_folder.iterdir())))
        name = hashlib.sha256(repr(what).encode()).hexdigest()
        return run_folder, self._folder / f"{name}.html"

    async def _make(
        self, page: Path, benchmark: str, run_folder: Path, protocol: str, language: str
    ) -> None:
        """Have a page made once for everyone who asks for it."""
        making = self._waiting.get(page)
        if making is None:
            making = self._worker.submit(
                self._write, page, benchmark, run_folder, protocol, language
            )
            self._waiting[page] = making
            loop = asyncio.get_running_loop()
            making.add_done_callback(
                lambda _: loop.call_soon_threadsafe(self._waiting.pop, page, None)
            )
        # A visitor who leaves must not take it away from the others.
        await asyncio.shield(asyncio.wrap_future(making))

    def _write(
        self, page: Path, benchmark: str, run_folder: Path, protocol: str, language: str
    ) -> None:
        result = score_run(self._context, benchmark, run_folder, protocol, details=True)
        made = report_page(result, self._context.benchmark(benchmark), language=language)
        kept = sorted(self._folder.glob("*.html"), key=lambda each: each.stat().st_mtime)
        for oldest in kept[: max(0, len(kept) - MAX_PAGES + 1)]:
            oldest.unlink(missing_ok=True)
        write_whole(page, made.encode(errors="backslashreplace"))
