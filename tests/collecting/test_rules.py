"""How the answers to a new collection are scored."""

import json

import pytest
from PIL import Image

from hdbench.answers.answer import Answer
from hdbench.benchmarks.building.drafts import schema_of_records
from hdbench.benchmarks.spec import read_spec
from hdbench.collections.new.rules import rules_for
from hdbench.evaluation.score import score_items

BOOK = {
    "title": "Die Ehe",
    "year": "1912",
    "ISBN": "978-3-16-148410-0",
    "Signatur": "X,184",
    "inventory_number": "1923.17",
    "persons": [{"name": "Frey", "author_gnd": "118540238"}],
    "links": ["https://example.org/1"],
    "number": "0071",
    "date": "1912-03-02",
    "printed": "02.03.1912",
    "note": "",
}
OTHERS = {"dewey": "0830", "ref": "10.1186/s41038-017-0090-z", "code": "1050-124X"}


@pytest.mark.parametrize("truths", [[BOOK | OTHERS], [BOOK | OTHERS, BOOK | {"title": "1050124"}]])
def test_identifiers_are_compared_exactly_by_name_or_by_all_values(truths):
    _, options = rules_for(schema_of_records(truths, title="x"), [], truths)
    names = ["year", "ISBN", "Signatur", "inventory_number", "persons[].author_gnd", "links[]"]
    assert options["compare"] == dict.fromkeys([*names, "number", *OTHERS], "exact")


def test_without_a_ground_truth_names_alone_say_so():
    schema = schema_of_records([{"isbn": "", "title": ""}], title="x")
    assert rules_for(schema, [], [])[1]["compare"] == {"isbn": "exact"}


@pytest.mark.slow
def test_new_says_so_and_one_wrong_digit_is_an_error(tmp_path, run_hdbench):
    (tmp_path / "scans").mkdir()
    isbns = ("9783161484100", "9783406703041", "9783518587287")
    lines = ["Datei;Titel;ISBN"]
    for number, isbn in enumerate(isbns):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(tmp_path / f"scans/b{number}.png")
        lines.append(f"b{number};Buch {number};{isbn[:3]}-{isbn[3:]}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    done = run_hdbench("new", "books", "scans", "--truth", "t.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "note: compared exactly, so that one wrong sign is an error: isbn: see compare in " in (
        done.stdout
    )
    assert "one wrong sign is an error: isbn" in (tmp_path / "books/README.md").read_text()
    metric = read_spec(tmp_path / "books/benchmark.yaml").make_metric()
    truths = [
        json.loads(line)["ground_truth"]
        for line in (tmp_path / "books/metadata.jsonl").read_text().splitlines()
    ]
    pairs = [
        (Answer(truth | {"isbn": truth["isbn"][:-1] + "x"}, id=str(number)), metric.prepare(truth))
        for number, truth in enumerate(truths)
    ]
    figures = score_items(metric, pairs).figures
    assert (figures["true_positives"], figures["false_negatives"]) == (3, 3)  # titles alone
