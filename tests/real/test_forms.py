"""One published run in every form that people have it in: the score is the same."""

import csv
import gzip
import json
import re
import zipfile

import openpyxl
import pytest

from hdbench.api import score
from hdbench.evaluation.score import Settings

pytestmark = pytest.mark.nightly

RUN = "2026-01-24/T0252"


@pytest.fixture
def cards(published):
    return f"{published.folder}/hdb/zettelkatalog"


@pytest.fixture(scope="module")
def run(shared):
    with gzip.open(shared / "recorded/library_cards.jsonl.gz", "rt") as file:
        return next(run for run in map(json.loads, file) if run["run"] == RUN)


def requests(run):
    """The files of the run's folder, as the framework writes them."""
    return {
        f"request_T0252_{answer['id']}.json": {
            "text": answer["text"],
            "model": run["model"],
            **({} if answer["answer"] is None else {"parsed": answer["answer"]}),
            "usage": {"input_tokens": 1000 + int(answer["id"]) % 97, "output_tokens": 80},
            "duration": 2.5,
            "score": {},
        }
        for answer in run["answers"]
    }


def entries(run):
    return [
        {"id": answer["id"], "prediction": answer["answer"], "text": answer["text"]}
        for answer in run["answers"]
    ]


def as_framework_folder(run, folder):
    path = folder / "T0252"
    path.mkdir()
    for name, request in requests(run).items():
        (path / name).write_text(json.dumps(request))
    (path / "scoring.json").write_text(json.dumps(run["scores"]))
    return path


def as_framework_zip(run, folder):
    path = folder / "T0252.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, request in requests(run).items():
            archive.writestr(f"T0252/{name}", json.dumps(request))
    return path


def as_json_lines(run, folder):
    path = folder / "answers.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries(run))
    return path


def as_json_list(run, folder):
    path = folder / "answers.json"
    path.write_text(json.dumps(entries(run), indent=1))
    return path


def as_json_object(run, folder):
    path = folder / "answers.json"
    path.write_text(json.dumps({entry.pop("id"): entry for entry in entries(run)}))
    return path


FORMS = [
    as_framework_folder,
    as_framework_zip,
    as_json_lines,
    as_json_list,
    as_json_object,
]


@pytest.mark.parametrize("form", FORMS)
def test_the_score_is_the_same_in_every_form(form, run, cards, tmp_path):
    path = form(run, tmp_path)
    published = score(cards, path, Settings("published")).figures()
    assert published["f1_micro"] == run["scores"]["f1_micro"]
    assert published["f1_macro"] == run["scores"]["f1_macro"]
    assert published["answered"] == 196
    # The 67 answers that the harness lost are read.
    documented = score(cards, path).figures()
    assert (documented["answered"], documented["unanswered"]) == (263, 0)
    assert documented["f1_micro"] == pytest.approx(0.8388, abs=5e-5)
    assert documented["status"]["clean"] == 263


def test_a_folder_with_a_file_for_each_card(run, cards, tmp_path):
    path = tmp_path / "cards"
    path.mkdir()
    for answer in run["answers"]:
        if answer["answer"] is not None:
            (path / f"{answer['id']}.json").write_text(json.dumps(answer["answer"]))
        (path / f"{answer['id']}.txt").write_text(answer["text"])
    figures = score(cards, path).figures()
    assert (figures["answered"], figures["f1_micro"]) == (263, pytest.approx(0.8388, abs=5e-5))


def flat(record, prefix=""):
    """Dotted names and values of a record, by its objects alone."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


@pytest.fixture(scope="module")
def typed(run):
    """The parsed answers in characters that a sheet and cp1252 can hold; id → record or None."""
    answers = {}
    for answer in run["answers"]:
        text = json.dumps(answer["answer"], ensure_ascii=False)
        text = re.sub(r"\\u00[01].", "?", text).encode("cp1252", errors="replace").decode("cp1252")
        answers[answer["id"]] = json.loads(text)
    return answers


@pytest.fixture(scope="module")
def rows(typed):
    """The answers as a table: its head and rows, ids without their leading zeros."""
    records = [(int(item_id), dict(flat(record or {}))) for item_id, record in typed.items()]
    head = list(dict.fromkeys(name for _, record in records for name in record))
    return [["id", *head], *([item_id, *map(record.get, head)] for item_id, record in records)]


def as_semicolons_in_cp1252(rows, folder):
    path = folder / "answers.csv"
    with path.open("w", newline="", encoding="cp1252") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    return path


def as_workbook(rows, folder):
    path = folder / "answers.xlsx"
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)
    return path


@pytest.mark.parametrize("form", [as_semicolons_in_cp1252, as_workbook])
def test_a_spreadsheet_scores_as_the_answers_it_was_made_of(form, typed, rows, cards, tmp_path):
    parsed = tmp_path / "parsed.jsonl"
    entries = [{"id": item_id, "prediction": record} for item_id, record in typed.items()]
    parsed.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    expected = score(cards, parsed).figures()
    result = score(cards, form(rows, tmp_path)).figures()
    counts = ("true_positives", "false_positives", "false_negatives", "items_perfect", "answered")
    assert [result[name] for name in counts] == [expected[name] for name in counts]
    assert result["answered"] == 196
    assert any("leading zeros: 263" in warning["message"] for warning in result["warnings"])
    assert any("cp1252" in note for note in result["notes"]) == (form is as_semicolons_in_cp1252)
