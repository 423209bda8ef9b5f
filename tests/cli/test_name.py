"""`--name`: the model of answers that do not say whose they are."""

import csv
import io
import json
from pathlib import Path

import pytest
from helpers.run_folders import RIGHT, write_run
from openpyxl import load_workbook


def write(path, *, model=None, year=1924):
    own = {} if model is None else {"model": model}
    answer = {"prediction": RIGHT | {"year": year}}
    lines = [json.dumps({"id": f"000{number}"} | own | answer) + "\n" for number in range(4)]
    with Path(path).open("a") as file:
        file.writelines(lines)


@pytest.fixture
def here(cards):
    write(cards / "mine.jsonl")
    write(cards / "yours.jsonl", year=1942)
    write(cards / "own.jsonl", model="reader-7")
    write(cards / "two.jsonl", model="reader-8")
    write(cards / "two.jsonl", model="reader-9")
    write_run(cards / "run", {"0000": {"prediction": RIGHT}})
    return cards


def test_a_result_says_the_name_and_is_verified_with_it(here, run_hdbench):
    done = run_hdbench(
        "score", "hdb/cards", "mine.jsonl", "--name", "Reader <3>", "--json", "r.json", cwd=here
    )
    assert done.stdout.startswith("Reader <3>: hdb/cards 1.0.0"), done.stderr
    assert json.loads((here / "r.json").read_text())["model"] == "Reader <3>"
    verified = run_hdbench("verify", "r.json", cwd=here)
    assert (verified.returncode, verified.stdout) == (0, "r.json: equal\n")


def test_it_stands_in_the_heading_of_a_report_and_its_workbook(here, run_hdbench):
    done = run_hdbench(
        *("report", "hdb/cards", "mine.jsonl", "--name", "Reader <3>"),
        *("-o", "out"),
        cwd=here,
    )
    assert done.returncode == 0, done.stderr
    opened = done.stdout.splitlines()[-1].removeprefix("open ")
    page = (here / opened).read_text()
    heading = page.partition("<h1")[2].partition("</h1>")[0]
    assert "Reader &lt;3&gt;" in heading
    assert "Reader &lt;3&gt;</title>" in page
    sheet = load_workbook(here / "out/report.xlsx").worksheets[0]
    assert sheet["A1"].value == "hdb/cards, documented: Reader <3>"
    assert json.loads((here / "out/result.json").read_text())["model"] == "Reader <3>"


def test_names_go_in_order_to_files_without_one(here, run_hdbench):
    files = ("hdb/cards", "mine.jsonl", "own.jsonl", "yours.jsonl")
    named = ("--name", "A", "--name", "B")
    done = run_hdbench("leaderboard", *files, *named, "--format", "csv", cwd=here)
    rows = {row["model"]: row["value"] for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows == {"A": "1.0", "reader-7": "1.0", "B": "0.5"}
    compared = run_hdbench("compare", *files, *named, "--json", "c.json", cwd=here)
    pairs = json.loads((here / "c.json").read_text())["comparisons"]
    assert [(each["a"], each["b"]) for each in pairs] == [
        ("A", "reader-7"),
        ("A", "B"),
        ("reader-7", "B"),
    ], compared.stderr


TWICE = "--name: 1 given, and 2 of the files name no model (mine.jsonl, yours.jsonl): give"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "hdb/cards", "two.jsonl"), "already name their model ('reader-8', 'reader-9')"),
        (("score", "hdb/cards", "own.jsonl"), "already name their model ('reader-7')"),
        (("score", "hdb/cards", "run"), "already name their model ('reader-1')"),
        (("report", "run", "-o", "out"), "already name their model ('reader-1')"),
        (("leaderboard", "hdb/cards", "mine.jsonl", "yours.jsonl"), TWICE),
    ],
)
def test_a_name_that_the_answers_have_is_not_replaced(here, run_hdbench, arguments, message):
    done = run_hdbench(*arguments, "--name", "X", cwd=here)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
    assert not (here / "out").exists()
