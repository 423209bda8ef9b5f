"""Advertisements on a newspaper page: columns, headings, numbers, and the spelling of an edition.

An ad begins with a number that stands before the margin of the other lines, as in 18th-century
newspapers, and goes on below, and in the next column too. A heading stands apart, above an ad.
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import groupby, pairwise
from statistics import median
from typing import Any, NamedTuple

from PIL import Image

from hdbench.baselines.dates import first_date
from hdbench.baselines.layout import TextLine, columns, joined, lines, read_lines
from hdbench.baselines.ocr import ANYWHERE, ONE_COLUMN, read_words

_LOOSE = 1.3  # times the usual line spacing: a heading has more white around it
_LARGER = 1.15
_HEADING_LINES = 3
_FOOT = 2.0  # times the usual line spacing: below that much white come catchword and imprint
_FOOT_LINES = 3
_OUTDENT = 0.4  # of a line's height
_AROUND = 5  # lines above and below that tell where the margin is
_MAX_NUMBER = 4  # maximum characters of a number with its full stop
_PROSE = re.compile(r"[a-zäöüßſ]{4}")  # not in a page number or an ornament
_OVERLOOKED = 3
_NUMBER = re.compile(r"[^\w(]{0,2}(\w{1,3})\s?[.,:;]")
_EDGE = re.compile(r"^[\s|_\]\[{}—„“\"'*#<>~+^-]+|[\s|_\]\[{}—„“\"'*#<>~+^]+$")

_SPELLING: tuple[tuple[str, str], ...] = (
    ("ſ", "s"),
    (r"\s*/\s*", ", "),
    # What Tesseract's Fraktur model writes for letters that its training texts spell differently.
    (r"(?<=\w)>k?|(?<=\w)(?<!c)k>", "ck"),
    (r"(?<=s)\{", "ch"),
    (r"J(?=I|[b-df-hj-np-tv-z])", "I"),
    ("II(?=[a-z])", "I"),
    (r"(?<=\w)[ôóò]|[ôóò](?=\w)", "ö"),
    (r"(?<=\w)[úû]|[úû](?=\w)", "ü"),
    (r"(?<=\w)[áâ]|[áâ](?=\w)", "a"),
    (r"\bz\b", "3"),
    (r"\b[12ir]c[.,]", "ꝛc."),
    # Fraktur is set with white before its punctuation and around its hyphens.
    (r"\s+([,;.:)])", r"\1"),
    (r"([,;])(?=[^\W\d])", r"\1 "),
    (r"(?<=\w) ?[-=⸗] ?(?=[A-ZÄÖÜ])", "-"),
    (r"\s+", " "),
)


class PageLines(NamedTuple):
    """The lines of a page.

    Attributes:
        whole: as they are first read.
        columns: those of each column, read on its own.
    """

    whole: list[TextLine]
    columns: list[list[TextLine]]


def page(images: Sequence[PageLines]) -> dict[str, Any]:
    """Return the advertisements of one or more pages, one after the other."""
    ads: list[dict[str, str]] = []
    date = section = ""
    for whole, body in images:
        # Most pages have the date at the top, some at the foot.
        date = next(filter(None, map(_date, (whole, *body))), date)
        found = advertisements(body, section)
        ads += [{"date": date, "tags_section": of, "text": text} for of, text in found]
        section = found[-1][0] if found else section
    return {"advertisements": ads}


def _date(part: Sequence[TextLine]) -> str | None:
    return first_date(edited(" ".join(line.text for line in part)))


def read_columns(image: Image.Image, languages: str, *, timeout: float) -> PageLines:
    """Return the lines of a page.

    Each column is read on its own: on a whole page Tesseract runs lines across the gutter and
    separates the numbers in the margin from their ads.

    Args:
        image: the page.
        languages: see `read_words`.
        timeout: seconds for each reading.
    """
    first = read_words(image, languages, segmentation=ANYWHERE, timeout=timeout)
    found = columns(first)
    if found is None:
        return PageLines(lines(first), [lines(first)])
    boxes = (
        (0, found.top, found.gutter, image.height),
        (found.gutter, found.top, image.width, image.height),
    )
    crops = map(image.crop, boxes)
    read = partial(read_lines, languages=languages, segmentation=ONE_COLUMN, timeout=timeout)
    return PageLines(lines(first), list(map(read, crops)))


class _ReadAd(NamedTuple):
    section: str
    begins: bool  # otherwise it is the rest of one
    number: int | None
    texts: list[str]


def advertisements(body: Sequence[Sequence[TextLine]], section: str = "") -> list[tuple[str, str]]:
    """Return each advertisement's heading and text.

    Args:
        body: the columns in reading order, each with its lines from top to bottom.
        section: the heading that continues from before; empty if it is not known.

    Returns:
        Texts spelled as in the edition, with their numbers corrected from their neighbours'. What
        comes before the first number is the rest of an ad that began earlier.
    """
    ads: list[_ReadAd] = []
    for number, column in enumerate(body):
        kept = _without_furniture(column, last=number == len(body) - 1)
        begins = _beginnings(kept)
        headings = _headings(kept, begins)
        for place, line in enumerate(kept):
            text = _EDGE.sub("", line.text)
            if place in headings:
                before = [section] if place - 1 in headings else []
                section = joined([*before, edited(text)])
            elif place in begins:
                ads.append(_ReadAd(section, True, _value(line.text), [_without_number(text)]))
            elif not ads:
                ads.append(_ReadAd(section, False, None, [text]))
            else:
                ads[-1].texts.append(text)
    found = []
    for name, group in groupby(ads, key=lambda ad: ad.section):
        of_section = list(group)
        numbers = iter(numbered([ad.number for ad in of_section if ad.begins]))
        for ad in of_section:
            own = next(numbers) if ad.begins else None
            text = _closed(ad.texts)
            found.append((name.rstrip(" :;.,-"), text if own is None else f"{own}. {text}"))
    return found


def edited(text: str) -> str:
    """Return a text in Fraktur as an edition spells it.

    Example:
        >>> edited("Jtem ein Schleif- Stein / groſſe Feigen , di>e")
        'Item ein Schleif-Stein, grosse Feigen, dicke'
    """
    for pattern, instead in _SPELLING:
        text = re.sub(pattern, instead, text)
    return text.strip()


def _closed(texts: Sequence[str]) -> str:
    """Return an ad's lines as one text, with a full stop for a comma at the end."""
    return re.sub(r"[\s,;:-]+$", ".", edited(joined([edited(text) for text in texts if text])))


