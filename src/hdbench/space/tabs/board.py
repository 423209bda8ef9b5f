"""What is shown of a leaderboard: which ones there are, and one of them as HTML."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.told import is_told, told
from hdbench.errors import escaped
from hdbench.leaderboard.boards import Board, BoardRow
from hdbench.leaderboard.words import AFTER_PUBLIC, FROM_DRAFTS, marks_of
from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.results.model_facts import ModelFacts
from hdbench.results.warning_texts import in_words, people_in_words
from hdbench.space.jobs.rankings import Ranking
from hdbench.space.texts import text
from hdbench.space.views.summary import render
from hdbench.statistics.bootstrap import MIN_ITEMS

MAX_NAME = 80
"""How many characters of an untrusted name are shown."""

MAX_LEFT_OUT = 20
"""How many unusable runs are named."""

_WORDS = {"not published": "leaderboard_not_published", "proprietary": "leaderboard_proprietary"}


class Filter(NamedTuple):
    """Which models a visitor wants to see.

    Attributes:
        words: what the name must contain.
        runs_locally: only models that are known to run locally.
        open_weights: only models whose weights are known to be open.
    """

    words: str = ""
    runs_locally: bool = False
    open_weights: bool = False

    def keeps(self, model: str, facts: ModelFacts | None) -> bool:
        """Whether a model is shown."""
        return (
            self.words.strip().casefold() in model.casefold()
            and (not self.runs_locally or (facts is not None and bool(facts.runs_locally)))
            and (not self.open_weights or (facts is not None and bool(facts.open_weights)))
        )


class Bar(NamedTuple):
    """Where an interval and its value lie, as a percentage of the whole board's span."""

    low: float
    high: float
    value: float


def board_key(board: Board) -> str:
    """What tells a board from others of its benchmark and protocol; it stays when runs are added.

    For both protocols, the boards of one question have the same key.
    """
    _, items, prompt = board.kind.question
    return f"{items} {prompt or ''}"


def board_choices(boards: Sequence[Board], language: str) -> list[tuple[str, str]]:
    """The boards to choose from: what is shown of each, and its key."""
    names = [_name(board, language) for board in boards]
    times = Counter(names)
    return [
        (
            name if times[name] == 1 else f"{name} [{cut(escaped(board_key(board)), MAX_NAME)}]",
            board_key(board),
        )
        for name, board in zip(names, boards, strict=True)
    ]


def chosen_board(boards: Sequence[Board], key: str | None) -> Board:
    """The board of a key, otherwise the first."""
    return next((board for board in boards if board_key(board) == key), boards[0])


def board_view(
    benchmark: Benchmark, ranking: Ranking, board: Board, chosen: Filter, language: str
) -> str:
    """A leaderboard as HTML: untrusted text is escaped.

    Args:
        benchmark: the board's benchmark.
        ranking: the ranking that it belongs to.
        board: the leaderboard.
        chosen: hides rows; the ranks stay.
        language: the interface's language.
    """
    rows = [row for row in board.rows if chosen.keeps(row.model, ranking.facts.get(row.model))]
    span = _span(board.rows)
    return render(
        "board.html",
        language,
        benchmark=benchmark.spec,
        language=language,
        board=board,
        name=_name(board, language),
        rows=rows,
        after_public=AFTER_PUBLIC,
        from_drafts=FROM_DRAFTS,
        marks_of=marks_of,
        floors=any(row.without_media is not None for row in rows),
        marked=any(row.after_public for row in rows),
        drafted=max((row.drafted for row in rows), default=0),
        apart=[row for row in rows if row.runs_apart],
        people=None if board.people is None else people_in_words(board.people, language),
        people_means=in_words("people_means", {}, language),
        facts=ranking.facts,
        bar=lambda row: _bar(row, span),
        span=span,
        has_seconds=any(row.seconds is not None for row in board.rows),
        has_cost=any(row.cost_usd is not None for row in board.rows),
        runs=sum(len(row.runs) for row in board.rows),
        least=MIN_ITEMS,
        boards=[name for name, _ in board_choices(ranking.boards, language)],
        word=lambda value: _word(value, language),
        cut=lambda value: cut(value, MAX_NAME),
        report=lambda run: report_address(board.kind.benchmark, run, board.kind.protocol),
        left_out=[
            (cut(told(each, language), MAX_MESSAGE), is_told(each, language))
            for each in ranking.left_out[:MAX_LEFT_OUT]
        ],
        left_out_count=len(ranking.left_out),
    )


def report_address(benchmark: str, run: str, protocol: str) -> str:
    """Where the report of a run is served, relative to the page.

    Example:
        >>> report_address("hdb/zettelkatalog", "2026/a b", "documented")
        'report/zettelkatalog/2026%2Fa%20b?protocol=documented'
    """
    name = benchmark.rpartition("/")[2]
    return f"report/{quote(name, safe='')}/{quote(run, safe='')}?protocol={protocol}"


def _name(board: Board, language: str) -> str:
    """What the board's runs were asked, and how many models there are."""
    kind = board.kind
    if kind.prompt is None:
        prompt = text("leaderboard_no_prompt", language)
    else:
        prompt = cut(escaped(kind.prompt), MAX_NAME)
    return text(
        "leaderboard_board_name",
        language,
        items=kind.items,
        subset=f" ({cut(escaped(kind.subset), MAX_NAME)})" if kind.subset else "",
        prompt=prompt,
        models=len(board.rows),
    )


def _word(value: bool | str | None, language: str) -> str:
    """A fact as readers see it."""
    if value is None:
        return text("leaderboard_unknown", language)
    if isinstance(value, bool):
        return text("leaderboard_yes" if value else "leaderboard_no", language)
    return text(_WORDS[value], language) if value in _WORDS else cut(value, MAX_NAME)


def _span(rows: Sequence[BoardRow]) -> tuple[float, float]:
    """The lowest and the highest of all intervals and values."""
    ends = [row.judged for row in rows]
    for row in rows:
        if row.interval is not None:
            ends += [row.interval.low, row.interval.high]
    return min(ends), max(ends)


def _bar(row: BoardRow, span: tuple[float, float]) -> Bar | None:
    start, end = span
    if row.interval is None or end <= start:
        return None
    low, high, value = (
        round(100 * (each - start) / (end - start), 1)
        for each in (row.interval.low, row.interval.high, row.judged)
    )
    return Bar(low, high, value)
