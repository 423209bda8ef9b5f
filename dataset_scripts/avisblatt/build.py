"""The rows of hdb/avisblatt, from the published files of its benchmark."""

from collections.abc import Iterator
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/fraktur_adverts"

IMAGES = {
    "image_1": "image_1.jpeg",
    "image_2": "image_2.jpg",
    "image_3": "image_3.jpg",
    "image_4": "image_4.jpg",
    "image_5": "image_5.jpg",
}

CONTINUED = {"image_4": "Es wird zum Verkauf angetragen"}
"""Pages that begin inside a section, whose heading stands on the page before."""


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per page: its image, and its advertisements in their order."""
    for page, image in IMAGES.items():
        path = f"{FOLDER}/ground_truths/{page}.json"
        published = source.json(path)
        # Two pages are an object of lists with one advertisement each, the others one list.
        lists = published.values() if isinstance(published, dict) else [published]
        try:
            truth: dict[str, Any] = {
                "advertisements": [_advertisement(ad) for ads in lists for ad in ads]
            }
        except (TypeError, AttributeError) as error:
            raise HdbenchError(f"{source.locate(path)}: not lists of advertisements") from error
        if page in CONTINUED:
            truth["continued_section"] = CONTINUED[page]
        yield RecipeRow(page, (f"{FOLDER}/images/{image}",), truth)


def _advertisement(published: dict[str, Any]) -> dict[str, Any]:
    """An advertisement without its number in a database, and its tags as a plain list."""
    ad = {key: value for key, value in published.items() if key not in {"_id", "tags"}}
    return ad | ({"tags": published["tags"]["tags"]} if "tags" in published else {})


def files(source: SourceFiles) -> dict[str, bytes]:
    """The prompt of the first runs, of which two are among the recorded ones."""
    return {"prompt_v1.txt": source.read(f"{FOLDER}/prompts/prompt.txt")}


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    ads = ground_truth["advertisements"]
    date = ads[0]["date"]
    return {
        "date": date,
        "year": int(date[:4]),
        "advertisements": len(ads),
        "sections": list(dict.fromkeys(ad["tags_section"] for ad in ads if "tags_section" in ad)),
        "continued_section": ground_truth.get("continued_section"),
        "tags": sorted({tag for ad in ads for tag in ad.get("tags", ())}),
    }
