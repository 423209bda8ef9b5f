import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from annotating.pages import write_collection

from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.event_files import ChangedError
from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError


def rows(folder):
    lines = (folder / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def truths(folder):
    return {item: row["ground_truth"] for item, row in rows(folder).items()}


def put(store, item, field, to, *, what="ground_truth", how="blind"):
    return store.change(item, what, field, to, after=store.state(item).head[what], how=how)


def test_existing_truth_counts_as_imported_without_writing(collection):
    before = (collection / "metadata.jsonl").read_bytes()
    with Store(collection, "anna") as store:
        assert store.items == ["b1", "b2", "b3"]
        state = store.state("b1")
        assert (state.record, state.status, state.comment) == (
            {"title": "Faust", "year": 1808},
            "open",
            "",
        )
        assert (state.how, state.by, state.conflicts) == ("imported", (), ())
        empty = store.state("b2")
        assert (empty.record, empty.how, set(empty.head.values())) == (None, "", {None})
        assert store.people.changes("b1") == []
    assert (collection / "metadata.jsonl").read_bytes() == before
    assert not list((collection / "people").glob("*.jsonl"))


def test_published_ground_truth_is_never_edited(collection):
    """Without it, as in collections of one's own, `build` writes the edited record as published."""
    path = collection / "metadata.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines()
    published = {"ground_truth_published": {"title": "Fauft", "year": 1808}}
    path.write_text("\n".join([json.dumps(json.loads(first) | published), *others, ""]))
    with Store(collection, "anna") as store:
        put(store, "b1", "title", "Faust II")
        put(store, "b3", "entries[0].name", "Mai")
        store.flush()
    edited = rows(collection)
    assert edited["b1"]["ground_truth"]["title"] == "Faust II"
    assert edited["b1"]["ground_truth_published"] == published["ground_truth_published"]
    assert "ground_truth_published" not in edited["b3"]


def test_a_change_is_in_the_persons_file_at_once_and_in_metadata_on_flush(collection):
    untouched = (collection / "metadata.jsonl").read_bytes().splitlines()
    with Store(collection, "anna") as store:
        state = put(store, "b1", "title", "Faust II")
        assert state.record == {"title": "Faust II", "year": 1808}
        assert (state.how, state.by) == ("blind", ("anna",))
        raw = (collection / "people/anna.jsonl").read_bytes().splitlines(keepends=True)
        found, change = map(json.loads, raw)
        assert (found["kind"], found["how"]) == ("found", "imported")
        assert (found["record"], found["number"]) == ({"title": "Faust", "year": 1808}, 1)
        assert change == {
            "kind": "ground_truth",
            "by": "anna",
            "at": change["at"],
            "number": 2,
            "previous": hashlib.sha256(raw[0]).hexdigest(),
            "item": "b1",
            "field": "title",
            "value": "Faust II",
            "how": "blind",
        }
        assert truths(collection)["b1"]["title"] == "Faust"
        store.flush()
        assert truths(collection)["b1"] == {"title": "Faust II", "year": 1808}
    assert (collection / "metadata.jsonl").read_bytes().splitlines()[1:] == untouched[1:]


def test_history_survives_the_process_and_repairs_metadata(collection):
    before = (collection / "metadata.jsonl").read_bytes()
    with Store(collection, "anna") as store:
        put(store, "b2", "entries[0].name", "Goethe")
        put(store, "b2", "entries[1].name", "Schiller")
        put(store, "b2", "", "done", what="status")
        put(store, "b2", "", "hardly legible", what="comment")
    (collection / "metadata.jsonl").write_bytes(before)
    with Store(collection, "anna") as store:
        state = store.state("b2")
        assert state.record == {"entries": [{"name": "Goethe"}, {"name": "Schiller"}]}
        assert (state.status, state.comment) == ("done", "hardly legible")
        assert truths(collection)["b2"] == state.record
        assert rows(collection)["b2"]["script"] == "Fraktur"


@pytest.mark.parametrize("status", ["missing", "rejected"])
def test_item_without_truth_is_null_but_keeps_its_record(collection, status):
    with Store(collection, "anna") as store:
        put(store, "b1", "", status, what="status")
        store.flush()
        assert truths(collection)["b1"] is None
    with Store(collection, "anna") as store:
        assert store.state("b1").record == {"title": "Faust", "year": 1808}
        put(store, "b1", "", "doubtful", what="status")
    assert truths(collection)["b1"] == {"title": "Faust", "year": 1808}


def test_a_stale_change_is_refused_and_nothing_is_written(collection):
    with Store(collection, "anna") as store:
        seen = store.state("b1").head["ground_truth"]
        put(store, "b1", "title", "Faust II")
        before = (collection / "people/anna.jsonl").read_bytes()
        for after in (seen, None, "0" * 32):
            with pytest.raises(ChangedError):
                store.change("b1", "ground_truth", "title", "x", after=after, how="blind")
        assert (collection / "people/anna.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        ("b9", "ground_truth", "title", "x", "blind"),
        ("b1", "ground_truth", "title.name", "x", "blind"),
        ("b1", "ground_truth", "year[0]", "x", "blind"),
        ("b3", "ground_truth", "entries[2]", "x", "blind"),
        ("b1", "ground_truth", "a..b", "x", "blind"),
        ("b1", "ground_truth", "[0]", "x", "blind"),
        ("b1", "ground_truth", ".".join("a" * 31), "x", "blind"),
        ("b1", "ground_truth", "", [], "blind"),
        ("b1", "ground_truth", "title", float("nan"), "blind"),
        ("b1", "ground_truth", "title", {1, 2}, "blind"),
        ("b1", "ground_truth", "title", "x" * 5_000_000, "blind"),
        ("b1", "ground_truth", "title", "x", "guessed"),
        ("b1", "status", "", "finished", "blind"),
        ("b1", "comment", "", None, "blind"),
        ("b1", "comment", "title", "x", "blind"),
        ("b1", "time", "", "x", "blind"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_nothing_is_written(collection, change):
    item, what, field, to, how = change
    with Store(collection, "anna") as store:
        head = store.state(item).head.get(what) if item in store.items else None
        with pytest.raises(HdbenchError):
            store.change(item, what, field, to, after=head, how=how)
    assert not list((collection / "people").glob("*.jsonl"))


def test_unusable_folders_are_refused(tmp_path, collection):
    with pytest.raises(HdbenchError, match="no such folder"):
        Store(tmp_path / "none", "anna")
    with pytest.raises(HdbenchError, match="cannot be read"):
        Store(tmp_path, "anna")
    (collection / "metadata.jsonl").write_text('{"id": "a"}\n{"id": "a"}\n')
    with pytest.raises(HdbenchError, match="jsonl:2: needs an id of its own"):
        Store(collection, "anna")


def test_windows_and_people_see_what_others_change(collection):
    with Store(collection, "Anna") as anna, Store(collection, "Anna") as window:
        with Store(collection, "Ben") as ben:
            put(anna, "b1", "title", "Faust II")
            assert ben.state("b1").record["title"] == "Faust II"
            put(ben, "b1", "year", 1832)
            put(window, "b1", "title", "Faust 2")
            assert anna.state("b1").record == {"title": "Faust 2", "year": 1832}
            assert anna.state("b1").by == ("Anna", "Ben")
            assert anna.state("b1").conflicts == ()
            anna.flush()
            put(ben, "b2", "title", "Egmont")
        assert truths(collection)["b2"] == {"title": "Egmont"}
    assert truths(collection)["b1"] == {"title": "Faust 2", "year": 1832}


def test_store_can_be_used_and_closed_by_other_threads(collection):
    store = Store(collection, "anna")

    def fill(field):
        for number in range(20):
            while True:
                try:
                    put(store, "b1", field, number)
                    break
                except ChangedError:
                    continue

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(fill, "abcd"))
        threads.submit(store.close).result()
    with Store(collection, "anna") as store:
        assert store.state("b1").record.items() >= dict.fromkeys("abcd", 19).items()
        assert len(store.people.changes("b1")) == 80


def test_flush_keeps_changes_written_while_waiting_for_the_lock(collection, monkeypatch):
    with Store(collection, "anna") as anna, Store(collection, "ben") as ben:
        put(anna, "b1", "year", 1832)
        writing = anna.metadata.writing

        @contextmanager
        def waiting():
            put(ben, "b1", "title", "Faust II")
            ben.flush()
            with writing():
                yield

        monkeypatch.setattr(anna.metadata, "writing", waiting)
        anna.flush()
        monkeypatch.undo()
        assert truths(collection)["b1"] == {"title": "Faust II", "year": 1832}


def test_all_items_are_given_at_once_with_what_others_changed(collection):
    with Store(collection, "anna") as anna, Store(collection, "ben") as ben:
        put(ben, "b2", "title", "Egmont")
        states = anna.states()
        assert [state.item for state in states] == ["b1", "b2", "b3"]
        assert states[1].record == {"title": "Egmont"}
        assert states == [anna.state(item) for item in anna.items]


def test_what_cannot_be_written_in_between_is_told_at_the_end(tmp_path):
    collection = write_collection(tmp_path / "cards")
    editor = Editor(collection, "anna")
    editor.change(1, {"what": "comment", "field": "", "to": "torn", "after": None})
    (collection / "people/ben.jsonl").write_text("nonsense: 1\n")
    with pytest.raises(HdbenchError, match=r"ben.jsonl:1: not JSON"):
        editor.close()
    (collection / "people/ben.jsonl").unlink()
    with Store(collection, "anna") as store:  # the lock was given back
        assert store.state("b2").comment == "torn"
