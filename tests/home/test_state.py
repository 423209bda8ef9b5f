"""Where a collection stands, from files that the real functions made."""

from dataclasses import replace

import pytest
from home.collections import make_collection, write_run

from hdbench.collections.home.app import said
from hdbench.collections.home.collection import opened
from hdbench.collections.home.state import DecisionProgress, standing_of
from hdbench.collections.truth.double import read_double
from hdbench.collections.truth.store import Store

NOTHING = DecisionProgress()


def english(text):
    return said(text or "", "en")


def standing(collection, decided=NOTHING):
    return standing_of(
        collection.progress(), len(collection.fields), collection.runs.views(), decided
    )


def enter(folder, name, item, record, status="done"):
    with Store(folder, name) as store:
        for what, to in (("ground_truth", record), ("status", status)):
            after = store.state(item).head[what]
            store.change(item, what, "", to, after=after, how="blind")


@pytest.fixture
def folder(tmp_path):
    return make_collection(tmp_path)


def test_from_the_sheet_to_the_comparison(folder):
    collection = opened(folder)
    first = standing(collection)
    assert english(first.sentence) == "2 of 4 items have a ground truth; no model has read them."
    assert [english(stage.fact) for stage in first.stages][:4] == ["4", "2", "2 of 4", ""]
    assert (first.next_step.stage, english(first.next_step.button)) == (
        "truth",
        "Go on reading",
    )
    assert english(first.next_step.why) == "2 items to read."
    for item in ("c2", "c3"):
        enter(folder, "anna", item, {"titel": "Faust", "jahr": 1808})
    read = standing(collection)
    assert english(read.sentence) == "All 4 items have a ground truth; no model has read them."
    assert (read.next_step.stage, english(read.next_step.button)) == (
        "runs",
        "Add a run",
    )
    write_run(folder.parent, "a")
    assert english(standing(collection).next_step.why).startswith(
        "Let a second model read the items"
    )
    write_run(folder.parent, "b", wrong=1)
    both = standing(collection)
    assert english(both.sentence) == "All 4 items have a ground truth; 2 models have read them."
    assert both.next_step.stage == "compare"


APPLIED = DecisionProgress(planned=True, is_learned=True, is_applied=True, accepted=80, values=100)


@pytest.mark.parametrize(
    ("decided", "stage", "button"),
    [
        (DecisionProgress(problem="damaged"), "decide", "See why"),
        (DecisionProgress(planned=True, sample=9, to_read=3), "decide", "Read the sample"),
        (DecisionProgress(planned=True), "decide", "Learn from them"),
        (DecisionProgress(planned=True, is_learned=True), "decide", "Decide"),
        (replace(APPLIED, to_read=2), "decide", "Read the control sample"),
        (replace(APPLIED, to_work_off=1), "decide", "Decide them"),
        (APPLIED, "finish", "Write the records"),
        (replace(APPLIED, is_finished=True), "finish", "Look at the records"),
    ],
)
def test_from_the_plan_to_the_records(tmp_path, decided, stage, button):
    collection = opened(make_collection(tmp_path, truths=2))
    write_run(tmp_path, "a")
    step = standing(collection, decided).next_step
    assert (step.stage, english(step.button)) == (stage, button)


def test_a_large_collection_is_not_read_by_hand(tmp_path):
    collection = opened(make_collection(tmp_path, items=201, truths=20))
    assert standing(collection).next_step.stage == "runs"


def test_item_that_two_people_read_is_settled_first(tmp_path):
    folder = make_collection(tmp_path, truths=0)
    for person in ("anna", "ben"):
        read_double(folder, person, 1)
    collection = opened(folder)
    (item,) = (each.state.item for each in collection.progress().items if each.waiting)
    assert collection.progress().waiting == {"anna": 1, "ben": 1}
    enter(folder, "anna", item, {"titel": "Faust", "jahr": 1808})
    assert collection.progress().waiting == {"ben": 1}
    assert collection.progress().truths == 0  # what anna entered is not to be seen yet
    enter(folder, "ben", item, {"titel": "Faust", "jahr": 1809})
    now = standing(collection).next_step
    assert (now.stage, english(now.button)) == ("truth", "Settle")


def test_other_runs_beside_the_collection_do_not_count(folder):
    write_run(folder.parent, "a")
    (folder.parent / "runs/letters_b.jsonl").write_text("{}")
    (folder.parent / "runs/cards_link.jsonl").symlink_to(folder.parent / "runs/cards_a.jsonl")
    assert [run.name for run in opened(folder).runs.views()] == ["cards_a.jsonl"]


def test_damaged_run_says_why_and_does_not_count(folder):
    write_run(folder.parent, "a").write_text('{"id": "c0"')
    (view,) = opened(folder).runs.views()
    assert "a.jsonl:1" in view.problem
    assert english(standing(opened(folder)).sentence).endswith("no model has read them.")
