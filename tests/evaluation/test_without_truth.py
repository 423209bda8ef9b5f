"""Items without a ground truth: built, shown, and not scored."""

import json

from datasets import load_dataset
from helpers.lines import write_lines
from helpers.results import flat_of

ROWS = [
    {"text": "Rother Wein", "id": "a", "ground_truth": {"text": "Roter Wein"}},
    {"text": "Weisser Wein", "id": "b", "ground_truth": None},
    {"text": "Altes Bier", "id": "c", "ground_truth": {"text": "Altes Bier"}},
]


def test_an_item_without_a_ground_truth_is_asked_and_not_scored(tmp_path, run_hdbench, monkeypatch):
    write_lines(tmp_path / "lines", ROWS)
    built = run_hdbench("build", "./lines", cwd=tmp_path)
    assert "3 rows, 1 without a ground truth, version 1.0.0" in built.stdout, built.stderr
    monkeypatch.chdir(tmp_path)
    rows = load_dataset("hdb/lines", split="test", cache_dir=str(tmp_path / "cache"))
    assert rows["ground_truth"] == [{"text": "Roter Wein"}, None, {"text": "Altes Bier"}]

    answers = [{"id": each["id"], "prediction": {"text": each["text"]}} for each in ROWS]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    done = run_hdbench("score", "hdb/lines", "a.jsonl", "--json", "r.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 item has no ground truth, and cannot be scored" in done.stdout + done.stderr
    result = flat_of(tmp_path / "r.json")
    assert (result["items"], result["answered"], result["warnings"]) == (2, 2, [])
    assert result["cer"] == 1 / 20
    assert run_hdbench("verify", "r.json", cwd=tmp_path).returncode == 0


def test_with_no_ground_truth_at_all_nothing_can_be_scored(tmp_path, run_hdbench):
    write_lines(tmp_path / "lines", [row | {"ground_truth": None} for row in ROWS])
    assert run_hdbench("build", "./lines", cwd=tmp_path).returncode == 0
    (tmp_path / "a.jsonl").write_text('{"id": "a", "prediction": {"text": "x"}}\n')
    done = run_hdbench("score", "hdb/lines", "a.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: hdb/lines: no item has a ground truth to score against\n"


def test_a_row_must_say_that_it_has_none(tmp_path, run_hdbench):
    write_lines(tmp_path / "lines", [{"text": "x", "id": "a"}])
    done = run_hdbench("build", "./lines", cwd=tmp_path)
    assert done.returncode == 2
    assert "has no ground_truth: write null if there is none\n    line 1, id a" in done.stderr
