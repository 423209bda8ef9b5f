import csv

import pytest

from hdbench.ground_truth.letters import LETTER_COLUMNS, PERSON_COLUMNS, read_letters

NOBODY = {"inferred": None, "alternateName": []}


def write(path, columns, *rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ["transkribus_id", *columns])
        table.writeheader()
        table.writerows(rows)


def letter(number="01", **cells):
    given = {"send_date": "1926-02-16", "letter_title": "None", "has_signatures": "TRUE"}
    return {"document_number": number, **given, **cells}


@pytest.fixture
def folder(tmp_path):
    write(
        tmp_path / "persons.csv",
        PERSON_COLUMNS,
        {"name": "Christ, Paul", "alternateName": "Herr Christ, P. Christ"},
        {"name": "Christ, Paul", "alternateName": "Christ, P. Christ", "job_name": "Bankier"},
        {"name": "Ritter, Fritz"},
    )
    return tmp_path


def test_persons_have_their_names_and_brackets_show_inference(folder):
    senders = "<Ritter, Fritz> | << Christ, Paul >>|None"
    write(
        folder / "letters.csv",
        LETTER_COLUMNS,
        letter(sender_persons=senders, receiver_persons="Christ, Paul"),
        letter("FALSE"),
        letter("03", has_signatures="FALSE", send_date="None"),
    )
    first, second = read_letters(folder).truths
    names = ["Herr Christ", "P. Christ", "Christ"]
    assert first == (
        "letters.csv:2",
        "letter01",
        {
            "send_date": ["1926-02-16"],
            "sender_persons": [
                {"name": "Ritter, Fritz", "alternateName": [], "inferred": "function"},
                {"name": "Christ, Paul", "alternateName": names, "inferred": "correspondence"},
            ],
            "receiver_persons": [
                {"name": "Christ, Paul", "alternateName": names, "inferred": None}
            ],
            "has_signatures": True,
        },
    )
    assert second.place == "letters.csv:4"
    assert second.record["send_date"] == ["None"]  # as published
    assert second.record["has_signatures"] is False


def test_who_is_not_among_the_persons_is_remarked_on_once(folder):
    rows = [letter(f"{n:02}", sender_persons="Meyer, Emil | Christ, Paul") for n in (1, 2)]
    write(folder / "letters.csv", LETTER_COLUMNS, *rows)
    found = read_letters(folder)
    assert found.notes == [
        "not in persons.csv, so known by one name only: Meyer, Emil (letters.csv:2)"
    ]
    assert found.truths[0].record["sender_persons"][0] == {"name": "Meyer, Emil", **NOBODY}
    (folder / "persons.csv").unlink()
    found = read_letters(folder)
    assert found.notes == ["not there, so persons are known by one name only: persons.csv"]
    assert found.truths[0].record["sender_persons"][1] == {"name": "Christ, Paul", **NOBODY}


def test_the_published_letters_are_those_of_the_built_dataset(shared):
    source = shared / "upstream/humanities_data_benchmark/benchmarks/business_letters"
    found = read_letters(source / "ground_truths")
    assert len(found.truths) == 57
    images = {path.name.partition("_p")[0] for path in (source / "images").iterdir()}
    assert {truth.key for truth in found.truths} <= images
    # Two names in the authority file end in a blank, and one of them has written letters.
    assert [note.partition(" (")[0] for note in found.notes] == [
        "not in persons.csv, so known by one name only: Kachelhofer-Gerber, Frederick Charles"
    ]
