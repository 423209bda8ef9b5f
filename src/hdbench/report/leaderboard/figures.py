"""The figures of a leaderboard in a page: models by field, and their value against its cost."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

from markupsafe import Markup

from hdbench.benchmarks.titles import Titles
from hdbench.common.display.marks import heat_table, picture
from hdbench.common.display.words import Cost
from hdbench.report.leaderboard.boards import Board, BoardRow
from hdbench.report.leaderboard.words import say
from hdbench.scoring.metric import figure_heading

MAX_FIELDS = 60
"""Maximum number of fields shown: a model can invent any number."""

_LEAST = 2
"""Minimum number of models whose cost is known."""


class BoardFigure(NamedTuple):
    """A figure and its heading."""

    title: str
    figure: Markup


def field_figure(
    board: Board,
    rows: Sequence[BoardRow],
    language: str,
    titles: Titles = str,
    *,
    fields_down: bool = False,
) -> BoardFigure | None:
    """Return the models by field; None if the metric's fields have no figure.

    Args:
        board: see `figures`, as for the others.
        rows: some of its rows.
        language: the language.
        titles: path of a field → its title.
        fields_down: whether the rows are the fields, not the models.
    """
    names = list(dict.fromkeys(name for row in rows for name in row.fields))[:MAX_FIELDS]
    if not board.field_figure or not names:
        return None
    title = say("by_field", language, figure=figure_heading(board.field_figure, language))
    values: Sequence[Sequence[float | None]]
    values = [[row.fields.get(name) for name in names] for row in rows]
    down, across = [row.model for row in rows], [titles(name) for name in names]
    if fields_down:
        values, down, across = list(zip(*values, strict=True)), across, down
    table = heat_table(
        values,
        rows=down,
        columns=across,
        caption=title,
        language=language,
    )
    return BoardFigure(title, table)


def figures(
    board: Board, rows: Sequence[BoardRow], language: str, titles: Titles = str
) -> list[BoardFigure]:
    """Return the figures that a leaderboard has the numbers for.

    Args:
        board: the leaderboard.
        rows: those of its rows that are shown.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.
    """
    fields = field_figure(board, rows, language, titles)
    drawn = [] if fields is None else [fields]
    costs: tuple[Cost, ...] = ("price", "seconds")
    for cost in costs:
        known = sum(row.cost(cost) is not None for row in rows)
        if known >= _LEAST and find_spec("matplotlib"):
            from hdbench.report.leaderboard.plots import cost_plot  # noqa: PLC0415  matplotlib

            title = say(f"by_{cost}", language, figure=figure_heading(board.judged_by, language))
            figure = picture(cost_plot(board, rows, cost, language))
            drawn.append(BoardFigure(title, figure))
    return drawn
