"""Items that several people read, each alone: who reads what, who sees what, and settling."""

import shutil
from contextlib import closing

import pytest
from annotating.pages import finish, put, read_alone, truths, write_collection

from hdbench.collections.truth.double import ReadByAll, read_double, read_doubly_read
from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.event_files import ChangedError, People
from hdbench.collections.truth.events import Double
from hdbench.collections.truth.item_state import Stage
from hdbench.collections.truth.progress import ProgressReader
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError

FAUST = {"title": "Faust", "year": 1808, "persons": [{"name": "Frey"}]}


def readers(folder):
    return People(folder).readers


@pytest.fixture
def stores(collection):
    """The folder as three people have it open; Anna and Ben both read `b2`."""
    read_alone(collection, "anna", "ben")
    with (
        Store(collection, "anna") as anna,
        Store(collection, "ben") as ben,
        Store(collection, "clara") as clara,
    ):
        yield anna, ben, clara


def test_what_nobody_has_started_is_drawn_once_and_read_by_all_who_ask(tmp_path):
    folder = write_collection(tmp_path / "cards", [None, {"title": "Faust"}, *[None] * 8])
    with Store(folder, "clara") as store:
        put(store, "b1", "", "rejected", what="status")
        put(store, "b3", "", {"title": "Urfaust"})
        put(store, "b4", "", "hardly legible", what="comment")
    with pytest.raises(HdbenchError, match="has 7 items that nobody has started: 8 cannot"):
        read_double(folder, "anna", 8)
    with pytest.raises(HdbenchError, match="0 cannot be drawn"):
        read_double(folder, "anna", 0)
    assert readers(folder) == {}
    copy = shutil.copytree(folder, tmp_path / "copy")
    read_double(folder, "anna", 3)
    items = list(readers(folder))
    assert len(items) == 3
    assert set(items) < {"b4", "b5", "b6", "b7", "b8", "b9", "b10"}
    assert items == sorted(items, key=store.items.index)
    with Store(folder, "anna") as store:
        for item in items:
            finish(store, None, "missing", item=item)
            assert store.state(item).stage is Stage.own  # nobody is done alone
    assert read_doubly_read(folder) == ([], 3)
    for name in ("anna", "ben", "ben"):
        read_double(folder, name, 3)
    assert readers(folder) == dict.fromkeys(items, ("anna", "ben"))
    assert len(list(People(folder).of_kind(Double))) == 2
    with pytest.raises(HdbenchError, match="3 items are read by several people here"):
        read_double(folder, "clara", 4)
    # On a copy from before, the same ones are drawn.
    read_double(copy, "ben", 3)
    assert list(readers(copy)) == items


def test_nothing_of_the_others_is_seen_before_all_are_done(collection, stores):
    anna, ben, clara = stores
    put(anna, "b2", "", "hers", what="comment")
    finish(anna, FAUST)
    state = ben.state("b2")
    assert state.stage is Stage.own
    assert (state.record, state.status, state.comment, state.by) == (None, "open", "", ())
    assert (set(state.head.values()), state.how) == ({None}, "")
    put(ben, "b2", "title", "Urfaust")
    assert ben.state("b2").record == {"title": "Urfaust"}
    assert (anna.state("b2").record, anna.state("b2").conflicts) == (FAUST, ())
    for store in stores:
        store.flush()
    assert truths(collection)["b2"] is None

    other = clara.state("b2")
    assert other.stage is Stage.others
    assert (other.record, other.status, other.comment, other.by) == (None, "open", "", ())
    for what, to in [("ground_truth", {}), ("status", "done"), ("comment", "x")]:
        with pytest.raises(HdbenchError, match="read by others, who do not see your entries"):
            put(clara, "b2", "", to, what=what)
    with pytest.raises(HdbenchError, match="nothing to undo"):
        clara.undo("b2")
    assert not (collection / "people/clara.jsonl").exists()


def test_the_editor_sends_nothing_of_the_others(tmp_path):
    folder = read_alone(write_collection(tmp_path / "cards"), "anna", "ben")
    secret = {"title": "Ludwigsburg", "persons": [{"name": "Ludwigsburg"}]}
    with Store(folder, "anna") as store:
        put(store, "b2", "", "Ludwigsburg", what="comment")
        finish(store, secret)

    def sent(name):
        with closing(Editor(folder, name)) as editor:
            with pytest.raises(HdbenchError, match="without a draft"):
                editor.drafts(1)
            told = [editor.start(), editor.item(1), editor.search("Ludwigsburg")]
            return str(
                [*told, *(editor.suggested(each, "") for each in ("title", "persons[0].name"))]
            )

    for name in ("ben", "clara"):
        assert "Ludwigsburg" not in sent(name)
        assert "anna" not in sent(name)
    with Store(folder, "ben") as store:
        finish(store, {"title": "Basel"})
    assert sent("clara").count("Ludwigsburg") >= 3


def test_undo_reverts_own_entries_as_if_working_alone(stores):
    anna, ben, _ = stores
    put(anna, "b2", "", {"title": "Faust", "place": "Basel"})
    put(ben, "b2", "title", "Urfaust")
    put(ben, "b2", "year", 1808)
    assert ben.undo("b2").record == {"title": "Urfaust"}
    assert ben.undo("b2").record is None
    with pytest.raises(HdbenchError, match="nothing to undo"):
        ben.undo("b2")
    assert anna.state("b2").record == {"title": "Faust", "place": "Basel"}


