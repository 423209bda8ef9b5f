"""The rows of hdb/bibliography, from the published files of its benchmark."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/bibliographic_data"


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per page: its image, and its entries in their order."""
    for path in source.paths(f"{FOLDER}/ground_truths/*.json"):
        page = PurePosixPath(path).stem
        truth = source.json(path)
        if not isinstance(truth, dict) or not isinstance(truth.get("entries"), list):
            raise HdbenchError(f"{source.locate(path)}: no object with a list of entries")
        # It is what the prompt gave as the page's number.
        number = int(page.rpartition("_")[2])
        image = f"{FOLDER}/images/{page}.jpeg"
        yield RecipeRow(page, (image,), truth, {"page_number": number})


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    entries = ground_truth["entries"]
    return {
        "heading": ground_truth["metadata"]["title"],
        "year": int(ground_truth["metadata"]["year"]),
        "entries": len(entries),
        "types": sorted({entry["type"] for entry in entries}),
    }
