"""The tab with the recorded runs, ranked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote

import gradio as gr

from hdbench.answers.subset import subset_in_words
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.translation import is_translated, translated
from hdbench.errors import HdbenchError, escaped
from hdbench.output.leaderboard.boards import Board
from hdbench.output.leaderboard.figures import figures
from hdbench.output.leaderboard.words import AFTER_PUBLIC, FROM_DRAFTS, signs_of, verdict
from hdbench.output.report.items import cut
from hdbench.output.report.page import MAX_MESSAGE
from hdbench.results.model_facts import ModelFacts
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.recorded_runs import Ranking, Rankings
from hdbench.space.tabs.shared import BAR, PRIVATE, Given, field, protocol_choice, visitor_of
from hdbench.space.texts import Say, TextError, reason, text
from hdbench.space.views.summary import problem, render
from hdbench.statistics.bootstrap import MIN_ITEMS

MAX_WORDS = 200
"""Maximum characters of a search."""

_SCORED = 0.8  # share of the bar; the rest is for the ranking

MAX_NAME = 80
"""Maximum characters of an untrusted name that are shown."""

MAX_LEFT_OUT = 20
"""Maximum number of unusable runs that are named."""

_WORDS = {"not published": "leaderboard_not_published", "proprietary": "leaderboard_proprietary"}


def leaderboard_tab(context: SpaceContext, say: Say, benchmark: gr.Dropdown, tab: gr.Tab) -> None:
    """Add the tab's controls to its `gr.Tab`; their content is computed when it is opened.

    Args:
        context: the Space's context.
        say: the texts.
        benchmark: the choice of all tabs.
        tab: the tab.
    """
    rankings = Rankings(context)

    def form(kind: Any, name: str, **options: Any) -> Any:
        return field(kind, say, f"leaderboard_{name}", **{"elem_id": f"board-{name}"} | options)

    with gr.Accordion(say("leaderboard_filters"), open=False, elem_id="board-filters"):
        board = form(gr.Dropdown, "board", choices=[], elem_id="board", visible=False)
        words = form(gr.Textbox, "words", max_length=MAX_WORDS)
        with gr.Row():
            local = form(gr.Checkbox, "local")
            weights = form(gr.Checkbox, "open")
            strict = form(gr.Checkbox, "strict")
        protocol = protocol_choice(say, "board-protocol")
    output = gr.HTML(elem_id="leaderboard", min_height=80)
    opened = gr.State()

    def view(
        values: Given, request: gr.Request, progress: gr.Progress = BAR
    ) -> Iterator[list[Any]]:
        if not values[opened]:  # nobody has opened the tab, and a ranking may take minutes
            yield [gr.skip(), gr.skip()]
            return
        language = visitor_of(request).language
        try:
            chosen = context.benchmark(values[benchmark])
            if not chosen.spec.ranked:
                titles = ", ".join(title for title, _ in context.ranked)
                raise TextError("leaderboard_unranked", ranked=titles)
            work = rankings.of(values[benchmark], values[protocol], strict=bool(values[strict]))
            while not wait([work.ready], timeout=0.3).done:
                count = {"done": work.done, "total": work.total}
                doing = "leaderboard_scoring" if work.done < work.total else "leaderboard_ranking"
                share = _SCORED * work.done / (work.total or 1)
                progress(share, desc=text(doing, language, **count))
            sought = (values[words] or "")[:MAX_WORDS]  # None for a field that was never shown
            filters = Filter(sought, bool(values[local]), bool(values[weights]))
            yield _view(chosen, work.ready.result(), values[board], filters, language)
        except HdbenchError as error:
            message = problem(reason(error, language), language, "leaderboard_error")
            yield [gr.update(visible=False), message]

    each_time: dict[str, Any] = {
        "fn": view,
        "inputs": {opened, benchmark, protocol, board, words, local, weights, strict},
        "outputs": [board, output],
        "show_progress_on": output,
        **PRIVATE,
    }
    tab.select(lambda: True, None, opened, queue=False, **PRIVATE).then(**each_time)
    gr.on([benchmark.change, protocol.input, board.input, strict.input], **each_time)
    gr.on(
        [words.change, local.input, weights.input],
        **each_time | {"show_progress": "hidden", "trigger_mode": "always_last"},
    )


class Filter(NamedTuple):
    """The models that a visitor wants to see.

    Attributes:
        words: the words that the name must contain.
        runs_locally: only models that are known to run locally.
        open_weights: only models whose weights are known to be open.
    """

    words: str = ""
    runs_locally: bool = False
    open_weights: bool = False

    def keeps(self, model: str, facts: ModelFacts | None) -> bool:
        """Return whether a model is shown."""
        return (
            self.words.strip().casefold() in model.casefold()
            and (not self.runs_locally or (facts is not None and bool(facts.runs_locally)))
            and (not self.open_weights or (facts is not None and bool(facts.open_weights)))
        )


def _view(
    benchmark: Benchmark, ranking: Ranking, key: str | None, chosen: Filter, language: str
) -> list[Any]:
    """Return the choice of boards, and the chosen one, otherwise the first."""
    if not ranking.boards:
        reasons = [translated(error, language) for error in ranking.left_out[:1]]
        message = " ".join([text("leaderboard_none", language), *reasons])
        hidden = gr.update(choices=[], value=None, visible=False)
        return [hidden, problem(message, language, "leaderboard_error")]
    choices = _board_choices(ranking.boards, language)
    board = next((board for board in ranking.boards if _board_key(board) == key), ranking.boards[0])
    html = board_view(benchmark, ranking, board, chosen, language)
    several = len(choices) > 1
    return [gr.update(choices=choices, value=_board_key(board), visible=several), html]


def _board_key(board: Board) -> str:
    """Return a board's key among those of its benchmark; it stays when runs are added.

    For both protocols, the boards of one question have the same key.
    """
    _, items, prompt = board.kind.question
    return f"{items} {prompt or ''}"


def _board_choices(boards: Sequence[Board], language: str) -> list[tuple[str, str]]:
    """Return the boards to choose from: each one's title and key."""
    names = [_name(board, language) for board in boards]
    times = Counter(names)
    return [
        (
            name if times[name] == 1 else f"{name} [{cut(escaped(_board_key(board)), MAX_NAME)}]",
            _board_key(board),
        )
        for name, board in zip(names, boards, strict=True)
    ]


