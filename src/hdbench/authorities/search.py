"""Names of an authority file that are like a given one, found among a million."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from hdbench.answers.letters import folded
from hdbench.authorities.files import AuthorityLine

SAME = 100.0
"""The score of a name that is the same to the letter; all others have less."""

_LIKE = 99.0  # the same but for accents, punctuation, or the order of its words
_COMPARED = 200  # lines that are compared letter by letter, those that share most trigrams
_BITS = 20  # of a trigram's hash
_FACTORS = (2_654_435_761, 2_246_822_519, 3_266_489_917)  # odd, so that no trigrams are lost
_BREAK = ord("\n")


class AuthorityMatch(NamedTuple):
    """Somebody or something that a name may mean.

    Attributes:
        identifier: its identifier.
        name: its preferred name.
        found: which of its names is like the given one.
        score: how much they are alike, from 0 to 100.
    """

    identifier: str
    name: str
    found: str
    score: float


class AuthoritySearch:
    """The names of an authority file, found by their trigrams and compared by RapidFuzz.

    Args:
        lines: its lines with an identifier.

    Example:
        >>> search = AuthoritySearch([
        ...     AuthorityLine("Müller, Karl", "118585053"), AuthorityLine("Miller, Carl", "7")])
        >>> [(each.name, each.score) for each in search.find("Karl Muller", 5)]
        [('Müller, Karl', 99.0), ('Miller, Carl', 81.8)]
    """

    def __init__(self, lines: Sequence[AuthorityLine]) -> None:
        self._lines = lines
        self._texts = _all_folded(line.value for line in lines)
        self._names: dict[str, str] = {}
        for line in lines:
            self._names.setdefault(line.identifier, line.value)
        keys = _keys(self._texts)
        numbers = (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        bounds = np.arange((1 << _BITS) + 1, dtype=np.uint64) << np.uint64(32)
        self._starts = np.searchsorted(keys, bounds)
        self._numbers = numbers
        self._sizes = np.bincount(numbers, minlength=len(lines)).astype(np.float32)

    def find(self, name: str, at_most: int) -> list[AuthorityMatch]:
        """Return who or what a name may mean, the most alike first.

        The score is 100 for the same name to the letter, and 99 if only accents, punctuation or the
        order of the words differ. Otherwise it is the share of letters that stay when one name is
        changed into the other (the normalized indel similarity), in the words' order or sorted.
        """
        wanted, exact = loosely_folded(name), folded(name)
        best: dict[str, AuthorityMatch] = {}
        for number in self._alike(wanted):
            line = self._lines[number]
            score = _score(wanted, self._texts[number])
            if score == SAME and exact != folded(line.value):
                score = _LIKE
            score = round(score, 1)
            known = best.get(line.identifier)
            if known is None or score > known.score:
                preferred = self._names[line.identifier]
                best[line.identifier] = AuthorityMatch(
                    line.identifier, preferred, line.value, score
                )
        return sorted(best.values(), key=lambda each: (-each.score, each.name))[:at_most]

    def _alike(self, wanted: str) -> Iterable[int]:
        """Return the lines with the largest share of trigrams in common with a text."""
        hashes = np.unique(_keys([wanted]) >> np.uint64(32)).astype(np.int64)
        if not hashes.size:
            return ()
        found = [self._numbers[self._starts[each] : self._starts[each + 1]] for each in hashes]
        common = np.bincount(np.concatenate(found), minlength=len(self._lines))
        numbers = np.flatnonzero(common)
        shares = common[numbers] / (self._sizes[numbers] + np.float32(hashes.size))
        if numbers.size > _COMPARED:
            numbers = numbers[np.argpartition(-shares, _COMPARED)[:_COMPARED]]
        chosen: list[int] = np.sort(numbers).tolist()
        return chosen


def loosely_folded(text: str) -> str:
    """Return a text without case, accents and punctuation.

    Example:
        >>> loosely_folded("Müller-Weiß, Karl (†)")
        'muller weiss karl'
    """
    return _all_folded([text.replace("\n", " ")])[0]


def _all_folded(texts: Iterable[str]) -> list[str]:
    """Return texts of one line each as `loosely_folded` does, a million of them in seconds."""
    together = unicodedata.normalize("NFKD", "\n".join(texts)).casefold()
    table: dict[int, str | None] = {
        ord(sign): None if unicodedata.combining(sign) else " "
        for sign in set(together) - {"\n"}
        if not sign.isalnum()
    }
    return [" ".join(text.split()) for text in together.translate(table).split("\n")]


def _score(one: str, other: str) -> float:
    return max(fuzz.ratio(one, other), fuzz.token_sort_ratio(one, other))


def _keys(texts: Iterable[str]) -> npt.NDArray[np.uint64]:
    """Return the trigrams of texts: their hash, and in the lower half the text's number; sorted.

    Words have a break before and behind them, so that their order makes no difference.
    """
    together = "\n" + "\n".join(texts) + "\n"
    codes = np.frombuffer(together.encode("utf-32-le", "surrogatepass"), np.uint32)
    numbers = (np.cumsum(codes == _BREAK, dtype=np.uint32) - np.uint32(1))[1:-1]
    codes = np.where(codes == ord(" "), np.uint32(_BREAK), codes)
    first, second, third = codes[:-2], codes[1:-1], codes[2:]
    hashes = first * np.uint32(_FACTORS[0])
    hashes ^= second * np.uint32(_FACTORS[1])
    hashes ^= third * np.uint32(_FACTORS[2])
    hashes >>= np.uint32(32 - _BITS)
    within = second != _BREAK
    keys: npt.NDArray[np.uint64] = hashes[within].astype(np.uint64) << np.uint64(32)
    keys |= numbers[within]
    keys.sort()  # `np.unique` needs several times as long, and as much memory
    is_new: npt.NDArray[np.bool_] = np.diff(keys, prepend=~keys[:1]) != 0
    return keys[is_new]
