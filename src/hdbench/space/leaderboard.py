"""The recorded runs: ranked ahead, and the report of each, made on request."""

import asyncio
import hashlib
import json
from collections.abc import Generator, Iterable, Sequence
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from hdbench.about import __version__
from hdbench.benchmarks.model_facts import MODELS_FILE, RESULTS, ModelFacts, read_model_facts
from hdbench.common.cache import FileCache, user_cache
from hdbench.common.texts import LANGUAGES, is_translated, translated
from hdbench.errors import HdbenchError, escaped, without_folders
from hdbench.evaluation.result import Result
from hdbench.report.leaderboard.boards import Board, leaderboards
from hdbench.report.leaderboard.tables import leaderboard_page
from hdbench.report.page import report_page
from hdbench.scoring.metric import PROTOCOLS
from hdbench.space.cards import cards, cards_html
from hdbench.space.context import SpaceContext
from hdbench.space.guard import SANDBOX
from hdbench.space.queue import Queue, QueuedWork
from hdbench.space.scoring import Upload, score_upload, write_example
from hdbench.space.texts import page_language, reason, text
from hdbench.space.work import Progress, send, work

TIMES = 20
"""How many times as much time and memory a ranking may take as a visitor's file."""

MAX_KEPT = 2**26
"""Maximum bytes of a leaderboard that is kept: one of a hundred models has some 300 kB."""

MAX_REPORTS = 8
"""Maximum number of reports that are kept, the latest requested; one for 263 cards has 6 MB."""

State = tuple[tuple[str, int, int], ...]
"""The name, time and size of each file that something is computed from."""


class Leaderboards:
    """The leaderboards of a Space and its cards, made ahead in an order, and kept in files.

    Args:
        context: the Space's context.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self._cache = FileCache(user_cache() / "leaderboards", max_entry=MAX_KEPT)
        self._cache.bound(10 * MAX_KEPT)
        self.queue = Queue(1, most=10_000, keep=context.keep_seconds, patience=float("inf"))

    def begin(self) -> None:
        """Begin to rank the runs of all benchmarks, the first one's first."""
        names = sorted(self._context.benchmarks, key=lambda name: name != self._context.first)
        for strict, protocol in product((False, True), PROTOCOLS):
            for name in names:
                self.piece(name, protocol, strict=strict)

    def piece(self, name: str, protocol: str, *, strict: bool) -> QueuedWork:
        """Return the work on a leaderboard of the runs as they are now; it shows `ranked`.

        Args:
            name: the benchmark's name.
            protocol: `documented` or `published`.
            strict: use the figures in which only valid JSON counts.

        Raises:
            HdbenchError: there is no such benchmark.
        """
        benchmark = self._context.benchmark(name)
        runs = [each for run in self._context.run_folders(name).values() for each in run.iterdir()]
        files = [self._context.namespace / RESULTS / MODELS_FILE, *benchmark.folder.iterdir()]
        key = name, protocol, strict, _state([*runs, *files])
        return self.queue.piece(key, partial(self._steps, *key))

    def _steps(
        self, name: str, protocol: str, strict: bool, state: State
    ) -> Generator[Any, None, None]:
        asked = (_sources(), str(self._context.namespace), name, protocol, strict, state)
        key = hashlib.sha256(repr(asked).encode()).hexdigest()
        if (kept := self._cache.get(key)) is not None:
            yield json.loads(kept)
            return
        shown = None
        for message in work(ranked, self._context, name, protocol, strict, times=TIMES):
            shown = message
            yield message
        self._cache.add(key, json.dumps(shown).encode())


