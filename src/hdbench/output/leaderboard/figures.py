"""The figures of a leaderboard in a page: models by field, and their value against its cost."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

from markupsafe import Markup

from hdbench.display.marks import heat_table, picture
from hdbench.display.rows import Dot, Point
from hdbench.display.words import Cost
from hdbench.output.leaderboard.boards import Board, BoardRow
from hdbench.output.leaderboard.words import say

MAX_FIELDS = 60
"""Maximum number of fields shown: a model can invent any number."""

_LEAST = 2
"""Minimum number of models whose cost is known."""


class BoardFigure(NamedTuple):
    """A figure and its heading."""

    title: str
    figure: Markup


def figures(board: Board, rows: Sequence[BoardRow], language: str) -> list[BoardFigure]:
    """Return the figures that a leaderboard has the numbers for.

    Args:
        board: the leaderboard.
        rows: those of its rows that are shown.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    drawn = []
    names = list(dict.fromkeys(name for row in rows for name in row.fields))[:MAX_FIELDS]
    if board.field_figure and names:
        title = say("by_field", language, figure=board.field_figure)
        table = heat_table(
            [[row.fields.get(name) for name in names] for row in rows],
            rows=[row.model for row in rows],
            columns=names,
            caption=title,
            language=language,
        )
        drawn.append(BoardFigure(title, table))
    costs: dict[Cost, list[float | None]] = {
        "price": [
            None if row.cost_usd is None else 1_000 * row.cost_usd / board.kind.items
            for row in rows
        ],
        "seconds": [row.seconds for row in rows],
    }
    for cost, amounts in costs.items():
        if len(rows) - amounts.count(None) >= _LEAST and find_spec("matplotlib"):
            title = say(f"by_{cost}", language, figure=board.judged_by)
            figure = _against(board, rows, amounts, cost, language)
            drawn.append(BoardFigure(title, figure))
    return drawn


def _against(
    board: Board,
    rows: Sequence[BoardRow],
    amounts: Sequence[float | None],
    cost: Cost,
    language: str,
) -> Markup:
    from hdbench.display.scatter import scatter  # noqa: PLC0415  imports matplotlib

    points = [
        Point(row.model, row.judged, amount, *(row.interval.ends if row.interval else ()))
        for row, amount in zip(rows, amounts, strict=True)
    ]
    people = board.people
    line = None
    if people is not None and people.headline == board.judged_by:
        line = Dot(say("people_line", language), people.value, *(people.interval or ()))
    return picture(
        scatter(
            points,
            figure=board.judged_by,
            cost=cost,
            higher_is_better=board.higher_is_better,
            line=line,
            language=language,
        )
    )
