"""Items that several people annotate without seeing each other's entries."""

import itertools

from hdbench.annotating.annotation import Annotation, Assignment, write_annotation
from hdbench.annotating.assigned import annotated, before_settling, count_unfinished, is_settled
from hdbench.annotating.changes import Change, as_line

IDS = (f"{number:032x}" for number in itertools.count(1))


def change(by, to, what="ground_truth", *, field="", after=(), how="blind", item="b2"):
    first, *also = [each.id for each in after] or [None]
    at = "2026-11-22T19:40:01.000Z"
    return Change(next(IDS), item, by, at, what, field, None, to, first, how, tuple(also))


def assign(folder, *annotators, items=("b2",)):
    write_annotation(
        folder, Annotation(assignments=(Assignment(annotators=annotators, items=items),))
    )


def write(folder, *changes):
    (folder / "history").mkdir(exist_ok=True)
    for by in {each.by for each in changes}:
        lines = [as_line(each) for each in changes if each.by == by]
        (folder / f"history/{by}.jsonl").write_bytes(b"".join(lines))


def test_the_records_of_those_who_are_all_done_each_on_top_of_nothing(collection):
    assign(collection, "ben", "anna", items=("b3", "b2"))
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
    found = annotated(collection)
    assert [each.item for each in found] == ["b2"]
    assert found[0].records == {
        "ben": {"title": "Urfaust"},
        "anna": {"title": "Faust", "year": 1808},
    }
    assert list(found[0].records) == ["ben", "anna"]
    assert count_unfinished(collection) == 1


def test_who_says_that_there_is_no_truth_has_none_and_who_rejects_is_left_out(collection):
    assign(collection, "anna", "ben", items=("b1", "b2"))
    lines = [
        change(by, {"title": by}, item=item) for by in ("anna", "ben") for item in ("b1", "b2")
    ]
    statuses = {("anna", "b1"): "missing", ("ben", "b2"): "rejected"}
    for by, item in itertools.product(("anna", "ben"), ("b1", "b2")):
        lines.append(change(by, statuses.get((by, item), "done"), "status", item=item))
    write(collection, *lines)
    # The record of b1 that was there before is nobody's.
    assert annotated(collection) == [("b1", {"anna": None, "ben": {"title": "ben"}})]
    assert count_unfinished(collection) == 0


def test_what_was_settled_and_what_came_after_is_nobodys_own(collection):
    assign(collection, "anna", "ben")
    own = [change(by, {"title": by}) for by in ("anna", "ben")]
    done = [change(by, "done", "status") for by in ("anna", "ben")]
    settled = change("anna", {"title": "both"}, after=own, how="settled")
    status = change("anna", "done", "status", after=done, how="settled")
    later = change("ben", "later", field="title", after=[settled])
    reopened = change("ben", "open", "status", after=[status])
    write(collection, *own, *done, settled, status, later, reopened)
    assert annotated(collection) == [("b2", {"anna": {"title": "anna"}, "ben": {"title": "ben"}})]
    assert before_settling([later, settled, *own]) == own
    assert before_settling(own) == own


def test_an_item_is_settled_by_a_status_that_has_everybodys_behind_it():
    anna, ben = (change(by, "done", "status") for by in ("anna", "ben"))
    both = change("clara", "done", "status", after=[anna, ben], how="settled")
    one = change("clara", "done", "status", after=[anna], how="settled")
    plain = change("clara", "done", "status", after=[anna, ben])
    truth = change("clara", {}, after=[anna, ben], how="settled")
    assert is_settled([both, ben, anna], ("anna", "ben"))
    assert is_settled([change("anna", "open", "status", after=[both]), both, ben, anna], ("anna",))
    assert not is_settled([one, ben, anna], ("anna", "ben"))
    assert not is_settled([plain, ben, anna], ("anna", "ben"))
    assert not is_settled([truth, ben, anna], ("anna", "ben"))
    assert not is_settled([anna, ben], ("anna", "ben"))


def test_who_annotates_what_is_found_at_once_for_ten_thousand_items():
    items = tuple(f"b{number}" for number in range(10_000))
    annotation = Annotation(
        assignments=(Assignment(annotators=("anna", "ben"), items=items),), blind=("c1",)
    )
    assert all(annotation.annotators(item) == ("anna", "ben") for item in items)
    assert annotation.is_blind("b7")
    assert annotation.is_blind("c1")
    assert not annotation.is_blind("c2")
    assert annotation == Annotation.model_validate(annotation.model_dump())
