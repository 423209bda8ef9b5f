"""Models whose own drafts were corrected to make ground truths: warned about, and marked."""

import csv
import io
import json

import pytest
from helpers.run_folders import RIGHT, SPEC, write_run

from hdbench.api import score
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import DraftedItems
from hdbench.evaluation.result_file import read_result, write_results
from hdbench.evaluation.verify import verify

MADE = [
    {"provenance": "draft:2026-01-24/Q", "draft_model": "Qwen 3"},
    {"provenance": "draft:2026-01-24/Q", "draft_model": "Qwen 3"},
    {"provenance": "draft:typed", "draft_model": "typed"},  # a file without a model's name
    {"provenance": "blind", "draft_model": None},
]
ANSWERS = {f"000{number}": {"prediction": RIGHT} for number in range(4)}
TOLD = "the ground truth of 2 of 4 items was made by correcting drafts of this model"


@pytest.fixture
def here(cards, monkeypatch):
    metadata = cards / "hdb/cards/metadata.jsonl"
    rows = [
        json.loads(line) | made
        for line, made in zip(metadata.read_text().splitlines(), MADE, strict=True)
    ]
    metadata.write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = SPEC | {"columns": dict.fromkeys(MADE[0], "string")}
    (cards / "hdb/cards/benchmark.yaml").write_text(json.dumps(spec))
    monkeypatch.chdir(cards)
    return cards


def write_answers(path, **more):
    lines = [json.dumps({"id": item, **answer, **more}) for item, answer in ANSWERS.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def drafted(result):
    return [(each.count, each.of) for each in result.warnings]


@pytest.mark.parametrize(
    ("info", "found"),
    [
        ({"model": "Qwen 3", "run": "another"}, [(2, 4)]),
        ({"model": "qwen 3 ", "run": "another"}, [(2, 4)]),
        ({"model": "qwen/Qwen 3", "run": "another"}, [(2, 4)]),
        ({"model": "Qwen 3-VL", "run": "2026-01-24/Q"}, [(2, 4)]),
        ({"model": "Qwen 3-VL", "run": "another"}, []),
        ({"model": "Mistral", "run": "typed"}, [(1, 4)]),
    ],
)
def test_run_is_warned_about_if_it_or_its_model_wrote_drafts(here, info, found):
    result = score("hdb/cards", write_run(here / "typed", ANSWERS, **info))
    assert drafted(result) == found
    assert result.dataset.drafts == [
        DraftedItems(run="2026-01-24/Q", model="Qwen 3", items=2),
        DraftedItems(run="typed", model="typed", items=1),
    ]


def test_makers_differ_only_if_both_are_named(here):
    result = score("hdb/cards", write_run(here / "r", ANSWERS, model="qwen/large", run="x"))
    for model, items in (("large", 1), ("QWEN/Large", 1), ("or/qwen/large", 1), ("b/large", 0)):
        drafts = [DraftedItems(run="another", model=model, items=1)]
        dataset = result.dataset.model_copy(update={"drafts": drafts})
        assert result.replaced(dataset=dataset).own_drafts == items


def test_only_the_items_that_were_asked_count(here):
    asked = {item: ANSWERS[item] for item in ("0001", "0003")}
    run = write_run(here / "r", asked, model="Qwen 3", run="x", subset="two", items=list(asked))
    assert drafted(score("hdb/cards", run)) == [(1, 2)]


def test_a_model_that_is_named_when_it_is_scored(here, run_hdbench):
    write_answers(here / "typed.jsonl")
    assert drafted(score("hdb/cards", here / "typed.jsonl")) == [(1, 4)]  # by the file's name
    write_answers(here / "a.jsonl")
    command = ("score", "hdb/cards", "a.jsonl", "--json", "r.json")
    done = run_hdbench(*command, cwd=here)
    assert "drafts of this model" not in done.stdout
    done = run_hdbench(*command, "--name", "Qwen 3", "--by", "provenance", cwd=here)
    shown = " ".join(done.stdout.split())
    assert f"warning: {TOLD}" in shown, done.stderr
    assert "draft:2026-01-24/Q" in shown  # the items by how their truth was made
    [warning] = json.loads((here / "r.json").read_text())["reading"]["warnings"]
    assert (warning["kind"], warning["count"], warning["of"]) == ("drafted", 2, 4)
    assert run_hdbench("verify", "r.json", cwd=here).returncode == 0


def test_a_result_keeps_it(here):
    run = write_run(here / "r", ANSWERS, model="Qwen 3")
    write_results(here / "r.json", [score("hdb/cards", run)])
    result = read_result(here / "r.json")
    assert drafted(result) == [(2, 4)]
    assert result.dataset.drafts[0].items == 2
    assert verify(here / "r.json") == []
    spoilt = json.loads((here / "r.json").read_text())
    for wrong in ("x", [{"run": "a"}], [{"run": 1, "model": None, "items": 2}]):
        dataset = spoilt["dataset"] | {"drafts": wrong}
        (here / "r.json").write_text(json.dumps(spoilt | {"dataset": dataset}))
        with pytest.raises(HdbenchError, match="drafts"):
            read_result(here / "r.json")


def test_benchmark_of_unknown_origin_warns_of_no_drafts(cards, monkeypatch):
    monkeypatch.chdir(cards)
    result = score("hdb/cards", write_run(cards / "r", ANSWERS, model="Qwen 3"))
    assert result.dataset.drafts is None
    assert drafted(result) == []


@pytest.fixture
def ranked(here):
    for model in ("Qwen 3", "Mistral"):
        write_run(here / "hdb/results/cards" / model, ANSWERS, run=model, model=model)
    return here


@pytest.mark.parametrize(("form", "mark"), [("table", "{} ‡"), ("markdown", "| {} ‡")])
def test_the_leaderboard_marks_it_and_one_sentence_says_why(ranked, run_hdbench, form, mark):
    done = run_hdbench("leaderboard", "hdb/results/cards", "--format", form, cwd=ranked)
    assert mark.format("Qwen 3") in done.stdout, done.stderr
    assert mark.format("Mistral") not in done.stdout
    sentence = "‡ Ground truths were made by correcting drafts of this model (of up to 2 items)"
    assert " ".join(done.stdout.split()).count(sentence) == 1


def test_the_mark_is_data_in_csv_and_json(ranked, run_hdbench):
    done = run_hdbench("leaderboard", "hdb/results", "--format", "csv", cwd=ranked)
    rows = {row["model"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert {model: row["drafted"] for model, row in rows.items()} == {
        "Qwen 3": "2",
        "Mistral": "0",
    }
    done = run_hdbench("leaderboard", "hdb/results", "--format", "json", cwd=ranked)
    [board] = json.loads(done.stdout)["leaderboards"]
    assert {row["model"]: row["drafted"] for row in board["rows"]} == {"Qwen 3": 2, "Mistral": 0}
