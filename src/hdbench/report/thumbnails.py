"""Small pictures of a benchmark's media, to be embedded in an HTML page."""

import base64
import hashlib
import io
import os
from contextlib import suppress
from pathlib import Path

from PIL import Image, ImageOps

from hdbench.common import pdf
from hdbench.errors import HdbenchError

FORMATS = ("JPEG", "PNG", "TIFF", "WEBP")
"""The formats that benchmarks are built from; Pillow's readers for others are not tried."""

MAX_PIXELS = 89_000_000
"""Maximum width times height of an image: an A3 page at 600 dpi has 70 million."""

MAX_HEIGHT = 2
"""A thumbnail's maximum height, as a multiple of its width."""

_QUALITY = 40
_DAMAGED = (
    *(OSError, SyntaxError, ValueError, Image.DecompressionBombError),
    pdf.PdfError,
)
_PDF_HEAD = 1024  # a PDF begins within this many bytes

_Key = tuple[str, int, int, int]


class _Kept:
    """Thumbnails in files of their own, which processes share; whoever owns the folder bounds it.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: _Key) -> str | None:
        """The thumbnail with that key, if it is kept."""
        path = self._path(key)
        try:
            os.utime(path)  # those that are used stay when old files are deleted
            return path.read_text(encoding="ascii")
        except OSError:
            return None

    def add(self, key: _Key, uri: str) -> None:
        """Keep a thumbnail."""
        path = self._path(key)
        beside = path.with_name(f"{path.name}-{os.getpid()}")
        with suppress(OSError):  # a full disk costs time only
            beside.write_text(uri, encoding="ascii")
            beside.replace(path)

    def _path(self, key: _Key) -> Path:
        return self._folder / hashlib.sha256(repr(key).encode(errors="replace")).hexdigest()


_kept: _Kept | None = None


def keep_in(folder: Path) -> None:
    """Keep in a folder the thumbnails that this process makes, and make none twice.

    Args:
        folder: created if need be; other processes may use it too.
    """
    global _kept  # noqa: PLW0603  a process has one
    folder.mkdir(exist_ok=True)
    _kept = _Kept(folder)


def thumbnail(path: Path, *, width: int = 640) -> str | None:
    """A small picture of an image, or of a PDF's first page, as a data URI.

    An image is turned as its EXIF data say, and never enlarged. Any number of threads may call it.
    If thumbnails are kept (`keep_in`), a file's is made only once, as long as the file keeps its
    size and modification time.

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
        found = path.stat()
        key = (str(path.absolute()), found.st_mtime_ns, found.st_size, width)
        if _kept and (uri := _kept.get(key)):
            return uri
        with path.open("rb") as file:
            is_pdf = b"%PDF-" in file.read(_PDF_HEAD)
        small = _first_page(path, width) if is_pdf else _small_image(path, width)
        data = io.BytesIO()
        small.save(data, "WEBP", quality=_QUALITY, method=2)
    except HdbenchError:
        raise
    except _DAMAGED as error:
        raise HdbenchError(
            f"{path}: no readable image or PDF: build the benchmark again"
        ) from error
    uri = f"data:image/webp;base64,{base64.b64encode(data.getvalue()).decode()}"
    if _kept:
        _kept.add(key, uri)
    return uri


def _small_image(path: Path, width: int) -> Image.Image:
    with Image.open(path, formats=FORMATS) as image:
        if image.width * image.height > MAX_PIXELS:
            raise HdbenchError(f"{path}: has more than {MAX_PIXELS:,} pixels: make it smaller")
        # A JPEG is decoded at twice the width or less, where it is a multiple, which is faster.
        image.draft("RGB", (width, width))
        upright = ImageOps.exif_transpose(image)
        if "A" in upright.getbands() or "transparency" in upright.info:
            rgba = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
        elif upright.mode.startswith("I"):  # 16 bits of grey, which convert() would cut off at 255
            upright = upright.point(lambda value: value / 256).convert("L")
        small = upright.convert("RGB")
        small.thumbnail((width, MAX_HEIGHT * width), reducing_gap=2.0)
        return small


def _first_page(path: Path, width: int) -> Image.Image:
    with pdf.opened(path) as document:
        page = document[0]
        page_width, page_height = page.get_size()
        scale = min(width / max(1, page_width), MAX_HEIGHT * width / max(1, page_height))
        return pdf.rendered(page, scale)
