"""How alike two texts of a field are: the ratio of `difflib.SequenceMatcher`, sooner."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hdbench.errors import HdbenchError
from hdbench.jsonio import MAX_DEPTH, is_too_deep

try:
    from cydifflib import SequenceMatcher
except ImportError:  # no wheel of it for every Python
    from difflib import SequenceMatcher

MAX_PAIRS = 10**8
"""The product of two texts' lengths up to which they are compared: 10,000 characters each. The
longest field of the benchmark has a few thousand."""

_AUTOJUNK_FROM = 200
"""The length of the second text from which difflib leaves out its frequent characters."""


def as_text(value: Any) -> str:
    """A field's value as the text that is compared: of null the empty one, else its `str()`.

    Raises:
        HdbenchError: it is an object or list that is nested too deep.

    Example:
        >>> as_text(1917), as_text(None)
        ('1917', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list) and is_too_deep(value):
        raise HdbenchError(f"a field's value is nested more than {MAX_DEPTH} deep")
    return "" if value is None else str(value)


def is_too_long(a: str, b: str) -> bool:
    """Whether comparing two texts would take unbounded time."""
    return len(a) * len(b) > MAX_PAIRS


def field_similarity(reference: str, prediction: str, *, autojunk: bool = True) -> float:
    """How alike two texts of a field are, without regard to case. Not symmetric.

    1.0 if they are equal; 0.0 if one is empty; 1.0 if they are equal in lower case; else difflib's
    ratio of them in lower case, `2 * matching characters / characters of both`. 0.0 if they are too
    long to be compared.

    Args:
        reference: the truth's text.
        prediction: the answer's.
        autojunk: as of `difflib.SequenceMatcher`.

    Returns:
        A similarity from 0.0 to 1.0, higher is better.

    Example:
        >>> field_similarity("Springer Nature", "springer")
        0.6956521739130435
    """
    if reference == prediction:
        return 1.0
    if not reference or not prediction:
        return 0.0
    a, b = reference.lower(), prediction.lower()
    if a == b:
        return 1.0
    return 0.0 if is_too_long(reference, prediction) else sequence_ratio(a, b, autojunk=autojunk)


def rounded(similarity: float) -> float:
    """A similarity as it goes into every mean: to three decimals.

    The description does not say so, but only so do the figures of its published example come out.
    """
    return round(similarity, 3)


def sequence_ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """Exactly `difflib.SequenceMatcher(None, a, b, autojunk).ratio()`. Not symmetric.

    The time grows with the product of the lengths, and in the worst case with its power of 1.5.

    Args:
        a: the first text.
        b: the second one; from 200 characters on `autojunk` begins no match with a character that
            makes up more than about one in a hundred of it.
        autojunk: as difflib's.

    Returns:
        A ratio from 0.0 to 1.0, higher is better; of two empty texts 1.0.

    Example:
        >>> sequence_ratio("abcd", "bcde")
        0.75
    """
    if a.startswith(b) or b.startswith(a):
        # Of equal matches difflib takes the first in both, so that its blocks are this one.
        return 2.0 * min(len(a), len(b)) / (len(a) + len(b)) if a or b else 1.0
    if autojunk and len(b) >= _AUTOJUNK_FROM:
        most = len(b) // 100 + 1
        rare = {sign: count for sign, count in Counter(b).items() if count <= most}
        # Most of a long text in an alphabet is left out: looking at the rest alone is faster.
        if sum(rare.values()) < len(b) / 2:
            return 2.0 * _matching(a, b, _common(a, b, rare)) / (len(a) + len(b))
    return float(SequenceMatcher(None, a, b, autojunk).ratio())


def _common(a: str, b: str, signs: Iterable[str]) -> list[tuple[int, list[int]]]:
    """Where some characters stand that both texts have: each place in `a`, with those in `b`."""
    found = []
    for sign in signs:
        in_b = _places(sign, b)
        found += [(at, in_b) for at in _places(sign, a)]
    return sorted(found)


def _places(sign: str, text: str) -> list[int]:
    places = []
    at = text.find(sign)
    while at >= 0:
        places.append(at)
        at = text.find(sign, at + 1)
    return places


def _matching(a: str, b: str, found: list[tuple[int, list[int]]]) -> int:
    """How many characters of two texts match.

    As difflib does: the longest run of rare characters that both have (of equals the first in `a`,
    then in `b`), lengthened on both sides while the texts agree, then the same before and after.

    Args:
        a: the first text.
        b: the second one.
        found: where the rare characters stand, from `_common`.
    """
    starts = [at for at, _ in found]
    matching = 0
    parts = [(0, len(a), 0, len(b))]
    while parts:
        a_low, a_high, b_low, b_high = parts.pop()
        best_a, best_b, best = a_low, b_low, 0
        last = -1
        runs: dict[int, int] = {}  # where a run that ends at `last` in `a` ends in `b` → its length
        for at, places in found[bisect_left(starts, a_low) : bisect_left(starts, a_high)]:
            longer: dict[int, int] = {}
            before = runs if at == last + 1 else {}
            for place in places:
                if b_low <= place < b_high:
                    longer[place] = length = before.get(place - 1, 0) + 1
                    if length > best:
                        best_a, best_b, best = at - length + 1, place - length + 1, length
            last, runs = at, longer
        while best_a > a_low and best_b > b_low and a[best_a - 1] == b[best_b - 1]:
            best_a, best_b, best = best_a - 1, best_b - 1, best + 1
        end_a, end_b = best_a + best, best_b + best
        while end_a < a_high and end_b < b_high and a[end_a] == b[end_b]:
            end_a, end_b = end_a + 1, end_b + 1
        if end_a > best_a:
            matching += end_a - best_a
            if a_low < best_a and b_low < best_b:
                parts.append((a_low, best_a, b_low, best_b))
            if end_a < a_high and end_b < b_high:
                parts.append((end_a, a_high, end_b, b_high))
    return matching
