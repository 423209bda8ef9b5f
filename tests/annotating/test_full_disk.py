"""Disks that are full: what was acknowledged stays, and nothing else is half there."""

import pytest
from annotating.checking.readings import PLAN, reading
from annotating.pages import serving, truths, write_collection
from helpers.small_disk import FORMS, is_saved, small_disk
from playwright.sync_api import expect

from hdbench.collections.truth.editor import Editor
from hdbench.collections.truth.event_files import NotSavedError, People
from hdbench.collections.truth.store import Store
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
        with Store(folder, "anna") as store:
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
        with Store(folder, "anna") as store:
            for item, titles in saved.items():
                made = [each.value for each in store.people.changes(item)]
                assert made == titles
                assert store.state(item).record["title"] == titles[-1]
        assert truths(folder)["b1"]["title"] == saved["b1"][-1]


@pytest.mark.parametrize("form", FORMS)
def test_every_saved_reading_is_kept_and_no_other(tmp_path, form):
    saved, refused = {}, 0
    with small_disk(tmp_path / "disk", form) as disk:
        values = People(disk.folder)

        def add(made):
            with values.writing("anna"):
                values.append([made])

        for number in range(ROUNDS):
            disk.fill()
            for item, text in ((f"b{number}", "ü" * number * 7), (f"c{number}", "short")):
                if is_saved(add, reading(item, "anna", text)):
                    saved[item] = text
                else:
                    refused += 1
            disk.make_room()
            add(reading(f"d{number}", "anna", "there is room"))
            saved[f"d{number}"] = "there is room"
        assert refused > 10
        for each in (values, People(disk.folder)):
            found = each.readings(PLAN)
            assert {key.item: made.value for key, (made,) in found.items()} == saved


def test_a_status_that_is_saved_is_not_refused(tmp_path):
    """The full disk has no room for a whole metadata.jsonl, and room for a line of anna's file."""
    with small_disk(tmp_path / "disk") as disk:
        folder = write_collection(
            disk.folder / "cards", [{"title": "Faust"}, {"text": "x" * 9_000}]
        )
        editor = Editor(folder, "anna")
        change(editor, 0, "comment", "first")  # the rest of this page is room
        disk.fill(counted_from=folder / "people/anna.jsonl")
        change(editor, 0, "ground_truth", "Faust II", field="title")
        assert change(editor, 0, "status", "done")["status"] == "done"
        with pytest.raises(
            HdbenchError, match=r"metadata.jsonl.* cannot be written: .*: make room"
        ):
            editor.leave()
        assert truths(folder)["b1"]["title"] == "Faust"
        assert left_behind(folder) == []
        disk.make_room()
        editor.close()
        assert truths(folder)["b1"]["title"] == "Faust II"


def test_a_folder_that_was_moved_is_not_told_as_a_full_disk(tmp_path):
    folder = write_collection(tmp_path / "cards")
    with Store(folder, "anna") as store:
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
        with Store(folder, "anna") as store:
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
