"""Dates in German, as found in letters and newspapers."""

import re
from datetime import date

_MONTHS = {
    "jan": 1, "jenner": 1, "jänner": 1, "hornung": 2, "feb": 2, "mär": 3, "mer": 3, "mar": 3,
    "apr": 4, "mai": 5, "mei": 5, "may": 5, "jun": 6, "brach": 6, "jul": 7, "heum": 7, "aug": 8,
    "sep": 9, "herbstm": 9, "okt": 10, "oct": 10, "weinm": 10, "nov": 11, "winterm": 11, "dez": 12,
    "dec": 12, "christm": 12,
}  # fmt: skip
"""Beginnings of months' names, also of older German and Swiss ones, and misread forms of mai."""

_LONG = re.compile(
    rf"\b(\d{{1,2}})\s?(?:[.,:]|ten)*\s*({'|'.join(_MONTHS)})[a-zäé]*[.,]?"
    r"\s*(1\s?[5-9]\s?\d\s?\d)\b",
    re.IGNORECASE,
)
_SHORT = re.compile(r"\b(\d{1,2})\s?[.,/]\s?(\d{1,2})\s?[.,/]\s?((?:1[5-9])?\d\d)\b")
_CENTURY = 1900  # for a two-digit year: only typewritten dates abbreviate it


def first_date(text: str) -> str | None:
    """The first date in a text, in ISO form; one with a month's name comes before one in digits.

    Example:
        >>> first_date("Donnerstags, den 11. Hornung 1762."), first_date("Basel, 16.2.26")
        ('1762-02-11', '1926-02-16')
    """
    for match in _LONG.finditer(text):
        year = int(match[3].replace(" ", ""))
        if found := _iso(year, _MONTHS[match[2].lower()], int(match[1])):
            return found
    for match in _SHORT.finditer(text):
        year = int(match[3]) + (_CENTURY if len(match[3]) == len("26") else 0)
        if found := _iso(year, int(match[2]), int(match[1])):
            return found
    return None


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
