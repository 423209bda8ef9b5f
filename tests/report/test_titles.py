"""Fields are called what the schema of the answers calls them, wherever a page names one."""

import json

import pytest
from helpers.run_folders import SPEC
from report.test_page import Page

from hdbench.answers.schema import AnswerSchema
from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.titles import FieldTitles
from hdbench.report.page import report_page

ATTACK = "<img src=x onerror=1>"
ENTRY = {
    "name": {"type": "string", "title": "Firma", "titles": {"en": "Company"}},
    "year": {"type": "integer", "title": ATTACK},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "page": {"type": "string"},
        "entries": {
            "type": "array",
            "title": "Einträge",
            "titles": {"en": "Entries"},
            "items": {"type": "object", "properties": ENTRY},
        },
    },
}
TRUTH = {
    "page": "3",
    "entries": [{"name": "Abegg", "year": 1890}, {"name": "Boreux", "year": 1901}],
}
ANSWER = {
    "page": "4",
    "entries": [{"name": "Abbeg", "year": 1891}, {"name": "Boreux", "year": 1902}],
}


@pytest.fixture
def namespace(tmp_path):
    """A benchmark of lists whose fields have titles, all but one."""
    folder = tmp_path / "hdb/lists"
    folder.mkdir(parents=True)
    spec = SPEC | {"name": "lists", "metric": "record_f1", "report_errors_at": None}
    (folder / "benchmark.yaml").write_text(json.dumps(spec))
    (folder / "answer.schema.json").write_text(json.dumps(SCHEMA))
    row = {"id": "p1", "ground_truth": json.dumps(TRUTH)}
    (folder / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    answer = {"id": "p1", "prediction": ANSWER}
    (folder / "example_predictions.jsonl").write_text(json.dumps(answer) + "\n")
    return folder.parent


def test_the_title_of_a_field_follows_those_of_what_it_is_in():
    for language, entries, name in (("en", "Entries", "Company"), ("de", "Einträge", "Firma")):
        titles = FieldTitles(AnswerSchema(SCHEMA), language)
        assert titles("page") == "page"
        assert titles("entries[1].name") == f"{entries} 2 › {name}"
        assert titles("entries[].name") == titles("entries.name") == f"{entries} › {name}"
        assert titles("entries[0].unknown[2]") == f"{entries} 1 › unknown[2]"
        assert titles("name", within="entries[1]") == name
        assert titles("name") == "name"
    assert FieldTitles(None, "en")("entries[1].name") == "entries[1].name"


def test_titles_of_the_answer_and_of_alternatives_name_no_field():
    forms = {"anyOf": [{"type": "string", "title": "As published"}, {"type": "null"}]}
    titles = FieldTitles(AnswerSchema({"title": "A card", "properties": {"a": forms}}), "en")
    assert (titles(""), titles("a")) == ("", "a")


def test_a_report_shows_titles_of_fields_and_no_paths(namespace):
    folder = namespace / "lists"
    result = score(str(folder), folder / "example_predictions.jsonl")
    html = report_page(result, load_benchmark(str(folder)))
    page = Page(html)
    assert page.row("Company")[:3] == ("Company", "Abegg", "Abbeg")  # below "Entries 1"
    assert page.row("Entries 1") == ("Entries 1",)
    assert page.row("page", "3")[2] == "4"
    assert page.row("Entries › Company")
    assert "entries.name" not in page.text
    assert ATTACK not in html
    german = Page(report_page(result, load_benchmark(str(folder)), language="de"))
    assert german.row("Firma")[:3] == ("Firma", "Abegg", "Abbeg")
