"""The rows of hdb/rheinschifffahrt, from the published exports of its spreadsheet."""

import json
from collections.abc import Iterator
from typing import Any

from hdbench.datasets.building.metadata import RecipeRow
from hdbench.datasets.building.source import SourceFiles
from hdbench.ground_truth.letters import NOTHING, parse_letters, parse_persons

FOLDER = "benchmarks/business_letters"
LETTERS = f"{FOLDER}/ground_truths/letters.csv"
PERSONS = f"{FOLDER}/ground_truths/persons.csv"


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per letter: its pages, its date, and its persons with their aliases."""
    where = str(source.locate(LETTERS))
    for letter in parse_letters(source.read(LETTERS), _persons(source), where):
        pages = source.paths(f"{FOLDER}/images/{letter.id}_p*.jpg")
        yield RecipeRow(letter.id, tuple(pages), letter.truth, {"letter_title": letter.title})


def columns(ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The columns that people filter by."""
    date = ground_truth["send_date"][0]
    return {
        "send_date": None if date in NOTHING else date,
        "year": int(date[:4]) if date[:4].isdecimal() else None,
        "sender_persons": [person["name"] for person in ground_truth["sender_persons"]],
        "receiver_persons": [person["name"] for person in ground_truth["receiver_persons"]],
        "has_signatures": ground_truth["has_signatures"],
    }


def files(source: SourceFiles) -> dict[str, bytes]:
    """The authority file: one person per line, with every name that the letters have for them."""
    lines = [
        json.dumps({**person, "name": person["name"].strip()}, ensure_ascii=False) + "\n"
        for person in _persons(source)
    ]
    return {"persons.jsonl": "".join(lines).encode()}


def _persons(source: SourceFiles) -> list[dict[str, Any]]:
    return parse_persons(source.read(PERSONS), str(source.locate(PERSONS)))
