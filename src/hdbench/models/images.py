"""The images that a model is shown: pages rendered, turned upright, and no larger than allowed."""

import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageOps

from hdbench.common import pdf
from hdbench.common.extras import MissingExtraError
from hdbench.common.pictures import FORMATS, in_rgb
from hdbench.errors import HdbenchError, Message
from hdbench.models.backend import ImageLimits, StoredImage

PDF_DPI = 200
AS_THEY_ARE = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
"""Formats that are sent as they are."""

_UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    MemoryError,
    Image.DecompressionBombError,  # above about 179 million pixels
    pdf.PdfError,
)
_PLAIN = ("1", "L", "P", "RGB")  # modes whose colors all programs render alike
_JPEG_QUALITY = 92
_ORIENTATION = 0x0112  # in EXIF
_PDF_UNIT = 72  # points per inch


class Encoded(NamedTuple):
    """An image as it is sent."""

    mime: str
    data: bytes


def load_images(media: Sequence[Path | StoredImage], limits: ImageLimits) -> list[Image.Image]:
    """Return the images of an item, in RGB.

    Raises:
        HdbenchError: a file is missing, damaged or too large, or the item has none.
    """
    with warnings.catch_warnings(action="ignore"):  # about files that can be read all the same
        images = [image for file in media for image in _open(file, limits)]
    if not images:
        raise HdbenchError("the item has no image")
    return images


def encoded_images(media: Sequence[Path | StoredImage], limits: ImageLimits) -> list[Encoded]:
    """Return the images of an item as files: as they are where possible, otherwise as JPEG.

    Raises:
        HdbenchError: see `load_images`.
    """
    encoded: list[Encoded] = []
    with warnings.catch_warnings(action="ignore"):
        for file in media:
            as_it_is = _as_it_is(file, limits)
            encoded += [as_it_is] if as_it_is else map(_jpeg, _open(file, limits))
    if not encoded:
        raise HdbenchError("the item has no image")
    return encoded


def _open(file: Path | StoredImage, limits: ImageLimits) -> Iterator[Image.Image]:
    try:
        if _is_pdf(file):
            yield from _pages(file, limits)
            return
        with file.open("rb") as opened, Image.open(opened, formats=FORMATS) as image:
            # JPEG can be read at half or quarter size, which saves most of the time.
            image.draft("RGB", (limits.max_side, limits.max_side))
            upright = ImageOps.exif_transpose(image)
            yield _fitted(in_rgb(upright), limits.max_side)
    except MissingExtraError:
        raise
    except _UNREADABLE as error:
        why = str(error) or Message("it needs more memory than there is")
        raise HdbenchError("{place}: cannot be read: {why}", place=file, why=why) from error


def _pages(file: Path | StoredImage, limits: ImageLimits) -> list[Image.Image]:
    images = []
    with pdf.opened(file if isinstance(file, Path) else file.data) as document:
        for number in range(min(len(document), limits.pages)):
            page = document[number]
            longer = max(page.get_size())
            scale = min(PDF_DPI / _PDF_UNIT, limits.max_side / longer if longer else 1)
            images.append(_fitted(pdf.rendered(page, scale), limits.max_side))
    return images


def _as_it_is(file: Path | StoredImage, limits: ImageLimits) -> Encoded | None:
    """Return a file that needs no change; an unreadable one is reported when it is opened."""
    try:
        with file.open("rb") as opened, Image.open(opened, formats=FORMATS) as image:
            fits = max(image.size) <= limits.max_side
            upright = image.getexif().get(_ORIENTATION, 1) == 1
            plain = image.mode in _PLAIN and not image.has_transparency_data
            if image.format not in AS_THEY_ARE or not (fits and upright and plain):
                return None
            image.load()  # a damaged one must not be sent
            return Encoded(AS_THEY_ARE[image.format], file.read_bytes())
    except _UNREADABLE:
        return None


def _jpeg(image: Image.Image) -> Encoded:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=_JPEG_QUALITY)
    return Encoded("image/jpeg", data.getvalue())


def _is_pdf(file: Path | StoredImage) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"%PDF"


def _fitted(image: Image.Image, max_side: int) -> Image.Image:
    scale = max_side / max(image.size)
    if scale >= 1:
        return image
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)
