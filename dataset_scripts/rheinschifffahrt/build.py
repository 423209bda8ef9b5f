"""The rows of hdb/rheinschifffahrt, from the published exports of its spreadsheet."""

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from hdbench.building.recipe import Row
from hdbench.building.source import Source
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/business_letters"
LETTERS = f"{FOLDER}/ground_truths/letters.csv"
PERSONS = f"{FOLDER}/ground_truths/persons.csv"

NOTHING = {"", "None", "null"}
"""What stands in a cell that has no value."""

OCCUPATION = ("job_name", "job_startDate", "job_endDate", "employer_name")


def rows(source: Source) -> Iterator[Row]:
    """One row per letter: its pages, its date, and its persons with their aliases."""
    aliases = {person["name"]: person["alternateName"] for person in _persons(source)}
    for line, letter in enumerate(_table(source, LETTERS), 2):
        number = letter["document_number"]
        if number == "FALSE":  # a row that the export was to leave out
            continue
        if letter["has_signatures"] not in {"TRUE", "FALSE"}:
            raise HdbenchError(
                f"{source.locate(LETTERS)}:{line}: has_signatures is neither TRUE nor FALSE"
            )
        truth = {
            "send_date": [letter["send_date"]],
            **{
                key: [_person(name, aliases) for name in _values(letter[key])]
                for key in ("sender_persons", "receiver_persons")
            },
            "has_signatures": letter["has_signatures"] == "TRUE",
        }
        title = letter["letter_title"].strip()
        yield Row(
            f"letter{number}",
            tuple(source.paths(f"{FOLDER}/images/letter{number}_p*.jpg")),
            truth,
            {"letter_title": None if title in NOTHING else title},
        )


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


def files(source: Source) -> dict[str, bytes]:
    """The authority file: one person per line, with every name that the letters have for them."""
    lines = [
        json.dumps({**person, "name": person["name"].strip()}, ensure_ascii=False) + "\n"
        for person in _persons(source)
    ]
    return {"persons.jsonl": "".join(lines).encode()}


def _table(source: Source, path: str) -> list[dict[str, str]]:
    try:
        text = source.read(path).decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise HdbenchError(f"{source.locate(path)}: not a CSV table in UTF-8: {error}") from error


def _persons(source: Source) -> list[dict[str, Any]]:
    """The persons, in the table's order; it has a line for each of their occupations."""
    persons: dict[str, dict[str, Any]] = {}
    for line in _table(source, PERSONS):
        person = persons.setdefault(
            line["name"],
            {
                "name": line["name"],
                "alternateName": [],
                "identifier": f"{line['identifier_propertyID']}:{line['identifier_value']}",
                "birthDate": None,
                "deathDate": None,
                "description": None,
                "occupations": [],
            },
        )
        # A comma at the end of a cell gives an empty alias, which the published scoring had too.
        cells = line["alternateName"].split(",") if line["alternateName"] else []
        for alias in map(str.strip, cells):
            if alias not in person["alternateName"]:
                person["alternateName"].append(alias)
        for key in ("birthDate", "deathDate", "description"):
            person[key] = person[key] or line[key] or None
        if line["job_name"]:
            person["occupations"].append({key: line[key] or None for key in OCCUPATION})
    return list(persons.values())


def _values(cell: str) -> list[str]:
    return [value for part in cell.split("|") if (value := part.strip()) not in NOTHING]


def _person(name: str, aliases: dict[str, list[str]]) -> dict[str, Any]:
    """A person: one in <…> was inferred from their function, in <<…>> from the correspondence."""
    inferred = {"<<": "correspondence", "<": "function"}.get(re.match("<{0,2}", name)[0])
    name = name.strip("<>").strip()
    return {"name": name, "alternateName": aliases.get(name, []), "inferred": inferred}
