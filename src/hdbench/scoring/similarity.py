"""How alike two values are."""

from typing import Any

from rapidfuzz import fuzz


def similarity(a: Any, b: Any) -> float:
    """Normalised Indel similarity of two values, case- and white-space-sensitive.

    1.0 if they or their `str()` forms are equal; 0.0 if one is null or neither a string nor a
    number; otherwise `rapidfuzz.fuzz.ratio(str(a), str(b)) / 100`. Symmetric.

    Args:
        a: a JSON value.
        b: a JSON value.

    Returns:
        A similarity from 0.0 to 1.0, higher is better.

    Example:
        >>> similarity("X,184", "X, 184")
        0.9090909090909091
        >>> similarity(1957, "1957")
        1.0
        >>> similarity("", None)
        0.0
    """
    if isinstance(a, str) and isinstance(b, str):  # nearly always
        return fuzz.ratio(a, b) / 100
    if a == b:
        return 1.0
    if a is None or b is None:
        return 0.0
    text_a, text_b = str(a), str(b)
    if text_a == text_b:
        return 1.0
    if not isinstance(a, str | int | float) or not isinstance(b, str | int | float):
        return 0.0
    return fuzz.ratio(text_a, text_b) / 100
