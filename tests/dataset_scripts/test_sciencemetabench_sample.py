"""The sample of sciencemetabench: real PDFs, and truths that can be read in them."""

import json
import re

import jsonschema
import pdfplumber
import pytest
from helpers.prompt_form import fields_of_prompt, fields_of_schema

from hdbench.about import installed_folder
from hdbench.answers.text import read_text
from hdbench.common.jsonio import read_jsonl

FOLDER = installed_folder("dataset_scripts") / "sciencemetabench"
SAMPLE = FOLDER / "sample"
ITEMS = [line.value for line in read_jsonl(SAMPLE / "metadata.jsonl")]
PAPER = ["doi", "title", "author", "keyword", "abstract", "pub_time"]
BOOK = ["isbn", "title", "author", "abstract", "category", "pub_time", "publisher"]
FIELDS = {"paper": PAPER, "textbook": BOOK, "ebook": BOOK}


@pytest.fixture(params=ITEMS, ids=lambda item: item["kind"])
def item(request):
    return request.param


@pytest.fixture(scope="module")
def schema():
    return json.loads((FOLDER / "answer.schema.json").read_text())


def squeezed(text):
    """A text without white space: where lines are broken says nothing."""
    return re.sub(r"\s", "", text)


def test_every_value_of_a_truth_can_be_read_in_its_document(item):
    with pdfplumber.open(SAMPLE / item["file_name"]) as pdf:
        assert len(pdf.pages) == 2
        text = squeezed("".join(page.extract_text() for page in pdf.pages))
    truth = item["ground_truth"]
    for field in FIELDS[item["kind"]]:
        listed = field in {"author", "keyword"}
        for value in truth[field].split(",") if listed else [truth[field]]:
            assert squeezed(value) in (text.replace("-", "") if field == "isbn" else text)


def test_prompt_and_schema_ask_for_the_fields_of_the_truths(schema):
    prompt = (FOLDER / "prompt.txt").read_text()
    blocks = re.findall(r"```json\n.*?```", prompt, re.DOTALL)
    for fields, block, answer in zip((PAPER, BOOK), blocks, schema["anyOf"], strict=True):
        assert fields_of_prompt(block) == {field: {"type": "string"} for field in fields}
        assert fields_of_schema(answer) == fields_of_prompt(block)


def test_the_schema_takes_an_answer_of_a_kind_and_nothing_else(schema, item):
    answer = {field: item["ground_truth"][field] for field in FIELDS[item["kind"]]}
    jsonschema.validate(answer, schema, jsonschema.Draft202012Validator)
    wrong = [
        {**answer, "pub_time": 2019},
        {**answer, "title": None},
        {**answer, "kind": item["kind"]},
        {name: value for name, value in answer.items() if name != "abstract"},
    ]
    for refused in wrong:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(refused, schema, jsonschema.Draft202012Validator)


def test_the_answers_are_for_the_sample_and_show_usual_faults(schema):
    answers = {line.value["id"]: line.value for line in read_jsonl(SAMPLE / "predictions.jsonl")}
    truths = {item["kind"]: item["ground_truth"] for item in ITEMS}
    assert answers.keys() == {truth["sha256"] for truth in truths.values()}

    paper = answers[truths["paper"]["sha256"]]["prediction"]
    jsonschema.validate(paper, schema)
    assert paper["doi"] == "https://doi.org/" + truths["paper"]["doi"]
    assert sorted(paper["author"].split(",")) == sorted(truths["paper"]["author"].split(","))
    assert paper["author"] != truths["paper"]["author"]
    assert truths["paper"]["abstract"].startswith(paper["abstract"])
    assert len(paper["abstract"]) < len(truths["paper"]["abstract"])

    textbook = read_text(answers[truths["textbook"]["sha256"]]["text"]).prediction
    jsonschema.validate(textbook, schema)
    assert textbook["isbn"].replace("-", "") == truths["textbook"]["isbn"] != textbook["isbn"]

    assert answers[truths["ebook"]["sha256"]]["prediction"] is None
