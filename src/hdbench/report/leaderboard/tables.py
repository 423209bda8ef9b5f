"""The table of a leaderboard, which every form for people draws, and its page."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from markupsafe import escape

from hdbench.about import __version__
from hdbench.benchmarks.agreement import Ceiling
from hdbench.benchmarks.titles import Titles
from hdbench.common.texts import in_terminal
from hdbench.report.leaderboard.boards import Board, BoardRow
from hdbench.report.leaderboard.figures import figures
from hdbench.report.leaderboard.words import (
    about_ranks,
    column_name,
    interval_in_words,
    marks_of,
    notes,
    people_in_short,
    short_name,
    signs_of,
    spread_in_words,
    title,
    verdict,
)
from hdbench.report.rendering import render
from hdbench.statistics.bootstrap import Interval

COLUMNS = {
    "rank": "ascending",
    "model": "ascending",
    "headline": "",
    "judged": "",
    "interval": "",
    "failures": "ascending",
    "without_media": "",
    "runs": "descending",
    "answered": "descending",
    "cost": "ascending",
    "seconds": "ascending",
    "tokens": "ascending",
}
"""Column → its order when first sorted; empty if the best comes first."""


class BoardCell(NamedTuple):
    """A cell of a leaderboard.

    Attributes:
        text: the text that it shows.
        value: the number by which it is sorted; None if it is sorted by its text.
    """

    text: str = ""
    value: float | None = None


BoardCells = dict[str, BoardCell]
"""Column → cell; columns may be missing in the row of people."""


class BoardTable(NamedTuple):
    """A leaderboard as it is shown.

    Attributes:
        rows: the models, the best first.
        people: the figures that people reach; None if the benchmark does not state them.
    """

    rows: list[BoardCells]
    people: BoardCells | None


def board_table(board: Board, language: str) -> BoardTable:
    """Return a leaderboard as it is shown.

    Args:
        board: the leaderboard.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    people = None if board.people is None else _people(board.people, language)
    return BoardTable([_cells(board, row, language) for row in board.rows], people)


def shown_columns(board: Board, language: str) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the texts of their cells, people first, as the ceiling above models.

    Columns without any value are left out.

    Args:
        board: see `board_table`, as for the others.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    table = board_table(board, language)
    rows = [*([] if table.people is None else [table.people]), *table.rows]
    texts = [{key: row.get(key, BoardCell()).text for key in COLUMNS} for row in rows]
    columns = [key for key in COLUMNS if key == "model" or any(row[key] for row in texts)]
    return columns, [[row[key] for key in columns] for row in texts]


def leaderboard_page(
    boards: Sequence[Board],
    language: str = "en",
    titles: Mapping[str, Titles] | None = None,
    report: Callable[[str], str] | None = None,
) -> str:
    """Return a page that needs no network and has tables that can be sorted and filtered.

    It can be written as UTF-8, and everything untrusted is escaped.

    Args:
        boards: the leaderboards.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.
        titles: benchmark → path of a field → its title, for the benchmarks that are here.
        report: name of a run → the address of its report, where runs have one.
    """
    of_fields = titles or {}
    rows = [row for board in boards for row in board.rows]
    return render(
        "leaderboard.html",
        language,
        tables=[table_on_page(board, language, report) for board in boards],
        figures=[
            figures(board, board.rows, language, of_fields.get(board.kind.benchmark, str))
            for board in boards
        ],
        families=sorted({row.family for row in rows if row.family}),
        has_open=any(row.open_weights for row in rows),
        has_local=any(row.runs_locally for row in rows),
        has_reports=report is not None,
        has_price=any(row.item_usd is not None for row in rows),
        has_seconds=any(row.seconds is not None for row in rows),
        version=__version__,
    )


