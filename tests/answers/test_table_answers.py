"""Answers in tables as people keep them."""

import pytest

from hdbench.answers.csv_lines import read_csv
from hdbench.answers.records import table_answers
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.tables import table_of
from hdbench.errors import HdbenchError

TEXT = {"type": "string"}
LIST = {"type": "array", "items": TEXT}
CARDS = AnswerSchema(
    {
        "properties": {
            "titel": TEXT,
            "schlagwoerter": LIST,
            "jahr": {"type": ["integer", "null"]},
            "datum": {"type": ["string", "null"], "format": "date"},
        }
    }
)
IDS = ("Kasten3_0001", "Kasten3_0002", "Kasten3_0003")


def read(*lines, schema=CARDS, ids=IDS):
    return table_answers(table_of(read_csv("\n".join(lines).encode(), "t.csv")), schema, ids)


def records(found, model=None):
    return {each: found.load(key)["prediction"] for each, key in found.runs[model].items()}


def refusal(*lines, **options):
    with pytest.raises(HdbenchError) as caught:
        read(*lines, **options)
    return str(caught.value)


SHEET = (
    "Bild;Titel;Schlagwörter;Jahr;Datum",
    'Kasten3 0001;Die Ehe;"Ehe; Lied";1912;17.9.1912',
    "Kasten3 0002;Zoo;Tiere;-;k. A.",
)
RECORDS = {
    "Kasten3 0001": {
        "titel": "Die Ehe",
        "schlagwoerter": ["Ehe", "Lied"],
        "jahr": 1912,
        "datum": "1912-09-17",
    },
    "Kasten3 0002": {"titel": "Zoo", "schlagwoerter": ["Tiere"], "jahr": None, "datum": None},
}


def test_sheet_is_read_with_same_mapping_as_hdbench_new():
    found = read(*SHEET)
    assert records(found) == RECORDS
    assert found.notes[0] == (
        "t.csv: read as Bild → id, Titel → titel, Schlagwörter → schlagwoerter[] (';'), "
        "Jahr → jahr, Datum → datum"
    )
    assert "t.csv: cells read as empty: 2, the first is t.csv:3, column Jahr: '-'" in found.notes


def test_the_column_of_ids_is_found_by_its_values():
    found = read("Objekt;Titel", "Kasten3_0001.jpg;Die Ehe", "Kasten3_0003.jpg;Zoo")
    assert records(found) == {
        "Kasten3_0001.jpg": {"titel": "Die Ehe"},
        "Kasten3_0003.jpg": {"titel": "Zoo"},
    }
    assert refusal("Objekt;Titel", "a;Die Ehe", ids=()).startswith("t.csv: needs a column id, and")


def test_a_table_in_our_form_is_read_as_one_of_a_librarian_is():
    found = read("id,titel,datum,invented", "1,-,17.9.1912,x")
    assert records(found) == {"1": {"titel": "", "datum": "1912-09-17"}}
    assert "t.csv: columns that are not used: invented" in found.notes
    found = read("id,schlagwoerter", "1,Ehe; Lied", "2,Tiere")
    assert records(found) == {
        "1": {"schlagwoerter": ["Ehe", "Lied"]},
        "2": {"schlagwoerter": ["Tiere"]},
    }
    assert found.notes == ["t.csv: read as id → id, schlagwoerter → schlagwoerter[] (';')"]
    found = read("id,schlagwoerter", "1,Ehe; Lied | Zoo", "2,Tiere; Pflanzen")
    assert records(found) == {
        "1": {"schlagwoerter": ["Ehe; Lied", "Zoo"]},
        "2": {"schlagwoerter": ["Tiere; Pflanzen"]},
    }


HEADINGS = [("id", "schlagwoerter"), ("Bild", "Schlagwörter")]
"""As in our tables, and as people keep them."""


@pytest.mark.parametrize(("key", "title"), HEADINGS)
def test_a_list_may_be_json(key, title):
    found = read(
        f"{key};{title}",
        'Kasten3_0001;"[""Ehe; Lied"", ""Zoo""]"',
        'Kasten3_0002;"[]"',
        "Kasten3_0003;[Basel]",
    )
    assert list(records(found).values()) == [
        {"schlagwoerter": ["Ehe; Lied", "Zoo"]},
        {"schlagwoerter": []},
        {"schlagwoerter": ["[Basel]"]},
    ]
    assert not any("read as one value" in note for note in found.notes)


def test_raw_answers_may_stand_under_the_name_of_an_image():
    found = read("Bild;text", 'Kasten3_0001;"{""titel"": ""Zoo""}"')
    assert found.load(found.runs[None]["Kasten3_0001"]) == {"text": '{"titel": "Zoo"}'}
    assert found.notes == ["t.csv: read as Bild → id"]
    found = read("model;text;id", "gpt;Zoo;Kasten3_0001")
    assert found.load(found.runs["gpt"]["Kasten3_0001"]) == {"text": "Zoo"}
    found = read("Bild;Titel;prediction", 'Kasten3_0001;A;"{""titel"": ""Zoo""}"')
    assert records(found) == {"Kasten3_0001": {"titel": "Zoo"}}


@pytest.mark.parametrize("title", ["text", "answer", "markdown", "Transcription"])
def test_column_of_texts_is_what_the_model_wrote(title):
    page = {"properties": {"text": TEXT, "folio": TEXT}}
    schema = AnswerSchema({"properties": {"pages": {"type": "array", "items": page}}})
    found = read(f"id,{title}", "Kasten3_0001,Zoo", schema=schema)
    assert found.load(found.runs[None]["Kasten3_0001"]) == {"text": "Zoo"}
