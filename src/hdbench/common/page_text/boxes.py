"""Where lines are on a page: read from PAGE XML, ALTO and hOCR, and kept in a column."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

LINE_BOXES = "line_boxes"
"""The column: for each line of an item's texts, the number of its page, from 0, and then its box,
if that is known."""

WHOLE = 10_000
"""A page's width, and its height, in boxes: they hold for the page in any size."""

_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_LINE = re.compile(r"([0-9]{1,5})(?: ([0-9]{1,5}) ([0-9]{1,5}) ([0-9]{1,5}) ([0-9]{1,5}))?")


class Box(NamedTuple):
    """A rectangle on a page, from 0 to `WHOLE`, from the left and from the top."""

    left: int
    top: int
    right: int
    bottom: int


def numbers(*texts: str | None) -> list[float]:
    """Return the numbers in attributes; 0.0 for one that has none."""
    found = (_NUMBER.fullmatch((text or "").strip()) for text in texts)
    return [float(match[0]) if match else 0.0 for match in found]


def box_around(points: Sequence[tuple[float, float]], size: Sequence[float]) -> Box | None:
    """Return the box around points, as far as it is on the page; None if nothing of it is.

    Args:
        points: from the page's upper left corner.
        size: the page's width and height in the same unit; 0 if they are not known.

    Example:
        >>> box_around([(-5, 10), (60, 20)], (100, 40))
        Box(left=0, top=2500, right=6000, bottom=5000)
    """
    if not points or min(size) <= 0:
        return None
    (left, right), (top, bottom) = (
        [round(WHOLE * min(max(at / whole, 0), 1)) for at in (min(values), max(values))]
        for values, whole in zip(zip(*points, strict=True), size, strict=True)
    )
    return Box(left, top, right, bottom) if left < right and top < bottom else None


def as_column(pages: Sequence[Sequence[Box | None]]) -> list[str]:
    """Return the boxes of the lines of an item's pages as `LINE_BOXES` has them.

    Example:
        >>> as_column([[Box(0, 1, 2, 3), None]])
        ['0 0 1 2 3', '0']
    """
    return [
        " ".join(map(str, [page, *(box or ())]))
        for page, lines in enumerate(pages)
        for box in lines
    ]


def of_column(value: object) -> dict[int, list[Box | None]]:
    """Return the number of a page → the boxes of its lines; empty for what is no such column."""
    pages: dict[int, list[Box | None]] = defaultdict(list)
    for text in value if isinstance(value, list) else ():
        match = _LINE.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            return {}
        ends = [int(end) for end in match.groups()[1:] if end is not None]
        points = list(zip(ends[::2], ends[1::2], strict=True))
        pages[int(match[1])].append(box_around(points, (WHOLE, WHOLE)))
    return pages
