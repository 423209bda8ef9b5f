"""Leaderboards of the recorded runs: the published order, and what changes."""

import gzip
import json
from contextlib import chdir

import pytest

from hdbench.evaluation.runs import load_runs
from hdbench.evaluation.score import Settings
from hdbench.report.leaderboard.boards import leaderboards
from hdbench.statistics.ranking import Ranks

pytestmark = pytest.mark.nightly

PUBLISHED_NAMES = {
    "zettelkatalog": "library_cards",
    "avisblatt": "fraktur_adverts",
    "rheinschifffahrt": "business_letters",
}


@pytest.fixture
def folder(published):
    return published.folder


@pytest.fixture(scope="module")
def of_letters(published):
    """The leaderboards of the letters."""
    with chdir(published.folder):
        return leaderboards(load_runs([published.folder / "hdb/results/rheinschifffahrt"]))


@pytest.mark.parametrize("name", PUBLISHED_NAMES)
def test_every_run_has_its_published_value_and_order(name, folder, shared, monkeypatch):
    monkeypatch.chdir(folder)
    with gzip.open(shared / f"recorded/{PUBLISHED_NAMES[name]}.jsonl.gz", "rt") as file:
        recorded = {run["run"]: run for run in map(json.loads, file)}
    results = load_runs([folder / "hdb/results" / name], settings=Settings("published"))
    boards = leaderboards(results)
    seen = []
    for board in boards:
        runs = [run for row in board.rows for run in row.runs]
        assert all(run.value == recorded[run.run]["scores"][board.headline] for run in runs)
        assert all(run.value == run.published for run in runs)
        alone = [row.value for row in board.rows if len(row.runs) == 1]
        assert alone == sorted(alone, reverse=True)
        by_model = {
            row.model: [recorded[run.run]["scores"][board.headline] for run in row.runs]
            for row in board.rows
        }
        means = [sum(values) / len(values) for values in by_model.values()]
        assert means == pytest.approx(sorted(means, reverse=True), abs=1e-12)
        items = {len(recorded[run.run]["answers"]) for run in runs}
        prompts = {recorded[run.run]["prompt"] for run in runs}
        assert (items, prompts) == ({board.kind.items}, {board.kind.prompt})
        seen += [run.run for run in runs]
    assert sorted(seen) == sorted(recorded)


def test_the_three_sets_of_letters_are_three_leaderboards(of_letters):
    sizes = [(board.kind.items, sum(len(row.runs) for row in board.rows)) for board in of_letters]
    assert sizes == [(57, 48), (32, 45), (25, 42)]
    for board in of_letters:
        assert board.rows[0].rank.low == 1
        for place, row in enumerate(board.rows, 1):
            worse = [other for other in board.rows if row.model in other.better]
            assert row.rank == Ranks(1 + len(row.better), len(board.rows) - len(worse))
            assert row.rank.low <= place <= row.rank.high
            assert all(other.value > row.value for other in board.rows if other.model in row.better)


def test_a_run_that_broke_down_is_not_averaged_in_silence(of_letters):
    [apart] = [row for row in of_letters[0].rows if row.runs_apart]
    assert (apart.model, [round(run.value, 3) for run in apart.runs]) == (
        "mistral-medium-2505",
        [0.475, 0.0],
    )


def test_five_pages_separate_nothing(folder, monkeypatch):
    monkeypatch.chdir(folder)
    boards = leaderboards(load_runs([folder / "hdb/results/avisblatt"]))
    assert {(row.rank, row.interval) for board in boards for row in board.rows} == {(None, None)}
    assert {(board.kind.items, board.kind.prompt) for board in boards} >= {
        (5, "prompt_optimized.txt"),
        (2, "prompt.txt"),
    }
