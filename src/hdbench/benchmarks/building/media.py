"""Images and PDFs: checked to be whole, and stored under their sha256."""

import hashlib
import io
from pathlib import Path

from PIL import Image

from hdbench.benchmarks.building.source import SourceFiles
from hdbench.common import pdf
from hdbench.common.pictures import FORMATS
from hdbench.errors import HdbenchError

MEDIA_FOLDERS = {"image": "images", "pages": "images", "pdf": "pdf"}

IMAGE_SUFFIXES = {"JPEG": "jpg", "PNG": "png", "TIFF": "tif", "WEBP": "webp"}


def copy_media(files: SourceFiles, path: str, folder: Path, kind: str) -> tuple[str, str]:
    """Copy an image or a PDF from the source into a repository.

    Args:
        files: the source.
        path: its path there.
        folder: the repository.
        kind: the media column: `image`, `pages` or `pdf`.

    Returns:
        The copy's path in the repository, and its sha256.

    Raises:
        MissingFileError: the source lacks it.
        HdbenchError: it is damaged.
    """
    data = files.read(path)
    place = files.locate(path)
    suffix = _check_pdf(data, place) if kind == "pdf" else _check_image(data, place)
    sha256 = hashlib.sha256(data).hexdigest()
    copy = folder / MEDIA_FOLDERS[kind] / f"{sha256}.{suffix}"
    copy.write_bytes(data)
    if hashlib.sha256(copy.read_bytes()).hexdigest() != sha256:
        raise HdbenchError("{place}: is not what was written: check the disk", place=copy)
    return f"{copy.parent.name}/{copy.name}", sha256


def _check_image(data: bytes, place: Path) -> str:
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            image.load()
            return IMAGE_SUFFIXES[image.format or ""]
    except KeyError as error:
        formats = ", ".join(IMAGE_SUFFIXES)
        raise HdbenchError(
            "{place}: not an image that can be used: must be {formats}",
            place=place,
            formats=formats,
        ) from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise HdbenchError("{place}: damaged image: {why}", place=place, why=error) from error


def _check_pdf(data: bytes, place: Path) -> str:
    try:
        with pdf.opened(data) as document:
            for page in document:
                page.close()
    except pdf.PdfError as error:
        raise HdbenchError("{place}: damaged PDF: {why}", place=place, why=error) from error
    return "pdf"
