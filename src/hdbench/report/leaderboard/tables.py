"""The table of a leaderboard, which every form for people draws, and its page."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from markupsafe import Markup, escape

from hdbench.about import __version__
from hdbench.benchmarks.titles import Titles
from hdbench.common.display.marks import heat_table, picture
from hdbench.common.display.table import Cell, Column, Head, Table
from hdbench.common.display.words import Cost
from hdbench.report.leaderboard.boards import Board, BoardRow
from hdbench.report.leaderboard.words import (
    about_ranks,
    column_name,
    marks_of,
    notes,
    people_in_short,
    say,
    short_name,
    signs_of,
    spread_in_words,
    title,
    verdict,
)
from hdbench.report.rendering import render
from hdbench.scoring.metric import figure_heading
from hdbench.statistics.bootstrap import Interval

FIRST = {
    "rank": "ascending",
    "model": "ascending",
    "failures": "ascending",
    "runs": "descending",
    "answered": "descending",
    "cost": "ascending",
    "seconds": "ascending",
    "tokens": "ascending",
}
"""Column → its order when first sorted; in the others, the best comes first."""

Cells = Mapping[str, Cell]
"""Column → cell, those of the figure's interval under `interval`; empty ones are missing."""


def board_table(
    board: Board, language: str, *, titled: bool = False, with_runs: bool = True
) -> Table:
    """Return a leaderboard as it is shown, people first, as the ceiling above models.

    Args:
        board: the leaderboard.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titled: whether figures are called by their titles; see `notes`.
        with_runs: whether it says how far several runs of a model lie apart.
    """
    ends, is_apart = ("low", "high"), board.judged_by != board.headline
    judged = "judged" if is_apart else "headline"
    rows = [_row(row, judged, language) for row in board.rows]
    if (people := board.people) is not None:
        low, high = people.interval or (None, None)
        model = people_in_short(people, language)
        figure = judged if people.headline == board.judged_by else "headline"
        rows.insert(0, {"model": model, figure: people.value, "low": low, "high": high})
    columns = [
        Column("rank"),
        Column("model"),
        Column("headline", "rate", ends=None if is_apart else ends),
        *([Column("judged", "rate", ends=ends)] if is_apart else []),
        Column("failures", "share"),
        Column("without_media", "rate"),
        *([Column("runs")] if with_runs else []),
        Column("answered", "share"),
        Column("cost", "price"),
        Column("seconds", "seconds"),
        Column("tokens", "number"),
    ]
    heads = {each.name: column_name(each.name, board, language, titled=titled) for each in columns}
    return Table(rows, [each._replace(title=heads[each.name]) for each in columns])


def board_cells(
    board: Board, language: str
) -> tuple[Sequence[Head], Cells | None, Sequence[Cells]]:
    """Return the heads of a leaderboard, the cells of people if known, and those of each model."""
    drawn = board_table(board, language, titled=True).drawn(language)
    names = [head.name for head in drawn.heads]
    rows = [dict(zip(names, row, strict=True)) for row in drawn.rows]
    for cells in rows:
        cells["model"] = cells["model"]._replace(value=None)
    people = None if board.people is None else rows.pop(0)
    for cells, row in zip(rows, board.rows, strict=True):
        if row.rank is not None:  # its text and that of runs would be sorted as a text is
            place = row.rank.low + row.rank.high / (len(board.rows) + 1)
            cells["rank"] = cells["rank"]._replace(value=place)
        if "runs" in cells:
            cells["runs"] = cells["runs"]._replace(value=len(row.runs))
    return drawn.heads, people, rows


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
            figures(board, language, of_fields.get(board.kind.benchmark, str)) for board in boards
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
    heads, people_cells, models = board_cells(board, language)
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
        "columns": [(head.name, head.text, FIRST.get(head.name, best)) for head in heads],
        "signs": any(signs),
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
            for cells, row, of_row in zip(models, board.rows, signs, strict=True)
        ],
        "people": board.people and (people_cells, board.people.value, people),
        "line": people_line(board),
        "ends": scale_of(board),
    }


def scale_of(board: Board) -> Interval | None:
    """Return the scale of all intervals, from 0 to 1 or as far as one reaches; None without any."""
    ends = [
        each for each in (*(row.interval for row in board.rows), _people_interval(board)) if each
    ]
    lows, highs = [each.low for each in ends], [each.high for each in ends]
    return Interval(min(0.0, *lows), max(1.0, *highs)) if ends else None


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


def _row(row: BoardRow, judged: str, language: str) -> dict[str, object]:
    marks = marks_of(row)
    interval = row.interval
    return {
        "rank": row.rank and row.rank.shown(),
        "model": short_name(row.model) + (f" {marks}" if marks else ""),
        "headline": row.value,
        judged: row.judged,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "failures": row.failures,
        "without_media": row.without_media,
        "runs": spread_in_words(row, language) or None,
        "answered": row.answered,
        "cost": row.cost("price"),
        "seconds": row.seconds,
        "tokens": None if row.tokens is None else round(row.tokens),
    }


MAX_FIELDS = 60
"""Maximum number of fields shown: a model can invent any number."""

_LEAST = 2
"""Minimum number of models whose cost is known."""


class BoardFigure(NamedTuple):
    """A figure and its heading."""

    title: str
    figure: Markup


def field_figure(
    board: Board, language: str, titles: Titles = str, *, fields_down: bool = False
) -> BoardFigure | None:
    """Return the models by field; None if the metric's fields have no figure.

    Args:
        board: see `figures`, as for the others.
        language: the language.
        titles: path of a field → its title.
        fields_down: whether the rows are the fields, not the models.
    """
    names = list(dict.fromkeys(name for row in board.rows for name in row.fields))[:MAX_FIELDS]
    if not board.field_figure or not names:
        return None
    heading = say("by_field", language, figure=figure_heading(board.field_figure, language))
    values: Sequence[Sequence[float | None]]
    values = [[row.fields.get(name) for name in names] for row in board.rows]
    down, across = [row.model for row in board.rows], [titles(name) for name in names]
    if fields_down:
        values, down, across = list(zip(*values, strict=True)), across, down
    table = heat_table(values, rows=down, columns=across, caption=heading, language=language)
    return BoardFigure(heading, table)


def figures(board: Board, language: str, titles: Titles = str) -> list[BoardFigure]:
    """Return the figures that a leaderboard has the numbers for.

    Args:
        board: the leaderboard.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.
    """
    fields = field_figure(board, language, titles)
    drawn = [] if fields is None else [fields]
    costs: tuple[Cost, ...] = ("price", "seconds")
    for cost in costs:
        known = sum(row.cost(cost) is not None for row in board.rows)
        if known >= _LEAST and find_spec("matplotlib"):
            heading = say(f"by_{cost}", language, figure=figure_heading(board.judged_by, language))
            drawn.append(BoardFigure(heading, picture(board.plot(x=cost, language=language))))
    return drawn
