"""Checks of images and PDFs: each is read once, and decoded as small as its format allows."""

import hashlib
import io
import os
import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, UnidentifiedImageError

from hdbench.benchmarks.building.checks.problems import Example, Problems
from hdbench.benchmarks.building.checks.values import RowPlace
from hdbench.benchmarks.building.source import IMAGE_SUFFIXES, MEDIA_FOLDERS
from hdbench.common import pdf
from hdbench.common.bounds import MAX_MEDIA_FILE
from hdbench.common.files import RefusedFileError, file_in
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError, Message, escaped, os_reason

MAX_PIXELS = 2 * (Image.MAX_IMAGE_PIXELS or 0)
"""Maximum number of pixels of an image, the same as in Pillow."""

_DRAFT = (64, 64)
"""Minimum size of a decoded JPEG; the smallest scale that reaches it is used."""

_THREADS = 4

_STARTS = {
    b"%PDF": Message("a PDF"),
    b"GIF8": Message("a GIF"),
    b"BM": Message("a BMP"),
    b"PK\x03\x04": Message("a ZIP"),
}
_SVG = (b"<svg", b"<?xml")

MAX_DISTANCE = 3
"""Number of bits in which the hashes of nearly identical images differ at most."""

_SIZE = 8
_BITS = _SIZE * _SIZE
_BLOCK = _BITS // (MAX_DISTANCE + 1)
_FLAT = 12
"""Minimum contrast of gray levels: below it, an image is blank, and its hash is noise."""


class MediaFile(NamedTuple):
    """A file that is there and intact.

    Attributes:
        sha256: of its content.
        suffix: the ending under which it is built.
        looks: the hash of its appearance, if it is an image.
    """

    sha256: str
    suffix: str
    looks: int | None = None


class _Unusable(NamedTuple):
    """A file that cannot be used.

    Attributes:
        name: of the problem.
        values: for the placeholders of its texts.
    """

    name: str
    values: dict[str, Any]


def check_media(
    folder: Path,
    kind: str,
    rows_by_path: Mapping[str, list[RowPlace]],
    problems: Problems,
) -> dict[str, MediaFile]:
    """Check the files that rows name.

    Args:
        folder: the benchmark's folder.
        kind: the media column: `image`, `pages` or `pdf`.
        rows_by_path: path as written → the rows that name it.
        problems: where to add what is wrong.

    Returns:
        Path → its content, for the files that are there and intact.
    """
    present = _files_in(folder, rows_by_path, MEDIA_FOLDERS[kind])
    by_form = {_form(path): path for path in present}
    usable = []
    for path, places in rows_by_path.items():
        at = [Example(*place, path) for place in places]
        try:
            file_in(folder, path)
        except RefusedFileError as error:
            name = "path_outside" if error.is_outside else "media_unreadable.refused"
            problems.add(name, *at, what=error.why)
            continue
        except HdbenchError:  # missing; or the name is too long
            pass
        else:
            usable.append(path)
            continue
        near = by_form.get(_form(path))
        name = "media_missing.page" if kind == "pages" else "media_missing"
        if near is not None:
            value = Message("{path} (there is {near})", path=path, near=escaped(near))
            at = [Example(*place, value) for place in places]
            name = "media_missing.near"
        problems.add(name, *at)
    resolved = {(folder / path).resolve() for path in usable}
    for path in present:
        if (folder / path).resolve() not in resolved:
            problems.add("media_without_row", Example(value=escaped(path)))
    return _check_files(folder, kind, usable, rows_by_path, problems)


def _check_files(
    folder: Path,
    kind: str,
    paths: list[str],
    rows_by_path: Mapping[str, list[RowPlace]],
    problems: Problems,
) -> dict[str, MediaFile]:
    inspect = _pdf if kind == "pdf" else _image
    intact: dict[str, MediaFile] = {}
    first: dict[str, str] = {}
    # The settings of warnings belong to all threads, so they are changed out here.
    with warnings.catch_warnings(), ThreadPoolExecutor(_THREADS) as threads:
        warnings.simplefilter("ignore")
        looked_at = threads.map(inspect, (folder / path for path in paths))
        for path, media in zip(paths, progress(looked_at, "Checking", len(paths)), strict=True):
            place = rows_by_path[path][0]
            for again in rows_by_path[path][1:]:
                _same(problems, path, path, again)
            if isinstance(media, _Unusable):
                problems.add(media.name, Example(*place, path), **media.values)
                continue
            intact[path] = media
            if media.sha256 in first:
                _same(problems, path, first[media.sha256], place)
            else:
                first[media.sha256] = path
    looks = {path: intact[path].looks for path in first.values()}
    near = near_images({path: bits for path, bits in looks.items() if bits is not None})
    for path, other in near.items():
        problems.add("media_nearly_same", Example(*rows_by_path[path][0], _both(path, other)))
    return intact


def _same(problems: Problems, path: str, other: str, place: RowPlace) -> None:
    value = path if path == other else _both(path, other)
    problems.add("media_same", Example(*place, value))


def _both(path: str, other: str) -> Message:
    return Message("{path} and {other}", path=path, other=other)


