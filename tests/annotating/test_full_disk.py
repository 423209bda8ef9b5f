"""Disks that are full: what was acknowledged stays, and nothing else is half there."""

import json
import shutil

import pytest
from annotating.checking.readings import PLAN, reading
from annotating.merges import merge
from annotating.pages import serving, truths, write_collection
from helpers.small_disk import FORMS, is_saved, small_disk
from playwright.sync_api import expect

from hdbench.annotating.annotation import assign, read_annotation
from hdbench.annotating.checking.checked_values import CheckedValues
from hdbench.annotating.editor import Editor
from hdbench.annotating.merging import hand_over
from hdbench.annotating.own_file import NotSavedError
from hdbench.annotating.store import Store
from hdbench.errors import HdbenchError

ROUNDS = 60
NOT_SAVED = "not saved: (No space left on device|File too large): make room"


def put(store, item, to):
    head = store.state(item).head["ground_truth"]
    store.change(item, "ground_truth", "title", to, after=head, how="blind")


def change(editor, number, what, to, **more):
    after = editor.item(number)["state"]["head"].get(what)
    return editor.change(number, {"what": what, "field": "", "to": to, "after": after} | more)


def left_behind(folder):
    """Files beside which a whole one was to be written."""
    return list(folder.rglob(".*-*"))


@pytest.mark.parametrize("form", FORMS)
def test_every_change_that_was_saved_is_there_and_no_other(tmp_path, form):
    saved, refused = {"b1": [], "b2": []}, 0
    with small_disk(tmp_path / "disk", form) as disk:
        folder = write_collection(disk.folder / "cards", [{"title": "Faust"}, None])
        with Store.open(folder, "anna") as store:
            for number in range(ROUNDS):
                disk.fill()
                for item, length in (("b1", 3 * number), ("b2", 400), ("b1", 500)):
                    title = f"{number} {length} " + "ü" * length
                    if is_saved(put, store, item, title):
                        saved[item].append(title)
                    else:
                        refused += 1
                disk.make_room()
                put(store, "b1", f"{number} there is room")
                saved["b1"].append(f"{number} there is room")
        assert refused > ROUNDS
        with Store.open(folder, "anna") as store:
            assert store.notes == []
            for item, titles in saved.items():
                made = [each.to for each in store.history(item) if each.how == "blind"]
                assert made == titles
                assert store.state(item).record["title"] == titles[-1]
        assert truths(folder)["b1"]["title"] == saved["b1"][-1]


@pytest.mark.parametrize("form", FORMS)
def test_every_saved_reading_is_kept_and_no_other(tmp_path, form):
    saved, refused = {}, 0
    with small_disk(tmp_path / "disk", form) as disk:
        values = CheckedValues(disk.folder)
        for number in range(ROUNDS):
            disk.fill()
            for item, text in ((f"b{number}", "ü" * number * 7), (f"c{number}", "short")):
                if is_saved(values.add, reading(item, "anna", text)):
                    saved[item] = text
                else:
                    refused += 1
            disk.make_room()
            values.add(reading(f"d{number}", "anna", "there is room"))
            saved[f"d{number}"] = "there is room"
        assert refused > 10
        for each in (values, CheckedValues(disk.folder)):
            assert each.notes == []
            found = each.readings(PLAN)
            assert {key.item: made.value for key, (made,) in found.items()} == saved


def test_a_status_that_is_in_the_history_is_not_refused(tmp_path):
    """The full disk has no room for a whole metadata.jsonl, and room for a line of the history."""
    with small_disk(tmp_path / "disk") as disk:
        folder = write_collection(
            disk.folder / "cards", [{"title": "Faust"}, {"text": "x" * 9_000}]
        )
        editor = Editor(folder, "anna")
        change(editor, 0, "comment", "first")  # the rest of this page is room
        disk.fill(counted_from=folder / "history/anna.jsonl")
        change(editor, 0, "ground_truth", "Faust II", field="title")
        assert change(editor, 0, "status", "done")["status"] == "done"
        with pytest.raises(
            HdbenchError, match=r"metadata.jsonl.* cannot be written: .*: make room"
        ):
            editor.leave({"item": 0})
        assert truths(folder)["b1"]["title"] == "Faust"
        assert left_behind(folder) == []
        disk.make_room()
        editor.close()
        assert truths(folder)["b1"]["title"] == "Faust II"


