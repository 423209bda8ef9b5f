"""Avisblatt: character error rate and similarity of a page's advertisements (`hdb/avisblatt_cer`).

The method is that of the Fraktur benchmark of the Basler Avisblatt (RISE, University of Basel,
2025). `documented` is its description read literally; `published` is what its published results
were computed with. Wherever the two differ, it is noted.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from hdbench.common.bounds import MAX_AD_PAIRS
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import (
    ANSWERED,
    COUNTED,
    COUNTS,
    EFFORT,
    PERFECT,
    REQUESTED,
    Corrected,
    FieldMatch,
    Figure,
    ItemScore,
    Metric,
    Outcome,
    check_fields,
    check_list,
    f1,
    only_if,
    plain,
    ratio,
    rounded,
    truncated,
)
from hdbench.scoring.text_equality import similarity

# Which advertisement of an answer stands for which one in the ground truth

SECTION_THRESHOLD = 0.95
"""The similarity from which two section headings are taken to be the same."""


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

    More than `MAX_AD_PAIRS` take too long, and no newspaper page has so many: then equal texts are
    paired first, and the rest in blocks, in the order of the page.

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
    if len(truth) * len(answered) > MAX_AD_PAIRS:
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
    blocks = 1 + len(rows) * len(columns) // MAX_AD_PAIRS
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


ADS = "advertisements"
"""The key of a page's list of advertisements."""

_SPACE = re.compile(r"\s+")

Edits = Callable[[str, str], int]
"""Gives the Levenshtein distance of two texts."""


def _as_edited(text: str) -> str:
    return text.replace("ſ", "s").replace("/", ",")


def _fold_space(text: str) -> str:
    return " ".join(text.split())


_NORMALIZERS: dict[str, Callable[[str], str]] = {
    "NFC": partial(unicodedata.normalize, "NFC"),
    "NFKC": partial(unicodedata.normalize, "NFKC"),
    "edition": _as_edited,
    "case": str.lower,
    "whitespace": _fold_space,
}
"""In the order in which they are applied."""


class PreparedPage(NamedTuple):
    """A ground truth, parsed once.

    Attributes:
        ads: its advertisements.
        continued: the section that begins on the page before; empty if none does.
        numbered: the ads as `published` keeps them; empty under `documented`.
        legible: the ads that have a text.
        rewritten: whether it was not written in canonical form.
    """

    ads: list[Ad]
    continued: str
    numbered: Sections
    legible: list[Ad]
    rewritten: bool


