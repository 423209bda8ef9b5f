"""The texts of values, by the rules that decide what agrees and what is right."""

import json

import pytest
from helpers.planned_cards import RIGHT, TEXT, Catalogue
from hypothesis import given
from hypothesis import strategies as st

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.results.files import answers_sha256
from hdbench.trust.runs import opened_runs
from hdbench.trust.values import fields_of, folded, text_of, texts_of, value_of, whole_values

NESTED = AnswerSchema(
    {
        "properties": {
            "title": TEXT,
            "publication": {"properties": {"title": TEXT, "year": {"type": "integer"}}},
            "subjects": {"type": "array", "items": TEXT},
        }
    }
)


@pytest.mark.parametrize(
    "value", [None, 0, 0.0, "", "  ", "null", " null\n", [], {}, [None, "", "null"], [[]]]
)
def test_what_stands_for_nothing_is_empty(value):
    assert text_of(value) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (" Basel\t", "Basel"),
        ("0", "0"),
        ("NULL", "NULL"),
        (1924, "1924"),
        (1924.0, "1924"),
        (0.5, "0.5"),
        (True, "true"),
        (False, "false"),
        (["Basel", None, " Bern "], "Basel / Bern"),
        ([1924, ["a", "b"]], "1924 / a / b"),
        ({"b": "ü", "a": 1}, '{"a": 1, "b": "ü"}'),
    ],
)
def test_the_text_of_a_value(value, text):
    assert text_of(value) == text


@given(st.text())
def test_folding_ignores_case_and_spaces_only(text):
    assert folded(folded(text)) == folded(text)
    assert folded(f"  {text.upper().lower()}\n") == folded(text.upper().lower())
    assert folded(text + "x") != folded(text)


def test_folding():
    assert folded("Zu\u0308rich  STADT") == folded("z\u00fcrich\nstadt")
    assert folded("Straße") == folded("STRASSE")
    for one, other in (("1957", "1958"), ("Diss. 1961", "Diss 1961"), ("Müller", "Muller")):
        assert folded(one) != folded(other)


def test_fields_of_the_same_name_are_apart():
    fields, several = fields_of(NESTED)

    assert several == []
    assert [field.path for field in fields] == [
        "title",
        "publication.title",
        "publication.year",
        "subjects",
    ]
    record = {"title": "A", "publication": {"title": "B"}, "subjects": ["x", "y"]}
    assert texts_of(record, fields) == ["A", "B", "", "x / y"]
    assert texts_of({"publication": {"title": "B"}}, fields) == ["", "B", "", ""]


@pytest.mark.parametrize("record", [{}, {"publication": "1924"}, {"publication": None}, [], "text"])
def test_a_value_that_is_not_there(record):
    assert value_of(record, fields_of(NESTED)[0][1]) is None


WITHIN = {
    "anyOf": [
        {"type": "object", "properties": {"date": TEXT, "place": TEXT}},
        {
            "type": "object",
            "properties": {"metadata": {"properties": {"date": TEXT, "place": TEXT}}},
        },
    ]
}


def test_an_object_around_the_answer():
    fields, _ = fields_of(AnswerSchema(WITHIN))

    assert [field.path for field in fields] == ["date", "place"]
    bare, within = {"date": "1929", "place": "Basel"}, {"metadata": {"date": "1929"}}
    assert texts_of(bare, fields) == ["1929", "Basel"]
    assert texts_of(within, fields) == ["1929", ""]


def test_lists_of_objects_as_one_value():
    persons = {"type": "array", "items": {"properties": {"name": TEXT, "born": TEXT}}}
    schema = AnswerSchema({"properties": {"title": TEXT, "persons": persons}})
    title, whole = whole_values(schema)

    assert (title.path, whole.path) == ("title", "persons")
    record = {"persons": [{"name": "Ida", "born": "1901"}]}
    assert texts_of(record, [whole]) == ['{"born": "1901", "name": "Ida"}']


def test_sample_letters_are_read_with_and_without_their_wrapper(samples, tmp_path):
    benchmark = load_benchmark(str(samples / "hdb/rheinschifffahrt"))
    letter = {
        "letter_title": ["Betr. Landungssteg"],
        "send_date": "null",
        "sender_persons": ["T. Klingenberg", "R. Aebi"],
        "receiver_persons": [],
    }
    ids = list(benchmark.ids())
    for name, answer in (("bare", letter), ("within", {"metadata": letter})):
        lines = [json.dumps({"id": item, "prediction": answer}) + "\n" for item in ids]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    fields, several = fields_of(benchmark.answer_schema())
    assert [field.path for field in fields] == list(letter)
    assert several == []

    # A sample this small promises nothing, but its runs are read as those of a large collection.
    catalogue = Catalogue(tmp_path / "large")
    for name in "ab":
        catalogue.run(name, RIGHT)
    plan = catalogue.plan()
    runs = [tmp_path / "bare.jsonl", tmp_path / "within.jsonl"]
    planned = [
        run.model_copy(update={"path": str(path), "sha256": answers_sha256(path)})
        for run, path in zip(plan.runs, runs, strict=True)
    ]
    plan = plan.model_copy(update={"runs": tuple(planned), "fields": tuple(letter)})
    with opened_runs(plan, benchmark, tmp_path / "plan.yaml") as opened:
        judged = opened.judged(ids[0], opened.records(ids[0]))

    assert [each.score for each in judged] == [1, 1, 1, 1]
    assert [each.text for each in judged] == [
        "Betr. Landungssteg",
        "",
        "T. Klingenberg / R. Aebi",
        "",
    ]