def ranked(
    context: SpaceContext, name: str, protocol: str, strict: bool
) -> dict[str, dict[str, Any]]:
    """Rank the recorded runs of a benchmark; sends its `Progress`.

    Args:
        context: the Space's context.
        name: the benchmark's name.
        protocol: `documented` or `published`.
        strict: use the figures in which only valid JSON counts.

    Returns:
        Language → `board`, the page of leaderboards, empty if there is none; `left_out`, reasons
        why a run or the facts could not be used; `cards`, the first screen, as HTML.
    """
    benchmark, folders = context.benchmark(name), context.run_folders(name)
    results: dict[str, Result] = {}
    left_out: list[str] = []
    facts: dict[str, ModelFacts] = {}
    for number, (run, folder) in enumerate(folders.items()):
        send(Progress("leaderboard_scoring", number, len(folders)))
        try:
            result = score_run(context, name, folder, protocol, details=False)
            results[run] = result.strictly() if strict else result
        except HdbenchError as error:
            left_out.append(error.message)
    send(Progress("leaderboard_ranking"))
    place = context.namespace / RESULTS
    try:
        facts = read_model_facts(place)
    except HdbenchError as error:
        left_out.append(without_folders(error.message, place))
    boards: list[Board] = []
    if benchmark.spec.ranked:
        boards = sorted(leaderboards(results, facts=facts), key=lambda board: -len(board.rows))
    rows = boards[0].rows if boards else []
    ends = {row.model: folders[str(row.runs[0].run)] for row in (*rows[:1], *rows[-1:])}
    shown = cards(
        benchmark,
        {
            model: score_run(context, name, folder, protocol, details=True)
            for model, folder in ends.items()
        }
        or _example(context, name),
    )
    return {
        language: {
            "board": board_page(context, boards, name, language) if boards else "",
            "left_out": [
                (translated(message, language), is_translated(message, language))
                for message in left_out
            ],
            "cards": cards_html(benchmark, shown, boards, language),
        }
        for language in LANGUAGES
    }


def _example(context: SpaceContext, name: str) -> dict[str, Result]:
    """Return the scored example of a benchmark by its file's name; empty if it has no answers."""
    with TemporaryDirectory() as folder:
        try:
            example = write_example(context.benchmark(name), Path(folder))
            _, results = score_upload(context, Upload(name, example))
        except HdbenchError:  # scoring it will say why
            return {}
    return {example.name: next(iter(results.values()))}


def board_page(
    context: SpaceContext, boards: Sequence[Board], benchmark: str, language: str
) -> str:
    """Return the page of leaderboards, each run with a link to its report.

    Args:
        context: the Space's context.
        boards: the leaderboards.
        benchmark: their benchmark's name.
        language: the page's language.
    """
    titles = context.benchmark(benchmark).field_titles(language)
    report = partial(report_address, benchmark, boards[0].kind.protocol, language)
    return leaderboard_page(boards, language, {boards[0].kind.benchmark: titles}, report)


def report_address(benchmark: str, protocol: str, language: str, run: str) -> str:
    """Return the address of a run's report, relative to the page of leaderboards.

    Example:
        >>> report_address("zettelkatalog", "documented", "de", "2026/a b")
        'report/zettelkatalog/2026%2Fa%20b?protocol=documented&lang=de'
    """
    query = urlencode({"protocol": protocol, "lang": language})
    return f"report/{quote(benchmark, safe='')}/{quote(run, safe='')}?{query}"


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
        language = page_language(request)
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
        headers = {"Content-Security-Policy": SANDBOX, "Cache-Control": "no-cache"}
        return HTMLResponse(page, headers=headers)

    return Route("/report/{benchmark}/{run}", answer)


def _state(files: Iterable[Path]) -> State:
    """Return a value that changes when one of the files changes or another is added."""
    stats = [(str(file), file.stat()) for file in files if file.is_file()]
    return tuple(sorted((name, about.st_mtime_ns, about.st_size) for name, about in stats))


@cache
def _sources() -> tuple[str, int]:
    """Return a value that changes when hdbench itself does, with which pages are drawn anew."""
    root = Path(__file__).parents[1]
    return __version__, max(file.stat().st_mtime_ns for file in root.rglob("*.*"))
