"""The media of items: images, the pages of a PDF, or text."""

import base64
import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, UnidentifiedImageError

from hdbench.benchmarks.benchmark import METADATA
from hdbench.common import pdf
from hdbench.common.bounds import MAX_MEDIA_FILE, MAX_PAGES
from hdbench.common.files import MissingFileError, RefusedFileError, file_in
from hdbench.common.jsonio import read_jsonl
from hdbench.common.pictures import FORMATS, in_rgb, thumbnail
from hdbench.errors import HdbenchError, Message, os_reason

SHOWN_AS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
"""Formats that browsers show; all others are converted."""

PDF_PIXELS = 2_400
"""The longer side of a PDF's page as it is shown."""

THUMBNAIL = 400
"""Maximum width of a small picture in pixels."""


_UNREADABLE = (OSError, SyntaxError, ValueError, IndexError, Image.DecompressionBombError)
"""What is raised by files that cannot be shown."""


class BrowserImage(NamedTuple):
    """An image for the browser."""

    data: bytes
    media_type: str


class CollectionMedia:
    """The media of a collection in the plain form.

    Args:
        folder: the collection.

    Raises:
        HdbenchError: its metadata.jsonl cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._rows: dict[str, tuple[list[str], Any]] = {}  # item → files and text
        for line in read_jsonl(folder / METADATA):
            row = line.value
            files = row.get("pages_file_names") or row.get("file_name") or []
            names = [str(name) for name in (files if isinstance(files, list) else [files])]
            self._rows[str(row.get("id"))] = (names, row.get("text"))

    @property
    def items(self) -> Collection[str]:
        """Return the ids of all items."""
        return self._rows.keys()

    def files(self, item: str) -> list[str]:
        """Return the names of an item's files in the collection."""
        return self._rows[item][0]

    def names(self) -> set[str]:
        """Return the names of the files of all items."""
        return {name for files, _ in self._rows.values() for name in files}

    def shown(self, item: str) -> dict[str, Any]:
        """Return an item's media for the page, or the reason why they cannot be shown."""
        try:
            return {"text": self.text(item), "pages": self.pages(item), "problem": ""}
        except HdbenchError as error:
            return {"text": None, "pages": 0, "problem": error.message}

    def text(self, item: str) -> str | None:
        """Return the text of an item; None if it has files."""
        files, text = self._rows[item]
        return text if isinstance(text, str) and not files else None

    def pages(self, item: str) -> int:
        """Return the number of an item's pictures.

        Raises:
            HdbenchError: its PDF cannot be read.
        """
        files, _ = self._rows[item]
        if not _is_pdf(files):
            return len(files)
        with _media_errors(files[0]), pdf.opened(file_in(self._folder, files[0])) as document:
            return min(len(document), MAX_PAGES)

    def thumbnail(self, item: str) -> BrowserImage:
        """Return a small picture of an item's first page.

        Raises:
            HdbenchError: it has no picture, or its file is missing, damaged or outside the
                collection.
        """
        files, _ = self._rows[item]
        if not files:
            raise HdbenchError("{item}: no page {number}", item=item, number=1)
        with _media_errors(files[0]):
            return small_picture(file_in(self._folder, files[0]))

    def picture(self, item: str, number: int) -> BrowserImage:
        """Return a page of an item.

        Args:
            item: the item's id.
            number: the number of the page, from 0.

        Raises:
            HdbenchError: there is no such page, or its file is missing, damaged or outside the
                collection.
        """
        files, _ = self._rows[item]
        is_pdf = _is_pdf(files)
        if not 0 <= number < (MAX_PAGES if is_pdf else len(files)):
            raise HdbenchError("{item}: no page {number}", item=item, number=number + 1)
        name = files[0] if is_pdf else files[number]
        with _media_errors(name):
            path = file_in(self._folder, name)
            return _pdf_page(path, number) if is_pdf else _image(path)


def small_picture(path: Path) -> BrowserImage:
    """Return a small picture of an image, or of a PDF's first page.

    Raises:
        HdbenchError: there is no such file, or it cannot be shown.
    """
    uri = thumbnail(path, width=THUMBNAIL)
    if uri is None:
        raise HdbenchError("no such file")
    head, _, data = uri.partition(";base64,")
    return BrowserImage(base64.b64decode(data), head.removeprefix("data:"))


@contextmanager
def _media_errors(name: Any) -> Iterator[None]:
    """Raise one kind of error if a file cannot be read to be shown.

    Args:
        name: the file's name in the collection.

    Raises:
        HdbenchError: it cannot be read.
    """
    try:
        yield
    except _UNREADABLE as error:
        raise HdbenchError(
            "{place}: cannot be shown: {why}", place=name, why=_why(error)
        ) from error


def _why(error: Exception) -> Message:
    """Return the reason why a file cannot be shown, without its path on this machine."""
    if isinstance(error, UnidentifiedImageError):
        return Message("not a readable image")
    if isinstance(error, MissingFileError | RefusedFileError):
        return error.why
    if isinstance(error, HdbenchError):
        return error.message
    return os_reason(error) if isinstance(error, OSError) else Message(str(error))


def _is_pdf(files: list[str]) -> bool:
    return len(files) == 1 and files[0].lower().endswith(".pdf")


def _image(path: Path) -> BrowserImage:
    if path.stat().st_size > MAX_MEDIA_FILE:
        raise HdbenchError("larger than {most} GiB", most=MAX_MEDIA_FILE >> 30)
    with path.open("rb") as file, Image.open(file, formats=FORMATS) as image:
        if image.format not in SHOWN_AS:
            return _png(in_rgb(image))
        file.seek(0)
        return BrowserImage(file.read(MAX_MEDIA_FILE), SHOWN_AS[image.format])


def _pdf_page(path: Path, number: int) -> BrowserImage:
    with pdf.opened(path) as document:
        if number >= len(document):
            raise HdbenchError("no page {number}", number=number + 1)
        page = document[number]
        return _png(pdf.rendered(page, PDF_PIXELS / max(*page.get_size(), 1)))


def _png(image: Image.Image) -> BrowserImage:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return BrowserImage(buffer.getvalue(), "image/png")
