"""How alike two texts of a field are: the ratio of `difflib.SequenceMatcher`, computed faster."""

from typing import Any

from hdbench.common.bounds import MAX_DEPTH
from hdbench.common.jsonio import is_too_deep
from hdbench.errors import HdbenchError

try:
    from cydifflib import SequenceMatcher  # difflib's own procedure, compiled
except ImportError:  # there is no wheel for Python 3.14 yet
    from difflib import SequenceMatcher

MAX_PAIRS = 10**8
"""The maximum product of two texts' lengths for them to be compared: 10,000 characters each. The
longest field of the benchmark has a few thousand."""


def as_text(value: Any) -> str:
    """A field's value as the text to compare: for null the empty text, otherwise its `str()`.

    Raises:
        HdbenchError: it is an object or list that is nested too deep.

    Example:
        >>> as_text(1917), as_text(None)
        ('1917', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list) and is_too_deep(value):
        raise HdbenchError("a field's value is nested more than {most} deep", most=MAX_DEPTH)
    return "" if value is None else str(value)


def is_too_long(a: str, b: str) -> bool:
    """Return whether comparing two texts would take unbounded time."""
    return len(a) * len(b) > MAX_PAIRS


def field_similarity(reference: str, prediction: str, *, autojunk: bool = True) -> float:
    """Return how alike two texts of a field are, ignoring case. Not symmetric.

    1.0 if they are equal; 0.0 if one is empty; 1.0 if they are equal in lower case; otherwise
    difflib's ratio of them in lower case, `2 * matching characters / characters of both`, to three
    decimals. 0.0 if they are too long to be compared.

    The description does not say that similarities are rounded before any mean is taken, but only
    then do the figures of its published example come out.

    Args:
        reference: the reference text.
        prediction: the answer's text.
        autojunk: same as in `difflib.SequenceMatcher`.

    Returns:
        A similarity from 0.0 to 1.0, higher is better.

    Example:
        >>> field_similarity("Springer Nature", "springer")
        0.696
    """
    if reference == prediction:
        return 1.0
    if not reference or not prediction:
        return 0.0
    a, b = reference.lower(), prediction.lower()
    if a == b:
        return 1.0
    if is_too_long(reference, prediction):
        return 0.0
    return round(sequence_ratio(a, b, autojunk=autojunk), 3)


def sequence_ratio(a: str, b: str, *, autojunk: bool = True) -> float:
    """Exactly `difflib.SequenceMatcher(None, a, b, autojunk).ratio()`. Not symmetric.

    Args:
        a: the first text.
        b: the second text; from 200 characters on, `autojunk` begins no match with a character that
            makes up more than about one in a hundred of it.
        autojunk: same as in difflib.

    Returns:
        A ratio from 0.0 to 1.0, higher is better; 1.0 for two empty texts.

    Example:
        >>> sequence_ratio("abcd", "bcde")
        0.75
    """
    ratio: float = SequenceMatcher(None, a, b, autojunk).ratio()
    return ratio
