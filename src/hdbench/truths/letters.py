"""WIP."""

from pathlib import Path

from hdbench.truths.truth import Truths


def read_letters(folder: Path) -> Truths:
    """WIP."""
    raise NotImplementedError
