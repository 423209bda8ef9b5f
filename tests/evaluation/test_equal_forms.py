"""Texts in another form that counts as equal: a result says how many there were."""

import json
import unicodedata

import pytest
from helpers.lines import write_lines

from hdbench.api import score

TEXTS = {"a": "Zähle", "b": "Öfen", "c": "Wein"}


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        ("a", ["1 answer or its ground truth has characters in another form"]),
        ("ab", ["2 answers or their ground truths have characters in another form"]),
        ("c", []),  # which is the same in both forms
    ],
)
def test_a_note_says_in_how_many_answers(apart, said, tmp_path, run_hdbench, monkeypatch):
    rows = [
        {"text": f"item {item}", "id": item, "ground_truth": {"text": text}}
        for item, text in TEXTS.items()
    ]
    write_lines(tmp_path / "lines", rows)
    assert run_hdbench("build", "./lines", cwd=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path)
    lines = [
        {"id": item, "prediction": {"text": unicodedata.normalize("NFD", text)}}
        if item in apart
        else {"id": item, "prediction": {"text": text}}
        for item, text in TEXTS.items()
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = score("hdb/lines", "a.jsonl")
    assert result.rates["cer"] == 0
    assert [note.partition(" (")[0] for note in result.reading.notes] == said
    assert score("hdb/lines", "a.jsonl", protocol="published").reading.notes == []


def test_names_of_fields_keep_to_the_schema_however_they_are_written(
    tmp_path, run_hdbench, monkeypatch
):
    truth = {"Größe": "8°", "Maß": "3"}
    rows = [{"text": "x", "id": "1", "ground_truth": truth}]
    figure = {"metric": "record_f1", "headline": "f1_micro", "higher_is_better": True}
    write_lines(tmp_path / "lines", rows, **figure)
    fields = {"Größe": {"type": "string"}, "Maß": {"type": "string"}}
    schema = {"type": "object", "required": ["Größe"], "properties": fields}
    (tmp_path / "lines/answer.schema.json").write_text(json.dumps(schema))
    assert run_hdbench("build", "./lines", cwd=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path)
    answer = unicodedata.normalize("NFD", json.dumps(truth | {"Maß": 3}, ensure_ascii=False))
    for line in ({"prediction": json.loads(answer)}, {"text": f"Here it is: {answer}"}):
        (tmp_path / "a.jsonl").write_text(json.dumps({"id": "1", **line}) + "\n")
        result = score("hdb/lines", "a.jsonl")
        assert result.rates["f1_micro"] == 1
        assert result.reading.schema_violations == {"Maß": {"type": 1}}
