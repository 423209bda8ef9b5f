"""Leaderboards as one page that needs no network, and whose tables can be sorted."""

from collections.abc import Sequence
from typing import NamedTuple

from hdbench import __version__
from hdbench.benchmarks.agreement import Ceiling
from hdbench.output.leaderboard.boards import Board, BoardRow
from hdbench.output.leaderboard.columns import number
from hdbench.output.leaderboard.words import (
    about_ranks,
    column_name,
    interval_in_words,
    marks_of,
    notes,
    people_in_short,
    short_name,
    spread_in_words,
    title,
)
from hdbench.output.report.rendering import render
from hdbench.statistics.bootstrap import Interval


class BoardColumn(NamedTuple):
    """A column of a table.

    Attributes:
        key: its name.
        heading: what stands above it.
        first: `ascending` or `descending`: how it is sorted when it is first asked for.
    """

    key: str
    heading: str
    first: str


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: what it shows.
        value: the number by which it is sorted; None if that is its text.
    """

    text: str
    value: float | None = None


class BoardLine(NamedTuple):
    """A row of a table.

    Attributes:
        cells: column's key → cell.
        value: the figure that ranks.
        interval: its interval.
    """

    cells: dict[str, Cell]
    value: float
    interval: Interval | None


class BoardTable(NamedTuple):
    """A leaderboard as it is shown.

    Attributes:
        title: what its runs have in common.
        about_ranks: what a rank means, or why there is none.
        notes: how to read it.
        columns: those about which something is known; it is sorted by `judged`, or by `headline`
            where there is none.
        lines: the models, the best first.
        people: what people reach.
        signature: of the first run.
        ends: the scale on which the intervals are drawn; None if there are none.
        higher_is_better: the headline's direction.
    """

    title: str
    about_ranks: str
    notes: list[str]
    columns: list[BoardColumn]
    lines: list[BoardLine]
    people: BoardLine | None
    signature: str
    ends: Interval | None
    higher_is_better: bool


def leaderboard_page(boards: Sequence[Board], language: str = "en") -> str:
    """The page; it can be written as UTF-8, and everything that is not ours is escaped.

    Args:
        boards: the leaderboards.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.
    """
    tables = [_table(board, language) for board in boards]
    return render("leaderboard.html", language, tables=tables, version=__version__)


def _table(board: Board, language: str) -> BoardTable:
    lines = [
        BoardLine(_cells(board, row, language), row.judged, row.interval) for row in board.rows
    ]
    people = None if board.people is None else _of_people(board.people, language)
    shown = [*lines, *([people] if people else [])]
    intervals = [line.interval for line in shown if line.interval is not None]
    ends = None
    if intervals:
        low, high = min(each.low for each in intervals), max(each.high for each in intervals)
        ends = Interval(low, high) if low < high else None
    return BoardTable(
        title(board, language),
        about_ranks(board, language),
        notes(board, language),
        [
            BoardColumn(key, column_name(key, board, language), first)
            for key, first in _columns(board).items()
            if key in ("model", "headline") or any(line.cells[key].text for line in lines)
        ],
        lines,
        people,
        board.rows[0].runs[0].signature,
        ends,
        board.higher_is_better,
    )


def _columns(board: Board) -> dict[str, str]:
    """Column's key → how it is sorted first: the best at the top."""
    best = "descending" if board.higher_is_better else "ascending"
    return {
        "rank": "ascending",
        "model": "ascending",
        "headline": best,
        "judged": best,
        "interval": best,
        "without_media": best,
        "runs": "descending",
        "answered": "descending",
        "seconds": "ascending",
        "tokens": "ascending",
        "cost": "ascending",
    }


def _cells(board: Board, row: BoardRow, language: str) -> dict[str, Cell]:
    def shown(value: float | None, form: str = ".3f") -> Cell:
        return Cell(number(value, language, form), value)

    marks = marks_of(row)
    rank = Cell("")
    if row.rank is not None:
        rank = Cell(row.rank.shown(), row.rank.low + row.rank.high / (len(board.rows) + 1))
    return {
        "rank": rank,
        "model": Cell(short_name(row.model) + (f" {marks}" if marks else "")),
        "headline": shown(row.value),
        "judged": shown(row.judged) if board.judged_by != board.headline else Cell(""),
        "interval": _interval(row.interval, language),
        "without_media": shown(row.without_media),
        "runs": Cell(spread_in_words(row, language), len(row.runs)),
        "answered": shown(row.answered, ".0%"),
        "seconds": shown(row.seconds, ".1f"),
        "tokens": shown(row.tokens, ".0f"),
        "cost": shown(row.cost_usd, ".2f"),
    }


def _of_people(people: Ceiling, language: str) -> BoardLine:
    interval = people.interval and Interval(*people.interval)
    cells = {
        "model": Cell(people_in_short(people, language)),
        "headline": Cell(number(people.value, language), people.value),
        "interval": _interval(interval, language),
    }
    return BoardLine(cells, people.value, interval or None)


def _interval(ends: Interval | None, language: str) -> Cell:
    return Cell("") if ends is None else Cell(interval_in_words(ends, language), ends.low)