def _image(path: Path) -> MediaFile | _Unusable:
    """Return an image's hashes; its size is checked before it is decoded."""
    data = _read(path)
    if isinstance(data, _Unusable):
        return data
    try:
        with Image.open(io.BytesIO(data), formats=list(IMAGE_SUFFIXES)) as image:
            suffix = IMAGE_SUFFIXES[image.format or ""]
            image.draft("L", _DRAFT)
            image.load()
            return MediaFile(hashlib.sha256(data).hexdigest(), suffix, difference_hash(image))
    except Image.DecompressionBombError:
        return _Unusable("media_too_large.pixels", {"most": MAX_PIXELS // 1_000_000})
    except UnidentifiedImageError:
        formats = ", ".join(IMAGE_SUFFIXES)
        return _Unusable("media_not_image", {"kind": _kind_of(data), "formats": formats})
    except Exception as error:
        return _Unusable("media_damaged", {"why": " ".join(str(error).split())[:100]})


def _pdf(path: Path) -> MediaFile | _Unusable:
    """Return a PDF's hash."""
    data = _read(path)
    if isinstance(data, _Unusable):
        return data
    try:
        with pdf.opened(data) as document:
            for page in document:
                page.close()
    except pdf.PdfError as error:
        if not data.lstrip().startswith(b"%PDF"):
            return _Unusable("media_not_pdf", {"kind": _kind_of(data)})
        return _Unusable("media_damaged.pdf", {"why": Message("{why}", why=error)})
    return MediaFile(hashlib.sha256(data).hexdigest(), "pdf")


def _read(path: Path) -> bytes | _Unusable:
    try:
        if path.stat().st_size > MAX_MEDIA_FILE:
            return _Unusable("media_too_large", {"most": MAX_MEDIA_FILE >> 30})
        return path.read_bytes()
    except OSError as error:
        return _Unusable("media_unreadable", {"why": os_reason(error)})


def _kind_of(data: bytes) -> Message:
    """Return the true kind of a file that was taken for an image or PDF."""
    if not data:
        return Message("empty")
    start = data.lstrip()[:500].lower()
    if start.startswith(_SVG) and b"<svg" in start:
        return Message("an SVG")
    if start.startswith((b"<!doctype html", b"<html")):
        return Message("a web page")
    kinds = (name for mark, name in _STARTS.items() if data.startswith(mark))
    return next(kinds, Message("something else"))


def _files_in(folder: Path, row_paths: Iterable[str], own: str) -> list[str]:
    """Return the files in the folders where media are, without hidden ones."""
    tops = {own}
    for path in row_paths:
        top, slash, _ = path.partition("/")
        if slash and top not in ("", ".", ".."):
            tops.add(top)
    paths = []
    # A link could lead anywhere, and is not a folder of this one; `os.walk` follows none below.
    for top in sorted(name for name in tops if not (folder / name).is_symlink()):
        for directory, folders, files in os.walk(folder / top):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            names = (name for name in sorted(files) if not name.startswith("."))
            paths += [(Path(directory) / name).relative_to(folder).as_posix() for name in names]
    return [path for path in paths if Path(path).name not in ("Thumbs.db", "desktop.ini")]


def _form(path: str) -> str:
    """Return a path without differences between machines."""
    plain = unicodedata.normalize("NFC", path).casefold().replace("\\", "/")
    return plain.removeprefix("./").replace(".jpeg", ".jpg")


def difference_hash(image: Image.Image) -> int | None:
    """Return 64 bits: where an image, as 9 by 8 grays, gets lighter from left to right.

    Returns:
        None for an image that is blank.
    """
    grey = image.convert("L").resize((_SIZE + 1, _SIZE), Image.Resampling.BOX)
    pixels, bits = grey.tobytes(), 0
    if max(pixels) - min(pixels) < _FLAT:
        return None
    for row in range(_SIZE):
        at = row * (_SIZE + 1)
        for column in range(_SIZE):
            bits = bits << 1 | (pixels[at + column] < pixels[at + column + 1])
    return bits


def near_images(hashes: Mapping[str, int]) -> dict[str, str]:
    """Return image → the first earlier one whose hash differs in at most `MAX_DISTANCE` bits.

    Two such hashes agree in one of four blocks of bits, so only hashes that do are compared.

    Example:
        >>> near_images({"a": 0b1111, "b": 0b1, "c": 1 << 63 | 0b11110000})
        {'b': 'a'}
    """
    earlier_by_image: dict[str, str] = {}
    first: dict[int, tuple[int, str]] = {}  # hash → the position and name of the first with it
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, (name, bits) in enumerate(hashes.items()):
        blocks = [(at, bits >> at & (1 << _BLOCK) - 1) for at in range(0, _BITS, _BLOCK)]
        near = [
            first[other]
            for block in blocks
            for other in buckets[block]
            if (other ^ bits).bit_count() <= MAX_DISTANCE
        ]
        if near:
            earlier_by_image[name] = min(near)[1]
        if bits not in first:
            first[bits] = (position, name)
            for block in blocks:
                buckets[block].append(bits)
    return earlier_by_image
