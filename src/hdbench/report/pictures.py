"""The pictures of a page's items, as many as a page can carry."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hdbench.errors import HdbenchError
from hdbench.report.thumbnails import thumbnail

MAX_TOTAL = 6_000_000
"""Characters of all pictures of a page: 263 cards have 4,500,000."""

_AT_ONCE = 32


class Picture(NamedTuple):
    """A picture of an item, or why it is not shown.

    Attributes:
        uri: the picture as a data URI.
        why: why there is none.
    """

    uri: str | None
    why: str | None


def pictures(files: Sequence[Path]) -> list[Picture]:
    """The pictures of files, the first ones first, until a page can carry no more.

    Args:
        files: images or PDFs.
    """
    found: list[Picture] = []
    total = 0
    with ThreadPoolExecutor() as executor:
        # A few at a time: there may be thousands, of which only the first are wanted.
        for start in range(0, len(files), _AT_ONCE):
            if total >= MAX_TOTAL:
                break
            for picture in executor.map(_picture, files[start : start + _AT_ONCE]):
                total += len(picture.uri or "")
                full = Picture(None, "left out to keep this page small")
                found.append(picture if total <= MAX_TOTAL else full)
    left = len(files) - len(found)
    return found + [Picture(None, "left out to keep this page small")] * left


def _picture(file: Path) -> Picture:
    try:
        uri = thumbnail(file)
    except HdbenchError:
        return Picture(None, f"{file.name} cannot be read")
    return Picture(uri, None if uri else "the file is not there")
