"""The tab that runs a local model."""

from hdbench.space.context import SpaceContext
from hdbench.space.texts import Say


def run_tab(context: SpaceContext, say: Say) -> None:
    """STUB."""
