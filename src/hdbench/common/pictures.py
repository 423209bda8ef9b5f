"""Images as all programs show them, and small pictures of them for HTML pages."""

import base64
import hashlib
import io
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from PIL import ExifTags, Image, ImageChops, ImageOps, ImageStat

from hdbench.common import pdf
from hdbench.common.bounds import MAX_THUMBNAIL_PIXELS
from hdbench.common.cache import FileCache
from hdbench.common.extras import MissingExtraError
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError

FORMATS = ("BMP", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")
"""Formats that untrusted files may be in. Pillow has readers for dozens of others, whatever a file
is called; the one for EPS starts Ghostscript."""


def in_rgb(image: Image.Image) -> Image.Image:
    """Return an image in RGB, on white paper where it is transparent."""
    if image.mode.startswith("I;16"):  # which `convert` would make white above 255
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


# Small pictures of a benchmark's media, to be embedded in a page

BUILT_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP")
"""The formats that benchmarks are built from; Pillow's readers for others are not tried."""


MAX_HEIGHT = 2
"""A thumbnail's maximum height, as a multiple of its width."""

MAX_ENTRY = 2**20
"""Maximum size in bytes of a thumbnail that is kept; they have some tens of thousands."""

RECIPE = 2
"""Raised when another picture is made of the same file, so that kept ones are made again."""

_QUALITY = 40
_DAMAGED = (
    *(OSError, SyntaxError, ValueError, Image.DecompressionBombError),
    pdf.PdfError,
)
_PDF_HEAD = 1024  # a PDF's header is within this many bytes

_TURNED = 5  # from this value on, the EXIF orientation exchanges width and height

_ENDS = 16  # values this near to black or white count as such
_IN_BLACK_AND_WHITE = 0.97
"""Minimum share of black and white pixels in a scan in black and white: JPEG leaves some gray
around the letters, while paper that was scanned in gray or color is hardly ever white."""

_FOUR_GREYS = [round(value / 85) * 85 for value in range(256)]

MAX_TOTAL = 6_000_000
"""Maximum characters of all pictures on a page: 263 cards have 1,900,000."""

WIDTH = 576
"""Maximum width of a picture: a sixth more pixels than a page's column has, for denser screens."""

MAX_PART = (480, 96)
"""Maximum width and height of a part of an image: twice of what a table's row shows of it."""

_AHEAD = 32
"""Number of pictures made ahead: of thousands, only the first may be needed."""

_kept: FileCache | None = None


def keep_in(folder: Path, *, max_bytes: int | None = None) -> None:
    """Keep in a folder the thumbnails that this process makes, and make none twice.

    Args:
        folder: created if need be, for this user alone; other processes may use it too.
        max_bytes: what it may hold now, before any are added: those unused for longest are deleted;
            None if another process limits it.

    Raises:
        OSError: see `FileCache`.
    """
    global _kept  # noqa: PLW0603  one per process
    _kept = FileCache(folder, max_entry=MAX_ENTRY)
    if max_bytes is not None:
        _kept.bound(max_bytes)


def thumbnail(path: Path, *, width: int = 640) -> str | None:
    """Return a small picture of an image, or of a PDF's first page, as a data URI.

    An image is turned as its EXIF data say, and never enlarged. One in black and white gets four
    grays, without loss: it is as legible as a lossy one of more than twice the bytes. Any number of
    threads may call it. If thumbnails are kept (`keep_in`), one of the same bytes is made only
    once.

    Args:
        path: an image or a PDF.
        width: maximum pixels.

    Returns:
        A WebP image as `data:image/webp;base64,…`; None if there is no such file.

    Raises:
        HdbenchError: the file cannot be read, is neither an image nor a PDF, is damaged, or has too
            many pixels.
    """
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            if _kept is None:
                return _uri(_made(path, file, width))
            key = f"{hashlib.file_digest(file, 'sha256').hexdigest()}-{width}-{RECIPE}"
            data = _kept.get(key)
            if data is None:
                file.seek(0)
                data = _made(path, file, width)
                _kept.add(key, data)
            return _uri(data)
    except HdbenchError:
        raise
    except _DAMAGED as error:
        raise HdbenchError(
            "{place}: no readable image or PDF: build the benchmark again", place=path
        ) from error


def cut_out(path: Path, part: Sequence[float]) -> str | None:
    """Return a part of an image, at most `MAX_PART` in size, as a data URI.

    Args:
        path: an image; it is turned as its EXIF data say.
        part: the part's left, upper, right and lower end, as shares of the image's size; what is
            outside the image is left out.

    Returns:
        A WebP image as `data:image/webp;base64,…`; None if there is no readable image.
    """
    data = io.BytesIO()
    try:
        with path.open("rb") as file:
            image = _upright(path, file, MAX_THUMBNAIL_PIXELS)
        ends = [max(0, min(1, end)) * size for end, size in zip(part, 2 * image.size, strict=True)]
        left, top, right, bottom = map(round, ends)
        cut = image.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
        cut.thumbnail(MAX_PART)
        cut.save(data, "WEBP", quality=_QUALITY, method=2)
    except (HdbenchError, *_DAMAGED):
        return None
    return _uri(data.getvalue())


def _uri(data: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(data).decode()}"


def _made(path: Path, file: BinaryIO, width: int) -> bytes:
    is_pdf = b"%PDF-" in file.read(_PDF_HEAD)
    file.seek(0)
    data = io.BytesIO()
    if is_pdf:
        _first_page(path, width).save(data, "WEBP", quality=_QUALITY, method=2)
        return data.getvalue()
    image = _upright(path, file, width)
    size = _fitted(image.size, width)
    if grey := _in_black_and_white(image):
        small = grey.resize(size, Image.Resampling.HAMMING, reducing_gap=2.0).point(_FOUR_GREYS)
        small.save(data, "WEBP", lossless=True, quality=20, method=1)
    else:
        small = image.resize(size, Image.Resampling.HAMMING, reducing_gap=2.0)
        small.save(data, "WEBP", quality=_QUALITY, method=2)
    return data.getvalue()


def _upright(path: Path, file: BinaryIO, width: int) -> Image.Image:
    """Return the image in RGB, turned as its EXIF data say; at least as large as wanted."""
    with Image.open(file, formats=BUILT_FORMATS) as image:
        if image.width * image.height > MAX_THUMBNAIL_PIXELS:
            raise HdbenchError(
                "{place}: has more than {most:,} pixels: make it smaller",
                place=path,
                most=MAX_THUMBNAIL_PIXELS,
            )
        is_turned = image.getexif().get(ExifTags.Base.Orientation, 1) >= _TURNED
        size = _fitted(image.size[::-1] if is_turned else image.size, width)
        # A JPEG is decoded at a half, a quarter or an eighth, which is faster.
        image.draft(None, size[::-1] if is_turned else size)
        ImageOps.exif_transpose(image, in_place=True)
        if "A" in image.getbands() or "transparency" in image.info:
            rgba = image.convert("RGBA")
            return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
        if image.mode.startswith("I"):  # 16 bits of gray, which convert() would cut off at 255
            return image.point(lambda value: value / 256).convert("L").convert("RGB")
        return image.convert("RGB")


def _fitted(size: tuple[int, int], width: int) -> tuple[int, int]:
    """Return the size of a thumbnail."""
    scale = min(1, width / size[0], MAX_HEIGHT * width / size[1])
    return max(1, round(scale * size[0])), max(1, round(scale * size[1]))


def _in_black_and_white(image: Image.Image) -> Image.Image | None:
    """Return a black-and-white scan in grays; None for any other image."""
    grey = image.convert("L")
    values = grey.histogram()
    ends = sum(values[:_ENDS]) + sum(values[-_ENDS:])
    if ends < _IN_BLACK_AND_WHITE * sum(values):
        return None
    reduced = image.reduce(4)  # large enough for any stamp or underlining in color
    off = ImageChops.difference(reduced, reduced.convert("L").convert("RGB"))
    has_colour = any(high > _ENDS for _, high in ImageStat.Stat(off).extrema)
    return None if has_colour else grey


def _first_page(path: Path, width: int) -> Image.Image:
    with pdf.opened(path) as document:
        page = document[0]
        page_width, page_height = page.get_size()
        scale = min(width / max(1, page_width), MAX_HEIGHT * width / max(1, page_height))
        return pdf.rendered(page, scale)


class ItemPicture(NamedTuple):
    """A picture of an item, or why it is not shown.

    Attributes:
        uri: the picture as a data URI.
        why: the reason if there is none.
        file: the file's name.
    """

    uri: str | None
    why: Literal["absent", "damaged", "left_out"] | None
    file: str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture that is shown; nothing for one that is not."""
        if self.uri is None:
            return 0, 0
        data = base64.b64decode(self.uri.partition(",")[2])
        with Image.open(io.BytesIO(data), formats=["WEBP"]) as image:
            return image.size


def pictures(files: Sequence[Path], *, width: int = WIDTH) -> list[ItemPicture]:
    """Return the pictures of files, in order, until a page can hold no more.

    Args:
        files: images or PDFs.
        width: maximum pixels of each.
    """
    shown: list[ItemPicture] = []
    total = 0
    for picture in progress(_all(files, width), "Pictures", len(files)):
        total += len(picture.uri or "")
        if total > MAX_TOTAL:
            break
        shown.append(picture)
    return shown + [ItemPicture(None, "left_out", file.name) for file in files[len(shown) :]]


def _all(files: Sequence[Path], width: int) -> Iterator[ItemPicture]:
    # Threads, as Pillow decodes and encodes without Python's lock; one for each core, as each may
    # hold an image of MAX_THUMBNAIL_PIXELS.
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        waiting: deque[Future[ItemPicture]] = deque()
        for file in files:
            waiting.append(executor.submit(_picture, file, width))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)


def _picture(file: Path, width: int) -> ItemPicture:
    try:
        uri = thumbnail(file, width=width)
    except MissingExtraError:
        raise
    except HdbenchError:
        return ItemPicture(None, "damaged", file.name)
    return ItemPicture(uri, None if uri else "absent", file.name)
