"""The values of a record, by the schema of its answers."""

import json

import pytest
from helpers.planned_cards import TEXT

from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.collections.trust.fields import fields_of, texts_of, value_of
from hdbench.collections.trust.runs import PlannedRun, opened_run, opened_runs
from hdbench.evaluation.run import answers_sha256

NESTED = AnswerSchema(
    {
        "properties": {
            "title": TEXT,
            "publication": {"properties": {"title": TEXT, "year": {"type": "integer"}}},
            "subjects": {"type": "array", "items": TEXT},
        }
    }
)


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

    runs = [tmp_path / "bare.jsonl", tmp_path / "within.jsonl"]
    planned = [
        PlannedRun(path=str(path), name=path.stem, sha256=answers_sha256(path)) for path in runs
    ]
    with opened_runs(planned, list(letter), benchmark, tmp_path / "plan.yaml") as opened:
        judged = opened.judged(opened.records(ids[0]))

    assert [each.score for each in judged] == [1, 1, 1, 1]
    assert [each.text for each in judged] == [
        "Betr. Landungssteg",
        "",
        "T. Klingenberg / R. Aebi",
        "",
    ]


def test_how_sure_a_model_was_comes_through_a_file(samples, tmp_path):
    benchmark = load_benchmark(str(samples / "hdb/rheinschifffahrt"))
    item = next(iter(benchmark.ids()))
    letter = {
        "letter_title": [{"value": "Betr. Landungssteg", "confidence": 0.5}],
        "send_date": {"value": "1926-02-16", "confidence": 0.75},
        "sender_persons": ["T. Klingenberg"],
        "receiver_persons": [],
    }
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"id": item, "prediction": letter}) + "\n")
    with opened_run(path, benchmark) as run:
        answer = run.answers.take(item)
    fields, _ = fields_of(benchmark.answer_schema())
    said = dict(
        zip((field.path for field in fields), texts_of(answer.prediction, fields), strict=True)
    )
    assert (said["letter_title"], said["send_date"]) == ("Betr. Landungssteg", "1926-02-16")
    assert answer.confidences == {"letter_title[0]": 0.5, "send_date": 0.75}
