"""Rankings of the recorded runs, and the report of each run, made on request."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from hdbench.benchmarks.model_facts import MODELS_FILE, RESULTS, ModelFacts, read_model_facts
from hdbench.common.progress import Listener
from hdbench.common.texts import language_of
from hdbench.errors import HdbenchError, escaped, without_folders
from hdbench.evaluation.result import Result
from hdbench.report.leaderboard.boards import Board, leaderboards
from hdbench.report.page import report_page
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.scoring import Upload, score_upload
from hdbench.space.texts import reason, text
from hdbench.space.views.report_files import POLICY

MAX_REPORTS = 8
"""Maximum number of reports that are kept, the latest requested; one for 263 cards has 6 MB."""

State = tuple[tuple[str, int, int], ...]
"""The name, time and size of each file that something is computed from."""


class Ranking(NamedTuple):
    """The leaderboards of a benchmark under a protocol.

    Attributes:
        boards: the leaderboards, the one with the most models first; runs are named by folder.
        left_out: reasons why a run, or the facts, could not be used.
    """

    boards: list[Board]
    left_out: Sequence[str]


class Rankings:
    """The rankings of a Space: the latest one for each benchmark, protocol and way of reading."""

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self._results = context.namespace / RESULTS
        self._kept: dict[tuple[str, str, bool], tuple[State, Ranking]] = {}

    def of(self, benchmark: str, protocol: str, *, strict: bool, tell: Listener) -> Ranking:
        """Return the ranking of the recorded runs as they are now.

        Args:
            benchmark: its name.
            protocol: `documented` or `published`.
            strict: use the figures in which only valid JSON counts.
            tell: called with the number of runs scored so far, and their number.

        Raises:
            HdbenchError: there is no such benchmark.
        """
        folders = self._context.run_folders(benchmark)
        files = [file for folder in folders.values() for file in folder.iterdir()]
        key, state = (benchmark, protocol, strict), _state([*files, self._results / MODELS_FILE])
        if key not in self._kept or self._kept[key][0] != state:
            results: dict[str, Result] = {}
            left_out: list[str] = []
            facts: dict[str, ModelFacts] = {}
            for number, (name, folder) in enumerate(folders.items()):
                tell(number, len(folders))
                try:
                    run = score_run(self._context, benchmark, folder, protocol, details=False)
                    results[name] = run.strictly() if strict else run
                except HdbenchError as error:
                    left_out.append(error.message)
            try:
                facts = read_model_facts(self._results)
            except HdbenchError as error:
                left_out.append(without_folders(error.message, self._results))
            tell(len(folders), len(folders))
            boards = sorted(leaderboards(results, facts=facts), key=lambda board: -len(board.rows))
            self._kept[key] = state, Ranking(boards, left_out)
        return self._kept[key][1]


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
    return result.replaced(run=result.run.model_copy(update={"run": folder.name}))


def run_reports(context: SpaceContext) -> Route:
    """Return the route of the reports: `report/<benchmark>/<run>?protocol=documented`.

    A run is looked up by name among those that exist; no path is made from what is requested.
    Reports are made one at a time.

    Args:
        context: the Space's context.
    """

    @lru_cache(MAX_REPORTS)
    def made(benchmark: str, folder: Path, protocol: str, language: str, _: State) -> bytes:
        result = score_run(context, benchmark, folder, protocol, details=True)
        page = report_page(result, context.benchmark(benchmark), language=language)
        return page.encode(errors="backslashreplace")

    def found(benchmark: str, run: str, protocol: str) -> Path | None:
        if benchmark not in context.benchmarks or protocol not in PROTOCOLS:
            return None
        return context.run_folders(benchmark).get(run)

    one_at_a_time = asyncio.Lock()

    async def answer(request: Request) -> Response:
        language = language_of(request.headers.get("accept-language"))
        benchmark, run = request.path_params["benchmark"], request.path_params["run"]
        protocol = request.query_params.get("protocol", "documented")
        folder = await run_in_threadpool(found, benchmark, run, protocol)
        if folder is None:
            return PlainTextResponse(text("leaderboard_no_run", language), 404)
        state = _state(folder.iterdir())
        try:
            async with one_at_a_time:
                page = await run_in_threadpool(made, benchmark, folder, protocol, language, state)
        except HdbenchError as error:
            return PlainTextResponse(escaped(reason(error, language)), 422)
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
        return HTMLResponse(page, headers=headers)

    return Route("/report/{benchmark}/{run}", answer)


def _state(files: Iterable[Path]) -> State:
    """Return a value that changes when one of the files changes or another is added."""
    stats = [(str(file), file.stat()) for file in files if file.is_file()]
    return tuple(sorted((name, about.st_mtime_ns, about.st_size) for name, about in stats))
