import os
import shutil

import pytest
from helpers.killed_annotators import kill_while_writing

from hdbench.collections.truth.store import Store
from hdbench.errors import HdbenchError


def put(store, item, field, to):
    head = store.state(item).head["ground_truth"]
    return store.change(item, "ground_truth", field, to, after=head, how="blind")


@pytest.mark.nightly
def test_saved_changes_survive_killed_processes(collection):
    assert sum(kill_while_writing(collection, seed) for seed in range(3)) > 0
    # Lines of different processes, and what was written between them.
    with Store(collection, "anna") as store:
        assert {change.by for change in store.people.changes("b1")} >= {"anna", "ben"}


def test_partly_written_line_counts_once_it_is_complete(collection, tmp_path):
    other = shutil.copytree(collection, tmp_path / "other")
    with Store(other, "ben") as store:
        put(store, "b2", "title", "Egmont")
    line = (other / "people/ben.jsonl").read_bytes()
    with (
        Store(collection, "anna") as store,
        (collection / "people/ben.jsonl").open("wb") as file,
    ):
        file.write(line[:50])
        file.flush()
        assert store.state("b2").record is None
        file.write(line[50:])
        file.flush()
        assert store.state("b2").record == {"title": "Egmont"}


def test_a_full_disk_leaves_no_half_of_a_change(collection, monkeypatch):
    with Store(collection, "anna") as store:
        state = put(store, "b1", "title", "Faust II")
        path = collection / "people/anna.jsonl"
        before = path.read_bytes()

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(HdbenchError, match="not saved: No space left on device"):
            put(store, "b1", "title", "Faust III")
        monkeypatch.undo()
        assert path.read_bytes() == before
        assert store.state("b1") == state
        assert put(store, "b1", "title", "Faust III").record["title"] == "Faust III"


def test_a_truth_that_was_edited_by_hand_is_kept_in_a_copy(collection):
    first = (collection / "metadata.jsonl").read_bytes()
    with Store(collection, "anna") as store:
        put(store, "b1", "title", "Faust II")
    path = collection / "metadata.jsonl"
    by_hand = path.read_bytes().replace(b"1808", b"1809")
    path.write_bytes(by_hand)
    with Store(collection, "anna") as store:
        assert store.state("b1").record == {"title": "Faust II", "year": 1808}
        assert "what people entered here, that counts" in store.metadata.notes[0]
    copies = sorted((collection / "people").glob("metadata.jsonl.*"))
    assert [copy.read_bytes() for copy in copies] == [first, by_hand]
    assert b"1808" in path.read_bytes()


def test_rows_that_are_added_in_the_meantime_are_not_lost(collection):
    path = collection / "metadata.jsonl"
    with Store(collection, "anna") as store:
        put(store, "b1", "title", "Faust II")
        row = b'{"file_name": "b4.jpg", "id": "b4", "ground_truth": null}\n'
        path.write_bytes(path.read_bytes() + row)
    assert path.read_bytes().endswith(row)
    assert b"Faust II" in path.read_bytes()
