"""The plots of a leaderboard: ranks, value against cost, and models by field."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hdbench.common.display.heat import heat_map
from hdbench.common.display.plots import dots
from hdbench.common.display.rows import Dot, Point
from hdbench.common.display.scatter import scatter
from hdbench.common.display.style import TWO_COLUMNS, Plot
from hdbench.common.display.words import Cost, say
from hdbench.scoring.metric import figure_heading

if TYPE_CHECKING:
    from hdbench.report.leaderboard.boards import Board, BoardRow


def ranks_plot(board: "Board", language: str) -> Plot:
    """Draw the models with their intervals and ranks, and what people reach as a line."""
    rows = [
        Dot(
            row.model,
            row.judged,
            row.interval.low if row.interval else None,
            row.interval.high if row.interval else None,
            row.rank.shown() if row.rank else "",
        )
        for row in board.rows
        if row.judged is not None
    ]
    return dots(
        rows,
        figure=figure_heading(board.judged_by, language),
        higher_is_better=board.higher_is_better,
        line=_people(board, language),
        notes=say("rank", language) if any(row.note for row in rows) else "",
        language=language,
        width=TWO_COLUMNS,
    )


def cost_plot(board: "Board", rows: Sequence["BoardRow"], cost: Cost, language: str) -> Plot:
    """Draw the models' values against their price or seconds, and who is not beaten in both."""
    points = [
        Point(
            row.model,
            row.judged,
            row.cost(cost),
            *(row.interval.ends if row.interval else ()),
        )
        for row in rows
        if row.judged is not None
    ]
    return scatter(
        points,
        figure=figure_heading(board.judged_by, language),
        cost=cost,
        higher_is_better=board.higher_is_better,
        line=_people(board, language),
        language=language,
    )


def fields_plot(board: "Board", language: str) -> Plot:
    """Draw the figure of each field, a row, for each model, a column."""
    names = list(dict.fromkeys(name for row in board.rows for name in row.fields))
    return heat_map(
        [[row.fields.get(name) for row in board.rows] for name in names],
        rows=names,
        columns=[row.model for row in board.rows],
        figure=figure_heading(board.field_figure or "", language),
        higher_is_better=True,
        language=language,
    )


def _people(board: "Board", language: str) -> Dot | None:
    people = board.people
    if people is None or people.headline != board.judged_by:
        return None
    return Dot(say("people", language), people.value, *(people.interval or ()))
