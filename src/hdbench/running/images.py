"""The images that a model is shown: pages rendered, turned upright, and no larger than allowed."""

import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageOps, UnidentifiedImageError

from hdbench.common import pdf
from hdbench.common.extras import MissingExtraError
from hdbench.common.pictures import FORMATS, in_rgb
from hdbench.errors import HdbenchError, Message
from hdbench.running.backend import ImageLimits, InShard

PDF_DPI = 200
AS_THEY_ARE = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
"""Formats that are sent as they are."""

_UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    Image.DecompressionBombError,  # above about 179 million pixels
    pdf.PdfError,
)
_PLAIN = ("1", "L", "P", "RGB")  # modes whose colors all programs render alike
_JPEG_QUALITY = 92
_ORIENTATION = 0x0112  # in EXIF
_PDF_UNIT = 72  # points per inch


class File(NamedTuple):
    """A file with images.

    Attributes:
        name: what messages call it.
        data: where it is, or its bytes if it comes from a shard.
    """

    name: str
    data: Path | bytes


class Encoded(NamedTuple):
    """An image as it is sent."""

    mime: str
    data: bytes


def read_files(media: Sequence[Path | InShard]) -> list[File]:
    """Return the files of an item; those in shards are read, the others are not opened.

    Raises:
        HdbenchError: a shard cannot be read.
    """
    files: list[File] = []
    for file in media:
        if isinstance(file, InShard):
            from hdbench.running.image_shards.sources import (  # noqa: PLC0415  slow to import
                place_of,
                read_in_shard,
            )

            files += [File(place_of(file), data) for data in read_in_shard(file)]
        else:
            files.append(File(str(file), file))
    return files


def load_images(media: Sequence[Path | InShard], limits: ImageLimits) -> list[Image.Image]:
    """Return the images of an item, in RGB.

    Raises:
        HdbenchError: a file is missing, damaged or too large, or the item has none.
    """
    return decoded(read_files(media), limits)


def decoded(files: Sequence[File], limits: ImageLimits) -> list[Image.Image]:
    """Return the images in an item's files, in RGB.

    Raises:
        HdbenchError: see `load_images`.
    """
    with warnings.catch_warnings(action="ignore"):  # about files that can be read all the same
        images = [image for file in files for image in _open(file, limits)]
    if not images:
        raise HdbenchError("the item has no image")
    return images


def why_unreadable(error: HdbenchError | MemoryError) -> Message:
    """Return why an item's images could not be read, for its reply."""
    if isinstance(error, HdbenchError):
        return error.message
    if str(error):
        return Message(str(error))
    return Message("the image needs more memory than there is")


def pixels(file: File) -> int | None:
    """Return the pixels of an image, by its header; None for a PDF or what cannot be read."""
    try:
        with warnings.catch_warnings(action="ignore"), _opened(file) as image:
            return image.width * image.height
    except _UNREADABLE:
        return None


def encoded_images(media: Sequence[Path | InShard], limits: ImageLimits) -> list[Encoded]:
    """Return the images of an item as files: as they are where possible, otherwise as JPEG.

    Raises:
        HdbenchError: see `load_images`.
    """
    encoded: list[Encoded] = []
    with warnings.catch_warnings(action="ignore"):
        for file in read_files(media):
            as_it_is = _as_it_is(file, limits)
            encoded += [as_it_is] if as_it_is else map(_jpeg, _open(file, limits))
    if not encoded:
        raise HdbenchError("the item has no image")
    return encoded


def _open(file: File, limits: ImageLimits) -> Iterator[Image.Image]:
    try:
        if _is_pdf(file):
            yield from _pages(file, limits)
            return
        with _opened(file) as image:
            # JPEG can be read at half or quarter size, which saves most of the time.
            image.draft("RGB", (limits.max_side, limits.max_side))
            upright = ImageOps.exif_transpose(image)
            yield _fitted(in_rgb(upright), limits.max_side)
    except MissingExtraError:
        raise
    except _UNREADABLE as error:
        why: object = error
        if isinstance(error, UnidentifiedImageError) and isinstance(file.data, bytes):
            why = Message("cannot identify image file")  # Pillow would add the buffer's address
        raise HdbenchError("{place}: cannot be read: {why}", place=file.name, why=why) from error


def _opened(file: File) -> Image.Image:
    source = io.BytesIO(file.data) if isinstance(file.data, bytes) else file.data
    return Image.open(source, formats=FORMATS)


def _pages(file: File, limits: ImageLimits) -> list[Image.Image]:
    images = []
    with pdf.opened(file.data) as document:
        for number in range(min(len(document), limits.pages)):
            page = document[number]
            longer = max(page.get_size())
            scale = min(PDF_DPI / _PDF_UNIT, limits.max_side / longer if longer else 1)
            images.append(_fitted(pdf.rendered(page, scale), limits.max_side))
    return images


def _as_it_is(file: File, limits: ImageLimits) -> Encoded | None:
    """Return a file that needs no change; an unreadable one is reported when it is opened."""
    try:
        with _opened(file) as image:
            fits = max(image.size) <= limits.max_side
            upright = image.getexif().get(_ORIENTATION, 1) == 1
            plain = image.mode in _PLAIN and not image.has_transparency_data
            if image.format not in AS_THEY_ARE or not (fits and upright and plain):
                return None
            image.load()  # a damaged one must not be sent
            data = file.data if isinstance(file.data, bytes) else file.data.read_bytes()
            return Encoded(AS_THEY_ARE[image.format], data)
    except _UNREADABLE:
        return None


def _jpeg(image: Image.Image) -> Encoded:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=_JPEG_QUALITY)
    return Encoded("image/jpeg", data.getvalue())


def _is_pdf(file: File) -> bool:
    if isinstance(file.data, bytes):
        return file.data.startswith(b"%PDF")
    with file.data.open("rb") as opened:
        return opened.read(4) == b"%PDF"


def _fitted(image: Image.Image, max_side: int) -> Image.Image:
    scale = max_side / max(image.size)
    if scale >= 1:
        return image
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)
