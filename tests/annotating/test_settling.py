"""How items that several people annotated alone are put together."""

import json
import shutil

import pytest
from annotating.merges import merge

from hdbench.annotating.annotation import Annotation, Assignment, write_annotation
from hdbench.annotating.assigned import read_assigned
from hdbench.annotating.folding import Stage
from hdbench.annotating.merging import hand_over
from hdbench.annotating.store import StaleError, Store
from hdbench.errors import HdbenchError

FAUST = {"title": "Faust", "year": 1808, "persons": [{"name": "Frey"}]}


def put(store, to, field="", what="ground_truth", *, item="b2", how="blind"):
    head = store.state(item).head[what]
    return store.change(item, what, field, to, after=head, how=how)


def finish(store, record, status="done", *, item="b2"):
    if record is not None:
        put(store, record, item=item)
    return put(store, status, what="status", item=item)


def truth(folder, item="b2"):
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}[item]["ground_truth"]


@pytest.fixture
def assigned(collection):
    """Anna and Ben both annotate `b2`."""
    both = Assignment(annotators=("anna", "ben"), items=("b2",))
    write_annotation(collection, Annotation(assignments=(both,)))
    return collection


@pytest.fixture
def stores(assigned):
    """The folder as three people have it open."""
    with (
        Store.open(assigned, "anna") as anna,
        Store.open(assigned, "ben") as ben,
        Store.open(assigned, "clara") as clara,
    ):
        yield anna, ben, clara


def test_nothing_of_the_others_is_seen_before_all_are_done(assigned, stores):
    anna, ben, clara = stores
    put(anna, "hers", what="comment")
    finish(anna, FAUST)
    state = ben.state("b2")
    assert state.stage is Stage.own
    assert (state.record, state.status, state.comment, state.by) == (None, "open", "", ())
    assert (set(state.head.values()), state.how, ben.history("b2")) == ({None}, "", [])
    put(ben, "Urfaust", "title")
    assert ben.state("b2").record == {"title": "Urfaust"}
    assert [change.by for change in ben.history("b2")] == ["ben"]
    assert anna.state("b2").record == FAUST
    assert anna.state("b2").conflicts == ()
    for store in stores:
        store.flush()
    assert truth(assigned) is None

    other = clara.state("b2")
    assert other.stage is Stage.others
    assert (other.record, other.status, other.comment, other.by) == (None, "open", "", ())
    assert clara.history("b2") == []
    for what, to in [("ground_truth", {}), ("status", "done"), ("comment", "x")]:
        with pytest.raises(HdbenchError, match="annotated by others"):
            put(clara, to, what=what)
    with pytest.raises(HdbenchError, match="nothing to undo"):
        clara.undo("b2")
    assert not (assigned / "history/clara.jsonl").exists()


def test_undo_reverts_own_changes_as_if_working_alone(stores):
    anna, ben, _ = stores
    put(anna, {"title": "Faust", "place": "Basel"})
    put(ben, "Urfaust", "title")
    put(ben, 1808, "year")
    assert ben.undo("b2").record == {"title": "Urfaust"}
    assert ben.undo("b2").record is None
    with pytest.raises(HdbenchError, match="nothing to undo"):
        ben.undo("b2")
    assert anna.state("b2").record == {"title": "Faust", "place": "Basel"}


def test_where_all_agree_an_item_settles_itself(assigned, stores):
    anna, ben, clara = stores
    put(anna, "stained", what="comment")
    finish(anna, FAUST | {"place": None, "note": " "})
    finish(ben, {"title": " Faust\n", "year": 1808, "keywords": [], "persons": [{"name": "Frey"}]})
    ben.flush()
    for store in stores:
        state = store.state("b2")
        assert (state.stage, state.status, state.how) == (Stage.plain, "done", "settled")
        assert {key: state.record[key] for key in FAUST} == FAUST
        assert (state.comment, state.conflicts) == ("anna: stained", ())
    assert truth(assigned) == state.record
    put(clara, "Faust I", "title")  # it is like any other item now
    assert anna.state("b2").record["title"] == "Faust I"
    # What each of them entered is still known.
    assert read_assigned(assigned).finished[0].records["anna"]["note"] == " "
    before = (assigned / "history/ben.jsonl").read_bytes()
    ben.flush()
    assert (assigned / "history/ben.jsonl").read_bytes() == before


def test_differences_are_settled_by_field_and_choices_are_saved(assigned, stores):
    anna, ben, clara = stores
    put(anna, "sure", what="comment")
    finish(anna, FAUST | {"place": "Basel"})
    put(ben, "no place", what="comment")
    finish(ben, FAUST | {"year": 1809, "persons": []}, "doubtful")
    state = clara.state("b2")
    assert (state.stage, state.status) == (Stage.settling, "open")
    assert state.record == {"title": "Faust", "year": None, "persons": None, "place": None}
    assert state.comment == "anna: sure\nben: no place"
    assert [(each.field, each.is_settled) for each in state.differences] == [
        ("year", False),
        ("persons", False),
        ("place", False),
    ]
    assert state.differences[0].values == {"anna": 1808, "ben": 1809}
    assert state.differences[2].values == {"anna": "Basel", "ben": None}

    put(clara, 1810, "year")  # a third
    put(clara, [{"name": "Frey, Emma"}], "persons")
    state = anna.state("b2")
    assert state.record == {
        "title": "Faust",
        "year": 1810,
        "persons": [{"name": "Frey, Emma"}],
        "place": None,
    }
    assert [each.is_settled for each in state.differences] == [True, True, False]
    with pytest.raises(HdbenchError, match="1 not settled yet: take or enter a value for place"):
        put(clara, "done", what="status")
    assert truth(assigned) is None
    put(anna, None, "place")
    assert [each.is_settled for each in anna.state("b2").differences] == [True] * 3
    assert anna.undo("b2").differences[2].is_settled is False
    put(anna, None, "place")
    put(anna, "done", what="status")
    anna.flush()
    state = ben.state("b2")
    assert (state.stage, state.status, state.conflicts) == (Stage.plain, "done", ())
    assert state.comment == "anna: sure\nben: no place"
    assert truth(assigned) == state.record == {**FAUST, **state.record}
    assert read_assigned(assigned).finished[0].records["ben"] == FAUST | {
        "year": 1809,
        "persons": [],
    }


