"""The list for second looks: what the audit found, and controls."""

from dataclasses import replace

import pytest
from helpers.audited import card_runs

from hdbench.annotating.reviewing.review_list import read_review_list, write_review_list
from hdbench.errors import HdbenchError
from hdbench.output.audit.findings import agreeing_values, audit
from hdbench.output.audit.lists import review_list

RIGHT, WRONG = {"name": "Somazzi"}, {"name": "Somazzl"}


@pytest.fixture(scope="module")
def runs():
    """The truth of "1" is contradicted; all runs read the titles of 19 other cards as they are."""
    return card_runs(WRONG, RIGHT, RIGHT, RIGHT, WRONG)


def listed(runs, agreeing=0.5, seed=1):
    return review_list(audit(runs), runs, agreeing=agreeing, seed=seed)


def test_agreeing_values_are_right_in_most_good_models(runs):
    found = agreeing_values(runs)
    assert [(each.id, each.field) for each in found] == [
        (f"right-{number}", "title") for number in range(19)
    ]
    assert {(each.truth, each.value, each.agreeing, each.good) for each in found} == {
        ("Stellingen", "Stellingen", 4, 4)
    }


def test_three_of_four_models_of_two_makers_are_no_agreement():
    runs = card_runs(RIGHT, RIGHT, RIGHT, RIGHT, WRONG)
    assert ("1", "name") in {(each.id, each.field) for each in agreeing_values(runs)}
    capella = runs["Capella"]
    runs["Capella"] = replace(capella, run=capella.run.model_copy(update={"provider": "Antares"}))
    assert ("1", "name") not in {(each.id, each.field) for each in agreeing_values(runs)}


def test_a_share_of_them_is_drawn_and_the_order_says_nothing(runs):
    made = listed(runs)
    assert (made.head.findings, made.head.controls) == (1, 10)  # 9.5, to the even number
    assert made.head.agreeing_values == 19
    assert made == listed(runs)
    places = set()
    for seed in range(12):
        other = listed(runs, seed=seed)
        places.add([each.kind for each in other.entries].index("finding"))
        assert other.head.controls == 10
    assert len(places) > 4
    drawn = {each.id for each in listed(runs, seed=2).entries}
    assert drawn != {each.id for each in made.entries}
    assert listed(runs, agreeing=0).head.controls == 0
    assert listed(runs, agreeing=1).head.controls == 19


def test_it_is_read_as_it_was_written_and_never_overwritten(runs, tmp_path):
    path = tmp_path / "review.jsonl"
    write_review_list(path, listed(runs))
    assert read_review_list(path) == listed(runs)
    with pytest.raises(HdbenchError, match="exists already"):
        write_review_list(path, listed(runs, seed=2))
    assert read_review_list(path) == listed(runs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("Stellingen", "Thesen", 1), "key: does not belong"),
        (lambda text: text[: text.rindex("\n", 0, -1) + 1], "not a whole list"),
        (lambda text: text + text.splitlines(True)[-1], "occurs twice"),
        (lambda text: text.partition("\n")[2], "is not a list"),
        (lambda _: "", "not a whole list"),
        (lambda text: text.replace('"control"', '"finding "', 1), "kind"),
    ],
)
def test_what_is_not_such_a_list_is_refused(runs, tmp_path, change, message):
    path = tmp_path / "review.jsonl"
    write_review_list(path, listed(runs))
    path.write_text(change(path.read_text()))
    with pytest.raises(HdbenchError, match=message):
        read_review_list(path)