def board_view(
    benchmark: Benchmark, ranking: Ranking, board: Board, chosen: Filter, language: str
) -> str:
    """Return a leaderboard as HTML: untrusted text is escaped.

    Args:
        benchmark: the board's benchmark.
        ranking: the ranking that it belongs to.
        board: the leaderboard.
        chosen: the filter that hides rows; the ranks stay.
        language: the interface's language.
    """
    rows = [row for row in board.rows if chosen.keeps(row.model, ranking.facts.get(row.model))]
    people, signs = board.people, [signs_of(row, language) for row in rows]
    return render(
        "board.html",
        language,
        benchmark=benchmark.spec,
        board=board,
        name=_name(board, language),
        rows=rows,
        figures=figures(board, rows, language, benchmark.field_titles(language)),
        after_public=AFTER_PUBLIC,
        from_drafts=FROM_DRAFTS,
        verdict=verdict(board, language),
        signs=signs,
        legend=dict(chain(*(of_row.items() for of_row in signs))),
        facts=ranking.facts,
        span=_span(board),
        people_line=people.value if people and people.headline == board.judged_by else None,
        least=MIN_ITEMS,
        boards=[name for name, _ in _board_choices(ranking.boards, language)],
        word=lambda value: _word(value, language),
        cut=lambda value: cut(value, MAX_NAME),
        report=lambda run: report_address(board.kind.benchmark, run, board.kind.protocol),
        left_out=[
            (cut(translated(message, language), MAX_MESSAGE), is_translated(message, language))
            for message in ranking.left_out[:MAX_LEFT_OUT]
        ],
        left_out_count=len(ranking.left_out),
    )


def report_address(benchmark: str, run: str, protocol: str) -> str:
    """Return the address of a run's report, relative to the page.

    Example:
        >>> report_address("hdb/zettelkatalog", "2026/a b", "documented")
        'report/zettelkatalog/2026%2Fa%20b?protocol=documented'
    """
    name = benchmark.rpartition("/")[2]
    return f"report/{quote(name, safe='')}/{quote(run, safe='')}?protocol={protocol}"


def _name(board: Board, language: str) -> str:
    """Return the conditions of the board's runs, and its number of models."""
    kind = board.kind
    subset = translated(subset_in_words(kind.subset or ""), language)
    if kind.prompt is None:
        prompt = text("leaderboard_no_prompt", language)
    else:
        prompt = cut(escaped(kind.prompt), MAX_NAME)
    return text(
        "leaderboard_board_name",
        language,
        items=kind.items,
        subset=f" ({cut(escaped(subset), MAX_NAME)})" if subset else "",
        prompt=prompt,
        models=len(board.rows),
    )


def _word(value: str | None, language: str) -> str:
    """Return a fact as readers see it."""
    if value is None:
        return text("leaderboard_unknown", language)
    return text(_WORDS[value], language) if value in _WORDS else cut(value, MAX_NAME)


def _span(board: Board) -> tuple[float, float]:
    """Return the lowest and the highest of all intervals and values, people's among them."""
    ends = [row.judged for row in board.rows]
    for row in board.rows:
        if row.interval is not None:
            ends += row.interval.ends
    if board.people is not None and board.people.headline == board.judged_by:
        ends.append(board.people.value)
    return min(ends), max(ends)
