"""Leaderboards: what is ranked together, and what a row says."""

import csv
import io
import json
import re

import pytest
from helpers.run_folders import RIGHT, write_run
from rich.console import Console

from hdbench.api import score
from hdbench.evaluation.parts import NO_FILE
from hdbench.evaluation.result_file import write_results
from hdbench.evaluation.runs import load_runs
from hdbench.report.leaderboard import formats
from hdbench.report.leaderboard.boards import leaderboards
from hdbench.report.leaderboard.tables import board_cells
from hdbench.report.leaderboard.words import notes
from hdbench.statistics.ranking import Ranks

pytestmark = pytest.mark.slow

WRONG = {"title": "Stellingen", "year": 1942}
ITEMS = [f"{number:04}" for number in range(24)]


@pytest.fixture
def here(cards, monkeypatch):
    """Twenty-four cards: enough to call two models different."""
    rows = [{"id": item, "ground_truth": json.dumps(RIGHT)} for item in ITEMS]
    (cards / "hdb/cards/metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(cards)
    return cards


def run(here, name, right, *, items=ITEMS, **info):
    """A run that has so many of the items right, and of the others the title alone."""
    answers = {
        item: {"prediction": RIGHT if position < right else WRONG}
        for position, item in enumerate(items)
    }
    declared = {} if items is ITEMS else {"items": items}
    return write_run(here / f"runs/{name}", answers, run=name, **declared, **info)


def boards(here):
    return leaderboards(load_runs([here / "runs"]))


def test_a_rank_leaves_out_the_better_and_the_worse_models(here):
    run(here, "a", 24, model="best")
    run(here, "b", 12, model="second")
    run(here, "c", 11, model="nearly second")
    run(here, "d", 0, model="last")
    [board] = boards(here)
    assert [(row.model, row.rank) for row in board.rows] == [
        ("best", Ranks(1, 1)),
        ("second", Ranks(2, 3)),
        ("nearly second", Ranks(2, 3)),
        ("last", Ranks(4, 4)),
    ]
    assert board.rows[3].better == ("best", "second", "nearly second")
    # Twelve cards have both fields, twelve have one of two: 36 of 48 right, 12 wrong.
    assert board.rows[1].value == 0.75


def test_repeated_runs_of_a_model_are_one_row_with_their_spread(here):
    run(here, "a", 24, model="reader")
    run(here, "b", 12, model="reader")
    run(here, "c", 18, model="other")
    [board] = boards(here)
    rows = {row.model: row for row in board.rows}
    assert rows["reader"].value == (1.0 + 0.75) / 2
    assert rows["reader"].spread == (0.75, 1.0)
    assert [(each.run, each.value) for each in rows["reader"].runs] == [("a", 1.0), ("b", 0.75)]
    assert rows["other"].spread is None
    # Of 24 years, all are right in one run, 12 in the other.
    assert (board.field_figure, rows["reader"].fields) == ("f1", {"title": 1.0, "year": 0.75})


INCONSISTENT = (
    "reader: its runs lie further apart than their own 95% intervals allow: 1.000 (a), 0.500 "
    "(b). Look at them before you rely on their mean."
)


def test_distant_runs_are_marked_and_named_in_every_format(here, run_hdbench):
    run(here, "a", 24, model="reader")
    run(here, "b", 0, model="reader")
    run(here, "c", 12, model="other")
    run(here, "d", 13, model="other")
    for form in ("table", "markdown"):
        out = run_hdbench("leaderboard", "runs", "--format", form, cwd=here).stdout
        shown = " ".join(out.split()).replace("\\", "")
        assert INCONSISTENT in shown
        assert "2 runs, 0.500 to 1.000, inconsistent" in shown
        assert "other: its runs" not in shown
        assert shown.count("inconsistent") == 1
    made = json.loads(run_hdbench("leaderboard", "runs", "--format", "json", cwd=here).stdout)
    apart = {row["model"]: row["runs_apart"] for row in made["leaderboards"][0]["rows"]}
    assert apart == {"reader": True, "other": False}
    out = run_hdbench("leaderboard", "runs", "--format", "csv", cwd=here).stdout
    lines = csv.DictReader(io.StringIO(out.removeprefix("\ufeff")))
    assert {line["model"]: line["runs_apart"] for line in lines} == {
        "reader": "True",
        "other": "False",
    }


def test_runs_on_few_items_are_compared_with_item_ranges(here):
    few = {"items": ITEMS[:5], "model": "reader"}
    run(here, "a", 5, **few)
    run(here, "b", 0, **few)
    [board] = boards(here)
    assert board.rows[0].runs_apart
    told = notes(board)[-1]
    assert told.startswith(
        "reader: its runs lie further apart than the ranges of their single items"
    )
    run(here, "b", 1, **few)
    assert not boards(here)[0].rows[0].runs_apart


def test_leaderboard_names_unbuilt_benchmarks_and_goes_on(here, run_hdbench):
    run(here, "a", 24, model="reader")
    for name in ("lost", "gone"):
        run(here, f"{name}/a", 24, model="reader", benchmark=f"hdb/{name}")
        run(here, f"{name}/b", 12, model="other", benchmark=f"hdb/{name}")
        (here / f"hdb/{name}").mkdir()
    done = run_hdbench("leaderboard", "runs", "--format", "json", cwd=here)
    assert done.returncode == 0, done.stderr
    [board] = json.loads(done.stdout)["leaderboards"]
    assert board["kind"]["benchmark"] == "hdb/cards"
    assert done.stderr == (
        "note: left out 4 runs of hdb/gone, hdb/lost, not built here: build with: "
        "hdbench build gone lost\n"
    )
    for named in ("runs/lost", "runs/lost/a"):  # nothing else is there
        done = run_hdbench("leaderboard", named, cwd=here)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.endswith("build it with: hdbench build lost\n")
    done = run_hdbench("leaderboard", "runs/a", "runs/lost/a", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")  # it was named
    (here / "hdb/lost/benchmark.yaml").write_text("name: lost")
    done = run_hdbench("leaderboard", "runs", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")  # there, but broken
    assert done.stderr.startswith("error: hdb/lost/benchmark.yaml: ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"items": ITEMS[:20]}, {"items": ITEMS[4:]}),
        ({"prompt": {"name": "p", "sha256": "0"}}, {"prompt": {"name": "p", "sha256": "1"}}),
        ({"prompt": {"name": "p"}}, {"prompt": {"name": "q"}}),
        ({}, {"prompt": {"name": "q"}}),
    ],
    ids=["items", "prompt by hash", "prompt by name", "prompt not known"],
)
def test_runs_of_different_kinds_are_never_ranked_together(here, one, other):
    run(here, "a", 4, model="a", **one)
    run(here, "b", 4, model="b", **other)
    assert [[row.model for row in board.rows] for board in boards(here)] == [["a"], ["b"]]


def test_a_prompt_is_known_by_its_hash_whatever_its_name(here):
    run(here, "a", 4, model="a", prompt={"name": "p", "sha256": "0"})
    run(here, "b", 4, model="b", prompt={"name": "q", "sha256": "0"})
    assert len(boards(here)) == 1


def test_a_model_asked_for_the_text_alone_stands_beside_programs_that_have_no_prompt(here):
    run(here, "a", 4, model="a", prompt={"name": "as-text.txt", "sha256": "0"})
    run(here, "b", 4, model="b")
    [board] = boards(here)
    assert (board.kind.prompt, [row.model for row in board.rows]) == (None, ["a", "b"])


def test_cost_and_time_are_means_where_they_are_known(here):
    folder = run(here, "a", 24, model="reader", cost_usd=2.0)
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    lines[0] |= {"seconds": 1.0, "tokens": {"output": 100}}
    lines[1] |= {"seconds": 3.0}
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(here, "b", 24, model="reader", cost_usd=1.0, date="2026-01-01")
    run(here, "c", 24, model="other")
    (here / "runs/b/answers.jsonl").write_text(
        (here / "runs/b/answers.jsonl").read_text().replace("1924", '"1924"', 1)
    )
    [board] = boards(here)
    rows = {row.model: row for row in board.rows}
    reader, other = rows["reader"], rows["other"]
    assert (reader.seconds, reader.tokens, reader.cost_usd) == (2.0, 100.0, 1.5)
    assert reader.item_usd == pytest.approx(3.0 / (24 + 24))
    assert (other.seconds, other.tokens, other.cost_usd) == (None, None, None)
    assert other.item_usd is None
    costs = {row["cost"].text for row in board_cells(board, "en")[2]}
    assert costs == {"", "62.50"}  # 1,000 · 3 USD / 48 items


def test_run_without_a_model_has_the_name_other_commands_use(here):
    for name, right in (("gpt-4.1", 24), ("gpt-4.1-mini", 12)):
        (here / name).mkdir()
        answers = [{"id": item, "prediction": RIGHT} for item in ITEMS[:right]]
        lines = "".join(json.dumps(each) + "\n" for each in answers)
        (here / name / "answers.jsonl").write_text(lines)
        write_results(here / f"{name}.json", [score("hdb/cards", here / name / "answers.jsonl")])
    loaded = load_runs([here / "gpt-4.1.json", here / "gpt-4.1-mini.json"])
    [board] = leaderboards(loaded)
    assert [row.model for row in board.rows] == list(loaded) == ["gpt-4.1", "gpt-4.1-mini"]


HOSTILE = '=HYPERLINK("x")|<b>&_%\x1b[31m\u202e\ud800'


def test_a_result_that_names_neither_model_nor_file_is_shown(here, capsys):
    run(here, "a", 24)
    [result] = load_runs([here / "runs"]).values()
    nameless = result.replaced(model=None, answers=NO_FILE)
    formats.print_boards(Console(), leaderboards({"nameless": nameless}))
    out = capsys.readouterr().out
    assert "nameless" in out
    assert "1 model, 1 run" in out


def test_foreign_names_do_no_harm_in_any_format(here, run_hdbench):
    run(here, "a", 24, model=HOSTILE)
    run(here, "b", 12, model="plain_model")
    made = {
        form: run_hdbench("leaderboard", "runs", "--format", form, cwd=here)
        for form in ("table", "markdown", "csv", "json")
    }
    assert {form: done.returncode for form, done in made.items()} == dict.fromkeys(made, 0)
    for done in made.values():
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout
    row = next(line for line in made["markdown"].stdout.splitlines() if "HYPERLINK" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == row.count("|") - 1  # its own is escaped
    assert r"\<b\>" in row
    rows = list(csv.DictReader(io.StringIO(made["csv"].stdout.removeprefix("\ufeff"))))
    assert rows[0]["model"].startswith("'=HYPERLINK")
    [board] = json.loads(made["json"].stdout)["leaderboards"]
    assert board["rows"][0]["model"] == HOSTILE
