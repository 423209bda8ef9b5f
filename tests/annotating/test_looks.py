"""Second looks are saved line by line, and nothing of them is overwritten."""

import json
import os

import pytest
from annotating.pages import write_collection
from annotating.reviews import entry, judge, write_list

from hdbench.annotating.reviewing.looks import ReviewLog
from hdbench.annotating.reviewing.review import Review
from hdbench.errors import HdbenchError

KEY = entry("b1", "title", "Faust", "Fausst").key


@pytest.fixture
def path(tmp_path):
    return tmp_path / "review.jsonl"


def lines(path, name="anna"):
    return (path.parent / f"review.looks/{name}.jsonl").read_text().splitlines()


def test_an_undo_takes_the_last_line_back_and_all_lines_stay(path):
    looks = ReviewLog(path)
    with looks.lock("anna"):
        judge(looks, "anna", KEY, "slip", new="Faust I")
        look = looks.of(KEY, "anna")
        assert (look.reading.value, look.verdict.new, look.seen) == ("Faust I", "Faust I", True)
        looks.add("anna", KEY, "undo", undoes=look.verdict.id)
        looks.add("anna", KEY, "undo", undoes=look.reading.id)
    look = ReviewLog(path).of(KEY, "anna")
    assert (look.reading, look.verdict, look.seen) == (None, None, True)
    assert [json.loads(line)["what"] for line in lines(path)] == [
        *("reading", "verdict", "undo", "undo")
    ]


def test_what_a_killed_process_left_of_a_line_is_cut_off(path):
    looks = ReviewLog(path)
    with looks.lock("anna"):
        looks.add("anna", KEY, "reading", value="Faust", blind=True)
    file = path.parent / "review.looks/anna.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    again = ReviewLog(path)
    assert again.of(KEY, "anna").reading.value == "Faust"
    with again.lock("anna"):
        again.add("anna", KEY, "verdict", verdict="undecided")
    assert file.read_bytes().startswith(whole)
    assert ReviewLog(path).of(KEY, "anna").verdict.verdict == "undecided"


def test_two_processes_cannot_write_the_looks_of_one_person(path):
    with (
        ReviewLog(path).lock("anna"),
        pytest.raises(HdbenchError, match="looking through this list already"),
        ReviewLog(path).lock("anna"),
    ):
        pass
    with ReviewLog(path).lock("anna"), ReviewLog(path).lock("ben"):
        pass


def test_nothing_of_a_line_that_cannot_be_saved_is_there(path, monkeypatch):
    looks = ReviewLog(path)
    with looks.lock("anna"):
        looks.add("anna", KEY, "reading", value="Faust", blind=True)
        before = lines(path)

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(HdbenchError, match="not saved: No space left"):
            looks.add("anna", KEY, "verdict", verdict="slip", new="x", evidence="y")
        assert lines(path) == before
        assert looks.of(KEY, "anna").verdict is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("anna", '{"id": "1"}\n', "entry"),
        ("ben", None, "is by 'anna', not by ben"),
        ("Anna B", None, "must be a file with the looks of one person"),
    ],
)
def test_a_file_that_is_none_is_refused(path, name, text, message):
    looks = ReviewLog(path)
    with looks.lock("anna"):
        looks.add("anna", KEY, "reading", value="Faust", blind=True)
    file = path.parent / f"review.looks/{name}.jsonl"
    file.write_text(text or lines(path)[0] + "\n")
    with pytest.raises(HdbenchError, match=message):
        ReviewLog(path)


def test_a_list_about_another_folder_is_refused(tmp_path):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}])
    path = write_list(tmp_path / "review.jsonl", entry("x9", "title", "Faust", "Fausst"))
    with pytest.raises(HdbenchError, match="cards has no such item"):
        Review(folder, path, "anna", None)


def test_a_choice_is_read_as_the_page_sends_it(tmp_path, path):
    folder = write_collection(tmp_path / "cards", [{"signed": False, "kind": "book"}])
    entries = (entry("b1", "signed", False, True), entry("b1", "kind", "book", "letter"))
    review = Review(folder, write_list(path, *entries), "anna", None)
    assert review.read(0, {"value": "false", "after": None})["confirmed"]
    assert review.read(1, {"value": "letter", "after": None})["reading"] == "letter"
    review.close()


def test_list_from_another_dataset_version_is_refused(tmp_path):
    folder = write_collection(tmp_path / "cards", [{"title": "Faust"}])
    path = write_list(tmp_path / "review.jsonl", entry("b1", "title", "Faust", "Fausst"))
    Review(folder, path, "anna", None).close()  # a collection's metadata changes all the time
    for name in ("benchmark.yaml", "SHA256SUMS"):
        (folder / name).touch()
    with pytest.raises(HdbenchError, match="made from another version of cards: 1"):
        Review(folder, path, "anna", None)
