"""The letters of values: a text for each value, and texts that are the same to the letter."""

import json
import unicodedata
from typing import Any, Literal

Case = Literal["counts", "ignored"]
"""Whether upper and lower case count where texts are compared to the letter."""

BETWEEN = " / "
"""Separator between the texts of a list."""


def text_of(value: Any) -> str:
    """Return a value as a text, empty for values without content: null, [], `"null"`; 0 has some.

    Example:
        >>> [text_of(value) for value in (None, 0, " null ", 1924.0, ["Diss", "Basel"], True)]
        ['', '0', '', '1924', 'Diss / Basel', 'true']
    """
    if isinstance(value, str):
        text = value.strip()
        return "" if text == "null" else text
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        is_whole = isinstance(value, float) and value.is_integer()
        return str(int(value) if is_whole else value)
    if isinstance(value, list):
        return BETWEEN.join(filter(None, map(text_of, value)))
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""


def folded(text: str, case: Case) -> str:
    r"""Return a text reduced to its letters: normalized (NFC), with single spaces.

    Two values are the same to the letter if they are equal when folded.

    Args:
        text: the text.
        case: whether upper and lower case count.

    Example:
        >>> folded("Basel \n LAND", "counts"), folded("Basel LAND", "ignored")
        ('Basel LAND', 'basel land')
    """
    normalized = unicodedata.normalize("NFC", text)
    return " ".join((normalized.casefold() if case == "ignored" else normalized).split())
