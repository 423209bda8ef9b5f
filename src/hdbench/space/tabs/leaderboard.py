"""The tab with the recorded runs, ranked."""

from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import gradio as gr
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from hdbench.common.texts import is_translated, translated
from hdbench.errors import HdbenchError
from hdbench.report.items import cut
from hdbench.report.leaderboard.tables import leaderboard_page
from hdbench.report.page import MAX_MESSAGE
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.recorded_runs import Ranking, Rankings
from hdbench.space.server.page import PARAMETER
from hdbench.space.tabs.shared import (
    BAR,
    LEADERBOARD_TAB,
    PRIVATE,
    Choice,
    field,
    language_of_visitor,
    protocol_choice,
)
from hdbench.space.texts import Say, TextError, reason, text
from hdbench.space.views.report_files import POLICY
from hdbench.space.views.summary import problem, render

_SCORED = 0.8  # share of the bar; the rest is for the ranking

# While another tab is open, no benchmark is passed: a ranking may take minutes.
_IF_OPEN = f"(name, ...rules) => [hdbenchIsOpen({LEADERBOARD_TAB!r}) ? name : null, ...rules]"

MAX_LEFT_OUT = 20
"""Maximum number of unusable runs that are named."""


_pages: dict[tuple[str, str, bool, str], str] = {}
"""Benchmark, protocol, way of reading and language → the latest page of these leaderboards."""


async def _page(request: Request) -> Response:
    asked = request.query_params
    rules = asked.get("benchmark", ""), asked.get("protocol", ""), bool(asked.get("strict"))
    page = _pages.get((*rules, asked.get(PARAMETER, "")))
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
    return HTMLResponse(page or "", 200 if page else 404, headers)


PAGES = Route("/leaderboard", _page)
"""The route of leaderboards, which the tab shows in a frame."""


def leaderboard_tab(
    context: SpaceContext, say: Say, benchmark: gr.Dropdown, tab: gr.Tab
) -> dict[str, Choice]:
    """Add the tab's controls to its `gr.Tab`; their content is computed when it is opened.

    Args:
        context: the Space's context.
        say: the texts.
        benchmark: the choice of all tabs.
        tab: the tab.

    Returns:
        Parameter of a link to a leaderboard → the control that it sets.
    """
    rankings = Rankings(context)
    with gr.Accordion(say("advanced"), open=False, elem_id="board-rules"):
        protocol = protocol_choice(say, "board-protocol")
        strict = field(gr.Checkbox, say, "leaderboard_strict", elem_id="board-strict")
    output = gr.HTML(elem_id="leaderboard", min_height=80)

    def view(
        name: str | None,
        protocol: str,
        strict: bool,
        request: gr.Request,
        progress: gr.Progress = BAR,
    ) -> Any:
        if name is None:
            return gr.skip()
        language = language_of_visitor(request)

        def tell(done: int, total: int | None) -> None:
            doing = "leaderboard_ranking" if done == total else "leaderboard_scoring"
            line = text(doing, language, done=done, total=total)
            progress(_SCORED * done / (total or 1), desc=line)

        chosen = {"benchmark": name, "protocol": protocol, "strict": "on" if strict else ""}
        try:
            if not context.benchmark(name).spec.ranked:
                titles = ", ".join(title for title, _ in context.ranked)
                raise TextError("leaderboard_unranked", ranked=titles)
            ranking = rankings.of(name, protocol, strict=strict, tell=tell)
            if not ranking.boards:
                reasons = [translated(error, language) for error in ranking.left_out[:1]]
                message = " ".join([text("leaderboard_none", language), *reasons])
                return problem(message, language, "leaderboard_error")
            address = f"leaderboard?{urlencode(chosen | {PARAMETER: language})}"
            _pages[name, protocol, strict, language] = board_page(context, ranking, name, language)
            link = urlencode({"tab": LEADERBOARD_TAB} | chosen)
            return board_view(ranking, address, link, language)
        except HdbenchError as error:
            return problem(reason(error, language), language, "leaderboard_error")

    # One event, so that a ranking that was asked for earlier never arrives later: it waits for the
    # one before. A link sets fields before it opens the tab, which is none of their inputs.
    gr.on(
        [tab.select, benchmark.input, protocol.input, strict.input],
        view,
        [benchmark, protocol, strict],
        output,
        js=_IF_OPEN,
        show_progress_on=output,
        trigger_mode="always_last",
        concurrency_limit=1,  # whoever comes meanwhile finds the ranking ready
        **PRIVATE,
    )
    return {"benchmark": benchmark, "protocol": protocol, "strict": strict}


def board_view(ranking: Ranking, address: str, link: str, language: str) -> str:
    """Return leaderboards in a frame as HTML, with what could not be ranked below them.

    Args:
        ranking: the leaderboards.
        address: the address of their page.
        link: the parameters of a link to them.
        language: the interface's language.
    """
    return render(
        "board.html",
        language,
        address=address,
        link=link,
        left_out=[
            (cut(translated(message, language), MAX_MESSAGE), is_translated(message, language))
            for message in ranking.left_out[:MAX_LEFT_OUT]
        ],
        left_out_count=len(ranking.left_out),
    )


def board_page(context: SpaceContext, ranking: Ranking, benchmark: str, language: str) -> str:
    """Return the page of leaderboards, each run with a link to its report.

    Args:
        context: the Space's context.
        ranking: the leaderboards.
        benchmark: their benchmark's name.
        language: the page's language.
    """
    boards = ranking.boards
    titles = context.benchmark(benchmark).field_titles(language)
    report = partial(report_address, benchmark, boards[0].kind.protocol, language)
    return leaderboard_page(boards, language, {boards[0].kind.benchmark: titles}, report)


def report_address(benchmark: str, protocol: str, language: str, run: str) -> str:
    """Return the address of a run's report, relative to the page of leaderboards.

    Example:
        >>> report_address("zettelkatalog", "documented", "de", "2026/a b")
        'report/zettelkatalog/2026%2Fa%20b?protocol=documented&lang=de'
    """
    query = urlencode({"protocol": protocol, PARAMETER: language})
    return f"report/{quote(benchmark, safe='')}/{quote(run, safe='')}?{query}"
