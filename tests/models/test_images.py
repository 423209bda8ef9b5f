import io
import random
import struct
import zlib
from collections import Counter

import pytest
from PIL import Image, ImageDraw

from hdbench.errors import HdbenchError
from hdbench.models.backend import ImageLimits
from hdbench.models.images import encoded_images, load_images

RED, BLUE = (255, 0, 0), (0, 0, 255)


def drawn(size=(120, 80), mode="RGB"):
    """Red on the left, blue on the right."""
    image = Image.new("RGB", size, RED)
    image.paste(BLUE, (size[0] // 2, 0, *size))
    return image.convert(mode)


def pdf(path, pages, size=(400, 200)):
    """A PDF whose pages are as wide as 72 dpi have it, each of another grey."""
    images = [Image.new("RGB", size, (40 * number,) * 3) for number in range(pages)]
    images[0].save(path, save_all=True, append_images=images[1:], resolution=72)
    return path


def saved(path, image, **options):
    image.save(path, **options)
    return path


def alike(pixel, colour):
    return all(abs(a - b) < 12 for a, b in zip(pixel, colour, strict=True))


def test_images_come_in_the_order_of_the_files(tmp_path):
    paths = [saved(tmp_path / f"{n}.png", Image.new("RGB", (9, 9), (n, 0, 0))) for n in (5, 3, 4)]
    assert [i.getpixel((0, 0))[0] for i in load_images(paths, ImageLimits())] == [5, 3, 4]


@pytest.mark.parametrize(
    ("size", "expected"),
    [((4000, 1000), (500, 125)), ((1000, 4000), (125, 500)), ((500, 20), (500, 20))],
)
def test_longer_side_is_limited_and_no_image_is_enlarged(tmp_path, size, expected):
    for suffix in ("png", "jpg"):
        path = saved(tmp_path / f"image.{suffix}", drawn(size))
        [image] = load_images([path], ImageLimits(max_side=500))
        assert image.size == expected
        [encoded] = encoded_images([path], ImageLimits(max_side=500))
        assert Image.open(io.BytesIO(encoded.data)).size == expected


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_becomes_rgb(tmp_path, mode):
    path = tmp_path / "image.tiff"
    drawn(mode="L").convert(mode).save(path) if mode in ("I;16", "I", "F") else drawn(
        mode=mode
    ).save(path)
    [image] = load_images([path], ImageLimits())
    assert image.mode == "RGB"
    [encoded] = encoded_images([path], ImageLimits())
    assert encoded.mime == "image/jpeg"


def test_what_is_transparent_is_white_paper(tmp_path):
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    image.paste((255, 0, 0, 255), (0, 0, 10, 20))
    path = saved(tmp_path / "ink.png", image)
    [image] = load_images([path], ImageLimits())
    assert image.getpixel((2, 2)) == RED
    assert image.getpixel((15, 2)) == (255, 255, 255)


def test_a_turned_photograph_is_made_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° clockwise: what is left comes to the top
    path = saved(tmp_path / "phone.jpg", drawn((120, 80)), exif=exif, quality=95)
    [image] = load_images([path], ImageLimits())
    assert image.size == (80, 120)
    assert alike(image.getpixel((40, 10)), RED)
    assert alike(image.getpixel((40, 110)), BLUE)
    [encoded] = encoded_images([path], ImageLimits())
    sent = Image.open(io.BytesIO(encoded.data))
    assert sent.size == (80, 120)
    assert sent.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize(
    ("suffix", "mime"), [("jpg", "image/jpeg"), ("png", "image/png"), ("webp", "image/webp")]
)
def test_a_file_that_fits_is_sent_byte_for_byte(tmp_path, suffix, mime):
    path = saved(tmp_path / f"image.{suffix}", drawn())
    assert encoded_images([path], ImageLimits()) == [(mime, path.read_bytes())]


def test_only_the_first_pages_of_a_pdf_are_drawn_at_200_dpi(tmp_path):
    path = pdf(tmp_path / "book.pdf", 4, size=(360, 180))
    images = load_images([path], ImageLimits(pages=3))
    assert [image.getpixel((9, 9))[0] for image in images] == [0, 40, 80]
    assert {image.size for image in images} == {(1000, 500)}  # 5 × 2.5 inches
    assert {image.size for image in load_images([path], ImageLimits(300, 1))} == {(300, 150)}
    assert [e.mime for e in encoded_images([path], ImageLimits(pages=2))] == ["image/jpeg"] * 2


def png_of(width, height):
    """A PNG that says it is of some size, without the pixels."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no image at all",
        b"%PDF-1.7\nno document",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        png_of(100_000, 100_000),
        png_of(0, 5),
        png_of(30, 30),
    ],
    ids=["empty", "text", "pdf", "svg", "bomb", "no-width", "no-pixels"],
)
def test_what_is_no_image_is_named_in_one_line(tmp_path, data):
    (tmp_path / "it.png").write_bytes(data)
    for read in (load_images, encoded_images):
        with pytest.raises(HdbenchError, match=r"it\.png: cannot be read") as error:
            read([tmp_path / "it.png"], ImageLimits())
        assert "\n" not in str(error.value)


def test_an_item_without_an_image_is_an_error():
    for read in (load_images, encoded_images):
        with pytest.raises(HdbenchError, match="no image"):
            read([], ImageLimits())


@pytest.mark.parametrize("form", ["jpeg", "png", "webp", "tiff", "gif", "bmp", "jpeg2000", "pdf"])
def test_damaged_files_give_images_or_the_expected_errors(tmp_path, form):
    file = io.BytesIO()
    image = drawn((64, 48))
    ImageDraw.Draw(image).text((3, 3), "Stellingen")
    image.save(file, form)
    whole = file.getvalue()
    rng = random.Random(0)
    path = tmp_path / "damaged"
    outcomes = Counter()
    for _ in range(150):
        data = bytearray(whole[: rng.choice([len(whole), rng.randrange(len(whole))])])
        for _ in range(rng.choice([0, 1, 3, 30])):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        for read in (load_images, encoded_images):
            try:
                outcomes[bool(read([path], ImageLimits(max_side=32)))] += 1
            except HdbenchError:
                outcomes["refused"] += 1
    assert outcomes.keys() == {True, "refused"}
