"""Values that come back in different spellings, found as OpenRefine finds them."""

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from hdbench.common.letters import text_of
from hdbench.datasets.building.checks.near_values import edits

MAX_COMPARED = 200_000_000
"""Maximum number of comparisons of a field's values with each other; they take half a minute. The
rarest values are compared last."""

MAX_LENGTH = 200
"""Longer texts are the same only by their fingerprint."""

_DIGITS = re.compile(r"\d+")


class Variant(NamedTuple):
    """One spelling.

    Attributes:
        value: the value.
        text: its text.
        items: the items that have it, in the order of the list.
    """

    value: Any
    text: str
    items: Sequence[int]


class Cluster(NamedTuple):
    """Values of a field that are probably meant to be the same.

    Attributes:
        field: the field's path.
        variants: their spellings, the most frequent first.
    """

    field: str
    variants: tuple[Variant, ...]

    @property
    def size(self) -> int:
        """Return the number of values."""
        return sum(len(variant.items) for variant in self.variants)


def plain(text: str) -> str:
    """Return a text without case, diacritics, punctuation and superfluous space.

    Example:
        >>> plain(" Basel:  É. Müller ")
        'basel e muller'
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = (char for char in decomposed if char.isspace() or _counts(char))
    return " ".join("".join(kept).split())


def fingerprint(text: str) -> str:
    """Return what all spellings of a text have in common: its plain words, sorted, each once.

    This is the method that OpenRefine calls `fingerprint`. A text without a letter is its own.

    Example:
        >>> fingerprint("Müller, Karl (Karl)"), fingerprint("–")
        ('karl muller', '–')
    """
    return " ".join(sorted(set(plain(text).split()))) or text


def _counts(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN"


class FieldClusters:
    """The clusters of a field's texts.

    Texts with the same fingerprint are together. The fingerprints are gone through by the number of
    their values, the most frequent first: each joins its nearest neighbor among the centers before
    it, the first of equals, or is a center itself. Neighbors have the same digits, and differ by as
    many edits (OSA distance of the `plain` texts) as a slip has: see `edits`.

    Args:
        counts: text → how many values have it.

    Attributes:
        groups: the texts of each cluster.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        by_fingerprint: defaultdict[str, list[str]] = defaultdict(list)
        for text in counts:
            by_fingerprint[fingerprint(text)].append(text)
        spellings = [
            sorted(texts, key=lambda text: (-counts[text], text))
            for texts in by_fingerprint.values()
        ]
        spellings.sort(key=lambda texts: (-sum(map(counts.__getitem__, texts)), texts[0]))
        self.groups: list[list[str]] = []
        self._budget = MAX_COMPARED
        self._centers: defaultdict[tuple[int, tuple[str, ...]], _Centers] = defaultdict(_Centers)
        for texts in spellings:
            form = plain(texts[0])[: MAX_LENGTH + 1]
            near = self._nearest(form)
            if near is not None:
                self.groups[near] += texts
                continue
            if len(form) <= MAX_LENGTH:
                centers = self._centers[len(form), _digits(form)]
                centers.forms.append(form)
                centers.groups.append(len(self.groups))
            self.groups.append(list(texts))

    def _nearest(self, form: str) -> int | None:
        most = edits(len(form))
        if len(form) > MAX_LENGTH or not most:
            return None
        nearest: tuple[int, int] | None = None
        for length in range(len(form) - most, len(form) + most + 1):
            centers = self._centers.get((length, _digits(form)))
            if centers is None:
                continue
            self._budget -= len(centers.forms)
            if self._budget < 0:
                return None
            # The shorter one decides how many edits are a slip.
            match = process.extractOne(
                form, centers.forms, scorer=OSA.distance, score_cutoff=min(most, edits(length))
            )
            if match is not None:
                found = (int(match[1]), centers.groups[match[2]])
                nearest = min(nearest or found, found)
        return None if nearest is None else nearest[1]


class _Centers:
    """Centers of one length with the same digits: their forms, and their groups."""

    def __init__(self) -> None:
        self.forms: list[str] = []
        self.groups: list[int] = []


def _digits(form: str) -> tuple[str, ...]:
    return tuple(_DIGITS.findall(form))


def clusters_of(values: Iterable[tuple[int, str, Any]]) -> list[Cluster]:
    """Return the clusters of two or more values, the largest first.

    Args:
        values: item, field and value of each value; those without content do not count.
    """
    items: defaultdict[str, defaultdict[str, array[int]]] = defaultdict(
        lambda: defaultdict(lambda: array("L"))
    )
    first: dict[tuple[str, str], Any] = {}
    for item, field, value in values:
        if text := text_of(value):
            items[field][text].append(item)
            first.setdefault((field, text), value)
    clusters = []
    for field, by_text in items.items():
        counts = {text: len(of_text) for text, of_text in by_text.items()}
        for group in FieldClusters(counts).groups:
            if sum(map(counts.__getitem__, group)) > 1:
                group.sort(key=lambda text: (-counts[text], text))
                variants = (Variant(first[field, text], text, by_text[text]) for text in group)
                clusters.append(Cluster(field, tuple(variants)))
    return sorted(
        clusters, key=lambda cluster: (-cluster.size, cluster.field, cluster.variants[0].text)
    )
