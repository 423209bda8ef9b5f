"""Held-out ground truths: which are drawn, and where they stand afterwards."""

import hashlib
import json
import math
import os
from collections import Counter

import pytest
import yaml

from hdbench.benchmarks.spec import read_spec
from hdbench.datasets.collecting.held_out import hold_out, split
from hdbench.errors import HdbenchError

SPEC = """\
# who made it
name: lines
title: Lines
version: 1.0.0
metric: text_cer
headline: cer
higher_is_better: false
media: text
split: test
licence: cc0-1.0
citation: ""
"""


def rows(number, **more):
    return [
        {"id": f"item {place:03}", "ground_truth": {"text": f"secret {place}"}} | more
        for place in range(number)
    ]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "lines"
    made.mkdir()
    (made / "benchmark.yaml").write_text(SPEC)
    write(made, rows(20))
    return made


def write(folder, given):
    lines = [json.dumps({"text": "x"} | row) + "\n" for row in given]
    (folder / "metadata.jsonl").write_text("".join(lines))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_same_items_are_drawn_in_whatever_order_they_are():
    drawn = split(rows(20), 0.3, seed=1)
    assert len(drawn) == len(set(drawn)) == 6
    assert sorted(split(rows(20)[::-1], 0.3, seed=1)) == sorted(drawn)
    assert set(split(rows(20), 0.3, seed=2)) != set(drawn)


def test_each_stratum_gives_its_part():
    given = [
        {"id": f"{stratum}-{place}", "ground_truth": {}, "stratum": stratum}
        for stratum, number in ((0, 50), (1, 30), (2, 7))
        for place in range(number)
    ]
    drawn = split(given, 0.3, seed=3)
    # 26.1 of 87: 15 of 50, 9 of 30 and 2.1 of 7
    assert Counter(each[0] for each in drawn) == {"0": 15, "1": 9, "2": 2}


def test_parts_that_do_not_come_out_even_add_up():
    given = [
        {"id": f"{stratum}-{place}", "ground_truth": {}, "stratum": stratum}
        for stratum in range(4)
        for place in range(5)
    ]
    # 1.5 of each, 6 in all: two strata are rounded up
    assert sorted(Counter(each[0] for each in split(given, 0.3, seed=1)).values()) == [1, 1, 2, 2]


def test_what_has_no_truth_is_not_drawn():
    given = rows(10) + [{"id": f"none {place}", "ground_truth": None} for place in range(50)]
    assert len(split(given, 0.5, seed=1)) == 5
    assert not any(each.startswith("none") for each in split(given, 0.5, seed=1))


@pytest.mark.parametrize(
    ("number", "share", "message"),
    [
        (20, 0, "0 is not a share between 0 and 1"),
        (20, 1.5, "1.5 is not a share"),
        (20, float("nan"), "nan is not a share"),
        (20, 0.01, "would leave 20 public and 0 held out"),
        (20, 0.99, "would leave 0 public and 20 held out"),
        (0, 0.3, "of 0 items"),
    ],
)
def test_a_split_without_two_parts_is_refused(number, share, message):
    with pytest.raises(HdbenchError, match=message):
        split(rows(number), share, seed=1)


def test_the_truths_stand_beside_the_folder_and_nowhere_in_it(folder):
    before = read(folder / "metadata.jsonl")
    path = hold_out(folder, 0.3, seed=1)
    assert path == folder.parent / "lines.held-out.jsonl"
    held = {row["id"]: row["ground_truth"] for row in read(path)}
    assert len(held) == 6
    assert all(row.keys() == {"id", "ground_truth"} for row in read(path))
    after = read(folder / "metadata.jsonl")
    for old, new in zip(before, after, strict=True):
        truth = held.get(old["id"], new["ground_truth"])
        assert (new | {"ground_truth": truth}, list(new)) == (old, list(old))
        assert (new["ground_truth"] is None) == (new["id"] in held)
    shown = "".join(each.read_text() for each in folder.iterdir())
    assert not any(f'"{truth["text"]}"' in shown for truth in held.values())
    assert [each.name for each in folder.parent.iterdir()].count("lines") == 1
    about = read_spec(folder / "benchmark.yaml").held_out
    assert about.items == 6
    assert about.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (folder / "benchmark.yaml").read_text().startswith("# who made it\n")


def test_a_description_in_json_is_one_afterwards_too(folder):
    spec = yaml.safe_load(SPEC)
    (folder / "benchmark.yaml").write_text(json.dumps(spec))
    hold_out(folder, 0.3, seed=1)
    read_back = yaml.safe_load((folder / "benchmark.yaml").read_text())
    assert read_back == spec | {"held_out": read_back["held_out"]}


def test_the_folder_one_stands_in_has_its_own_name(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert hold_out(type(folder)("."), 0.3, seed=1) == folder.parent / "lines.held-out.jsonl"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: hold_out(folder, 0.3, 1), "says already"),
        (lambda folder: (folder.parent / "lines.held-out.jsonl").write_text(""), "exists already"),
        (lambda folder: write(folder, [{"id": "a"}]), "metadata.jsonl:1: needs an id and a"),
        (lambda folder: write(folder, rows(2)), "would leave"),
        (
            lambda folder: write(folder, rows(9, ground_truth={"year": math.inf})),
            "year: Infinity is not JSON",
        ),
        (lambda folder: os.remove(folder / "metadata.jsonl"), "metadata.jsonl"),
    ],
)
def test_what_cannot_be_split_stays_as_it_is(folder, spoil, message):
    spoil(folder)
    before = {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    with pytest.raises(HdbenchError, match=message):
        hold_out(folder, 0.1, seed=1)
    after = {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}
    assert after == before


def test_built_folder_lacks_held_out_items_scored_by_the_file(folder, tmp_path, run_hdbench):
    words = ["wine", "beer", "salt", "iron", "wool"]
    given = [
        {"id": f"{word} {place}", "ground_truth": {"text": f"{word} of truth {place}"}}
        for word in words
        for place in range(8)
    ]
    write(folder, given)
    (folder / "prompt.txt").write_text("Spell this as today.\n")
    (folder / "answer.schema.json").write_text('{"type": "object"}')
    (folder / "README.md").write_text("---\nlanguage: en\n---\n{{ rows }} lines. {{ example }}\n")
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    path = hold_out(folder, 0.5, seed=1)
    built = run_hdbench("build", "./lines", cwd=tmp_path)
    assert "40 rows, 20 without a ground truth" in built.stdout, built.stderr
    held = {row["id"]: row["ground_truth"] for row in read(path)}
    for file in (tmp_path / "hdb").rglob("*"):
        text = file.read_text() if file.is_file() else ""
        assert not any(truth["text"] in text for truth in held.values()), file
    answers = [{"id": row["id"], "prediction": row["ground_truth"]} for row in given]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    arguments = ("score", "hdb/lines", "a.jsonl", "--held-out", path, "--json", "r.json")
    done = run_hdbench(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "r.json").read_text())
    totals = record["held_out"]
    assert (record["items"], totals["items"]) == (20, 20)
    assert (record["cer"], totals["figures"]["cer"], totals["gap"]["difference"]) == (0, 0, 0)
