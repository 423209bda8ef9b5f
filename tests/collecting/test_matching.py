"""Which ground truth belongs to which item."""

from pathlib import Path

import pytest

from hdbench.answers.sheets.records import Truth, Truths
from hdbench.datasets.collecting.matching import match_truths
from hdbench.datasets.collecting.media import MediaFiles, MediaItem, Page
from hdbench.errors import HdbenchError


def media(*names, kind="image"):
    return MediaFiles(kind, [MediaItem(Path(n).stem, (Page(Path(n)),)) for n in names], [])


def truths(*keys):
    return Truths([Truth(f"t.csv:{n}", key, {"n": n}) for n, key in enumerate(keys, 2)], [])


def test_keys_are_matched_as_people_write_them():
    found = match_truths(
        truths("7", "KARTE_8.JPG", "x/karte_9"), media("007.jpg", "Karte_8.jpg", "karte_9.jpg")
    )
    assert {item: truth.record["n"] for item, truth in found.by_id.items()} == {
        "007": 2,
        "Karte_8": 3,
        "karte_9": 4,
    }


def test_what_fits_nothing_and_what_is_missing_is_told():
    given = truths("a", "z", None)
    given.truths.append(Truth("t.csv:9", "b", None))
    found = match_truths(given, media("a.jpg", "b.jpg", "c.jpg"))
    assert list(found.by_id) == ["a"]
    assert found.notes == [
        "rows that name no image, and are left out: 1: t.csv:4",
        "ground truths without an image, which are left out: 1: z (t.csv:3)",
        "images without a ground truth: 2: b, c",
    ]


def test_two_for_one_item_are_refused():
    with pytest.raises(
        HdbenchError, match=r"t.csv:3: a second ground truth for 'a', which t.csv:2"
    ):
        match_truths(truths("a", "a"), media("a.jpg"))
    with pytest.raises(HdbenchError, match="both look like 'a'"):
        match_truths(truths("a.jpg", "A.JPG"), media("a.jpg"))


def test_if_none_fits_both_sides_are_shown():
    with pytest.raises(
        HdbenchError, match=r"the first is for 'x' \(t.csv:2\), the first image is 'a'"
    ):
        match_truths(truths("x"), media("a.jpg"))
    with pytest.raises(HdbenchError, match="map the column with the names of the images to id"):
        match_truths(truths(None), media("a.jpg"))


def test_the_texts_of_pages_are_put_together():
    item = MediaItem("letter", (Page(Path("p1.jpg")), Page(Path("p2.jpg"))))
    other = MediaItem("half", (Page(Path("q1.jpg")), Page(Path("q2.jpg"))))
    given = Truths([Truth("x", f"{name}.tif", {"text": name}) for name in ("p2", "p1", "q1")], [])
    found = match_truths(given, MediaFiles("pages", [item, other], []))
    assert found.by_id["letter"].record == {"pages": [{"text": "p1"}, {"text": "p2"}]}
    assert found.notes == ["items that lack the text of a page: 1: half"]
