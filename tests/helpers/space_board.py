"""The Space's leaderboard of the cards."""

from hdbench.space.context import SpaceContext
from hdbench.space.jobs.recorded_runs import Rankings
from hdbench.space.tabs.leaderboard import board_view


def boards_shown(folder, language, *filters):
    """What the Space of a working directory shows, for each filter."""
    context = SpaceContext(folder / "hdb")
    ranking = Rankings(context).of("cards", "documented").ready.result(timeout=60)
    benchmark, board = context.benchmark("cards"), ranking.boards[0]
    return [board_view(benchmark, ranking, board, each, language) for each in filters]
