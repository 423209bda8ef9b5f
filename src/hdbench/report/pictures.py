"""The pictures of a page's items, as many as a page can hold."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

from hdbench.common.extras import MissingExtraError
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.report.thumbnails import thumbnail

MAX_TOTAL = 6_000_000
"""Maximum characters of all pictures on a page: 263 cards have 4,500,000."""

_AT_ONCE = 32


class Picture(NamedTuple):
    """A picture of an item, or why it is not shown.

    Attributes:
        uri: the picture as a data URI.
        why: why there is none.
        file: the file's name.
    """

    uri: str | None
    why: Literal["absent", "damaged", "left_out"] | None
    file: str


def pictures(files: Sequence[Path]) -> list[Picture]:
    """The pictures of files, in order, until a page can hold no more.

    Args:
        files: images or PDFs.
    """
    found: list[Picture] = []
    total = 0
    for picture in progress(_all(files), "Pictures", len(files)):
        total += len(picture.uri or "")
        if total > MAX_TOTAL:
            break
        found.append(picture)
    return found + [_left_out(file.name) for file in files[len(found) :]]


def _all(files: Sequence[Path]) -> Iterator[Picture]:
    with ThreadPoolExecutor() as executor:
        # A few at a time: there may be thousands, of which only the first are wanted.
        for start in range(0, len(files), _AT_ONCE):
            yield from executor.map(_picture, files[start : start + _AT_ONCE])


def _left_out(file: str) -> Picture:
    return Picture(None, "left_out", file)


def _picture(file: Path) -> Picture:
    try:
        uri = thumbnail(file)
    except MissingExtraError:
        raise
    except HdbenchError:
        return Picture(None, "damaged", file.name)
    return Picture(uri, None if uri else "absent", file.name)