def table_on_page(
    board: Board, language: str, report: Callable[[str], str] | None = None
) -> dict[str, object]:
    """Return a leaderboard for `board.html`, with the texts around it and the scale of its dots.

    Args:
        board: the leaderboard.
        language: see `leaderboard_page`, as for `report`.
        report: the addresses of reports.
    """
    table = board_table(board, language)
    best = "descending" if board.higher_is_better else "ascending"
    people = _people_interval(board)
    signs = [signs_of(row, language) for row in board.rows]
    return {
        "board": board,
        "title": title(board, language),
        "verdict": verdict(board, language),
        # As markup: the no-break space before a percent sign would be shown as its escape.
        "about_ranks": escape(about_ranks(board, language)),
        "notes": notes(board, language, titled=True),
        "columns": [
            (key, column_name(key, board, language, titled=True), first or best)
            for key, first in COLUMNS.items()
            if key in ("model", "headline") or any(row[key].text for row in table.rows)
        ],
        "signs": dict(chain(*(of_row.items() for of_row in signs))),
        "lines": [
            (
                cells,
                row.judged,
                row.interval,
                row,
                short_name(row.model),
                of_row,
                _links(row, report),
            )
            for cells, row, of_row in zip(table.rows, board.rows, signs, strict=True)
        ],
        "people": board.people and (table.people, board.people.value, people),
        "line": people_line(board),
        "ends": scale_of(board),
    }


def scale_of(board: Board) -> Interval | None:
    """Return the scale on which all intervals can be drawn; None if there are none."""
    ends = [
        each for each in (*(row.interval for row in board.rows), _people_interval(board)) if each
    ]
    low = min((interval.low for interval in ends), default=0.0)
    high = max((interval.high for interval in ends), default=0.0)
    return Interval(low, high) if low < high else None


def people_line(board: Board) -> float | None:
    """Return what people reach by the figure that ranks; None if it or its interval is unknown."""
    people = board.people
    is_same = people is not None and people.headline == board.judged_by
    return people.value if people and is_same and people.interval else None


def _links(row: BoardRow, report: Callable[[str], str] | None) -> list[tuple[str, str]]:
    """Return the address and the name of each report on a run of a model."""
    names = [run.run for run in row.runs if run.run]
    return [(report(name), short_name(name)) for name in names] if report else []


def _people_interval(board: Board) -> Interval | None:
    ends = board.people and board.people.interval
    return Interval(*ends) if ends else None


def number(value: float | None, language: str, form: str = ".3f") -> str:
    """Return a number as it is written in the language; empty if it is not known."""
    return "" if value is None else in_terminal(value, form, language)


def _people(people: Ceiling, language: str) -> BoardCells:
    ends = Interval(*people.interval) if people.interval else None
    headline, interval = _value(people.value, ends, language)
    model = BoardCell(people_in_short(people, language))
    return {"model": model, "headline": headline, "interval": interval}


def _value(
    value: float | None, ends: Interval | None, language: str
) -> tuple[BoardCell, BoardCell]:
    """Return a figure and its interval."""
    figure = number(value, language)
    if ends is None:
        return BoardCell(figure, value), BoardCell()
    return BoardCell(figure, value), BoardCell(interval_in_words(ends, language), ends.low)


def _cells(board: Board, row: BoardRow, language: str) -> BoardCells:
    def shown(value: float | None, form: str = ".3f") -> BoardCell:
        return BoardCell(number(value, language, form), value)

    judged, interval = _value(row.judged, row.interval, language)
    is_apart = board.judged_by != board.headline
    marks = marks_of(row)
    rank = BoardCell()
    if row.rank is not None:
        rank = BoardCell(row.rank.shown(), row.rank.low + row.rank.high / (len(board.rows) + 1))
    return {
        "rank": rank,
        "model": BoardCell(short_name(row.model) + (f" {marks}" if marks else "")),
        "headline": shown(row.value) if is_apart else judged,
        "judged": judged if is_apart else BoardCell(),
        "interval": interval,
        "failures": shown(row.failures, ".0%"),
        "without_media": shown(row.without_media),
        "runs": BoardCell(spread_in_words(row, language), len(row.runs)),
        "answered": shown(row.answered, ".0%"),
        "cost": shown(None if row.item_usd is None else 1000 * row.item_usd, ".2f"),
        "seconds": shown(row.seconds, ".1f"),
        "tokens": shown(row.tokens, ".0f"),
    }
