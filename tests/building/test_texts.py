"""A benchmark of texts instead of media: built, loaded, and described."""

import json

import pytest
import yaml
from datasets import load_dataset

from hdbench.benchmarks.building.builder import build
from hdbench.benchmarks.building.recipe import find_recipe
from hdbench.errors import HdbenchError

SPEC = {
    "name": "lines",
    "title": "Lines",
    "version": "1.0.0",
    "metric": "zettel_f1",
    "headline": "f1_micro",
    "higher_is_better": True,
    "media": "text",
    "split": "test",
    "licence": "cc0-1.0",
    "citation": "",
    "protocols": {"documented": {"threshold": 0.9, "weights": {"title": 2}}},
    "columns": {"kind": "string"},
    "prompt_columns": ["kind"],
}
CARD = "---\nlanguage: de\n---\n# {{ rows }} lines\n\n{{ picture }}{{ example }}\n"
ROWS = [
    {"id": "1", "text": "<b>Ünd\n", "ground_truth": {"a": None, "b": ""}, "kind": "list"},
    {"id": "2", "text": "1731-01-02", "ground_truth": {"a": 1, "b": "null"}, "kind": None},
]


@pytest.fixture
def recipe(tmp_path):
    """A folder in the plain form, with those rows."""
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "README.md").write_text(CARD)
    (folder / "CHANGELOG.md").write_text("")
    (folder / "answer.schema.json").write_text("{}")
    (folder / "prompt.txt").write_text("Mend this {kind}.")
    (folder / "benchmark.yaml").write_text(json.dumps(SPEC))

    def written(*rows):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "metadata.jsonl").write_text(text)
        return find_recipe(str(folder))

    return written


@pytest.fixture
def built(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return build(recipe(*ROWS), tmp_path / "hdb").folder


def test_texts_are_in_the_metadata_without_a_media_folder(built):
    lines = [json.loads(line) for line in (built / "metadata.jsonl").read_text().splitlines()]
    columns = ("ground_truth", "ground_truth_published")
    expected = [{**row, **dict.fromkeys(columns, json.dumps(row["ground_truth"]))} for row in ROWS]
    assert lines == expected
    assert [path.name for path in built.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("streaming", [False, True])
def test_it_is_loaded_by_the_literal_call(built, tmp_path, streaming):
    assert built.is_dir()
    cache = {} if streaming else {"cache_dir": str(tmp_path / "cache")}
    assert list(load_dataset("hdb/lines", split="test", streaming=streaming, **cache)) == [
        {**row, "ground_truth_published": row["ground_truth"]} for row in ROWS
    ]


def test_it_says_of_itself_what_its_recipe_does(built):
    assert yaml.safe_load((built / "benchmark.yaml").read_text()) == SPEC
    assert "# 2 lines" in (built / "README.md").read_text()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": " \n"}, "1: has no text"),
        ({"text": 3}, '"id" and "text" must be texts'),
        ({"text": []}, '"id" and "text" must be texts'),
        ({"text": ["a", "b"]}, '"id" and "text" must be texts'),
        # `datasets` would make a day with a time of it.
        ({"text": "1731-01-02"}, "every text begins like a date: put a word before them"),
        ({"id": "2"}, "lines: the id '2' occurs twice"),
    ],
)
def test_what_is_wrong_with_a_text_stops_the_build(recipe, tmp_path, row, message):
    rows = [{**ROWS[0], **row}, *([ROWS[1]] if "id" in row or "1731" in str(row) else [])]
    with pytest.raises(HdbenchError, match=message):
        build(recipe(*rows), tmp_path / "hdb")
    assert not (tmp_path / "hdb").exists()
