"""Recorded runs as tables: the same figures, or the difference that `export` describes."""

import json

import pytest

from hdbench.api import score
from hdbench.output.exporting.export import export

pytestmark = pytest.mark.nightly

# Runs with repaired answers and invented fields; with texts without a section; with null persons.
EQUAL = {
    "zettelkatalog": "2025-09-02_T0145",
    "avisblatt": "2025-05-09_T0088",
    "rheinschifffahrt": "2025-04-01_T0019",
}
WITH_NULL = "2026-01-24_T0152"


@pytest.fixture
def folder(published):
    return published.folder


def numbers(benchmark, answers):
    figures = score(benchmark, answers).figures()
    return {name: value for name, value in figures.items() if isinstance(value, int | float)}


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@pytest.mark.parametrize("name", EQUAL)
def test_a_recorded_run_has_the_same_figures_from_its_table(name, form, folder, monkeypatch):
    monkeypatch.chdir(folder)
    run = folder / "hdb/results" / name / EQUAL[name]
    table = export(run, form).path
    assert numbers(f"hdb/{name}", table) == numbers(f"hdb/{name}", run / "answers.jsonl")


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_run_with_null_has_the_figures_of_one_with_empty_texts(form, folder, monkeypatch):
    monkeypatch.chdir(folder)
    run = folder / "hdb/results/zettelkatalog" / WITH_NULL
    given = run / "answers.jsonl"
    filled = folder / "filled.jsonl"
    with given.open() as lines, filled.open("w") as out:
        for line in map(json.loads, lines):
            record = line["prediction"]
            assert isinstance(record, dict)
            for group, names in {
                "type": ("type",),
                "author": ("last_name", "first_name"),
                "publication": ("title", "year", "place", "pages", "publisher", "format"),
                "library_reference": ("shelfmark", "subjects"),
            }.items():
                values = record.setdefault(group, {})
                values |= {each: "" for each in names if values.get(each) is None}
            out.write(json.dumps({"id": line["id"], "prediction": record}) + "\n")
    benchmark = "hdb/zettelkatalog"
    table = numbers(benchmark, export(run, form).path)
    assert table == numbers(benchmark, filled)
    before = numbers(benchmark, given)
    assert table["false_negatives"] == before["false_negatives"]
    assert table["true_positives"] > before["true_positives"]
