"""The pictures of a page's items, as many as a page can hold."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

from hdbench.common.extras import MissingExtraError
from hdbench.common.progress import progress
from hdbench.errors import HdbenchError
from hdbench.output.report.thumbnails import thumbnail

MAX_TOTAL = 6_000_000
"""Maximum characters of all pictures on a page: 263 cards have 1,900,000."""

WIDTH = 576
"""Maximum width of a picture: a sixth more pixels than a page's column has, for denser screens."""

_AHEAD = 32
"""How many are made ahead: there may be thousands, of which only the first are wanted."""


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


def pictures(files: Sequence[Path], *, width: int = WIDTH) -> list[Picture]:
    """The pictures of files, in order, until a page can hold no more.

    Args:
        files: images or PDFs.
        width: maximum pixels of each.
    """
    found: list[Picture] = []
    total = 0
    for picture in progress(_all(files, width), "Pictures", len(files)):
        total += len(picture.uri or "")
        if total > MAX_TOTAL:
            break
        found.append(picture)
    return found + [_left_out(file.name) for file in files[len(found) :]]


def _all(files: Sequence[Path], width: int) -> Iterator[Picture]:
    # Threads, as Pillow decodes and encodes without Python's lock; one for each core, as each may
    # hold an image of MAX_PIXELS.
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        waiting: deque[Future[Picture]] = deque()
        for file in files:
            waiting.append(executor.submit(_picture, file, width))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        yield from (each.result() for each in waiting)


def _left_out(file: str) -> Picture:
    return Picture(None, "left_out", file)


def _picture(file: Path, width: int) -> Picture:
    try:
        uri = thumbnail(file, width=width)
    except MissingExtraError:
        raise
    except HdbenchError:
        return Picture(None, "damaged", file.name)
    return Picture(uri, None if uri else "absent", file.name)
