"""The rows of hdb/zettelkatalog, from the published files of its benchmark."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/library_cards"


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per card: its image, and its ground truth without what is about its making."""
    for path in source.paths(f"{FOLDER}/ground_truths/*.json"):
        card = PurePosixPath(path).stem
        truth = source.json(path)
        if not isinstance(truth, dict) or not isinstance(truth.get("response_text"), dict):
            raise HdbenchError(f"{source.locate(path)}: no object under response_text")
        yield RecipeRow(card, (f"{FOLDER}/images/{card}.jpg",), truth["response_text"])


def columns(ground_truth: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The columns that people filter by; an empty text is a null there."""
    author, publication, library = (
        ground_truth[group] for group in ("author", "publication", "library_reference")
    )
    year = str(publication["year"])
    return {
        "type": ground_truth["type"]["type"],
        "last_name": author["last_name"] or None,
        "first_name": author["first_name"] or None,
        "title": publication["title"] or None,
        "year": int(year) if year.isdecimal() else None,
        "place": publication["place"] or None,
        "pages": publication["pages"] or None,
        "publisher": publication["publisher"] or None,
        "format": publication["format"] or None,
        "shelfmark": library["shelfmark"] or None,
        "subjects": library["subjects"] or None,
    }
