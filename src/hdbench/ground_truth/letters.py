"""The spreadsheets of the Rheinschifffahrt letters, exported as `letters.csv` and `persons.csv`.

A cell lists persons with `|` between them. Someone in `<…>` was inferred from their function, in
`<<…>>` from the correspondence. `persons.csv` says under which other names a person occurs.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.answers.bounds import MAX_CELLS, too_many_cells
from hdbench.answers.sheets.records import Truth, Truths
from hdbench.errors import HdbenchError, Message
from hdbench.ground_truth.files import Remarks, read_bounded

LETTERS, PERSONS = "letters.csv", "persons.csv"

NOTHING = {"", "None", "null"}
"""Contents of a cell that has no value."""

LEFT_OUT = "FALSE"
"""The number of a row that the export was to leave out."""

PERSON_LISTS = ("sender_persons", "receiver_persons")
LETTER_COLUMNS = ("document_number", "send_date", "letter_title", *PERSON_LISTS, "has_signatures")
OCCUPATION = ("job_name", "job_startDate", "job_endDate", "employer_name")
ABOUT_PERSON = ("birthDate", "deathDate", "description")
PERSON_COLUMNS = (
    *("identifier_propertyID", "identifier_value", "name", "alternateName"),
    *(*ABOUT_PERSON, *OCCUPATION),
)


class Letter(NamedTuple):
    """A row of `letters.csv`.

    Attributes:
        line: its line in the file.
        number: the letter's number, with leading zeros; images are named after it.
        title: the title that it has as inscribed; None if it has none.
        truth: its ground truth.
    """

    line: int
    number: str
    title: str | None
    truth: dict[str, Any]

    @property
    def id(self) -> str:
        """The letter's id, with which the names of its images begin."""
        return f"letter{self.number}"


def read_letters(folder: Path) -> Truths:
    """Return the ground truths of letters.

    Args:
        folder: has `letters.csv` and, for persons' other names, `persons.csv`.

    Returns:
        Records with `send_date`, `sender_persons`, `receiver_persons` and `has_signatures`. The
        key is `letter` with the letter's number.

    Raises:
        HdbenchError: a table is missing or unusable; the message names the line.
    """
    if not folder.is_dir():
        raise HdbenchError(
            "{place}: not a folder with {letters} and {persons}",
            place=folder,
            letters=LETTERS,
            persons=PERSONS,
        )
    table, authorities = folder / LETTERS, folder / PERSONS
    persons, remarks = [], Remarks()
    if authorities.exists():
        persons = parse_persons(read_bounded(authorities, str(authorities)), str(authorities))
    else:
        remarks.add(Message("not there, so persons are known by one name only"), PERSONS)
    names = {person["name"] for person in persons}
    truths: list[Truth] = []
    unknown: dict[str, str] = {}
    for letter in parse_letters(read_bounded(table, str(table)), persons, str(table)):
        place = f"{LETTERS}:{letter.line}"
        truths.append(Truth(place, letter.id, letter.truth))
        for name in (person["name"] for key in PERSON_LISTS for person in letter.truth[key]):
            if persons and name not in names:
                unknown.setdefault(name, place)
    if not truths:
        raise HdbenchError("{place}: no letters in it", place=table)
    for name, place in unknown.items():
        remarks.add(
            Message("not in {persons}, so known by one name only", persons=PERSONS),
            f"{' '.join(name.split())} ({place})",
        )
    return Truths(truths, remarks.notes())


def parse_letters(data: bytes, persons: Sequence[dict[str, Any]], where: str) -> Iterator[Letter]:
    """Yield the letters in a table, except those that the export was to leave out.

    Args:
        data: the bytes of `letters.csv`.
        persons: those of `persons.csv`.
        where: what messages call the table.

    Raises:
        HdbenchError: it is not such a table; the message names the line.
    """
    aliases = {person["name"]: person["alternateName"] for person in persons}
    for line, row in _rows(data, where, LETTER_COLUMNS):
        number, signed = row["document_number"], row["has_signatures"]
        if number == LEFT_OUT:
            continue
        if signed not in {"TRUE", "FALSE"}:
            raise HdbenchError(
                "{place}:{line}: has_signatures is neither TRUE nor FALSE", place=where, line=line
            )
        truth = {
            "send_date": [row["send_date"]],
            **{key: [_person(name, aliases) for name in _values(row[key])] for key in PERSON_LISTS},
            "has_signatures": signed == "TRUE",
        }
        title = row["letter_title"].strip()
        yield Letter(line, number, None if title in NOTHING else title, truth)


def parse_persons(data: bytes, where: str) -> list[dict[str, Any]]:
    """Return the persons in a table, in its order; it has a line for each of their occupations.

    Args:
        data: the bytes of `persons.csv`.
        where: what messages call the table.

    Raises:
        HdbenchError: it is not such a table.
    """
    persons: dict[str, dict[str, Any]] = {}
    for _, row in _rows(data, where, PERSON_COLUMNS):
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


def _rows(data: bytes, where: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line it ends on, as texts only."""
    try:
        text = data.decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise HdbenchError(
                "{place}: has no column {names}", place=where, names=", ".join(missing)
            )
        for number, row in enumerate(reader, start=1):
            if number * len(reader.fieldnames or ()) > MAX_CELLS:
                raise too_many_cells(where)
            if None in row:
                raise HdbenchError(
                    "{place}:{line}: has more cells than the header",
                    place=where,
                    line=reader.line_num,
                )
            yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise HdbenchError(
            "{place}: not a CSV table in UTF-8: {why}", place=where, why=error
        ) from error
    except csv.Error as error:
        raise HdbenchError(
            "{place}:{line}: not a CSV table: {why}",
            place=where,
            line=reader.line_num + 1,
            why=Message(str(error)),
        ) from error


def _values(cell: str) -> list[str]:
    return [value for part in cell.split("|") if (value := part.strip()) not in NOTHING]


def _person(name: str, aliases: dict[str, list[str]]) -> dict[str, Any]:
    """Return a person, with what brackets around the name say."""
    inferred = None
    if name.startswith("<"):
        inferred = "correspondence" if name.startswith("<<") else "function"
    name = name.strip("<>").strip()
    return {"name": name, "alternateName": aliases.get(name, []), "inferred": inferred}
