"""Which ground truth belongs to which item."""

from pathlib import Path

import pytest

from hdbench.answers.records import Truth, Truths
from hdbench.collections.new.matching import match_truths
from hdbench.collections.new.media import MediaFiles, MediaItem, Page
from hdbench.collections.truth.page_files import PageTruths
from hdbench.common.page_text.boxes import Box
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


def test_the_texts_of_pages_are_put_together():
    item = MediaItem("letter", (Page(Path("p1.jpg")), Page(Path("p2.jpg"))))
    other = MediaItem("half", (Page(Path("q1.jpg")), Page(Path("q2.jpg"))))
    boxes = {name: [[Box(0, 0, 9, number)]] for number, name in enumerate(("p2", "p1", "q1"), 1)}
    given = [Truth("x", f"{name}.tif", {"text": name}, own) for name, own in boxes.items()]
    given = Truths(given, [])
    found = match_truths(given, MediaFiles("pages", [item, other], []))
    assert found.by_id["letter"].record == {"pages": [{"text": "p1"}, {"text": "p2"}]}
    assert found.by_id["letter"].boxes == [[(0, 0, 9, 2)], [(0, 0, 9, 1)]]
    assert found.notes == ["items that lack the text of a page: 1: half"]


def pages(*files):
    """Texts in files: path, and the image that it names."""
    return PageTruths([Truth(path, image, {"text": path}) for path, image in files], [])


def found(files, *images, boxes=False):
    """Item → the file with its text, or the files with those of its pages."""
    items = {}
    for image in map(Path, images):
        is_box = boxes or len(image.parts) == 1
        item_id = "_".join([*image.parts[:-1], image.stem]) if is_box else image.parts[0]
        items.setdefault(item_id, []).append(Page("scans" / image))
    kind = "pages" if any(len(own) > 1 for own in items.values()) else "image"
    listed = [MediaItem(item_id, tuple(own)) for item_id, own in items.items()]
    matched = match_truths(pages(*files), MediaFiles(kind, listed, []))
    texts = {
        item: truth.record.get("text") or [page["text"] for page in truth.record["pages"]]
        for item, truth in matched.by_id.items()
    }
    return texts, matched.notes


RENAMED = "files paired by their own names, as no image or several fit the one in them"


@pytest.mark.parametrize(
    "inside",
    [
        None,  # ABBYY's ALTO
        "default.jpg",  # of an address of IIIF, and the same in each file
        "OCR-D-IMG-BIN_{}.png",
        "0001.jpg",  # which is an image, but only that of the first file
    ],
)
def test_files_find_their_image_by_their_own_name(inside):
    files = [(f"page/{name}.xml", inside and inside.format(name)) for name in ("0001", "0002")]
    texts, notes = found(files, "0001.jpg", "0002.jpg")
    assert texts == {"0001": "page/0001.xml", "0002": "page/0002.xml"}
    assert [note.partition(": ")[0] for note in notes] == ([RENAMED] if inside else [])
    if inside == "default.jpg":
        assert notes == [f"{RENAMED}: 2: page/0001.xml (default.jpg), page/0002.xml (default.jpg)"]


@pytest.mark.parametrize("name", ["7.alto.xml", "7.jpg.xml", "7.hocr", "Seite 7.page.xml"])
def test_endings_of_files_are_no_part_of_their_names(name):
    image = "Seite_7.tif" if "Seite" in name else "007.tif"
    assert found([(name, None)], image)[0] == {Path(image).stem: name}


def test_pages_of_the_same_names_in_several_folders_are_not_mixed():
    images = [f"letter{n}/p{p}.jpg" for n in (1, 2) for p in (1, 2)]
    files = [(f"letter{n}/page/p{p}.xml", f"p{p}.jpg") for n in (2, 1) for p in (1, 2)]
    expected = {f"letter{n}": [f"letter{n}/page/p{p}.xml" for p in (1, 2)] for n in (1, 2)}
    assert found(files, *images) == (expected, [])
    with pytest.raises(HdbenchError, match="call each file as its image"):
        found([("p1.xml", "p1.jpg"), ("p2.xml", "p2.jpg")], *images)  # of which letter?


def test_each_image_of_a_box_is_an_item_if_so_wanted():
    images = [f"box{n}/000{p}.jpg" for n in (1, 2) for p in (1, 2)]
    files = [(image.replace(".jpg", ".xml"), Path(image).name) for image in images]
    texts, notes = found(files, *images, boxes=True)
    assert texts == {f"box{n}_000{p}": f"box{n}/000{p}.xml" for n in (1, 2) for p in (1, 2)}
    assert notes == []
    boxed = MediaFiles(
        "image",
        [MediaItem(f"box{n}_7", (Page(Path(f"scans/box{n}/7.jpg")),)) for n in (1, 2)],
        [],
    )
    table = truths("box1/7.jpg", "box2\\7.jpg")
    assert {item: truth.record for item, truth in match_truths(table, boxed).by_id.items()} == {
        "box1_7": {"n": 2},
        "box2_7": {"n": 3},
    }