def test_where_all_agree_nothing_is_to_be_settled(collection, stores):
    anna, ben, clara = stores
    put(anna, "b2", "", "stained", what="comment")
    finish(anna, FAUST | {"place": None, "note": " "})
    finish(ben, {"title": " Faust\n", "year": 1808, "keywords": [], "persons": [{"name": "Frey"}]})
    ben.flush()
    for store in stores:
        state = store.state("b2")
        assert (state.stage, state.status, state.conflicts) == (Stage.plain, "done", ())
        assert (state.comment, state.made.how) == ("stained", "blind")
        assert {key: state.record[key] for key in ("year", "persons")} == {
            key: FAUST[key] for key in ("year", "persons")
        }
    assert truths(collection)["b2"] == state.record
    put(clara, "b2", "title", "Faust I")  # it is like any other item now
    assert anna.state("b2").record["title"] == "Faust I"


def test_differences_are_settled_by_field_and_what_each_read_is_kept(collection, stores):
    anna, ben, clara = stores
    annas, bens = FAUST | {"place": "Basel"}, FAUST | {"year": 1809, "persons": []}
    finish(anna, annas)
    finish(ben, bens, "doubtful")
    state = clara.state("b2")
    assert state.stage is Stage.settling
    assert {each.field or each.kind: each.values for each in state.conflicts} == {
        "year": (1808, 1809),
        "persons": (FAUST["persons"], []),
        "place": ("Basel", None),
        "status": ("done", "doubtful"),
    }
    assert ProgressReader(collection).read().to_settle == 1
    put(clara, "b2", "year", 1810, how="settled")  # a third
    put(anna, "b2", "persons", [{"name": "Frey, Emma"}], how="settled")
    put(anna, "b2", "", "done", what="status")
    anna.flush()
    assert [each.field for each in ben.state("b2").conflicts] == ["place"]
    assert truths(collection)["b2"] is None
    put(anna, "b2", "place", None, how="settled")
    assert anna.undo("b2").stage is Stage.settling
    put(anna, "b2", "place", None, how="settled")
    anna.flush()
    state = ben.state("b2")
    assert (state.stage, state.status) == (Stage.plain, "done")
    settled = {"title": "Faust", "year": 1810, "persons": [{"name": "Frey, Emma"}], "place": None}
    assert truths(collection)["b2"] == state.record == settled
    put(ben, "b2", "title", "later")
    both = {"anna": annas, "ben": bens}
    assert read_doubly_read(collection) == ([ReadByAll("b2", both)], 0)


def test_two_who_settle_at_once_do_not_overwrite_each_other(stores):
    anna, ben, _ = stores
    finish(anna, {"title": "Faust"})
    finish(ben, {"title": "Urfaust"})
    seen = ben.state("b2").head["ground_truth"]
    put(anna, "b2", "title", "Faust", how="settled")
    with pytest.raises(ChangedError):
        ben.change("b2", "ground_truth", "title", "Urfaust", after=seen, how="settled")


def test_what_both_settle_on_their_own_computers_is_settled_again(collection, tmp_path):
    read_alone(collection, "anna", "ben")
    other = shutil.copytree(collection, tmp_path / "other")
    folders = {"anna": collection, "ben": other}

    def exchange():
        for name, folder in folders.items():
            for target in folders.values():
                if target != folder:
                    shutil.copy(folder / f"people/{name}.jsonl", target / "people")

    for name, folder in folders.items():
        with Store(folder, name) as store:
            finish(store, {"title": name})
    exchange()
    for name, folder in folders.items():
        with Store(folder, name) as store:
            assert store.state("b2").stage is Stage.settling
            put(store, "b2", "title", f"settled by {name}", how="settled")
            assert store.state("b2").stage is Stage.plain
    exchange()
    for folder in folders.values():
        with Store(folder, "clara") as store:
            (conflict,) = store.state("b2").conflicts
            assert conflict.values == ("settled by anna", "settled by ben")
            assert store.state("b2").stage is Stage.settling


def test_whoever_finds_no_truth_has_none_and_rejected_items_say_nothing(collection):
    read_alone(collection, "anna", "ben", items=("b1", "b2", "b3"))
    statuses = {("anna", "b1"): "missing", ("ben", "b2"): "rejected"}
    for name in ("anna", "ben"):
        with Store(collection, name) as store:
            for item in ("b1", "b2"):
                # The record of b1 that was there before is nobody's.
                assert store.state(item).record is None
                finish(store, {"title": name}, statuses.get((name, item), "done"), item=item)
    found = read_doubly_read(collection)
    assert found == ([ReadByAll("b1", {"anna": None, "ben": {"title": "ben"}})], 1)
    with Store(collection, "clara") as store:
        assert {each.kind for each in store.state("b1").conflicts} == {"ground_truth", "status"}
        put(store, "b1", "title", "ben", how="settled")
        put(store, "b1", "", "missing", what="status")
    assert truths(collection)["b1"] is None


def test_what_several_read_from_now_on_is_closed_to_others_at_once(collection):
    with Store(collection, "clara") as clara, Store(collection, "anna") as anna:
        put(clara, "b2", "", "torn", what="comment")
        assert {each.stage for each in (*clara.states(), *anna.states())} == {Stage.plain}
        for name in ("anna", "ben"):
            read_double(collection, name, 1)
        assert (clara.state("b2").stage, anna.state("b2").stage) == (Stage.others, Stage.own)
        assert anna.state("b2").comment == ""
