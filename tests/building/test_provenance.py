"""How the ground truths of a collection were made, in what is built from it."""

import json
from collections import Counter

import datasets
import pytest
from helpers.lines import write_lines

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.benchmarks.spec import Provenance

ROWS = [
    {"ground_truth": {"text": "roter Wein"}, "provenance": "draft:qwen-1", "draft_model": "Qwen"},
    {"ground_truth": {"text": "roter Wein"}, "provenance": "draft:qwen-1", "draft_model": "Qwen"},
    {"ground_truth": {"text": "roter Wein"}, "provenance": "draft:`x`\u200b"},
    {"ground_truth": {"text": "roter Wein"}, "provenance": "blind"},
    {"ground_truth": {"text": "roter Wein"}, "provenance": "imported"},
    {"ground_truth": {"text": "roter Wein"}, "provenance": "corrected after audit"},
    {"ground_truth": {"text": "roter Wein"}},
    {"ground_truth": None},
]


def write(folder, rows=ROWS, **spec):
    whole = [{"text": f"Rother {n}", "id": f"a{n}"} | row for n, row in enumerate(rows)]
    return write_lines(folder, whole, **spec)


def lines(folder):
    return list(map(json.loads, (folder / "metadata.jsonl").read_text().splitlines()))


@pytest.fixture
def built(tmp_path):
    return build(find_recipe(str(write(tmp_path / "lines"))), tmp_path / "hdb").folder


def test_the_dataset_says_it_for_each_row(built):
    found = [(row["provenance"], row["draft_model"]) for row in lines(built)]
    assert found == [(row.get("provenance"), row.get("draft_model")) for row in ROWS]
    loaded = datasets.load_dataset(str(built), split="test")
    assert loaded["provenance"] == [row.get("provenance") for row in ROWS]
    assert loaded["draft_model"] == [row.get("draft_model") for row in ROWS]


def test_the_items_of_the_benchmark_know_it(built):
    items = {item.id: item.provenance for item in load_benchmark(str(built)).items()}
    assert items["a0"] == Provenance("draft:qwen-1", "Qwen")
    assert items["a3"] == Provenance("blind")
    assert items["a6"] is None
    values = load_benchmark(str(built)).column("provenance").values()
    assert Counter(values)["draft:qwen-1"] == 2


def test_the_card_counts_them(built):
    card = (built / "README.md").read_text()
    told = card.partition("## How the ground truth was made\n\n")[2].strip().splitlines()
    assert told == [
        "How many ground truths were made how:",
        "",
        "- by correcting drafts of `Qwen` (run `qwen-1`): 2",
        "- by correcting drafts (run `'x'\\u200b`): 1",
        "- without a draft: 1",
        "- imported: 1",
        "- corrected after an audit: 1",
        "- not recorded: 1",
    ]


def test_check_names_what_is_no_provenance(tmp_path, run_hdbench):
    rows = [
        {"ground_truth": {"text": "x"}, "provenance": "guessed"},
        {"ground_truth": {"text": "y"}, "provenance": "blind", "draft_model": 3},
    ]
    write(tmp_path / "lines", rows)
    done = run_hdbench("check", "lines", cwd=tmp_path)
    shown = " ".join(done.stdout.split())
    assert done.returncode == 2, done.stderr
    assert "provenance: is none of blind, imported, corrected after audit and draft:RUN" in shown
    assert "draft_model: is not the name of a model" in shown
    assert "2 errors" in shown