class AvisblattCer(Metric):
    """Similarity (`fuzzy`) and character error rate (CER) of the advertisements on one page.

    The ads of the ground truth are paired with the answer's by section and number
    (`pair_documented`, `pair_published`). The `fuzzy` of a pair is the similarity of the two texts,
    and its CER is their Levenshtein distance divided by the length of the reference text, at most
    1.0. An ad without a counterpart has fuzzy 0.0 and CER 1.0.

    `published` differs in the pairing; it also rounds each similarity to 3 decimals, computes the
    CER on lower-cased texts with white space folded, and rounds a page's fuzzy to 2 decimals and
    its CER to 3.

    All other figures are the same under both protocols, as far as their ground truths are: ads
    found, missed and invented, sections, dates and `perfect` use the pairing of `documented`,
    because `published` silently drops ads. The figures by text alone (`fuzzy_text`, `cer_text`)
    pair the ads of the whole page so that the total similarity is greatest, and leave out reference
    ads whose text is empty.

    A page's ads are its list `advertisements`, or stand under the page's key, as in the benchmark's
    description: `{"image_1": [{"text": …}, …]}` (published: in ground truths only; such an answer
    has no ads).

    Degenerate cases: `advertisements` that is not a list holds no ads (a ground truth is refused if
    it is neither a list nor null, or if no ad in it has a text). An entry that is not an
    object counts as an invented ad in the answer, and as no ad in the ground truth. A text that is
    neither a string nor a number counts as empty, and a section that is not a string counts as
    none. An empty reference text has CER 0.0 if both texts are empty, otherwise 1.0. A page whose
    ground truth has no ads has fuzzy 1.0 and CER 0.0 if the answer has none either, otherwise 0.0
    and 1.0 (published: always 0.0 and 1.0). A page without an answer misses every ad.

    Args:
        protocol: `documented` or `published`.
        normalize: what is done to texts and section headings on both sides before anything else:
            `none`, `NFC`, `NFKC`, `edition` (ſ to s and / to a comma, as the edition has them),
            `case` (lower case), `whitespace` (runs of it folded to one space, none at the ends), or
            a list of such names. This also applies under `published`, whose figures are then no
            longer the published ones.

    Raises:
        HdbenchError: the protocol is unknown, or a name in `normalize` is unknown.

    Example:
        >>> metric = AvisblattCer()
        >>> page = metric.prepare({"advertisements": [{"text": "1. Rother Wein"}]})
        >>> answer = {"advertisements": [{"text": "1. Roter Wein"}]}
        >>> metric.score(answer, page).statistics["cer"] == 1 / 14
        True
    """

    name: ClassVar[str] = "avisblatt_cer"
    rules: ClassVar[int] = 3
    statistics: ClassVar[tuple[str, ...]] = (
        "fuzzy",
        "cer",
        "scored_ads",
        "fuzzy_sum",
        "cer_sum",
        "legible_ads",
        "fuzzy_text_sum",
        "cer_text_sum",
        "true_positives",
        "false_positives",
        "false_negatives",
        "sections_right",
        "sections_right_loose",
        "dates_right",
        "counted_ads",
        "ntokens_error_sum",
        "perfect",
        *EFFORT,
    )
    item_figure: ClassVar[str] = "fuzzy"
    figures: ClassVar[tuple[Figure, ...]] = (
        *Figure.rates("fuzzy", divided_by=(("scored_ads",),)),
        *Figure.errors("cer", divided_by=(("scored_ads",),)),
        *Figure.rates("fuzzy_ads", divided_by=(("scored_ads",),)),
        *Figure.errors("cer_ads", divided_by=(("scored_ads",),)),
        *Figure.rates("fuzzy_pages"),
        *Figure.errors("cer_pages"),
        *Figure.rates("fuzzy_text", divided_by=(("legible_ads",),)),
        *Figure.errors("cer_text", divided_by=(("legible_ads",),)),
        Figure("f1_micro", "rate", True, divided_by=(COUNTS,)),
        Figure("precision_micro", "rate", True, divided_by=(ANSWERED,)),
        Figure("recall_micro", "rate", True, divided_by=(REQUESTED,)),
        *Figure.rates(
            "section_accuracy", "section_accuracy_loose", "date_accuracy", divided_by=(REQUESTED,)
        ),
        # A model may claim any number of tokens.
        Figure("ntokens_error", "error", False, always=False, has_interval=False),
        *COUNTED,
        *PERFECT,
    )
    corrected: ClassVar[Corrected | None] = "character"
    vectorized: ClassVar[bool] = True
    option_names: ClassVar[tuple[str, ...]] = ("normalize",)

    def __init__(
        self, protocol: str = "documented", *, normalize: str | Sequence[str] = "none"
    ) -> None:
        super().__init__(protocol)
        self.normalize = _check_normalize(normalize)

    @property
    def options(self) -> dict[str, Any]:
        """The option and its value, for the signature."""
        names = self.normalize
        return {"normalize": (names[0] if len(names) == 1 else names) if names else "none"}

    def prepare(self, reference: dict[str, Any]) -> PreparedPage:
        """Return the advertisements of a ground truth.

        Raises:
            HdbenchError: it has no list of advertisements, or none of them has a text.
        """
        page = self.canonical(reference)
        check_list(self.name, page, ADS)
        entries = _entries(page) or _entries_by_key(page)
        if not entries:
            check_fields(self.name, page, [ADS])
        elif not any(isinstance(entry, dict) and "text" in entry for entry in entries):
            check_fields(self.name, entries[0], ["text"], ADS)
        ads = read_ads(entries, self._normalized)
        continued = read_section(page.get("continued_section"), self._normalized)
        published = numbered(ads, continued) if self._published else {}
        legible = [ad for ad in ads if ad.text]
        return PreparedPage(ads, continued, published, legible, page is not reference)

    def right_answer(self, reference: dict[str, Any]) -> dict[str, Any]:
        """Return a page's ground truth with the list `advertisements`."""
        entries = _entries_by_key(reference)
        return {ADS: entries} if entries and ADS not in reference else reference

    def score(self, record: dict[str, Any] | None, prepared: PreparedPage) -> ItemScore:
        """The counts and sums of one page.

        Args:
            record: the answer, a JSON object; None counts as a complete failure.
            prepared: the page's ground truth, from `prepare`.

        Returns:
            `fuzzy` (0.0 to 1.0, higher is better) and `cer` (0.0 to 1.0, lower is better): the
            page's means. `fuzzy_sum` and `cer_sum`: the sums over its `scored_ads`;
            `fuzzy_text_sum` and `cer_text_sum` over its `legible_ads`. `true_positives`,
            `false_positives`, `false_negatives`: ads found, invented, missed. `sections_right`,
            `sections_right_loose`, `dates_right`: among the ads found. `ntokens_error_sum` over the
            `counted_ads` of the answer. `perfect`: 1 if the answer needs no edit. `EFFORT`: the
            edit distance of the texts of all ads, missed and invented ones included, and the
            characters of the ground truth's; headings and dates are not in it.
        """
        answer = self.canonical(record)
        entries = _entries(answer)
        if not entries and not self._published:
            entries = _entries_by_key(answer)
        answered = read_ads(entries, self._normalized)
        pairs = pair_documented(prepared.ads, answered, prepared.continued)
        edits = cache(Levenshtein.distance)  # of most pairs it is needed several times
        scored = self._scored_pairs(pairs, answered, prepared)
        scores = [self._score_pair(*pair, edits) for pair in scored]
        if scores or self._published:
            page = self._page_means(scores)
        else:
            page = (0.0, 1.0) if record is None or entries else (1.0, 0.0)
        by_text = assign(prepared.legible, answered)
        text_scores = [
            self._score_pair(prepared.legible[a], answered[b], edits) for a, b in by_text
        ]
        unpaired = len(prepared.legible) - len(by_text)
        both = [(ad, other) for ad, other in pairs if other]
        sections = [(ad.section, other.section) for ad, other in both]
        right = sum(a == b for a, b in sections)
        dates = sum(ad.date == other.date for ad, other in both)
        counted = [error for ad in answered if (error := _ntokens_error(ad)) is not None]
        perfect = len(both) == len(pairs) == len(entries) == right == dates and all(
            ad.text == other.text for ad, other in both
        )
        paired = {other.place for _, other in both}
        corrections = sum(
            edits(ad.text, other.text) if other else len(ad.text) for ad, other in pairs
        ) + sum(len(ad.text) for ad in answered if ad.place not in paired)
        return ItemScore(
            {
                "fuzzy": page[0],
                "cer": page[1],
                "scored_ads": len(scores),
                "fuzzy_sum": self.total([fuzzy for fuzzy, _ in scores]),
                "cer_sum": self.total([cer for _, cer in scores]),
                "legible_ads": len(prepared.legible),
                "fuzzy_text_sum": self.total([fuzzy for fuzzy, _ in text_scores]),
                "cer_text_sum": self.total([cer for _, cer in text_scores]) + unpaired,
                "true_positives": len(both),
                "false_positives": len(entries) - len(both),
                "false_negatives": len(pairs) - len(both),
                "sections_right": right,
                "sections_right_loose": sum(_loose(a) == _loose(b) for a, b in sections),
                "dates_right": dates,
                "counted_ads": len(counted),
                "ntokens_error_sum": self.total(counted),
                "perfect": int(perfect and record is not None),
                "corrections": corrections,
                "values": sum(len(ad.text) for ad in prepared.ads),
            },
            compared=(entries, pairs),
            rewritten=prepared.rewritten or answer is not record,
        )

    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """Return what became of each reference ad, and of each invented one; errors first.

        The pairing is the same as for the counts. Texts are shown as they were compared.
        """
        entries, pairs = score.compared
        invented = set(range(len(entries))) - {other.place for _, other in pairs if other}
        matches: dict[Outcome, list[FieldMatch]]
        matches = {"spurious": [], "missing": [], "substituted": [], "correct": []}
        for place in sorted(invented):
            entry = entries[place]
            text = entry.get("text") if isinstance(entry, dict) else entry
            matches["spurious"].append(FieldMatch(_field(place), "spurious", None, text, 0.0))
        for ad, other in pairs:
            outcome: Outcome = "missing"
            if other:
                outcome = "correct" if ad.text == other.text else "substituted"
            text = other.text if other else None
            alike = similarity(ad.text, text)
            matches[outcome].append(FieldMatch(_field(ad.place), outcome, ad.text, text, alike))
        return [match for rows in matches.values() for match in rows]

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over pages.

        `fuzzy`, the headline, and `cer` are the means over all ads (published: over pages, rounded
        to 3 decimals). All are from 0.0 to 1.0; for `cer…` and `ntokens_error` lower is better, for
        all others higher. With nothing to score, a similarity or rate is 0.0, a CER is 1.0, and
        `ntokens_error` is None.
        """
        ads, pages, legible = totals["scored_ads"], totals["items"], totals["legible_ads"]
        fuzzy_ads, cer_ads = ratio(totals["fuzzy_sum"], ads), _mean_error(totals["cer_sum"], ads)
        fuzzy_pages, cer_pages = ratio(totals["fuzzy"], pages), _mean_error(totals["cer"], pages)
        fuzzy, cer = fuzzy_ads, cer_ads
        if self._published:
            fuzzy, cer = rounded(fuzzy_pages, 3), rounded(cer_pages, 3)
        tp, fp, fn = (plain(totals[name]) for name in COUNTS)
        counted = totals["counted_ads"]
        return {
            "fuzzy": fuzzy,
            "cer": cer,
            "fuzzy_ads": fuzzy_ads,
            "cer_ads": cer_ads,
            "fuzzy_pages": fuzzy_pages,
            "cer_pages": cer_pages,
            "fuzzy_text": ratio(totals["fuzzy_text_sum"], legible),
            "cer_text": _mean_error(totals["cer_text_sum"], legible),
            "f1_micro": f1(tp, fp, fn),
            "precision_micro": ratio(tp, tp + fp),
            "recall_micro": ratio(tp, tp + fn),
            "section_accuracy": ratio(totals["sections_right"], tp + fn),
            "section_accuracy_loose": ratio(totals["sections_right_loose"], tp + fn),
            "date_accuracy": ratio(totals["dates_right"], tp + fn),
            "ntokens_error": only_if(counted, ratio(totals["ntokens_error_sum"], counted)),
            "true_positives": tp,
            "false_positives": fp,
            "false_negatives": fn,
            "items_perfect": truncated(totals["perfect"]),
        }

    def total(self, column: Sequence[float]) -> float:
        """Added up plainly from left to right: published figures then agree to the last digit."""
        total: float = 0
        for number in column:  # sum() compensates from Python 3.12 on
            total += number
        return total

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, float]],
        field: str,
    ) -> dict[str, float]:
        """The same rates without `date` or `ntokens`; for any other field there are none.

        The ads are paired by section and text.
        """
        if field.rpartition(".")[2] not in ("date", "ntokens"):
            return {}
        rates = self.rates(totals)
        return {name: rates[name] for name in ("fuzzy", "cer")}

    def _normalized(self, text: str) -> str:
        for name in self.normalize:
            text = _NORMALIZERS[name](text)
        return text

    def _scored_pairs(
        self, pairs: list[Pair], answered: Sequence[Ad], prepared: PreparedPage
    ) -> list[Pair]:
        """The protocol's own pairs."""
        if not self._published:
            return pairs
        others = numbered(answered, prepared.continued)
        return pair_published(prepared.numbered, others, prepared.continued)

    def _score_pair(self, ad: Ad, other: Ad | None, edits: Edits) -> tuple[float, float]:
        """Similarity and CER of one ad."""
        if other is None:
            return 0.0, 1.0
        if self._published:
            first, second = (_SPACE.sub(" ", text.lower()) for text in (ad.text, other.text))
            return round(similarity(ad.text, other.text), 3), _cer(first, second, edits)
        return similarity(ad.text, other.text), _cer(ad.text, other.text, edits)

    def _page_means(self, scores: Sequence[tuple[float, float]]) -> tuple[float, float]:
        fuzzy = ratio(self.total([fuzzy for fuzzy, _ in scores]), len(scores))
        cer = _mean_error(self.total([cer for _, cer in scores]), len(scores))
        return (round(fuzzy, 2), round(cer, 3)) if self._published else (fuzzy, cer)


