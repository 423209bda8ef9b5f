"""`hdbench compare`: runs side by side, from their results."""

import json

import pytest
from helpers.run_folders import write_cards

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
        (("right.json", "right.jsonl"), "right.jsonl:2: not JSON"),
    ],
)
def test_what_cannot_be_compared_is_refused(results, run_hdbench, arguments, message):
    record = json.loads((results / "right.json").read_text())
    record["ids"] = record["ids"][:3]
    record["statistics"] = {name: column[:3] for name, column in record["statistics"].items()}
    record["items"] = record["answered"] = record["status"]["clean"] = 3
    (results / "fewer.json").write_text(json.dumps(record))
    done = run_hdbench("compare", *arguments, cwd=results)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
