"""Rankings of the recorded runs, and the report of each run, made on request."""

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from hdbench.common.jsonio import write_whole
from hdbench.common.texts import language_of
from hdbench.datasets.building.results_dataset import NAME as RESULTS
from hdbench.errors import HdbenchError, escaped, without_folders
from hdbench.output.leaderboard.boards import Board, leaderboards
from hdbench.output.report.page import report_page
from hdbench.results.model_facts import MODELS_FILE, ModelFacts, read_model_facts
from hdbench.results.result import Result
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.computed_once import Computation, ComputedOnce, state_of
from hdbench.space.jobs.scoring import Upload, score_upload
from hdbench.space.texts import reason, text
from hdbench.space.views.report_files import POLICY

MAX_PAGES = 40
"""Maximum number of reports that are kept, the latest requested; one for 263 cards has 6 MB."""

MAX_WAITING = 8
"""Maximum number of reports being made or waiting: each may take 6 s."""


class Ranking(NamedTuple):
    """The leaderboards of a benchmark under a protocol.

    Attributes:
        boards: the leaderboards, the one with the most models first; runs are named by folder.
        left_out: reasons why a run, or the facts, could not be used.
    """

    boards: list[Board]
    left_out: Sequence[str]


class Rankings:
    """The rankings of a Space, one computed at a time.

    For each benchmark, protocol and way of reading, the latest one is kept: their number limits the
    memory.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self._results = context.namespace / RESULTS
        self._computed = ComputedOnce[Ranking]("ranking")

    def of(self, benchmark: str, protocol: str, *, strict: bool = False) -> Computation[Ranking]:
        """Return the ranking of the recorded runs as they are now, its parts being the runs.

        Args:
            benchmark: its name.
            protocol: `documented` or `published`.
            strict: use the figures in which only valid JSON counts.

        Raises:
            HdbenchError: there is no such benchmark.
        """
        folders = self._context.run_folders(benchmark)
        files = [file for folder in folders.values() for file in folder.iterdir()]

        def rank(work: Computation[Ranking]) -> Ranking:
            results: dict[str, Result] = {}
            left_out: list[str] = []
            facts: dict[str, ModelFacts] = {}
            for name, folder in folders.items():
                try:
                    run = score_run(self._context, benchmark, folder, protocol, details=False)
                    results[name] = run.strictly() if strict else run
                except HdbenchError as error:
                    left_out.append(error.message)
                work.done += 1
            try:
                facts = read_model_facts(self._results)
            except HdbenchError as error:
                left_out.append(without_folders(error.message, self._results))
            boards = sorted(leaderboards(results, facts=facts), key=lambda board: -len(board.rows))
            return Ranking(boards, left_out)

        key = (benchmark, protocol, strict)
        return self._computed.get(key, [*files, self._results / MODELS_FILE], rank, len(folders))


def score_run(
    context: SpaceContext, benchmark: str, folder: Path, protocol: str, *, details: bool
) -> Result:
    """Score a recorded run, with nothing of the server in the result or in messages.

    The run is named after its folder: the name it gives itself need not be unique.

    Args:
        context: the Space's context.
        benchmark: the benchmark's name.
        folder: the run's folder.
        protocol: `documented` or `published`.
        details: keep the details of every item.

    Raises:
        HdbenchError: the run cannot be scored, or has answers of several models.
    """
    _, results = score_upload(context, Upload(benchmark, folder, protocol), details=details)
    if len(results) > 1:
        raise HdbenchError(
            "{place}: has answers of several models: give each a run", place=folder.name
        )
    (result,) = results.values()
    return replace(result, run=result.run.model_copy(update={"run": folder.name}))


def run_reports(context: SpaceContext, folder: Path) -> Route:
    """Return the route of the reports: `report/<benchmark>/<run>?protocol=documented`.

    A run is looked up by name among those that exist; no path is made from what is requested.

    Args:
        context: the Space's context.
        folder: the folder for pages; created if it does not exist.
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
        page_and_writer = await run_in_threadpool(self._find, benchmark, run, protocol, language)
        if page_and_writer is None:
            return PlainTextResponse(text("leaderboard_no_run", language), 404)
        page, write = page_and_writer
        if not page.is_file():
            if page not in self._waiting and len(self._waiting) >= MAX_WAITING:
                busy = text("leaderboard_busy", language)
                return PlainTextResponse(busy, 503, {"Retry-After": "30"})
            try:
                await self._make(page, write)
            except HdbenchError as error:
                return PlainTextResponse(escaped(reason(error, language)), 422)
        # Those requested last are kept; the system's own clock could give two the same time.
        now = time.time_ns()
        os.utime(page, ns=(now, now))
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
        return FileResponse(page, media_type="text/html; charset=utf-8", headers=headers)

    def _find(
        self, benchmark: str, run: str, protocol: str, language: str
    ) -> tuple[Path, Callable[[], None]] | None:
        """Return the file of a run's page, and its writer; None if there is no such run."""
        if benchmark not in self._context.benchmarks or protocol not in PROTOCOLS:
            return None
        folder = self._context.run_folders(benchmark).get(run)
        if folder is None:
            return None
        key = (benchmark, run, protocol, language, state_of(folder.iterdir()))
        page = self._folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()}.html"
        return page, partial(self._write, page, benchmark, folder, protocol, language)

    async def _make(self, page: Path, write: Callable[[], None]) -> None:
        """Make a page once for everyone who asks for it."""
        making = self._waiting.get(page)
        if making is None:
            making = self._waiting[page] = self._worker.submit(write)
            loop = asyncio.get_running_loop()
            making.add_done_callback(
                lambda _: loop.call_soon_threadsafe(self._waiting.pop, page, None)
            )
        # A visitor who leaves must not take it away from the others.
        await asyncio.shield(asyncio.wrap_future(making))

    def _write(
        self, page: Path, benchmark: str, folder: Path, protocol: str, language: str
    ) -> None:
        result = score_run(self._context, benchmark, folder, protocol, details=True)
        html = report_page(result, self._context.benchmark(benchmark), language=language)
        pages = sorted(self._folder.glob("*.html"), key=lambda path: path.stat().st_mtime)
        for oldest in pages[: max(0, len(pages) - MAX_PAGES + 1)]:
            oldest.unlink(missing_ok=True)
        write_whole(page, html.encode(errors="backslashreplace"))
