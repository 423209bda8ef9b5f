"""`hdbench verify` over every form of answers that `hdbench score` reads."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest
import xlsxwriter
from helpers.run_folders import RIGHT, write_run

from hdbench.api import score_runs
from hdbench.evaluation.result_file import write_results
from hdbench.evaluation.verify import verify

ANSWERS = {"0000": RIGHT, "0001": {"title": "Stellíngen", "year": 1942}, "0002": RIGHT}
TEXTS = {
    item: f"Here it is:\n```json\n{json.dumps(answer)}\n```" for item, answer in ANSWERS.items()
}
TABLE = [["id", "title", "year"], *([item, *answer.values()] for item, answer in ANSWERS.items())]
LINES = "".join(
    json.dumps({"id": item, "prediction": answer}) + "\n" for item, answer in ANSWERS.items()
)


def lines(folder):
    (folder / "answers").write_text(LINES)


def lines_of_texts(folder):
    rows = ({"id": item, "text": text} for item, text in TEXTS.items())
    (folder / "answers").write_text("".join(json.dumps(row) + "\n" for row in rows))


def lines_of_two_models(folder):
    rows = [
        {"id": item, "prediction": answer, "model": model}
        for model in ("reader-1", "reader-2")
        for item, answer in ANSWERS.items()
    ]
    (folder / "answers").write_text("".join(json.dumps(row) + "\n" for row in rows))


def packed_lines(folder):
    (folder / "answers").write_bytes(gzip.compress(LINES.encode()))


def json_list(folder):
    rows = [{"id": item, "prediction": answer} for item, answer in ANSWERS.items()]
    (folder / "answers").write_text(json.dumps(rows))


def json_object(folder):
    (folder / "answers").write_text(json.dumps(ANSWERS))


def table(encoding, delimiter):
    def write(folder):
        rows = (delimiter.join(map(str, row)) for row in TABLE)
        (folder / "answers").write_text("\n".join(rows), encoding=encoding)

    return write


def workbook(folder):
    book = xlsxwriter.Workbook(folder / "answers")
    sheet = book.add_worksheet()
    for number, row in enumerate(TABLE):
        sheet.write_row(number, 0, row)
    book.close()


def files(folder, prefix="", wrap=lambda answer: answer):
    (folder / "answers").mkdir()
    for item, answer in ANSWERS.items():
        (folder / f"answers/{prefix}{item}.json").write_text(json.dumps(wrap(answer)))


def texts(folder):
    (folder / "answers").mkdir()
    for item, text in TEXTS.items():
        (folder / f"answers/{item}.txt").write_text(text)


def requests(folder):
    files(folder, "request_T1_", lambda answer: {"text": json.dumps(answer), "parsed": answer})


def packed(write):
    def write_zip(folder):
        write(folder)
        with zipfile.ZipFile(folder / "zip", "w") as archive:
            for path in sorted((folder / "answers").iterdir()):
                archive.write(path, path.name)
                path.unlink()
        (folder / "answers").rmdir()
        (folder / "zip").rename(folder / "answers")

    return write_zip


def run(**info):
    def write(folder):
        entries = {item: {"prediction": answer} for item, answer in ANSWERS.items()}
        write_run(folder / "answers", entries, **info)

    return write


def run_without_answers(folder):
    write_run(folder / "answers", {})


FORMS = {
    "JSON Lines": lines,
    "JSON Lines of texts": lines_of_texts,
    "JSON Lines of two models": lines_of_two_models,
    "JSON Lines, gzip": packed_lines,
    "JSON list": json_list,
    "JSON object": json_object,
    "CSV": table("utf-8", ","),
    "CSV of Excel": table("cp1252", ";"),
    "CSV in UTF-16": table("utf-16", "\t"),
    "XLSX": workbook,
    "folder of JSON": files,
    "folder of texts": texts,
    "ZIP of JSON": packed(files),
    "ZIP of texts": packed(texts),
    "framework's folder": requests,
    "framework's folder, ZIP": packed(requests),
    "run": run(model="Qwen/Qwen3"),
    "run of some items": run(items=["0000", "0001", "0002"], subset="the first three"),
    "run without answers yet": run_without_answers,
}


@pytest.mark.parametrize("form", FORMS)
def test_what_was_scored_is_verified_whatever_its_form(form, cards, monkeypatch):
    monkeypatch.chdir(cards)
    FORMS[form](cards)
    results = list(score_runs("hdb/cards", "answers").values())
    answered = 0 if form == "run without answers yet" else 3
    assert {result.figures["answered"] for result in results} == {answered}
    write_results(cards / "result.json", results)
    assert verify(Path("result.json")) == []


def test_the_command_verifies_a_run_folder(cards, run_hdbench):
    run(model="tesseract")(cards)
    done = run_hdbench("score", "hdb/cards", "answers", "--json", "r.json", cwd=cards)
    assert done.returncode == 0, done.stderr
    done = run_hdbench("verify", "r.json", cwd=cards)
    assert (done.returncode, done.stdout, done.stderr) == (0, "r.json: equal\n", "")
