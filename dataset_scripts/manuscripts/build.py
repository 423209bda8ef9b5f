"""The rows of hdb/manuscripts, from the published files of its benchmark."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/medieval_manuscripts"


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per page: its image, and its texts.

    A published truth is an object with one list of one page, under the leaf's name; an answer has
    plain `folios`, so the truth is given that form. The order is that of the names, `image_10`
    before `image_2`: the published means were added up in it.
    """
    for path in source.paths(f"{FOLDER}/ground_truths/*.json"):
        page = PurePosixPath(path).stem
        try:
            ((leaf, (texts,)),) = source.json(path).items()
        except (AttributeError, TypeError, ValueError) as error:
            raise HdbenchError(f"{source.locate(path)}: not one leaf with one page") from error
        truth = {"folios": [texts]}
        yield RecipeRow(page, (f"{FOLDER}/images/{page}.jpg",), truth, {"leaf": leaf.strip("[]")})


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    (page,) = ground_truth["folios"]
    return {
        "folio": int(page["folio"]) if page["folio"].isdecimal() else None,
        "lines": len(page["text"].splitlines()),
        "additions": sum(name.startswith("addition") and bool(page[name]) for name in page),
    }
