"""The folder of a report: what is in it, and that it comes whole or not at all."""

import json

import pytest

from hdbench.api import read_result, score
from hdbench.errors import HdbenchError
from hdbench.report.folder import write_report
from hdbench.report.plots import plots

RIGHT = {"title": "Stellingen", "year": 1924}


@pytest.fixture
def answered(cards):
    """The benchmark of four cards, with a right answer, a wrong one and one that is lost."""
    wrong = {"title": "Ste\ud800lling", "year": 1925}
    answers = [{"prediction": RIGHT}, {"prediction": wrong}, {"text": "I cannot read this."}]
    lines = [json.dumps({"id": f"{n:04}", **answer}) for n, answer in enumerate(answers)]
    (cards / "answers.jsonl").write_text("\n".join(lines))
    return cards


def report(folder, run="answers.jsonl", **options):
    out = folder / "report"
    written = write_report(folder / run, out, benchmark=str(folder / "hdb/cards"), **options)
    assert sorted(written.files) == sorted(path for path in out.rglob("[!.]*") if path.is_file())
    assert written.notes == []
    return {str(path.relative_to(out)): path.read_bytes() for path in written.files}


def test_a_report_has_page_tables_plots_and_the_result(answered):
    files = report(answered)
    drawn = {f"plots/{name}.svg" for name in ("fields", "errors", "items")}
    tables = {"report.xlsx", "items.csv", "errors.csv", "fields.csv"}
    assert files.keys() == {"index.html", "result.json", *tables, *drawn}
    whole = score(str(answered / "hdb/cards"), answered / "answers.jsonl")
    made = read_result(answered / "report/result.json")
    assert (made.rates, made.per_item) == (whole.rates, whole.per_item)
    assert {name: files[f"plots/{name}"] for name in plots(whole)} == plots(whole)
    assert all(name in files["index.html"].decode() for name in tables)


def test_the_report_is_the_same_each_time_and_from_a_result(answered, run_hdbench):
    first = report(answered)
    again = report(answered)
    del first["report.xlsx"], again["report.xlsx"]  # they say when they were written
    assert again == first
    command = ("score", "hdb/cards", "answers.jsonl", "--json", "result.json", "--details")
    assert run_hdbench(*command, cwd=answered).returncode == 0
    again = report(answered, run="result.json")
    assert again["errors.csv"] == first["errors.csv"]


def test_two_runs_are_refused_and_no_report_is_left(answered):
    lines = [json.dumps({"id": "0000", "model": model, "prediction": RIGHT}) for model in "ab"]
    (answered / "two.jsonl").write_text("\n".join(lines))
    with pytest.raises(HdbenchError, match=r"two\.jsonl: holds 2 runs: give one"):
        report(answered, run="two.jsonl")
    assert not (answered / "report").exists()