def test_two_who_settle_at_once_do_not_overwrite_each_other(stores):
    anna, ben, _ = stores
    finish(anna, {"title": "Faust"})
    finish(ben, {"title": "Urfaust"})
    seen = ben.state("b2").head["ground_truth"]
    put(anna, "Faust", "title")
    with pytest.raises(StaleError):
        ben.change("b2", "ground_truth", "title", "Urfaust", after=seen, how="blind")


def test_a_truth_that_only_one_can_find_is_one_difference(stores):
    anna, ben, _ = stores
    finish(anna, FAUST)
    finish(ben, None, "missing")
    state = ben.state("b2")
    assert [(each.field, each.values) for each in state.differences] == [
        ("", {"anna": FAUST, "ben": None})
    ]
    put(ben, FAUST)
    assert put(ben, "done", what="status").record == FAUST


def test_that_there_is_no_truth_needs_no_choice_of_fields(assigned, stores):
    anna, ben, _ = stores
    finish(anna, {"title": "Faust"})
    finish(ben, {"title": "Urfaust"})
    put(anna, "missing", what="status")
    anna.flush()
    assert anna.state("b2").stage is Stage.plain
    assert truth(assigned) is None


def test_item_stays_unsettled_if_killed_while_settling(assigned):
    with Store.open(assigned, "anna") as store:
        finish(store, FAUST)
    with Store.open(assigned, "ben") as store:
        put(store, "x", what="comment")
        finish(store, FAUST)
    path = assigned / "history/ben.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["what"] for line in lines[-3:]] == [
        "ground_truth",
        "comment",
        "status",
    ]
    for left in (1, 2):  # of the three lines with which it settled itself when it was closed
        path.write_bytes(b"".join(lines[: left - 3]))
        folder = shutil.copytree(assigned, assigned.parent / f"killed-{left}")
        assert read_assigned(folder).finished == [("b2", {"anna": FAUST, "ben": FAUST})]
        with Store.open(folder, "clara") as store:
            state = store.state("b2")
            assert (state.stage, state.record, state.comment) == (Stage.plain, FAUST, "ben: x")
            assert state.conflicts == ()


def test_both_settle_what_they_agree_in_on_their_own_computers(assigned, tmp_path):
    other = shutil.copytree(assigned, tmp_path / "other")
    for folder, name in ((assigned, "anna"), (other, "ben")):
        with Store.open(folder, name) as store:
            finish(store, FAUST)
        hand_over(folder, name, tmp_path / f"{name}.zip")
    merged = merge(assigned, tmp_path / "ben.zip")
    assert merged.conflicts == ()
    assert truth(assigned) is None
    merge(other, tmp_path / "anna.zip")
    for folder, name in ((assigned, "anna"), (other, "ben")):
        Store.open(folder, name).close()
        assert truth(folder) == FAUST
        hand_over(folder, name, tmp_path / f"{name}2.zip")
    assert merge(assigned, tmp_path / "ben2.zip").conflicts == ()
    with Store.open(assigned, "anna") as store:
        assert store.state("b2").conflicts == ()
        assert store.state("b2").stage is Stage.plain


def test_change_made_elsewhere_after_settling_is_a_conflict(assigned, tmp_path):
    other = shutil.copytree(assigned, tmp_path / "other")
    for folder, name in ((assigned, "anna"), (other, "ben")):
        with Store.open(folder, name) as store:
            finish(store, FAUST)
    hand_over(other, "ben", tmp_path / "ben.zip")
    merge(assigned, tmp_path / "ben.zip")
    Store.open(assigned, "anna").close()
    with Store.open(other, "ben") as store:
        put(store, 1809, "year")
    hand_over(other, "ben", tmp_path / "ben2.zip")
    conflicts = merge(assigned, tmp_path / "ben2.zip").conflicts
    assert [{change.by for change in each.changes} for each in conflicts] == [{"anna", "ben"}]


def test_an_assignment_is_seen_while_the_folder_is_open(collection):
    with Store.open(collection, "anna") as anna, Store.open(collection, "ben") as ben:
        put(anna, "Faust", "title")
        assert ben.state("b2").record == {"title": "Faust"}
        both = Assignment(annotators=("anna", "ben"), items=("b2",))
        write_annotation(collection, Annotation(assignments=(both,)))
        assert ben.state("b2").record is None
        assert ben.annotation().is_blind("b2")
        (collection / "annotation.yaml").unlink()
        assert ben.state("b2").record == {"title": "Faust"}
