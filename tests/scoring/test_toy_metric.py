"""A new metric: what has to be touched for it, and that everything else takes it as it is."""

import json
import re
from pathlib import Path

import pytest
from helpers.results import flat_of
from helpers.run_folders import SPEC
from scoring.toy_metric import ToyLength, ToyMetric
from typer.testing import CliRunner

from hdbench import scoring
from hdbench.cli.app import app

ROOT = Path(__file__).parents[2]
RIGHT, WRONG = {"title": "Stellingen"}, {"title": "Stelling"}


@pytest.fixture
def toy(cards, monkeypatch):
    """A working directory with four cards that a metric more scores, and the answers of two runs.

    One run has one wrong answer, the other has three, and both answer three items.
    """
    monkeypatch.setitem(scoring._GIVEN, ToyMetric.name, ToyMetric)
    scoring._all.cache_clear()
    monkeypatch.chdir(cards)
    spec = SPEC | {"metric": "toy_length", "headline": "share_right"}
    Path("hdb/cards/benchmark.yaml").write_text(json.dumps(spec))
    for name, records in (("a", [RIGHT, RIGHT, WRONG]), ("b", [WRONG, WRONG, WRONG])):
        lines = [{"id": f"000{n}", "prediction": record} for n, record in enumerate(records)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    yield cards
    scoring._all.cache_clear()


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_a_run_is_scored_verified_and_reported(toy):
    said = run("score", "hdb/cards", "a.jsonl", "--json", "a.json", "--details")
    assert re.search(r"share_right +0\.5000", said)
    record = flat_of(Path("a.json"))
    assert (record["share_right"], record["items_perfect"], record["unanswered"]) == (0.5, 2, 1)
    assert record["statistics"] == {"right": [1, 1, 0, 0]}
    assert record["signature"].startswith("toy_length|")
    assert run("verify", "a.json") == "a.json: equal\n"
    run("report", "hdb/cards", "a.json", "-o", "report")
    assert "share_right" in Path("report/index.html").read_text()


def test_runs_are_compared_and_ranked_by_it(toy):
    assert "share_right" in run("compare", "hdb/cards", "a.jsonl", "b.jsonl")
    board = run("leaderboard", "hdb/cards", "a.jsonl", "b.jsonl", "--format", "json")
    assert '"headline": "share_right"' in board


def test_evaluate_has_it(toy):
    found = ToyLength().compute(predictions=[RIGHT, WRONG], references=[RIGHT, RIGHT])
    assert (found["share_right"], found["items_perfect"], found["items"]) == (0.5, 1, 2)
