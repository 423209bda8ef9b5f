"""The tab with the recorded runs, ranked."""

from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any

import gradio as gr

from hdbench.common.texts import language_of
from hdbench.common.told import told
from hdbench.errors import HdbenchError
from hdbench.space.context import SpaceContext
from hdbench.space.jobs.rankings import Ranking, Rankings, Work
from hdbench.space.tabs.board import Filter, board_choices, board_key, board_view, chosen_board
from hdbench.space.tabs.settings import protocol_choice
from hdbench.space.texts import Say, TextError, reason, text
from hdbench.space.views.summary import problem

MAX_WORDS = 200
"""Maximum characters to search for."""

_SCORED = 0.8  # of the bar; the rest is for the ranking


def leaderboard_tab(context: SpaceContext, say: Say, benchmark: gr.Dropdown, tab: gr.Tab) -> None:
    """The tab's controls, within its `gr.Tab`: what they show is computed when it is opened.

    Args:
        context: the Space's context.
        say: the texts.
        benchmark: the choice of all tabs.
        tab: the tab.
    """
    rankings = Rankings(context)
    gr.Markdown(say("leaderboard_intro"))
    board = gr.Dropdown(
        [],
        label=say("leaderboard_board"),
        info=say("leaderboard_board_info"),
        elem_id="board",
        visible=False,
    )
    with gr.Accordion(say("leaderboard_filters"), open=False, elem_id="board-filters"):
        words = gr.Textbox(
            label=say("leaderboard_words"),
            info=say("leaderboard_words_info"),
            max_length=MAX_WORDS,
            elem_id="board-words",
        )
        with gr.Row():
            local = gr.Checkbox(label=say("leaderboard_local"), elem_id="board-local")
            weights = gr.Checkbox(label=say("leaderboard_open"), elem_id="board-open")
            strict = gr.Checkbox(label=say("leaderboard_strict"), elem_id="board-strict")
        protocol = protocol_choice(say, "board-protocol")
    shown = gr.HTML(elem_id="leaderboard", min_height=80)

    def view(  # noqa: PLR0917  Gradio gives the inputs in their order
        is_seen: bool | None,
        benchmark: str,
        protocol: str,
        board: str | None,
        words: str | None,  # None for a field that nobody has seen yet
        local: bool,
        weights: bool,
        strict: bool,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  so Gradio knows that one is wanted
    ) -> Iterator[list[Any]]:
        if not is_seen:  # nobody has opened the tab, and a ranking may take minutes
            yield [gr.skip(), gr.skip()]
            return
        language = language_of(request.headers.get("accept-language"))
        try:
            if not context.benchmark(benchmark).spec.ranked:
                titles = ", ".join(title for title, _ in context.ranked)
                raise TextError("leaderboard_unranked", ranked=titles)
            work = rankings.of(benchmark, protocol, strict=bool(strict))
            while not wait([work.ready], timeout=0.3).done:
                _tell(work, language, progress)
            chosen = Filter((words or "")[:MAX_WORDS], bool(local), bool(weights))
            ranking = work.ready.result()
            yield _view(context, benchmark, ranking, board, chosen, language)
        except HdbenchError as error:
            told = problem(reason(error, language), language, "leaderboard_error")
            yield [gr.update(visible=False), told]

    seen = gr.State()
    each_time: dict[str, Any] = {
        "fn": view,
        "inputs": [seen, benchmark, protocol, board, words, local, weights, strict],
        "outputs": [board, shown],
        "show_progress_on": shown,
        "api_visibility": "private",
    }
    opened = tab.select(lambda: True, None, seen, api_visibility="private", queue=False)
    opened.then(**each_time)
    gr.on([benchmark.change, protocol.input, board.input, strict.input], **each_time)
    gr.on(
        [words.change, local.input, weights.input],
        **each_time | {"show_progress": "hidden", "trigger_mode": "always_last"},
    )


def _tell(work: Work, language: str, progress: gr.Progress) -> None:
    if work.done < work.total:
        told = text("leaderboard_scoring", language, done=work.done, total=work.total)
        progress(_SCORED * work.done / work.total, desc=told)
    else:
        progress(_SCORED, desc=text("leaderboard_ranking", language))


def _view(  # noqa: PLR0917  as `board_view`
    context: SpaceContext,
    benchmark: str,
    ranking: Ranking,
    key: str | None,
    chosen: Filter,
    language: str,
) -> list[Any]:
    """The choice of boards, and the chosen one."""
    if not ranking.boards:
        why = [text("leaderboard_none", language)]
        why += [told(each, language) for each in ranking.left_out[:1]]
        message = problem(" ".join(why), language, "leaderboard_error")
        return [gr.update(choices=[], value=None, visible=False), message]
    board = chosen_board(ranking.boards, key)
    choices = board_choices(ranking.boards, language)
    html = board_view(context.benchmark(benchmark), ranking, board, chosen, language)
    several = len(choices) > 1
    return [gr.update(choices=choices, value=board_key(board), visible=several), html]
