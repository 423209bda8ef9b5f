"""Columns and lines of a page."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

from PIL import Image

from hdbench.baselines.ocr import Word, read_words

_MIDDLE = (0.3, 0.7)
"""Where the gutter between two columns is looked for, as shares of the page's width."""

_FULL = 0.25
"""Share of a page's height: less text than this beside a gutter is not a column."""

_TITLES = 0.1
"""Share of a column's text: this much may lie over the gutter."""

_CLOSE = 4
"""Pixels before the second column, so that a rule between the two is not read with it."""

_LETTERS = 3
"""Minimum letters of a word over the gutter; fewer are a rule or an ornament."""

_NUMBER = 3
"""Maximum characters of an ad's number."""

_HYPHENS = "-=⸗»«"
"""Signs that end a divided word; Fraktur's hyphen is two strokes."""


class TextLine(NamedTuple):
    """Words side by side, and the box around them."""

    words: tuple[Word, ...]
    left: int
    top: int
    right: int
    bottom: int

    @staticmethod
    def of(words: Iterable[Word]) -> "TextLine | None":
        """Return the line that some words form; None if there are none."""
        there = list(words)
        return _line(there) if there else None

    @property
    def text(self) -> str:
        """Return the words, separated by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def height(self) -> float:
        """Return the height of its middle word, so that a speck or a brace does not count."""
        return median(word.height for word in self.words)


class TwoColumns(NamedTuple):
    """A page's two columns.

    Attributes:
        gutter: where the second column begins, in pixels from the left.
        top: where both begin: what is above spans the whole width.
    """

    gutter: int
    top: int


def lines(words: Iterable[Word]) -> list[TextLine]:
    """Return words grouped into the lines that Tesseract found, in its order.

    Example:
        >>> words = [Word("Rother", 0, 0, 60, 20, (1,)), Word("Wein", 70, 0, 110, 20, (1,))]
        >>> [line.text for line in lines(words)]
        ['Rother Wein']
    """
    return [_line(list(group)) for _, group in groupby(words, key=lambda word: word.line)]


def read_lines(image: Image.Image, languages: str, **options: Any) -> list[TextLine]:
    """Return the lines of an image; for the arguments see `read_words`."""
    return lines(read_words(image, languages, **options))


def _line(words: Sequence[Word]) -> TextLine:
    return TextLine(
        tuple(words),
        min(word.left for word in words),
        min(word.top for word in words),
        max(word.right for word in words),
        max(word.bottom for word in words),
    )


def columns(words: Sequence[Word]) -> TwoColumns | None:
    """The two columns of a page, found by the projection of its words onto the horizontal axis.

    The gutter is where the fewest words are above one another, in the middle of the text. Both
    columns begin below the last line across the gutter in the page's upper half: a title or a
    date.

    Returns:
        None if the text has one column.

    Example:
        >>> page = [Word("Titel", 80, 0, 120, 20)] + [
        ...     Word("Wort", left, top, left + 80, top + 20)
        ...     for left in (0, 110) for top in range(40, 400, 30)
        ... ]
        >>> columns(page)
        TwoColumns(gutter=106, top=20)
    """
    if not words:
        return None
    left, right = min(word.left for word in words), max(word.right for word in words)
    top, bottom = min(word.top for word in words), max(word.bottom for word in words)
    first, last = (left + round(part * (right - left)) for part in _MIDDLE)
    # Numbers stand before the margin: they narrow the gap between the columns.
    short = {word for word in words if len(re.findall(r"\w", word.text)) <= _NUMBER}
    gap = _emptiest(range(first, last + 1), [word for word in words if word not in short])
    numbers = sorted(word.left for word in short if gap.start < word.left < gap.stop)
    begin_right = numbers[len(numbers) // 10] if numbers else gap.stop
    gutter = max((gap.start + begin_right) // 2, begin_right - _CLOSE)
    over = [
        word
        for word in words
        if word.left < gutter < word.right and len(re.findall(r"[^\W\d_]", word.text)) >= _LETTERS
    ]
    begin = max((word.bottom for word in over if word.bottom < (top + bottom) / 2), default=top)
    beside = [word for word in words if word.top >= begin]
    for column in (
        [word for word in beside if word.right <= gutter],
        [word for word in beside if word.left >= gutter],
    ):
        if len({word.top // 10 for word in column}) * 10 < _FULL * (bottom - begin):
            return None
    return TwoColumns(gutter, begin)


def _emptiest(places: range, words: Iterable[Word]) -> range:
    """Return the longest stretch with hardly more words than the emptiest place has."""
    covered = dict.fromkeys(places, 0)
    for word in words:
        for x in range(max(word.left, places.start), min(word.right, places.stop)):
            covered[x] += word.height
    fewest = min(covered.values()) + _TITLES * max(covered.values())
    best = range(places.start, places.start)
    start = places.start
    for x in range(places.start, places.stop + 1):
        if x == places.stop or covered[x] > fewest:
            if x - start > len(best):
                best = range(start, x)
            start = x + 1
    return best


def joined(texts: Iterable[str]) -> str:
    """Return lines as one text: divided words are joined, other lines are separated by a space.

    A hyphen before a capital stays, as it belongs to a compound.

    Example:
        >>> joined(["ist im Be-", "richthaus zu er=", "fragen; Land-", "Karten"])
        'ist im Berichthaus zu erfragen; Land-Karten'
    """
    whole = ""
    for text in texts:
        if re.search(rf"\w[{_HYPHENS}]$", whole):
            whole = whole[:-1] + ("" if text[:1].islower() else "-") + text
        else:
            whole += (" " if whole else "") + text
    return whole
