import base64
import io
import os

import pytest
from PIL import Image

from hdbench.common import pictures
from hdbench.common.pictures import thumbnail
from hdbench.errors import HdbenchError

HEAD = "data:image/webp;base64,"


def opened(uri):
    assert uri.startswith(HEAD)
    image = Image.open(io.BytesIO(base64.b64decode(uri.removeprefix(HEAD), validate=True)))
    assert image.format == "WEBP"
    return image.convert("RGB")


def is_near(pixel, colour):
    return all(abs(a - b) < 12 for a, b in zip(pixel, colour, strict=True))


def halves(size=(40, 20), left="black", right="white", mode="RGB"):
    image = Image.new(mode, size, right)
    image.paste(left, (0, 0, size[0] // 2, size[1]))
    return image


def test_an_image_becomes_as_wide_as_is_asked_for(tmp_path):
    Image.new("RGB", (1000, 600)).save(tmp_path / "card.jpg")
    assert opened(thumbnail(tmp_path / "card.jpg", width=200)).size == (200, 120)


def test_of_a_pdf_the_first_page_is_shown(tmp_path):
    pages = [Image.new("RGB", (300, 400), colour) for colour in ("red", "blue")]
    pages[0].save(tmp_path / "paper.pdf", save_all=True, append_images=pages[1:])
    small = opened(thumbnail(tmp_path / "paper.pdf", width=60))
    assert small.size == (60, 80)
    assert is_near(small.getpixel((30, 40)), (255, 0, 0))


def test_without_a_file_there_is_no_thumbnail(tmp_path):
    assert thumbnail(tmp_path / "none.jpg") is None
    assert thumbnail(tmp_path) is None
    os.mkfifo(tmp_path / "pipe")
    assert thumbnail(tmp_path / "pipe") is None


def a_jpeg():
    data = io.BytesIO()
    Image.effect_noise((200, 200), 90).save(data, "JPEG")
    return data.getvalue()


@pytest.mark.parametrize(
    "data",
    [b"", b"not an image", a_jpeg()[:4000], b"%PDF-1.7\nnothing", b"%!PS-Adobe-3.0 EPSF-3.0\n"],
    ids=["empty", "text", "cut-off", "pdf", "eps"],
)
def test_a_damaged_file_is_named(tmp_path, data):
    (tmp_path / "card.jpg").write_bytes(data)
    with pytest.raises(HdbenchError, match=r"card\.jpg: no readable image or PDF"):
        thumbnail(tmp_path / "card.jpg")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [10_000, 13_500])  # beyond our bound, and beyond Pillow's
def test_a_decompression_bomb_is_refused(tmp_path, side):
    Image.new("1", (side, side)).save(tmp_path / "bomb.png")
    assert (tmp_path / "bomb.png").stat().st_size < 200_000
    with pytest.raises(HdbenchError, match=r"bomb\.png"):
        thumbnail(tmp_path / "bomb.png")


def test_a_file_that_is_changed_has_another_thumbnail(tmp_path):
    path = tmp_path / "card.png"
    Image.new("RGB", (40, 20), "black").save(path)
    first = thumbnail(path)
    assert thumbnail(path) == first
    assert opened(thumbnail(path, width=20)).size == (20, 10)
    Image.new("RGB", (40, 20), "white").save(path)
    assert is_near(opened(thumbnail(path)).getpixel((5, 10)), (255, 255, 255))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "_kept", None)  # so that it is again what it was
    pictures.keep_in(tmp_path / "kept")
    return tmp_path / "kept"


def unmade(*_):
    raise AssertionError("made, though it is kept")


@pytest.mark.usefixtures("kept")
def test_kept_thumbnail_is_reused_after_renaming_the_file(tmp_path, monkeypatch):
    path = tmp_path / "card.png"
    halves().save(path)
    first, narrow = thumbnail(path), thumbnail(path, width=20)
    assert opened(narrow).width == 20
    monkeypatch.setattr(pictures, "_made", unmade)
    other = path.rename(tmp_path / "renamed.png")
    assert (thumbnail(other), thumbnail(other, width=20)) == (first, narrow)
    assert thumbnail(path) is None


@pytest.mark.parametrize("damage", [b"", b"x" * 99, None])
def test_a_damaged_entry_is_made_again(tmp_path, kept, damage):
    path = tmp_path / "card.png"
    halves().save(path)
    first = thumbnail(path)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] if damage is None else damage)
    assert thumbnail(path) == first
    assert file.read_bytes() == whole


def test_what_was_unused_for_longest_is_deleted_beyond_the_bound(tmp_path, kept):
    for number in range(4):
        (kept / str(number)).write_bytes(bytes(100))
        os.utime(kept / str(number), (number, number))
    pictures.keep_in(kept, max_bytes=250)
    assert sorted(file.name for file in kept.iterdir()) == ["2", "3"]


def test_nobody_else_may_look_into_what_is_kept(kept):
    assert kept.stat().st_mode & 0o077 == 0


def lines(colour):
    """A page of thin lines on white, of 900 by 600 pixels."""
    image = Image.new("RGB", (900, 600), "white")
    for place in range(10, 590, 12):
        image.paste(colour, (20, place, 880 - place, place + 2))
    return image


def test_a_scan_in_black_and_white_is_kept_in_four_greys(tmp_path):
    lines("black").save(tmp_path / "card.jpg", quality=90)
    small = opened(thumbnail(tmp_path / "card.jpg"))
    assert small.size == (640, 427)
    assert {pixel for _, pixel in small.getcolors()} <= {(v, v, v) for v in (0, 85, 170, 255)}
    assert len(small.getcolors()) > 2


@pytest.mark.parametrize(("colour", "is_red"), [("red", True), ("grey", False)])
def test_what_has_colours_or_greys_keeps_them(tmp_path, colour, is_red):
    image = lines("black")
    image.paste(colour, (100, 100, 300, 300))
    image.save(tmp_path / "card.png")
    red, green, _ = opened(thumbnail(tmp_path / "card.png")).getpixel((142, 142))
    assert (red - green > 200) == is_red
    assert is_red or abs(red - 128) < 12


def test_a_large_photo_that_is_turned_is_as_wide_as_is_asked_for(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    halves((1600, 800), left="black", right="#cc4400").save(tmp_path / "photo.jpg", exif=exif)
    turned = opened(thumbnail(tmp_path / "photo.jpg", width=100))
    assert turned.size == (100, 200)
    assert is_near(turned.getpixel((50, 40)), (0, 0, 0))
    assert is_near(turned.getpixel((50, 160)), (0xCC, 0x44, 0))