def _entries(record: dict[str, Any] | None) -> list[Any]:
    """The entries in a record's list of advertisements."""
    entries = (record or {}).get(ADS)
    return entries if isinstance(entries, list) else []


def _entries_by_key(record: dict[str, Any] | None) -> list[Any]:
    """Return the advertisements in a record that has them under the page's key.

    Example:
        >>> _entries_by_key({"image_1": [{"text": "1. Rother Wein"}]})
        [{'text': '1. Rother Wein'}]
    """
    keys = (record or {}).keys() - {"continued_section"}
    entries = (record or {})[keys.pop()] if len(keys) == 1 else None
    if isinstance(entries, list) and all(isinstance(ad, dict) and "text" in ad for ad in entries):
        return entries
    return []


def _cer(reference: str, prediction: str, edits: Edits) -> float:
    """Levenshtein distance divided by the reference's length, 0.0 to 1.0, lower is better."""
    if not reference or not prediction:
        return float(reference != prediction)
    return min(1.0, edits(reference, prediction) / len(reference))


def _mean_error(errors: float, count: float) -> float:
    """The mean of some errors; 1.0 if there are none, as nothing was shown to be right."""
    return ratio(errors, count, 1.0)


def _loose(section: str) -> str:
    """A section heading without the punctuation at its end.

    Example:
        >>> _loose("Allerhand Nachrichten :")
        'Allerhand Nachrichten'
    """
    end = len(section)
    while end and (
        section[end - 1].isspace() or unicodedata.category(section[end - 1]).startswith("P")
    ):
        end -= 1
    return section[:end]


def _ntokens_error(ad: Ad) -> float | None:
    """How far an ad's own count is from the white-space tokens of its text, relative to those.

    0.0 to 1.0, lower is better; None if no finite number is given.

    Example:
        >>> _ntokens_error(Ad(0, "", 1, "1. Rother Wein von 1728", None, 4))
        0.2
    """
    declared, tokens = ad.ntokens, len(ad.text.split())
    if isinstance(declared, bool) or not isinstance(declared, int | float):
        return None
    if isinstance(declared, float) and not math.isfinite(declared):
        return None
    if abs(declared - tokens) >= tokens:  # also if one is too large to be divided
        return float(declared != tokens)
    return abs(declared - tokens) / tokens


def _field(place: int) -> str:
    return f"advertisements[{place}]"


def _check_normalize(value: Any) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise HdbenchError("normalize: {value} is not a name or a list of names", value=repr(value))
    for name in names:
        if not isinstance(name, str) or (name != "none" and name not in _NORMALIZERS):
            raise HdbenchError(
                "normalize: no {name}: choose from none, {choices}",
                name=repr(name),
                choices=", ".join(_NORMALIZERS),
            )
    return [name for name in _NORMALIZERS if name in names]
