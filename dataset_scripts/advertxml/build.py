"""The rows of hdb/advertxml, from the published files of its benchmark."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/book_advert_xml"


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per text, with its repair."""
    for path in source.paths(f"{FOLDER}/ground_truths/*.json"):
        line = PurePosixPath(path).stem
        truth = source.json(path)
        broken = source.json(f"{FOLDER}/texts/{line}.json")
        try:
            fixed, fixes = truth["fixed_xml"], truth["number_of_fixes"]
            text = broken["xml_string"]
        except (KeyError, TypeError) as error:
            raise HdbenchError(f"{FOLDER}: {line}: not of the benchmark's form: {error}") from error
        yield RecipeRow(line, (), {"fixed_xml": fixed}, {"number_of_fixes": fixes}, text)


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    return {"well_formed": _is_well_formed(ground_truth["fixed_xml"])}


def _is_well_formed(text: str) -> bool:
    try:
        ElementTree.fromstring(text)  # noqa: S314  a pinned file
    except ElementTree.ParseError:
        return False
    return True
