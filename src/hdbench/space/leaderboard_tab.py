"""The tab with the recorded runs, ranked."""

from hdbench.space.context import SpaceContext
from hdbench.space.texts import Say


def leaderboard_tab(context: SpaceContext, say: Say) -> None:
    """STUB."""
