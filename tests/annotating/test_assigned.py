"""Items that several people annotate without seeing each other's entries."""

import itertools
import shutil

import pytest
from annotating.pages import write_collection

from hdbench.annotating.annotation import (
    Annotation,
    Assignment,
    assign,
    read_annotation,
    read_double,
    with_assignments,
    write_annotation,
)
from hdbench.annotating.assigned import before_settling, is_plain, read_assigned
from hdbench.annotating.changes import Change, as_line
from hdbench.annotating.metadata import Metadata
from hdbench.annotating.store import Store
from hdbench.errors import HdbenchError

IDS = (f"{number:032x}" for number in itertools.count(1))


def change(by, to, what="ground_truth", *, field="", after=(), how="blind", item="b2"):
    first, *also = [each.id for each in after] or [None]
    at = "2026-11-22T19:40:01.000Z"
    return Change(next(IDS), item, by, at, what, field, None, to, first, how, tuple(also))


def give(folder, *annotators, items=("b2",)):
    write_annotation(
        folder, Annotation(assignments=(Assignment(annotators=annotators, items=items),))
    )


def write(folder, *changes):
    (folder / "history").mkdir(exist_ok=True)
    for by in {each.by for each in changes}:
        lines = [as_line(each) for each in changes if each.by == by]
        (folder / f"history/{by}.jsonl").write_bytes(b"".join(lines))


def test_finished_records_do_not_build_on_earlier_ones(collection):
    give(collection, "ben", "anna", items=("b3", "b2"))
    anna = change("anna", {"title": "Faust"})
    ben = change("ben", "Urfaust", field="title")
    write(
        collection,
        anna,
        change("anna", 1808, field="year", after=[anna]),
        change("anna", "done", "status"),
        ben,
        change("ben", "doubtful", "status"),
        change("ben", "missing", "status", item="b3"),
        change("clara", {"title": "not asked"}),
        change("clara", "done", "status", item="b3"),
    )
    found = read_assigned(collection).finished
    assert [each.item for each in found] == ["b2"]
    assert found[0].records == {
        "ben": {"title": "Urfaust"},
        "anna": {"title": "Faust", "year": 1808},
    }
    assert list(found[0].records) == ["ben", "anna"]
    assert read_assigned(collection).unfinished == 1


def test_missing_truth_is_none_and_rejected_record_is_left_out(collection):
    give(collection, "anna", "ben", items=("b1", "b2"))
    lines = [
        change(by, {"title": by}, item=item) for by in ("anna", "ben") for item in ("b1", "b2")
    ]
    statuses = {("anna", "b1"): "missing", ("ben", "b2"): "rejected"}
    for by, item in itertools.product(("anna", "ben"), ("b1", "b2")):
        lines.append(change(by, statuses.get((by, item), "done"), "status", item=item))
    write(collection, *lines)
    # The record of b1 that was there before is nobody's.
    assert read_assigned(collection).finished == [("b1", {"anna": None, "ben": {"title": "ben"}})]
    assert read_assigned(collection).unfinished == 0


def test_what_was_settled_and_what_came_after_is_nobodys_own(collection):
    give(collection, "anna", "ben")
    own = [change(by, {"title": by}) for by in ("anna", "ben")]
    done = [change(by, "done", "status") for by in ("anna", "ben")]
    settled = change("anna", {"title": "both"}, after=own, how="settled")
    status = change("anna", "done", "status", after=done, how="settled")
    later = change("ben", "later", field="title", after=[settled])
    reopened = change("ben", "open", "status", after=[status])
    write(collection, *own, *done, settled, status, later, reopened)
    assert read_assigned(collection).finished == [
        ("b2", {"anna": {"title": "anna"}, "ben": {"title": "ben"}})
    ]
    assert before_settling([later, settled, *own]) == own
    assert before_settling(own) == own


def test_plain_status_must_build_on_every_annotator():
    anna, ben = (change(by, "done", "status") for by in ("anna", "ben"))
    both = change("clara", "done", "status", after=[anna, ben], how="settled")
    one = change("clara", "done", "status", after=[anna], how="settled")
    plain = change("clara", "done", "status", after=[anna, ben])
    truth = change("clara", {}, after=[anna, ben], how="settled")
    assert is_plain([both, ben, anna], ("anna", "ben"))
    assert is_plain([change("anna", "open", "status", after=[both]), both, ben, anna], ("anna",))
    assert not is_plain([one, ben, anna], ("anna", "ben"))
    assert not is_plain([plain, ben, anna], ("anna", "ben"))
    assert not is_plain([truth, ben, anna], ("anna", "ben"))
    assert not is_plain([anna, ben], ("anna", "ben"))


