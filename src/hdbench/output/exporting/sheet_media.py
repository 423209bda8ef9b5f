"""The media of items in a work sheet: links and thumbnails."""

import base64
import os
from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from PIL import Image

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.extras import MissingExtraError
from hdbench.common.thumbnails import thumbnail
from hdbench.errors import HdbenchError

THUMBNAIL_WIDTH = 320
"""Maximum width of a thumbnail in pixels; it is at most twice as high."""

_QUALITY = 60
_ASCII = 0x80
_MAX_LINK = 2_000
_MAX_NAME = 28


class Thumbnail(NamedTuple):
    """A small picture, and its height in pixels."""

    data: BytesIO
    height: int


class SheetMedia:
    """The media of items, as seen from a work sheet.

    Args:
        benchmark: the items.
        items: those in the sheet.
        sheet: the workbook.
    """

    def __init__(self, benchmark: Benchmark, items: Collection[str], sheet: Path) -> None:
        self._shown = benchmark.shown(set(items))
        self._folder = sheet.resolve().parent

    def text(self, item: str) -> str:
        """Return what the sheet says of an item: its text, or the name of its first file."""
        shown = self._shown[item]
        if not shown.media:
            return shown.text
        name = shown.media[0].name
        return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 9]}…{name[-8:]}"

    def link(self, item: str) -> str | None:
        """Return a link to the first file of an item, relative to the sheet; None without one."""
        media = self._shown[item].media
        if not media:
            return None
        try:
            # As it is called in the collection, not where a link leads from there.
            path = os.path.relpath(os.path.abspath(media[0]), self._folder)
        except ValueError:  # on another drive
            return None
        if not path.isprintable():  # XML has no lone surrogates
            return None
        link = "".join(
            sign if ord(sign) >= _ASCII else quote(sign) for sign in Path(path).as_posix()
        )
        return f"external:{link}" if len(link) <= _MAX_LINK else None

    def thumbnail(self, item: str) -> Thumbnail | None:
        """Return a small picture of an item; None if its first file is missing or damaged."""
        media = self._shown[item].media
        try:
            uri = thumbnail(media[0], width=THUMBNAIL_WIDTH) if media else None
        except MissingExtraError:
            raise
        except HdbenchError:
            return None
        if uri is None:
            return None
        data = BytesIO()
        with Image.open(BytesIO(base64.b64decode(uri.partition(",")[2]))) as image:
            # Excel shows no WebP.
            image.convert("RGB").save(data, "JPEG", quality=_QUALITY)
            return Thumbnail(data, image.height)
