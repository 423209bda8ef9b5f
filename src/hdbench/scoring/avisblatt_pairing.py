"""Which advertisement of an answer stands for which one in the ground truth."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from hdbench.scoring.similarity import similarity

SECTION_THRESHOLD = 0.95
"""The similarity from which two section headings are taken to be the same."""

MAX_PAIRS = 1_000_000
"""Maximum number of pairs of texts compared for one group of ads: 1,000 ads by 1,000."""

# int() rejects longer numbers.
_NUMBER = re.compile(r"\s*(\d{1,4300})\.")

# The tie-breakers weigh so little that they decide nothing else: a matrix with the sums of all
# three is solved once, while exact ties would need a solver for each.
_CER_WEIGHT = 1e-7
_ORDER_WEIGHT = 1e-14
_MAX_APART = 10_000


class Ad(NamedTuple):
    """One advertisement of a page.

    Attributes:
        place: its place in the list, from 0.
        section: its heading, stripped; empty if it has none.
        number: the integer before the first full stop at the start of its text, if there is one.
        text: its text; empty if that is neither a string nor a number.
        date: its date, as it is.
        ntokens: the number of tokens given for it, as it is.
    """

    place: int
    section: str
    number: int | None
    text: str
    date: Any
    ntokens: Any


Pair = tuple[Ad, Ad | None]
"""An advertisement in the ground truth and its counterpart in the answer, if it has one."""

Sections = dict[str, dict[int, Ad]]


def read_ads(entries: Sequence[Any], normalize: Callable[[str], str] = str) -> list[Ad]:
    """The advertisements among a page's entries; an entry that is not an object is not one.

    Args:
        entries: a list of JSON values.
        normalize: what is done to texts and section headings before anything else.

    Example:
        >>> read_ads([{"text": "5. Eine Violino", "tags_section": " Verkauff "}, None])[0][:4]
        (0, 'Verkauff', 5, '5. Eine Violino')
    """
    ads = []
    for place, entry in enumerate(entries):
        if isinstance(entry, dict):
            text = entry.get("text")
            plain = normalize(str(text)) if isinstance(text, str | int | float) else ""
            number = _NUMBER.match(plain) if isinstance(text, str) else None
            ads.append(
                Ad(
                    place,
                    read_section(entry.get("tags_section"), normalize),
                    int(number[1]) if number else None,
                    plain,
                    entry.get("date"),
                    entry.get("ntokens"),
                )
            )
    return ads


def read_section(value: Any, normalize: Callable[[str], str] = str) -> str:
    """A section heading, stripped; empty if it is not a string."""
    return normalize(value).strip() if isinstance(value, str) else ""


def pair_documented(truth: Sequence[Ad], answered: Sequence[Ad], continued: str) -> list[Pair]:
    """Pair ads as the benchmark's description says: by section, then by number.

    A reference section takes the ads of the answer's section of the same name; if there is none,
    those of the most similar section with a similarity of at least `SECTION_THRESHOLD` (of equally
    similar ones, the first). Sections of the same name come first. Ads without a heading form a
    section that is similar to no other. Within a section, ads of the same number are paired, and so
    are those without a number, so that the total similarity is greatest. What is then left of the
    continued section is paired by number with ads that have no section, and then with any. An ad of
    the answer is used once.

    Args:
        truth: the reference ads.
        answered: the answer's ads.
        continued: the section that begins on the page before; empty if none does.

    Returns:
        A pair for each reference ad, in order.
    """
    counterparts: dict[int, Ad] = {}
    used: set[int] = set()

    def match(ads: Sequence[Ad], candidates: Sequence[Ad]) -> None:
        free = _by_number(ad for ad in candidates if ad.place not in used)
        open_ads = _by_number(ad for ad in ads if ad.place not in counterparts)
        for number, group in open_ads.items():
            for row, column in assign(group, free.get(number, [])):
                counterparts[group[row].place] = free[number][column]
                used.add(free[number][column].place)

    sections, others = _by_section(truth), _by_section(answered)
    for section, ads in sections.items():
        match(ads, others.get(section, []))
    names = list(others)
    for section, ads in sections.items():
        if section not in others:
            nearest = process.extractOne(
                section, names, scorer=fuzz.ratio, score_cutoff=100 * SECTION_THRESHOLD
            )
            if nearest:
                match(ads, others[nearest[0]])
    if continued:
        left = [ad for ad in sections.get(continued, []) if ad.number is not None]
        match(left, others.get("", []))
        match(left, answered)
    return [(ad, counterparts.get(ad.place)) for ad in truth]


def pair_published(truth: Sections, answered: Sections, continued: str) -> list[Pair]:
    """Pair ads as the published results did.

    If the page continues a section and the ground truth has it, only that section's ads are scored:
    by number in that section, or else in the first section of the answer that has the number.
    Otherwise, a reference section takes the answer's section of the same name, or else the first
    one with a similarity of at least `SECTION_THRESHOLD`. An ad of the answer can be used more than
    once.

    Args:
        truth: the reference ads, from `numbered`.
        answered: the answer's ads, likewise.
        continued: the section that begins on the page before; empty if none does.

    Returns:
        A pair for each reference ad that is scored, section by section.
    """
    if continued in truth:
        anywhere: dict[int, Ad] = {}
        for ads in answered.values():
            for number, ad in ads.items():
                anywhere.setdefault(number, ad)
        here = anywhere | answered.get(continued, {})
        return [(ad, here.get(number)) for number, ad in truth[continued].items()]
    pairs: list[Pair] = []
    for section, ads in truth.items():
        others = answered.get(section)
        if others is None:
            similar = (name for name in answered if similarity(section, name) >= SECTION_THRESHOLD)
            others = answered.get(next(similar, ""), {})
        pairs += [(ad, others.get(number)) for number, ad in ads.items()]
    return pairs


def numbered(ads: Sequence[Ad], continued: str) -> Sections:
    """Section → number → ad, as the published results keep them.

    An ad without a section belongs to the continued one. An ad with neither, without a number or
    with number 0 is dropped, and of two with the same section and number, the later one is kept.
    """
    sections: Sections = {}
    for ad in ads:
        section = ad.section or continued
        if section and ad.number:
            sections.setdefault(section, {})[ad.number] = ad
    return sections


def assign(truth: Sequence[Ad], answered: Sequence[Ad]) -> list[tuple[int, int]]:
    """Pair ads one to one so that the total similarity of their texts is greatest.

    Of equal totals (to about a ten-millionth), the one with the lower total CER is taken, then the
    one whose pairs are nearest to one another in the two lists.

    More than `MAX_PAIRS` pairs take too long, and no newspaper page has so many: then equal texts
    are paired first, and the rest in blocks, in the order of the page.

    Args:
        truth: n ads.
        answered: m ads.

    Returns:
        Pairs of places in the two lists, ordered by the first: min(n, m), in blocks perhaps fewer.
    """
    if not truth or not answered:
        return []
    if len(truth) == len(answered) == 1:  # nearly always, as ads are paired by number
        return [(0, 0)]
    if len(truth) * len(answered) > MAX_PAIRS:
        return _assign_in_blocks(truth, answered)
    # Loaded only here: scipy takes long to import, and other benchmarks do not need it.
    import numpy as np  # noqa: PLC0415
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    texts, others = [ad.text for ad in truth], [ad.text for ad in answered]
    # The scorers' default, float32, is too coarse to tell close similarities apart.
    alike = process.cdist(texts, others, scorer=fuzz.ratio, dtype=np.float64) / 100
    edits = process.cdist(texts, others, scorer=Levenshtein.distance, dtype=np.int32)
    lengths = np.array([max(len(text), 1) for text in texts])
    apart = np.subtract.outer(np.arange(len(texts)), np.arange(len(others))) ** 2
    alike -= _CER_WEIGHT * np.minimum(edits / lengths[:, None], 1)
    alike -= _ORDER_WEIGHT * np.minimum(apart, _MAX_APART)
    rows, columns = linear_sum_assignment(alike, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _assign_in_blocks(truth: Sequence[Ad], found: Sequence[Ad]) -> list[tuple[int, int]]:
    places: dict[str, list[int]] = {}
    for column in reversed(range(len(found))):
        places.setdefault(found[column].text, []).append(column)
    pairs = [(row, places[ad.text].pop()) for row, ad in enumerate(truth) if places.get(ad.text)]
    rows = sorted(set(range(len(truth))) - {row for row, _ in pairs})
    columns = sorted(set(range(len(found))) - {column for _, column in pairs})
    blocks = 1 + len(rows) * len(columns) // MAX_PAIRS
    for block in range(blocks):
        some = _block(rows, block, blocks)
        others = _block(columns, block, blocks)
        inner = assign([truth[row] for row in some], [found[column] for column in others])
        pairs += [(some[row], others[column]) for row, column in inner]
    return sorted(pairs)


def _block(places: Sequence[int], block: int, blocks: int) -> Sequence[int]:
    return places[len(places) * block // blocks : len(places) * (block + 1) // blocks]


def _by_section(ads: Iterable[Ad]) -> dict[str, list[Ad]]:
    groups: dict[str, list[Ad]] = {}
    for ad in ads:
        groups.setdefault(ad.section, []).append(ad)
    return groups


def _by_number(ads: Iterable[Ad]) -> dict[int | None, list[Ad]]:
    groups: dict[int | None, list[Ad]] = {}
    for ad in ads:
        groups.setdefault(ad.number, []).append(ad)
    return groups