def test_a_merge_on_a_full_disk_can_be_done_again(tmp_path):
    elsewhere = write_collection(tmp_path / "elsewhere", [{"title": "Faust"}] * 40)
    with Store.open(elsewhere, "ben") as store:
        for item in store.items:
            put(store, item, f"by ben {item} " + "ü" * 100)
    hand_over(elsewhere, "ben", tmp_path / "ben.zip")
    refused = 0
    with small_disk(tmp_path / "disk") as disk:
        for pages in range(12):
            folder = disk.folder / f"cards{pages}"
            write_collection(folder, [{"title": "Faust"}] * 40)
            with Store.open(folder, "anna") as store:
                put(store, "b1", "x" * pages * 300)  # its rest of a page differs each time
            disk.fill(pages=pages, counted_from=folder / "history/ben.jsonl")
            refused += not is_saved(merge, folder, tmp_path / "ben.zip")
            with open(folder / "metadata.jsonl", "rb") as file:
                assert len([json.loads(line) for line in file]) == 40
            assert left_behind(folder) == []
            disk.make_room()
            # With what was there before; none, if it was metadata.jsonl that had no room.
            assert merge(folder, tmp_path / "ben.zip").taken in (0, 80)
            with Store.open(folder, "ben") as store:
                assert store.notes == []
                assert len(store.history("b7")) == 2
            assert truths(folder)["b7"] == truths(elsewhere)["b7"]
            shutil.rmtree(folder)
    assert refused > 4


def test_what_is_handed_over_or_assigned_is_whole_or_not_there(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        folder = write_collection(disk.folder / "cards", [None] * 5)
        with Store.open(folder, "anna") as store:
            put(store, "b1", "Faust")
        disk.fill(counted_from=disk.folder / "h.zip")
        with pytest.raises(HdbenchError, match=r"h.zip: cannot be written: .*: make room"):
            hand_over(folder, "anna", disk.folder / "h.zip")
        with pytest.raises(HdbenchError, match=r"annotation.yaml: cannot be written: .*: make"):
            assign(folder, ["anna", "ben"], items=2)
        assert not (disk.folder / "h.zip").exists()
        assert not (folder / "annotation.yaml").exists()
        assert left_behind(disk.folder) == []
        disk.make_room()
        hand_over(folder, "anna", disk.folder / "h.zip")
        assign(folder, ["anna", "ben"], items=2)
        assert len(read_annotation(folder).assigned_items) == 2
        # Who is there already stays, whatever becomes of those who come.
        disk.fill(counted_from=disk.folder / "none")
        with pytest.raises(HdbenchError, match=r"annotation.yaml: cannot be written"):
            assign(folder, ["cleo", "dora"], items=1)
        assert len(read_annotation(folder).assigned_items) == 2
        disk.make_room()


def test_a_folder_that_was_moved_is_not_told_as_a_full_disk(tmp_path):
    folder = write_collection(tmp_path / "cards")
    with Store.open(folder, "anna") as store:
        put(store, "b1", "Faust")
        folder.rename(tmp_path / "moved")
        with pytest.raises(NotSavedError, match="is the folder still there") as told:
            put(store, "b1", "Faust II")
        assert "make room" not in str(told.value)
        (tmp_path / "moved").rename(folder)
        put(store, "b1", "Faust III")
    assert truths(folder)["b1"]["title"] == "Faust III"


@pytest.mark.parametrize("form", FORMS)
def test_first_change_is_kept_after_the_disk_was_full(tmp_path, form):
    """With it, a folder is noted in which somebody annotates: there is no room for that either."""
    with small_disk(tmp_path / "disk", form) as disk:
        folder = write_collection(disk.folder / "cards")
        with Store.open(folder, "anna") as store:
            disk.fill(counted_from=disk.folder / "none")
            with pytest.raises(NotSavedError, match="make room"):
                put(store, "b1", "Faust")
            disk.make_room()
            put(store, "b1", "Faust")
        assert truths(folder)["b1"]["title"] == "Faust"


@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_unsaved_change_stays_in_the_page_until_there_is_room(tmp_path, browser, form):
    with small_disk(tmp_path / "disk", form) as disk:
        folder = write_collection(disk.folder / "cards")
        with serving(folder) as served:
            page = browser.new_page(locale="en-GB")
            page.goto(served.url)
            expect(page.locator("#id")).to_have_text("b1")
            title, text = page.get_by_label("Title", exact=True), page.get_by_label("Transcription")
            state = page.locator("#saving")
            title.fill("Faust")
            expect(state).to_have_attribute("data-state", "saved")
            disk.fill(process=served.process.pid)
            text.fill("x" * 5_000)
            expect(state).to_have_attribute("data-state", "refused")
            expect(page.locator("#message")).to_contain_text("make room")
            title.fill("Faust II")
            page.get_by_role("button", name="Next", exact=True).click()
            expect(page.locator("#message")).to_contain_text("make room")
            expect(page.locator("#id")).to_have_text("b1")
            expect(text).to_have_value("x" * 5_000)
            disk.make_room()
            expect(page.locator("#id")).to_have_text("b2")  # all of it is saved now
        assert truths(folder)["b1"]["text"] == "x" * 5_000
        assert truths(folder)["b1"]["title"] == "Faust II"
