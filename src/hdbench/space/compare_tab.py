"""The tab that compares runs."""

from hdbench.space.context import SpaceContext
from hdbench.space.texts import Say


def compare_tab(context: SpaceContext, say: Say) -> None:
    """STUB."""


def compare_api(context: SpaceContext) -> None:
    """STUB."""
