"""Which files of a folder make an item."""

import os
import struct
import zlib

import pytest
from PIL import Image

from hdbench.collections.new.media import Page, find_media
from hdbench.errors import HdbenchError


def picture(path, size=(8, 6), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "white").save(path, **options)
    return path


def test_a_file_is_an_item_in_the_order_of_its_number(tmp_path):
    for name in ("b10.JPG", "b2.jpg", "b1.png", ".hidden.jpg"):
        picture(tmp_path / name)
    (tmp_path / "Thumbs.db").write_bytes(b"x")
    (tmp_path / "b3.jpg").symlink_to(tmp_path / "b2.jpg")
    found = find_media(tmp_path)
    assert (found.kind, found.passed_over) == ("image", ["Thumbs.db"])
    assert [item.id for item in found.items] == ["b1", "b2", "b10"]
    assert found.items[1].pages == (Page(tmp_path / "b2.jpg"),)


def test_links_and_pipes_are_not_opened_but_named(tmp_path):
    for name in ("letter/p1.jpg", "letter/p3.jpg", "b1.jpg"):
        picture(tmp_path / name)
    (tmp_path / "letter/p2.jpg").symlink_to(tmp_path / "b1.jpg")
    (tmp_path / "letter/.p2.jpg").symlink_to(tmp_path / "b1.jpg")
    (tmp_path / "other").symlink_to(tmp_path / "letter")
    os.mkfifo(tmp_path / "b2.jpg")
    found = find_media(tmp_path)
    assert [len(item.pages) for item in found.items] == [1, 2]
    assert (found.passed_over, found.not_opened) == ([], ["b2.jpg", "other", "letter/p2.jpg"])


def test_folder_or_multipage_tiff_is_one_item_with_pages(tmp_path):
    for name in ("letter/p10.jpg", "letter/p9.jpg", "card.jpg"):
        picture(tmp_path / name)
    more = [Image.new("RGB", (8, 6), "black")]
    picture(tmp_path / "book.tif", save_all=True, append_images=more)
    found = find_media(tmp_path)
    assert found.kind == "pages"
    pages = {item.id: [(page.path.name, page.frame) for page in item.pages] for item in found.items}
    assert pages == {
        "book": [("book.tif", 0), ("book.tif", 1)],
        "card": [("card.jpg", None)],
        "letter": [("p9.jpg", None), ("p10.jpg", None)],
    }


def test_pdfs_are_items_too_but_not_beside_images(tmp_path):
    Image.new("RGB", (9, 6)).save(tmp_path / "b.pdf")
    assert find_media(tmp_path).kind == "pdf"
    picture(tmp_path / "c.png")
    with pytest.raises(HdbenchError, match=r"are mixed \(b.pdf and c.png\)"):
        find_media(tmp_path)


@pytest.mark.parametrize("name", ["a.txt", "letter/a.txt"])
def test_texts_are_items_if_there_is_nothing_else(tmp_path, name):
    text = tmp_path / name
    text.parent.mkdir(exist_ok=True)
    text.write_text("Wein")
    assert find_media(tmp_path).kind == "text"
    for image in ("a.png", "b.png"):
        picture(tmp_path / image)
    found = find_media(tmp_path)
    assert (found.kind, found.passed_over) == ("image", [name.partition("/")[0]])
    assert [item.id for item in found.items] == ["a", "b"]


def test_two_files_with_one_name_are_refused(tmp_path):
    picture(tmp_path / "a.jpg")
    picture(tmp_path / "a.png")
    with pytest.raises(HdbenchError, match=r"a.png: has the same name as a.jpg"):
        find_media(tmp_path)


def bomb(path, side):
    """A PNG whose header says that it is huge."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"x"))


def test_what_cannot_be_used_is_named_all_at_once(tmp_path):
    picture(tmp_path / "good.jpg")
    (tmp_path / "drawing.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    picture(tmp_path / "photo.jpg", format="PNG")
    bomb(tmp_path / "large.png", 12_300)  # 151 megapixels
    bomb(tmp_path / "huge.png", 14_200)  # 201 megapixels
    bomb(tmp_path / "bomb.png", 60_000)
    with pytest.raises(HdbenchError) as raised:
        find_media(tmp_path)
    told = str(raised.value)
    assert f"{tmp_path}: 5 files cannot be used: " in told
    assert "drawing.png: not an image, or damaged" in told
    assert "photo.jpg: is PNG, not JPEG: give it the right extension" in told
    for name in ("large", "huge", "bomb"):
        assert f"{name}.png: more than 150,000,000 pixels are not opened: scale it down" in told


@pytest.mark.parametrize(
    ("names", "other"),
    [
        (["p1.jpg", "p2.jpg", "ocr.txt"], "ocr.txt"),
        (["p1.jpg", "scan.pdf"], "scan.pdf"),
        (["a.txt", "b.txt"], "a.txt"),
    ],
)
def test_no_file_of_an_item_is_left_out_in_silence(tmp_path, names, other):
    for name in names:
        picture(tmp_path / "letter/first.jpg").rename(tmp_path / "letter" / name)
    with pytest.raises(HdbenchError, match="1 file cannot be used: letter: has ") as refused:
        find_media(tmp_path)
    assert f"has {other} beside other files, and only images can be its pages" in str(refused.value)


@pytest.mark.parametrize("name", [b"m\xfcller.png", b"m\xfcller/1.png", b"letter/1\xfc.png"])
def test_a_name_that_is_not_utf_8_is_refused(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    picture(path)
    with pytest.raises(HdbenchError) as caught:
        find_media(tmp_path)
    odd = name if b"/1.png" not in name else name.partition(b"/")[0]
    shown = odd.decode(errors="backslashreplace")
    assert str(caught.value) == f"{tmp_path}/{shown}: its name is not in UTF-8: rename it"
