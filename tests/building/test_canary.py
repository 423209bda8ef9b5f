"""The canary: in the card and in benchmark.yaml, and nowhere else."""

import json
from pathlib import Path

import pytest
import yaml

from hdbench.benchmarks.spec import read_spec

RECIPES = Path(__file__).parents[2] / "dataset_scripts"
GUID = "2a1ec2c3-0f2a-4bd0-9f53-6d3f1b9a2c11"
LINE = f"hdbench canary GUID {GUID}: benchmark data should never be in training corpora"
SPEC = {
    "name": "lines",
    "title": "Lines",
    "version": "1.0.0",
    "metric": "text_cer",
    "headline": "cer",
    "higher_is_better": False,
    "media": "text",
    "split": "test",
    "licence": "cc0-1.0",
    "citation": "",
}


@pytest.fixture
def recipe(tmp_path):
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "prompt.txt").write_text("Spell this as today: {text}\n")
    (folder / "answer.schema.json").write_text('{"type": "object"}')
    (folder / "README.md").write_text("---\nlanguage: de\n---\n# Lines\n\nSome lines.\n")
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    row = {"text": "Rother Wein", "id": "a", "ground_truth": {"text": "Roter Wein"}}
    (folder / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def test_the_card_has_it_in_a_line_and_no_other_file(recipe, tmp_path, run_hdbench):
    (recipe / "benchmark.yaml").write_text(yaml.safe_dump(SPEC | {"canary": GUID}))
    done = run_hdbench("build", "./lines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    built = tmp_path / "hdb/lines"
    assert (built / "README.md").read_text().splitlines().count(LINE) == 1
    having = {path.name for path in built.rglob("*") if path.is_file() and GUID in path.read_text()}
    assert having == {"README.md", "benchmark.yaml"}
    assert {"prompt.txt", "answer.schema.json", "metadata.jsonl", "croissant.json"} <= {
        path.name for path in built.iterdir()
    }
    assert str(read_spec(built / "benchmark.yaml").canary) == GUID
    assert "canary" not in (built / "croissant.json").read_text()


def test_without_one_the_card_says_nothing_of_it(recipe, tmp_path, run_hdbench):
    (recipe / "benchmark.yaml").write_text(yaml.safe_dump(SPEC))
    assert run_hdbench("build", "./lines", cwd=tmp_path).returncode == 0
    assert "canary" not in (tmp_path / "hdb/lines/README.md").read_text()


def test_what_is_no_guid_is_refused(recipe, tmp_path, run_hdbench):
    (recipe / "benchmark.yaml").write_text(yaml.safe_dump(SPEC | {"canary": "tweet"}))
    done = run_hdbench("build", "./lines", cwd=tmp_path)
    assert done.returncode == 2
    assert "benchmark.yaml\n  error: canary: " in done.stderr


def test_none_of_our_own_benchmarks_has_one():
    specs = [read_spec(path) for path in RECIPES.glob("*/benchmark.yaml")]
    assert len(specs) > 8
    assert {spec.canary for spec in specs} == {None}
