"""Which ground truth is scored: what counts, what was published, and what is proposed."""

import json

import pytest
from helpers.run_folders import RIGHT, write_run

from hdbench.api import score
from hdbench.errors import HdbenchError
from hdbench.evaluation.result_file import read_results, write_results
from hdbench.evaluation.runs import load_runs
from hdbench.report.leaderboard.boards import leaderboards

PROTOCOLS = ("documented", "published")
MISSPELT = {"title": "Stellingen", "yaer": 1924}
OTHER_YEAR = {"title": "Stellingen", "year": 1925}

NOTE = (
    "proposed corrections of the ground truth do not count, as the data's owners have not accepted "
    "them (1 of 4 items): f1_micro is 0.8750, and 1.0000 with them (--errata proposed)"
)


def truths(counted=RIGHT, published=None, proposed=None):
    return {
        "ground_truth": json.dumps(counted),
        "ground_truth_published": json.dumps(published or counted),
        "ground_truth_proposed": json.dumps(proposed or counted),
    }


ROWS = {
    "0000": truths(),
    "0001": truths(),
    "0002": truths(published=MISSPELT),
    "0003": truths(proposed=OTHER_YEAR),
}


def write_rows(cards, rows):
    lines = [json.dumps({"id": item, **row}) + "\n" for item, row in rows.items()]
    (cards / "hdb/cards/metadata.jsonl").write_text("".join(lines))


@pytest.fixture
def here(cards, monkeypatch):
    """Four cards, one with a correction of form and one with a proposed value, and a run."""
    monkeypatch.chdir(cards)
    write_rows(cards, ROWS)
    answers = {item: {"prediction": RIGHT} for item in ROWS} | {"0003": {"prediction": OTHER_YEAR}}
    write_run(cards / "run", answers)
    return cards


@pytest.mark.parametrize(
    ("protocol", "errata", "right"),
    [
        ("documented", "accepted", 7),  # of 8 values, the year of the last card is wrong
        ("documented", "proposed", 8),
        ("published", "accepted", 6),  # so is the third card's, under the misspelt name
    ],
)
def test_each_choice_scores_against_its_own_ground_truth(here, protocol, errata, right):
    result = score("hdb/cards", "run", protocol=protocol, errata=errata)
    figures = result.figures
    counts = [figures[name] for name in ("true_positives", "false_positives", "false_negatives")]
    assert counts == [right, 8 - right, 8 - right]
    assert figures["f1_micro"] == right / 8
    assert ("|errata:proposed|" in result.signature) == (errata == "proposed")
    assert ("errata" in result.signature) == (errata == "proposed")


def test_a_note_says_what_the_proposed_corrections_would_change(here):
    counted = score("hdb/cards", "run")
    assert counted.reading.notes == [NOTE]
    proposed = score("hdb/cards", "run", errata="proposed")
    assert proposed.reading.notes == [
        "proposed corrections of the ground truth count here, though the data's owners have not "
        "accepted them (1 of 4 items): f1_micro is 1.0000, and 0.8750 without them"
    ]
    assert score("hdb/cards", "run", protocol="published").reading.notes == []


def test_scores_without_proposed_corrections_are_all_the_same(here):
    write_rows(here, {item: {"ground_truth": json.dumps(RIGHT)} for item in ROWS})
    figures = [
        score("hdb/cards", "run", protocol=protocol, errata=errata)
        for protocol, errata in (
            ("documented", "accepted"),
            ("documented", "proposed"),
            ("published", "accepted"),
        )
    ]
    assert [each.value for each in figures] == [7 / 8] * 3
    assert [each.reading.notes for each in figures] == [[]] * 3


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"ground_truth_published": "{"}, r":3: ground_truth_published is not JSON"),
        ({"ground_truth_proposed": "[]"}, r":3: ground_truth_proposed is not an object"),
        ({"ground_truth_published": 7}, r":3: ground_truth_published is not an object"),
    ],
)
def test_unreadable_ground_truth_is_named_by_its_column(here, wrong, why):
    write_rows(here, ROWS | {"0002": ROWS["0002"] | wrong})
    with pytest.raises(HdbenchError, match=why):
        score("hdb/cards", "run")


def test_a_result_keeps_the_choice_and_is_not_mixed_with_others(here, run_hdbench):
    for name, errata in (("counted", "accepted"), ("proposed", "proposed")):
        result = score("hdb/cards", "run", errata=errata)
        write_results(here / f"{name}.json", [result.replaced(model=name)])
        [read] = read_results(here / f"{name}.json").values()
        assert read.figures == result.figures
    done = run_hdbench("compare", "counted.json", "proposed.json", cwd=here)
    assert done.returncode == 2
    assert "errata: 'counted' has None, 'proposed' 'proposed'" in done.stderr
    boards = leaderboards(load_runs([here / "counted.json", here / "proposed.json"]))
    assert {board.kind.errata for board in boards} == {None, "proposed"}
    done = run_hdbench("leaderboard", "run", "--errata", "proposed", cwd=here)
    assert "hdb/cards 1.0.0, documented, errata proposed, 4 items" in done.stdout
