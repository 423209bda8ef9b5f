"""The rows of hdb/blacklist, from the published files of its benchmark."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/blacklist_cards"


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per card: its image, and its record."""
    for path in source.paths(f"{FOLDER}/ground_truths/*.json"):
        card = PurePosixPath(path).stem
        truth = source.json(path)
        if not isinstance(truth, dict):
            raise HdbenchError(f"{source.locate(path)}: not an object")
        yield RecipeRow(card, (f"{FOLDER}/images/{card}.jpg",), truth)


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by; an empty text is a null there."""
    return {
        "company": ground_truth["company"]["transcription"] or None,
        "location": ground_truth["location"]["transcription"] or None,
        "b_id": ground_truth["b_id"]["transcription"] or None,
        "date": ground_truth["date"] or None,
        "blocks": len(ground_truth["information"]),
    }
