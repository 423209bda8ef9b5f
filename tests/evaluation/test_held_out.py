"""`hdbench score --held-out`: totals of the items whose ground truth is not public, and the gap."""

import json
from pathlib import Path

import pytest
import yaml
from helpers.run_folders import SPEC, write_run

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.datasets.collecting.held_out import hold_out
from hdbench.statistics.bootstrap import MIN_ITEMS

CARDS = 60
TRUTHS = {
    f"card {number:02}": {"title": f"Title {number:02}", "year": 1900 + number}
    for number in range(CARDS)
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Sixty cards, 24 of them held out; the answers know the public ones by heart."""
    folder = tmp_path / "hdb/cards"
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(SPEC))
    rows = [{"id": item, "ground_truth": truth} for item, truth in TRUTHS.items()]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = hold_out(folder, 0.4, seed=1)
    held = {json.loads(line)["id"] for line in path.read_text().splitlines()}
    lines = []
    for line in (folder / "metadata.jsonl").read_text().splitlines():  # as `hdbench build` does
        row = json.loads(line)
        truth = row["ground_truth"] and json.dumps(row["ground_truth"])
        lines.append(json.dumps(row | {"ground_truth": truth}) + "\n")
    (folder / "metadata.jsonl").write_text("".join(lines))
    (tmp_path / "held.jsonl").write_bytes(path.read_bytes())
    path.unlink()
    answers = {
        item: {"prediction": truth | ({"year": 3000} if item in held else {})}
        for item, truth in TRUTHS.items()
    }
    write_run(tmp_path / "run", answers)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def held_ids():
    return [json.loads(line)["id"] for line in Path("held.jsonl").read_text().splitlines()]


def score(run_hdbench, here, *more, answers="run"):
    arguments = ("score", "hdb/cards", answers, "--held-out", "held.jsonl", "--json", "r.json")
    return run_hdbench(*arguments, *more, cwd=here)


def test_public_score_is_unchanged_beside_the_held_out_score(here, run_hdbench):
    plain = run_hdbench("score", "hdb/cards", "run", "--json", "plain.json", cwd=here)
    assert plain.returncode == 0, plain.stderr
    done = score(run_hdbench, here, "--details")
    assert done.returncode == 0, done.stderr
    record = json.loads(Path("r.json").read_text())
    for name, value in json.loads(Path("plain.json").read_text()).items():
        assert record[name] == value
    totals = record["held_out"]
    assert record["f1_micro"] == 1.0
    # Of the held-out cards, the title is right and the year is wrong: one of two fields.
    assert totals["figures"]["f1_micro"] == 0.5
    counts = ("items", "answered", "unanswered", "unparsable")
    assert [totals[each] for each in counts] == [24, 24, 0, 0]
    low, high = totals["intervals"]["f1_micro"]
    assert low < 0.5 < high
    gap = totals["gap"]
    assert (gap["public"], gap["held_out"], gap["difference"]) == (1.0, 0.5, 0.5)
    low, high = gap["interval"]
    assert 0.2 < low < 0.5 < high
    shown = " ".join(done.stdout.split())
    assert "Held out (24 items)" in shown
    assert "f1_micro, public minus held out: +0.5000 (95% interval +0." in shown


def test_nothing_of_a_held_out_item_is_printed_or_written(here, run_hdbench):
    done = score(run_hdbench, here, "--details")
    said = done.stdout + done.stderr + Path("r.json").read_text()
    assert "card" in said
    for item in held_ids():
        assert item not in said
        assert TRUTHS[item]["title"] not in said
    assert json.loads(Path("r.json").read_text())["held_out"].keys() == {
        *("items", "answered", "unanswered", "unparsable", "figures", "intervals", "gap")
    }


def test_it_is_verified_without_the_held_out_part(here, run_hdbench):
    score(run_hdbench, here)
    done = run_hdbench("verify", "r.json", cwd=here)
    assert done.returncode == 0, done.stdout
    assert "note: held_out: not compared" in done.stdout


def test_each_model_of_a_file_has_its_own(here, run_hdbench):
    lines = []
    for model, year in (("a", {}), ("b", {"year": 3000})):
        for item, truth in TRUTHS.items():
            lines.append(json.dumps({"id": item, "model": model, "prediction": truth | year}))
    Path("two.jsonl").write_text("\n".join(lines))
    done = score(run_hdbench, here, answers="two.jsonl")
    assert done.returncode == 0, done.stderr
    runs = json.loads(Path("r.json").read_text())["runs"]
    assert {run["model"]: run["held_out"]["figures"]["f1_micro"] for run in runs} == {
        "a": 1.0,
        "b": 0.5,
    }
    # Where all items are alike, the gap is 0, and could still be something else.
    for run in runs:
        low, high = run["held_out"]["gap"]["interval"]
        assert low < run["held_out"]["gap"]["difference"] == 0 < high


def test_with_few_items_there_is_no_interval_of_the_gap(here, run_hdbench):
    ids = [*held_ids()[: MIN_ITEMS - 1], *(item for item in TRUTHS if item not in held_ids())]
    info = json.loads(Path("run/run.json").read_text())
    Path("run/run.json").write_text(json.dumps(info | {"items": ids}))
    lines = Path("run/answers.jsonl").read_text().splitlines(keepends=True)
    asked = [line for line in lines if json.loads(line)["id"] in ids]
    Path("run/answers.jsonl").write_text("".join(asked))
    done = score(run_hdbench, here)
    assert done.returncode == 0, done.stderr
    totals = json.loads(Path("r.json").read_text())["held_out"]
    assert totals["items"] == 19
    assert totals["intervals"] == {"why": "19 items: too few for an interval"}
    assert totals["gap"]["why"] == "19 items: too few for an interval"
    assert "interval" not in totals["gap"]


def _inside(here):
    Path("hdb/cards/x.jsonl").write_bytes(Path("held.jsonl").read_bytes())
    return "hdb/cards/x.jsonl"


def _linked(here):
    Path("link.jsonl").symlink_to(_inside(here))
    return "link.jsonl"


def _changed(here):
    Path("other.jsonl").write_bytes(Path("held.jsonl").read_bytes() + b"\n")
    return "other.jsonl"


def _not_said(here):
    Path("hdb/cards/benchmark.yaml").write_text(yaml.safe_dump(SPEC))
    return "held.jsonl"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (_inside, "hdb/cards/x.jsonl: is inside the dataset's folder"),
        (_linked, "link.jsonl: is inside the dataset's folder"),
        (_changed, "other.jsonl: is not what hdb/cards holds out (sha256 "),
        (_not_said, "hdb/cards: benchmark.yaml names no held-out items"),
        (lambda _: "none.jsonl", "none.jsonl: cannot be read: No such file"),
        (lambda _: "hdb", "hdb: cannot be read: Is a directory"),
    ],
)
def test_another_file_is_refused_in_a_line(here, run_hdbench, given, message):
    arguments = ("score", "hdb/cards", "run", "--held-out", given(here), "--json", "r.json")
    done = run_hdbench(*arguments, cwd=here)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"error: {message}")
    assert not Path("r.json").exists()


def test_a_run_that_was_asked_none_of_them_is_refused(here, run_hdbench):
    public = [item for item in TRUTHS if item not in held_ids()]
    answers = {item: {"prediction": TRUTHS[item]} for item in public}
    write_run(here / "part", answers, items=public)
    done = score(run_hdbench, here, answers="part")
    assert (done.returncode, done.stderr) == (
        2,
        "error: held.jsonl: none of the held-out items was asked\n",
    )


def test_other_rules_beside_it_are_refused(here, run_hdbench):
    done = score(run_hdbench, here, "--also", "published")
    assert "--held-out does not go with --also" in done.stderr


def test_the_benchmark_says_how_many_there_are(here):
    assert load_benchmark("hdb/cards").spec.held_out.items == 24
