import json

import pytest

from hdbench.annotating.store import Store
from hdbench.errors import HdbenchError


def put(store, item, field, to, *, what="ground_truth", how="blind"):
    return store.change(item, what, field, to, after=store.state(item).head[what], how=how)


def test_undo_steps_back_through_changes_across_sessions(collection):
    with Store.open(collection, "anna") as store:
        first = store.state("b1")
        put(store, "b1", "title", "Faust II")
        put(store, "b1", "title", "Faust III")
        put(store, "b1", "", "done", what="status")
        put(store, "b1", "", "sure?", what="comment")
    for record, status in [
        ({"title": "Faust III", "year": 1808}, "done"),
        ({"title": "Faust III", "year": 1808}, "open"),
        ({"title": "Faust II", "year": 1808}, "open"),
        ({"title": "Faust", "year": 1808}, "open"),
    ]:
        with Store.open(collection, "anna") as store:
            state = store.undo("b1")
            assert (state.record, state.status, state.comment) == (record, status, "")
    with Store.open(collection, "anna") as store:
        assert (state.how, state.record) == (first.how, first.record)
        with pytest.raises(HdbenchError, match="nothing to undo"):
            store.undo("b1")
        # The base, four changes and four that take them back: nothing is removed.
        assert len(store.history("b1")) == 9


def test_what_was_added_is_gone_after_undo_and_not_null(collection):
    with Store.open(collection, "anna") as store:
        put(store, "b1", "place", "Weimar")
        put(store, "b3", "entries[1]", {"name": "Arthur"})
        put(store, "b3", "entries[1].year", 1912)
        put(store, "b2", "author.name", "Goethe")
        assert store.undo("b1").record == {"title": "Faust", "year": 1808}
        assert store.undo("b3").record == {"entries": [{"name": "May"}, {"name": "Arthur"}]}
        assert store.undo("b3").record == {"entries": [{"name": "May"}]}
        assert store.state("b2").record == {"author": {"name": "Goethe"}}
        assert store.undo("b2").record is None
    lines = (collection / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1])["ground_truth"] is None


def test_a_change_after_an_undo_is_undone_first(collection):
    with Store.open(collection, "anna") as store:
        for title in "AB":
            put(store, "b1", "title", title)
        store.undo("b1")
        put(store, "b1", "title", "C")
        titles = [store.undo("b1").record["title"] for _ in range(2)]
    assert titles == ["A", "Faust"]


def test_only_the_own_changes_are_undone_and_nobody_elses_lost(collection):
    with Store.open(collection, "anna") as anna, Store.open(collection, "ben") as ben:
        put(anna, "b1", "title", "Faust II")
        put(ben, "b1", "year", 1832)
        with pytest.raises(HdbenchError, match="clara has nothing to undo"):
            Store.open(collection, "clara").undo("b1")
        assert anna.undo("b1").record == {"title": "Faust", "year": 1832}
        put(anna, "b1", "title", "Faust II")
        put(ben, "b1", "title", "Faust 2")
        with pytest.raises(HdbenchError, match="title was changed again since"):
            anna.undo("b1")
        assert ben.undo("b1").record["title"] == "Faust II"


def test_undo_gives_the_provenance_back(collection):
    with Store.open(collection, "anna") as store:
        put(store, "b2", "", {"title": "Egmond"}, how="draft:qwen")
        put(store, "b2", "title", "Egmont", how="corrected after audit")
        assert store.undo("b2").how == "draft:qwen"
        assert store.undo("b2").record is None


def test_a_null_that_is_gone_since_is_not_undone(collection):
    with Store.open(collection, "anna") as anna, Store.open(collection, "ben") as ben:
        put(anna, "b2", "place", None)
        put(ben, "b2", "", None)
        with pytest.raises(HdbenchError, match="changed again since"):
            anna.undo("b2")
