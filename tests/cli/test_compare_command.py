"""`hdbench compare`: runs side by side, from their results."""

import csv
import json

import pytest
from helpers.run_folders import write_cards, write_run

from hdbench.report.audit.findings import read_audited

RIGHT = {"title": "Stellingen", "year": 1924}
WRONG = {"title": "Stellingen", "year": 1942}


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_hdbench):
    """Two results of the four cards: `right` has all, `wrong` has no year right."""
    cards = tmp_path_factory.mktemp("results")
    write_cards(cards)
    for name, prediction in (("right", RIGHT), ("wrong", WRONG)):
        lines = [{"id": f"000{number}", "prediction": prediction} for number in range(4)]
        (cards / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        arguments = ("score", "hdb/cards", f"{name}.jsonl", "--json", f"{name}.json")
        assert run_hdbench(*arguments, cwd=cards).returncode == 0
    return cards


def test_two_runs_side_by_side(results, run_hdbench):
    done = run_hdbench("compare", "right.json", "wrong.json", "--json", "c.json", cwd=results)
    assert done.returncode == 0, done.stderr
    assert "A right, B wrong" in done.stdout
    assert "4 independent items, fewer than 20: nothing is called separable" in done.stdout
    assert "interval" not in done.stdout
    assert "Items that differ most (f1)" in " ".join(done.stdout.split())
    (comparison,) = json.loads((results / "c.json").read_text())["comparisons"]
    difference = comparison["figures"]["f1_micro"]
    assert (difference["a"], difference["b"], difference["difference"]) == (1.0, 0.5, 0.5)
    # Every item differs alike: of 2^4 exchanges two are as far apart.
    assert (comparison["p"], comparison["exact"], comparison["separable"]) == (2 / 16, True, False)
    assert comparison["item_figure"] == "f1"
    assert comparison["fields"]["year"] == {"a": 1.0, "b": 0.0, "difference": 1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("right.json",), "name at least two to compare"),
        (("right.json", "right.json"), "right: the same answers are given twice"),
        (("right.json", "fewer.json"), "do not have the same items: 1 ('0003') only in the first"),
        (("right.json", "right.jsonl"), "right.jsonl: not a result of hdbench score --json; for"),
    ],
)
def test_what_cannot_be_compared_is_refused(results, run_hdbench, arguments, message):
    record = json.loads((results / "right.json").read_text())
    record["ids"] = record["ids"][:3]
    record["statistics"] = {name: column[:3] for name, column in record["statistics"].items()}
    record["statuses"] = record["statuses"][:3]
    (results / "fewer.json").write_text(json.dumps(record))
    done = run_hdbench("compare", *arguments, cwd=results)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of four makers on the four cards, of which the last was asked two only."""
    here = tmp_path_factory.mktemp("folder")
    write_cards(here)
    for number, maker in enumerate(("antares", "bellatrix", "capella", "deneb")):
        ids = [f"000{card}" for card in range(2 if maker == "deneb" else 4)]
        answers = {item: {"prediction": WRONG} for item in ids}
        write_run(here / f"runs/{number}", answers, model=f"{maker}/m", run=maker, items=ids)
    return here


LEFT_OUT = "note: left out 1 run that was not asked the same 4 items as most: deneb/m"


def test_a_folder_is_compared_without_the_runs_on_other_items(folder, run_hdbench):
    done = run_hdbench("compare", "runs", cwd=folder)
    assert (done.returncode, done.stderr.strip()) == (0, LEFT_OUT)
    ranks, _, pairs = done.stdout.partition("Pairs (f1_micro)")
    assert [ranks.count(f" {maker}/m") for maker in ("antares", "bellatrix", "capella")] == [1] * 3
    assert [line.split()[:2] for line in pairs.splitlines() if "/m" in line] == [
        ["antares/m", "bellatrix/m"],
        ["antares/m", "capella/m"],
        ["bellatrix/m", "capella/m"],
    ]
    assert pairs.count("not separable") == 3


def test_audit_writes_csv_that_annotate_reads(folder, run_hdbench):
    done = run_hdbench("audit", "runs", "--out", "audit.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "audit.csv").open(encoding="utf-8-sig", newline="") as file:
        first, *_ = rows = list(csv.DictReader(file))
    assert (len(rows), first["models read"], first["agreement"]) == (4, "1942", "3 of 3")
    found = ("year", "1942", "3/3: antares, bellatrix, capella")
    assert read_audited(folder / "audit.csv") == {f"000{card}": [found] for card in range(4)}
    done = run_hdbench("audit", "runs", "--out", "audit.txt", cwd=folder)
    assert (done.returncode, "must end in .csv or .json" in done.stderr) == (2, True)
    assert not (folder / "audit.txt").exists()
