"""Benchmark and answers in both orders."""

import json

import pytest
from helpers.planned_cards import SCHEMA
from helpers.run_folders import write_run


@pytest.fixture
def answered(cards):
    """Two files of answers, and two run folders, to the four cards."""
    (cards / "hdb/cards/answer.schema.json").write_text(json.dumps(SCHEMA))
    rows = [json.loads(line) for line in (cards / "hdb/cards/metadata.jsonl").open()]
    for name in ("one", "two"):
        lines = [{"id": row["id"], "prediction": json.loads(row["ground_truth"])} for row in rows]
        lines = lines[: -1 if name == "two" else None]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (cards / f"{name}.jsonl").write_text(text)
        answers = {line["id"]: {"prediction": line["prediction"]} for line in lines}
        write_run(cards / "runs" / name, answers, run=name, model=name, benchmark="hdb/cards")
    return cards


ORDERS = [
    ("score cards one.jsonl", "score one.jsonl cards", "score one.jsonl hdb/cards"),
    ("report cards one.jsonl -o r", "report one.jsonl hdb/cards -o r"),
    ("compare cards one.jsonl two.jsonl", "compare one.jsonl two.jsonl hdb/cards"),
    ("leaderboard cards one.jsonl two.jsonl", "leaderboard one.jsonl two.jsonl hdb/cards"),
]


@pytest.mark.parametrize("commands", ORDERS, ids=lambda each: each[0].split()[0])
def test_the_order_does_not_matter(answered, run_hdbench, commands):
    told = []
    for command in commands:
        done = run_hdbench(*command.split(), cwd=answered)
        assert done.returncode == 0, (command, done.stderr)
        told.append(done.stdout)
    assert told[0]
    assert told == [told[0]] * len(commands)


def test_a_run_names_its_benchmark(answered, run_hdbench):
    named = run_hdbench("score", "cards", "runs/one", cwd=answered)
    assert run_hdbench("score", "runs/one", cwd=answered).stdout == named.stdout
    assert named.returncode == 0, named.stderr
    planned = run_hdbench("trust", "plan", "runs/one", "runs/two", cwd=answered)
    assert "with 4 items nothing can be accepted: of 12 values, 300 are read" in planned.stderr


def test_runs_on_different_benchmarks_are_refused(answered, run_hdbench):
    info = json.loads((answered / "runs/two/run.json").read_text())
    (answered / "runs/two/run.json").write_text(json.dumps(info | {"benchmark": "hdb/other"}))
    done = run_hdbench("trust", "plan", "runs/one", "runs/two", cwd=answered)
    told = "error: these runs answer different benchmarks: hdb/cards, hdb/other: name runs of one\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_a_benchmark_is_found_beside_a_folder_of_its_name(answered, run_hdbench):
    (answered / "cards").mkdir()  # such as the scans that it was made from
    done = run_hdbench("score", "cards", "one.jsonl", cwd=answered)
    assert done.returncode == 0, done.stderr