def test_annotators_of_ten_thousand_items_are_found_quickly():
    items = tuple(f"b{number}" for number in range(10_000))
    annotation = Annotation(
        assignments=(Assignment(annotators=("anna", "ben"), items=items),), blind=("c1",)
    )
    assert all(annotation.annotators(item) == ("anna", "ben") for item in items)
    assert annotation.is_blind("b7")
    assert annotation.is_blind("c1")
    assert not annotation.is_blind("c2")
    assert annotation == Annotation.model_validate(annotation.model_dump())


def test_unstarted_items_are_drawn_and_the_draw_is_recorded(tmp_path):
    folder = write_collection(tmp_path / "cards", [None, {"title": "Faust"}, *[None] * 8])
    with Store.open(folder, "clara") as store:
        for item, what, to in [
            ("b1", "status", "rejected"),
            ("b3", "ground_truth", {"title": "Urfaust"}),
            ("b4", "comment", "hardly legible"),
        ]:
            store.change(item, what, "", to, after=None, how="blind")
    first = assign(folder, ["anna", "ben"], items=3, seed=7)
    assert (first.of, first.assignment.seed) == (7, 7)
    assert len(first.assignment.items) == 3
    rest = assign(folder, ["anna", "clara"])
    assert rest.of == 4
    drawn = [*first.assignment.items, *rest.assignment.items]
    assert sorted(drawn) == ["b10", "b4", "b5", "b6", "b7", "b8", "b9"]
    assert drawn[:3] == sorted(drawn[:3], key=store.items.index)
    annotation = read_annotation(folder)
    assert annotation.assignments == (first.assignment, rest.assignment)
    (folder / "annotation.yaml").unlink()
    assert assign(folder, ["anna", "ben"], items=3, seed=7) == first
    (folder / "annotation.yaml").unlink()
    assert assign(folder, ["anna", "ben"], items=3, seed=8) != first


@pytest.mark.parametrize(
    ("annotators", "items", "message"),
    [
        (["anna", "Ben"], None, "a pseudonym has"),
        (["anna", "ben"], 2, "has 1 items"),
    ],
)
def test_invalid_assignment_is_refused_without_writing(collection, annotators, items, message):
    with pytest.raises(HdbenchError, match=message):
        assign(collection, annotators, items=items)
    assert not (collection / "annotation.yaml").exists()


def test_everybody_reads_the_same_items_and_none_is_done_alone(tmp_path):
    folder = write_collection(tmp_path / "cards", [None] * 9)
    first = read_double(folder, "anna", 3)
    assert len(first.items) == 3
    with Store.open(folder, "anna") as store:
        for item in first.items:
            store.change(item, "status", "", "missing", after=None, how="blind")
            assert store.state(item).stage == "own"
    assert read_assigned(folder) == ([], 3)
    assert read_double(folder, "ben", 3).items == read_double(folder, "anna", 3).items
    (double,) = read_annotation(folder).assignments
    assert (double.annotators, double.items) == (("anna", "ben"), first.items)
    with Store.open(folder, "ben") as store:
        assert {store.state(item).stage for item in first.items} == {"own"}
        for item in first.items:
            store.change(item, "status", "", "missing", after=None, how="blind")
    assert read_assigned(folder).unfinished == 0
    with pytest.raises(HdbenchError, match="3 items are read by several people here: --double 3"):
        read_double(folder, "clara", 4)


def test_who_reads_the_same_items_on_a_copy_joins_with_the_merge(tmp_path):
    folder, copy = write_collection(tmp_path / "cards", [None] * 9), tmp_path / "copy"
    items = read_double(folder, "anna", 3).items
    shutil.copytree(folder, copy)
    read_double(copy, "ben", 3)
    rows = Metadata(folder).rows
    joined = with_assignments(read_annotation(folder), read_annotation(copy), rows, copy)
    assert [(each.annotators, each.items) for each in joined.assignments] == [
        (("anna", "ben"), items)
    ]


def test_second_assignment_keeps_other_annotation_settings(collection):
    write_annotation(collection, Annotation(blind=("b1",), keep_time=True))
    assign(collection, ["anna", "ben"])
    annotation = read_annotation(collection)
    assert (annotation.blind, annotation.keep_time) == (("b1",), True)
    assert annotation.annotators("b2") == ("anna", "ben")


def test_what_is_assigned_meanwhile_is_closed_to_others_at_once(collection):
    with Store.open(collection, "clara") as store, Store.open(collection, "anna") as anna:
        assert {each.stage for each in (*store.states(), *anna.states())} == {"plain"}
        assign(collection, ["anna", "ben"])
        assert (store.state("b2").stage, anna.state("b2").stage) == ("others", "own")
        with pytest.raises(HdbenchError, match="b2: is annotated by others"):
            store.change("b2", "ground_truth", "title", "Faust", after=None, how="blind")
    assert not (collection / "history/clara.jsonl").exists()
