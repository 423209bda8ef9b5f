"""Ground truths in JSON: a file, JSON Lines, or a folder with a file for each item."""

from pathlib import Path

from hdbench.truths.truth import Truths


def read_json_truths(path: Path) -> Truths:
    """The ground truths in a JSON file, in JSON Lines, or in a folder of `NAME.json` and `.txt`."""
    raise NotImplementedError
