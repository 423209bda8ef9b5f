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
    (
        "report one.jsonl --benchmark cards -o r",
        "report one.jsonl cards -o r",
        "report hdb/cards one.jsonl -o r",
    ),
    (
        "export one.jsonl --benchmark cards --out t.csv",
        "export one.jsonl cards --out t.csv",
        "export hdb/cards one.jsonl --out t.csv",
    ),
    (
        "compare one.jsonl two.jsonl --benchmark cards",
        "compare cards one.jsonl two.jsonl",
        "compare one.jsonl two.jsonl hdb/cards",
    ),
    (
        "leaderboard one.jsonl two.jsonl --benchmark cards",
        "leaderboard cards one.jsonl two.jsonl",
        "leaderboard one.jsonl two.jsonl hdb/cards",
    ),
    (
        "trust consensus cards runs/one runs/two --out c",
        "trust consensus runs/one runs/two cards --out c",
        "trust consensus runs/one hdb/cards runs/two --out c",
    ),
]


@pytest.mark.parametrize("commands", ORDERS, ids=lambda each: each[0].split()[0])
def test_the_order_does_not_matter(answered, run_hdbench, commands):
    told = []
    for command in commands:
        for made in answered.glob("c/*"):
            made.unlink()
        done = run_hdbench(*command.split(), cwd=answered)
        assert done.returncode == 0, (command, done.stderr)
        told.append(done.stdout)
    assert told[0]
    assert told == [told[0]] * len(commands)


def test_verify_takes_the_benchmark_behind_the_result(answered, run_hdbench):
    run_hdbench("score", "cards", "one.jsonl", "--json", "r.json", cwd=answered)
    done = run_hdbench("verify", "r.json", "cards", cwd=answered)
    assert (done.returncode, "equal" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "score one.jsonl none",
            "error: one.jsonl: a file of answers, not a benchmark: name the benchmark first: "
            "hdbench score BENCHMARK one.jsonl\n",
        ),
        (
            "score one.jsonl --benchmark cards",
            "error: the benchmark is named first, without --benchmark: hdbench score cards "
            "ANSWERS\n",
        ),
        (
            "trust plan runs/one runs/two --benchmark cards",
            "error: the benchmark is named first, without --benchmark: hdbench trust plan cards "
            "ANSWERS\n",
        ),
        (
            "report one.jsonl two.jsonl -o r",
            "error: one.jsonl and two.jsonl: this command takes one run; name its benchmark with "
            "--benchmark\n",
        ),
        (
            "--language de score one.jsonl none",
            "Fehler: one.jsonl: eine Datei mit Antworten, kein Benchmark: zuerst den Benchmark "
            "nennen: hdbench score BENCHMARK one.jsonl\n",
        ),
    ],
)
def test_where_it_is_not_clear_one_line_has_the_right_command(answered, run_hdbench, command, told):
    done = run_hdbench(*command.split(), cwd=answered)
    assert (done.returncode, done.stderr.replace("python -m hdbench", "hdbench")) == (2, told)


def test_a_run_in_a_folder_called_like_the_benchmark_is_a_run(answered, run_hdbench):
    (answered / "runs/one").rename(answered / "cards")
    one = run_hdbench("compare", "cards", "runs/two", cwd=answered)
    assert one.returncode == 0, one.stderr
