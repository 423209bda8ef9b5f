"""What an item shows."""

import io
import json
import os

import pytest
from PIL import Image

from hdbench.collections.truth import media as media_module
from hdbench.collections.truth.media import CollectionMedia
from hdbench.errors import HdbenchError


@pytest.fixture
def media(tmp_path):
    page = Image.new("RGB", (60, 90), "wheat")
    page.save(tmp_path / "a.jpg")
    page.save(tmp_path / "b.tif")
    page.save(tmp_path / "c.pdf", save_all=True, append_images=[Image.new("RGB", (90, 60), "red")])
    Image.new("I;16", (60, 90), 128 * 256).save(tmp_path / "grey.tif")
    Image.new("RGBA", (60, 90), (0, 0, 0, 0)).save(tmp_path / "clear.tif")
    (tmp_path / "d.png").write_bytes(b"no image")
    (tmp_path / "link.png").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.png")
    rows = [
        {"id": "pipe", "file_name": "pipe.png"},
        {"id": "pages", "pages_file_names": ["a.jpg", "b.tif"]},
        {"id": "pdf", "file_name": "c.pdf"},
        {"id": "text", "text": "Wein"},
        {"id": "damaged", "file_name": "d.png"},
        {"id": "link", "file_name": "link.png"},
        {"id": "outside", "file_name": "../x.png"},
        {"id": "odd", "file_name": "a\0.png"},
        {"id": "odd pdf", "file_name": "a\0.pdf"},
        {"id": "none", "file_name": None},
        {"id": "grey", "pages_file_names": ["grey.tif", "clear.tif"]},
    ]
    (tmp_path / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return CollectionMedia(tmp_path)


def opened(picture):
    return Image.open(io.BytesIO(picture.data))


def test_pages_are_shown_as_browsers_can(media):
    assert media.pages("pages") == 2
    first, second = media.picture("pages", 0), media.picture("pages", 1)
    assert (first.media_type, opened(first).format) == ("image/jpeg", "JPEG")
    assert (second.media_type, opened(second).size) == ("image/png", (60, 90))


def test_sixteen_bit_grey_is_kept_and_transparency_is_white(media):
    assert opened(media.picture("grey", 0)).getpixel((0, 0)) == (128, 128, 128)
    assert opened(media.picture("grey", 1)).getpixel((0, 0)) == (255, 255, 255)


def test_the_pages_of_a_pdf_are_drawn(media):
    assert media.pages("pdf") == 2
    second = opened(media.picture("pdf", 1))
    assert second.width == 2_400
    assert second.getpixel((1_200, 800))[0] > 250


def test_texts_and_items_without_media(media):
    assert (media.text("text"), media.pages("text")) == ("Wein", 0)
    assert (media.text("none"), media.pages("none")) == (None, 0)


@pytest.mark.parametrize(
    ("item", "page"),
    [
        *[("damaged", 0), ("link", 0), ("outside", 0), ("pages", 2), ("pdf", 2), ("none", 0)],
        *[("odd", 0), ("odd pdf", 0), ("pipe", 0)],
    ],
)
def test_what_cannot_be_shown_is_an_error(media, item, page):
    with pytest.raises(HdbenchError):
        media.picture(item, page)


def test_a_name_that_no_file_can_have_is_an_error(media):
    with pytest.raises(HdbenchError, match="no such file"):
        media.pages("odd pdf")


def test_a_file_that_vanishes_meanwhile_is_an_error(media, tmp_path, monkeypatch):
    found = tmp_path / "a.jpg"
    monkeypatch.setattr(media_module, "file_in", lambda *_: found.unlink() or found)
    with pytest.raises(HdbenchError, match=r"a\.jpg: cannot be shown: no such file"):
        media.thumbnail("pages")
