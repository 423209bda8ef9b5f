"""The rows of hdb/companylists, from the published files of its benchmark."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/company_lists"

NO_LOCATION = "null"
"""What the ground truth has where the page gives no location; the prompt asks for a null."""


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per page: its image, and its companies in their order."""
    for path in source.paths(f"{FOLDER}/ground_truths/*.json"):
        page = PurePosixPath(path).stem
        truth = source.json(path)
        if not isinstance(truth, dict) or not isinstance(truth.get("entries"), list):
            raise HdbenchError(f"{source.locate(path)}: no object with a list of entries")
        yield RecipeRow(page, (f"{FOLDER}/images/{page}.jpg",), truth)


def files(source: SourceFiles) -> dict[str, bytes]:
    """The short prompt, with which half of the recorded runs were made."""
    return {"prompt_min.txt": source.read(f"{FOLDER}/prompts/prompt_min.txt")}


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    locations = [entry["location"] for entry in ground_truth["entries"]]
    return {
        "entries": len(locations),
        "with_location": sum(location not in {None, NO_LOCATION} for location in locations),
    }