def _without_furniture(column: Sequence[TextLine], *, last: bool) -> list[TextLine]:
    """A column without page number above, catchword below, and specks in the page's margin."""
    if not column:
        return []
    # Full lines have the same length; no word begins to the right of them.
    edge = sorted(line.right for line in column)[len(column) * 3 // 4]
    cut = (line.of(word for word in line.words if word.left < edge) for line in column)
    kept = [line for line in cut if line and len(re.findall(r"\w", line.text)) > 1]
    while kept and not _PROSE.search(kept[0].text):
        kept = kept[1:]
    pitches = [below.top - above.top for above, below in pairwise(kept)]
    for place in range(max(0, len(pitches) - _FOOT_LINES), len(pitches)):
        if pitches[place] > _FOOT * median(pitches):
            kept = kept[: place + 1]
            break
    if last and len(kept) > 1:
        left, right = min(line.left for line in kept), max(line.right for line in kept)
        if kept[-1].left > (left + right) / 2:
            kept = kept[:-1]
    return kept


def _beginnings(column: Sequence[TextLine]) -> set[int]:
    """The lines that begin an ad: a number before the margin, or the next number in sequence."""
    begins, last = set(), None
    for place, line in enumerate(column):
        value = _value(line.text)
        outdent = (_margin(column, place) - line.left) / line.height
        follows = value is not None and last is not None and value == last + 1
        if (follows and outdent > 0) or (outdent > _OUTDENT and _in_margin(line.text)):
            begins.add(place)
            last = value if value is not None else None if last is None else last + 1
    return begins


def _margin(column: Sequence[TextLine], place: int) -> float:
    """Return where the lines without a number around one begin; a page may be askew."""
    around = column[max(0, place - _AROUND) : place + _AROUND + 1]
    lefts = sorted(line.left for line in around)
    return lefts[len(lefts) * 3 // 5]


def _in_margin(text: str) -> bool:
    """Return whether a text begins with what can be a number, perhaps misread."""
    first = text.split(maxsplit=1)[0]
    short = 1 < len(first) <= _MAX_NUMBER and not first.endswith(")")
    return short and (first[-1] in ".,:;" or any(map(str.isdecimal, first)))


def _value(text: str) -> int | None:
    match = _NUMBER.match(text)
    return int(match[1]) if match and match[1].isdecimal() else None


def _without_number(text: str) -> str:
    match = _NUMBER.match(text)
    return (text[match.end() :] if match else text.partition(" ")[2]).strip()


def _headings(column: Sequence[TextLine], begins: set[int]) -> set[int]:
    """Return the lines of headings: few, directly above an ad, apart from it or in larger type."""
    if not column:
        return set()
    pitches = [below.top - above.top for above, below in pairwise(column)]
    loose = _LOOSE * median(pitches or [0])
    height = median(line.height for line in column)
    found: set[int] = set()
    for begin in begins:
        top = begin
        for place in range(begin - 1, max(-1, begin - 1 - _HEADING_LINES), -1):
            # A full stop above a heading's last line is the end of an ad.
            if place in begins or (place < begin - 1 and column[place].text.endswith(".")):
                break
            apart = pitches[place - 1] > loose if place else top == begin
            if apart or column[place].height > (_LOOSE if place else _LARGER) * height:
                top = place
        block = range(top, begin)
        white_above = not top or pitches[top - 1] > loose
        larger = all(column[place].height > _LARGER * height for place in block)
        if block and (pitches[begin - 1] > loose or (white_above and larger)):
            found.update(block)
    return found


def numbered(values: Sequence[int | None]) -> list[int | None]:
    """Return the numbers of a section's ads, corrected: they increase by one.

    Those that agree best are kept: the longest rising chain in which no more than a few ads were
    overlooked. The others are counted on from them.

    Args:
        values: the numbers that were read; None where none was legible.

    Example:
        >>> numbered([36, 37, None, 19, 20, None, 22]), numbered([None, None])
        ([16, 17, 18, 19, 20, 21, 22], [None, None])
    """
    chains: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        if value is not None:
            fitting: list[list[int]] = [
                chain
                for before, chain in chains.items()
                if place - before <= value - (values[before] or 0) <= place - before + _OVERLOOKED
            ]
            chains[place] = [*max(fitting, key=len, default=[]), place]
    longest: list[int] = max(chains.values(), key=len, default=[])
    kept = set(longest)
    if not kept:
        return list(values)
    first = min(kept)
    number = (values[first] or 0) - first - 1
    run: list[int | None] = []
    for place, value in enumerate(values):
        number = value if place in kept and value is not None else number + 1
        run.append(number if number > 0 else None)
    return run
