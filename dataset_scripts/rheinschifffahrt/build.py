"""The rows of hdb/rheinschifffahrt, from the published exports of its spreadsheet.

A cell lists persons with `|` between them. Someone in `<…>` was inferred from their function, in
`<<…>>` from the correspondence. `persons.csv` says under which other names a person occurs.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hdbench.benchmarks.building.metadata import RecipeRow
from hdbench.benchmarks.building.source import SourceFiles
from hdbench.errors import HdbenchError

FOLDER = "benchmarks/business_letters"
LETTERS = f"{FOLDER}/ground_truths/letters.csv"
PERSONS = f"{FOLDER}/ground_truths/persons.csv"

NOTHING = {"", "None", "null"}
"""Contents of a cell that has no value."""

LEFT_OUT = "FALSE"
"""The number of a row that the export was to leave out."""

PERSON_LISTS = ("sender_persons", "receiver_persons")
OCCUPATION = ("job_name", "job_startDate", "job_endDate", "employer_name")
ABOUT_PERSON = ("birthDate", "deathDate", "description")


def rows(source: SourceFiles) -> Iterator[RecipeRow]:
    """One row per letter: its pages, its date, and its persons with their aliases."""
    aliases = {person["name"]: person["alternateName"] for person in _persons(source)}
    for line, row in _table(source, LETTERS):
        number, signed, title = row["document_number"], row["has_signatures"], row["letter_title"]
        if number == LEFT_OUT:
            continue
        if signed not in {"TRUE", "FALSE"}:
            raise HdbenchError(
                "{place}:{line}: has_signatures is neither TRUE nor FALSE",
                place=source.locate(LETTERS),
                line=line,
            )
        truth = {
            "send_date": [row["send_date"]],
            **{key: [_person(name, aliases) for name in _values(row[key])] for key in PERSON_LISTS},
            "has_signatures": signed == "TRUE",
        }
        letter = f"letter{number}"
        pages = source.paths(f"{FOLDER}/images/{letter}_p*.jpg")
        shown = None if title.strip() in NOTHING else title.strip()
        yield RecipeRow(letter, tuple(pages), truth, {"letter_title": shown})


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
    """Return the persons, of whom the table has a line for each of their occupations."""
    persons: dict[str, dict[str, Any]] = {}
    for _, row in _table(source, PERSONS):
        person = persons.setdefault(
            row["name"],
            {
                "name": row["name"],
                "alternateName": [],
                "identifier": f"{row['identifier_propertyID']}:{row['identifier_value']}",
                **dict.fromkeys(ABOUT_PERSON),
                "occupations": [],
            },
        )
        # A comma at the end of a cell gives an empty alias, which the published scoring had too.
        cells = row["alternateName"].split(",") if row["alternateName"] else []
        for alias in map(str.strip, cells):
            if alias not in person["alternateName"]:
                person["alternateName"].append(alias)
        for key in ABOUT_PERSON:
            person[key] = person[key] or row[key] or None
        if row["job_name"]:
            person["occupations"].append({key: row[key] or None for key in OCCUPATION})
    return list(persons.values())


def _table(source: SourceFiles, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line it ends on."""
    text = source.read(name).decode("utf-8-sig")
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
    for row in reader:
        yield reader.line_num, row


def _values(cell: str) -> list[str]:
    return [value for part in cell.split("|") if (value := part.strip()) not in NOTHING]


def _person(name: str, aliases: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a person, with what brackets around the name say."""
    inferred = None
    if name.startswith("<"):
        inferred = "correspondence" if name.startswith("<<") else "function"
    name = name.strip("<>").strip()
    return {"name": name, "alternateName": aliases.get(name, []), "inferred": inferred}
