"""A typed letter: its date, who wrote it, who received it, and its subject line."""

import re
from collections.abc import Sequence

from hdbench.baselines.dates import first_date

NULL = ["null"]  # what the prompt asks for if a letter does not give something
_ADDRESS_LINES = 12
_SIGNATURE_LINES = 10

_TITLES = r"(?:(?:Dr|Prof|Ing|Dir|jur|phil|Direktor|Präsident|Regierungsrat)\b[. ]*){0,4}"
_NAME = (
    rf"{_TITLES}((?:[A-ZÄÖÜ]\w{{0,12}}[. ]+){{0,3}}[A-ZÄÖÜ][a-zäöüß]{{2,}}"
    r"(?: ?- ?[A-ZÄÖÜ]?[a-zäöü]{2,})?)"
)
_TO = re.compile(rf"\b(?:Herrn?|Herren)\s+{_NAME}")
_CLOSING = re.compile(r"(?i)hoch\s?ach|ergeben|\bgrüss|\bgruss|\bgrüß")
_SIGNED = re.compile(rf"\b(?:sig|gez|s[iı1]g)\b[.:, ]*{_NAME}")
_ALONE = re.compile(rf"\W*{_NAME}\W*")
_COMPANY = re.compile(r"(?i)gesell|verein|A\.? ?G\.?|\bihr\b")
_SUBJECT = re.compile(r"\W*(Betr(?:ifft|eff|\.|:).{3,})")


def letter(pages: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Return the record made from the lines of a letter's pages.

    The receiver is the first `Herrn …` at the top, the writers are those who signed at the end,
    and the date is the first one on the first page.

    Example:
        >>> page = ["Basel, den 3. Mai 1928.", "Herrn W. Stauffacher,", "sig. Ritter"]
        >>> letter([page])["receiver_persons"]
        ['W. Stauffacher']
    """
    first = pages[0] if pages else []
    every = [line for page in pages for line in page]
    date = first_date("\n".join(first))
    received = [match[1].strip() for line in first[:_ADDRESS_LINES] if (match := _TO.search(line))]
    title = [match[1].strip() for line in first if (match := _SUBJECT.match(line))]
    return {
        "letter_title": title[:1] or NULL,
        "send_date": [date] if date else NULL,
        "sender_persons": _signed(every) or NULL,
        "receiver_persons": received[:1] or NULL,
    }


def _signed(every: Sequence[str]) -> list[str]:
    """The names after `sig.` or `gez.`; or the first one alone on a line below the closing."""
    names = [match[1].strip() for line in every for match in _SIGNED.finditer(line)]
    if names:
        return list(dict.fromkeys(names))
    closings = [place for place, line in enumerate(every) if _CLOSING.search(line)]
    if not closings:
        return []
    below = every[closings[-1] + 1 : closings[-1] + 1 + _SIGNATURE_LINES]
    alone = [
        match[1].strip()
        for line in below
        if (match := _ALONE.fullmatch(line)) and not _COMPANY.search(line)
    ]
    return alone[:1]
