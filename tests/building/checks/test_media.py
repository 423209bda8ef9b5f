"""What is wrong with images and PDFs."""

import io
import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from hdbench.benchmarks.building.checks.media import near_images


def test_a_row_without_its_image_and_an_image_without_a_row(folder):
    (folder.path / "images/3.png").rename(folder.path / "images/other.png")
    missing, orphan = folder.check().problems
    assert (missing.kind, missing.severity) == ("media_missing", "error")
    assert missing.examples == [(4, "card 3", "images/3.png")]
    assert (orphan.kind, orphan.severity) == ("media_without_row", "warning")
    assert orphan.examples == [(None, None, "images/other.png")]


def test_a_name_written_differently_is_found(folder):
    (folder.path / "images/3.png").rename(folder.path / "images/3.PNG")
    missing, _ = folder.check().problems
    assert missing.examples == [(4, "card 3", "images/3.png (there is images/3.PNG)")]


@pytest.mark.parametrize("name", ["../secret.png", "/etc/hostname", "images/../../x.png", "link"])
def test_a_path_out_of_the_folder(name, folder):
    (folder.path.parent / "secret.png").write_bytes((folder.path / "images/3.png").read_bytes())
    (folder.path / "link").symlink_to(folder.path.parent / "secret.png")
    folder.rows[2]["file_name"] = name
    outside, _ = folder.check().problems
    assert (outside.kind, outside.severity) == ("path_outside", "error")
    assert outside.examples == [(3, "card 2", name)]


@pytest.mark.parametrize("name", ["x\0.png", "x" * 5_000])
def test_a_name_that_is_no_file(name, folder):
    folder.rows[2]["file_name"] = name
    assert folder.check().problems[0].kind == "media_missing"


SVG = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg>&e;</svg>'


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        (SVG, "media_not_image", "is an SVG"),
        (b"%PDF-1.7\n", "media_not_image", "is a PDF"),
        (b"<!DOCTYPE html><html>", "media_not_image", "is a web page"),
        (b"", "media_not_image", "is empty"),
        (b"GIF89a", "media_not_image", "is a GIF"),
        (b"\x89PNG\r\n\x1a\nxxxx", "media_not_image", "something else"),
    ],
)
def test_a_file_that_is_no_image(data, kind, said, folder):
    (folder.path / "images/3.png").write_bytes(data)
    problem = folder.only()
    assert (problem.kind, problem.severity) == (kind, "error")
    assert said in problem.message


def test_a_damaged_image(folder):
    file = io.BytesIO()
    noise = random.Random(1).randbytes(300 * 300 * 3)
    Image.frombytes("RGB", (300, 300), noise).save(file, "JPEG")
    (folder.path / "images/3.png").write_bytes(file.getvalue()[:9_000])
    assert (folder.only().kind, folder.only().severity) == ("media_damaged", "error")


def test_an_image_of_200_megapixels_is_not_decoded(folder):
    def chunk(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", 20_000, 10_000, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    (folder.path / "images/3.png").write_bytes(png)
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("media_too_large", "error")
    assert problem.message == "has more than 178 megapixels"


def test_two_rows_with_one_image(folder):
    folder.rows[5]["file_name"] = "images/3.png"
    (folder.path / "images/5.png").unlink()
    problem = folder.only()
    assert problem.kind == "media_same"
    assert problem.examples == [(6, "card 5", "images/3.png")]


@pytest.mark.parametrize("form", ["smaller", "JPEG", "lighter"])
def test_an_image_that_looks_nearly_like_another(form, folder):
    with Image.open(folder.path / "images/3.png") as image:
        other = image.copy()
    if form == "smaller":
        other = other.resize((60, 54))
    if form == "lighter":
        other = other.point(lambda grey: grey // 2 + 100)
    other.save(folder.path / "images/5.png", "JPEG" if form == "JPEG" else "PNG")
    problem = folder.only()
    assert (problem.kind, problem.severity) == ("media_nearly_same", "warning")
    assert problem.examples == [(6, "card 5", "images/5.png and images/3.png")]


def test_blank_pages_do_not_look_like_one_another(folder):
    for number, shade in ((3, 255), (5, 250), (7, 240)):
        Image.new("L", (90, 80), shade).save(folder.path / f"images/{number}.png")
    assert folder.check().problems == []


BITS = st.integers(0, 2**64 - 1)
FLIPS = st.lists(st.integers(0, 63), max_size=5)


@given(st.lists(st.tuples(BITS, FLIPS), max_size=8))
def test_near_hashes_are_those_that_a_naive_search_finds(drawn):
    hashes = {}
    for number, (bits, flips) in enumerate(drawn):
        changed = bits
        for flip in flips:
            changed ^= 1 << flip
        hashes |= {f"{number}": bits, f"{number}b": changed}
    names = list(hashes)
    naive = {}
    for at, name in enumerate(names):
        near = [other for other in names[:at] if bin(hashes[name] ^ hashes[other]).count("1") <= 3]
        if near:
            naive[name] = near[0]
    assert near_images(hashes) == naive


@pytest.mark.nightly
def test_many_images_of_one_look_take_no_time():
    rng = random.Random(1)
    hashes = {f"{number}": rng.getrandbits(48) for number in range(8_000)}  # one block is equal
    assert near_images(hashes) == {}


def test_a_pdf_that_is_none_and_a_damaged_one(folder):
    folder.spec["media"] = "pdf"
    folder.rows = folder.rows[:2]
    (folder.path / "pdf").mkdir()
    for number, data in enumerate((b"%PDF-1.7\nxxx", SVG)):
        (folder.path / f"pdf/{number}.pdf").write_bytes(data)
        folder.rows[number]["file_name"] = f"pdf/{number}.pdf"
    problems = folder.check().problems
    assert [problem.kind for problem in problems] == ["media_damaged", "media_not_pdf"]
    assert problems[1].message == "is an SVG, not a PDF"


def test_what_is_behind_a_link_is_not_listed(folder):
    (folder.path.parent / "private").mkdir()
    (folder.path.parent / "private/secret.png").write_bytes(b"x")
    (folder.path / "more").symlink_to(folder.path.parent / "private")
    folder.rows[0]["file_name"] = "more/0.png"
    told = str([problem.to_dict() for problem in folder.check().problems])
    assert "more/0.png" in told
    assert "secret" not in told
