"""The Space's leaderboard of the cards."""

from hdbench.space.context import SpaceContext
from hdbench.space.jobs.recorded_runs import Rankings
from hdbench.space.tabs.leaderboard import board_page


def board_shown(folder, language):
    """The page that the Space of a working directory shows, in one line."""
    context = SpaceContext(folder / "hdb")
    ranking = Rankings(context).of("cards", "documented", strict=False, tell=lambda *_: None)
    return " ".join(board_page(context, ranking, "cards", language).split())
