"""The form of a value: what remains of it when the way it is written is disregarded."""

import re
import reprlib
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from hdbench.common.jsonio import is_too_deep
from hdbench.scoring.metric import ValueForm

_UNIFIED = str.maketrans(
    dict.fromkeys("’‘‚‛′´`ʼ‹›＇", "'")
    | dict.fromkeys("“”„‟″«»＂", '"')
    | dict.fromkeys("‐‑‒–—―−⁃", "-")
    | dict.fromkeys("º˚", "°")
    | {"\N{SOFT HYPHEN}": None}
)
_SPACED_SIGN = re.compile(r" ?([^\w\s]) ?")
_INDEX = re.compile(r"\[\d+\]")

_FORMAT = re.compile(r"""(?:in[-.]?\s?)?([0-9]{1,2})\s?(?:[°'".-]|vo|to|mo|o)*""")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_EXTENT = re.compile(r"(?<![^\W\d_])(?:s|pp?|bl)(?![^\W\d_])\.?|[\[\]()]")

_WORD = re.compile(r"[^\W_]+")
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ħ": "h", "æ": "ae", "œ": "oe"}
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def text_of(value: Any) -> str:
    """Return a JSON value as the text that metrics compare: its `str()`; for nothing, no text.

    Example:
        >>> text_of(1924), text_of(None), text_of([])
        ('1924', '', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        if not value:
            return ""
        return reprlib.repr(value) if is_too_deep(value) else str(value)
    return "" if value is None else str(value)


def field_name(path: str) -> str:
    """Return a field's path without the places in lists.

    Example:
        >>> field_name("advertisements[3].text")
        'advertisements.text'
    """
    return _INDEX.sub("", path)


def column_of(path: str) -> str:
    """Return a field's path, the same for all objects of a list.

    Example:
        >>> column_of("advertisements[3].text"), column_of("subjects[3]")
        ('advertisements.text', 'subjects[3]')
    """
    return field_name(path) if "]." in path else path


def form(value: Any, kind: ValueForm | None = None) -> str:
    """Return a value without the freedom in how to write it; applying this again changes nothing.

    NFKC, case folded (also ſ to s and ß to ss), one kind of quotes and one of dashes, no space
    around a sign, other white space as one space. In addition, by the kind of value:

    - `book_format`: the number in `8°`, `8'`, `8 °`, `in-8`, `8vo`; any other as it is.
    - `year`: its four digits, if there is one group of four.
    - `extent`: without `S.`, `p.`, `pp.`, `Bl.`, brackets, and signs at the ends.

    Args:
        value: a JSON value.
        kind: what kind of value it is; see `Metric.value_forms`.

    Example:
        >>> form("„Ueber  die Ehe“ – ein Vortrag")
        '"ueber die ehe"-ein vortrag'
        >>> form("In-8°", "book_format"), form("[1924?]", "year"), form("X, 184 S.", "extent")
        ('8', '1924', 'x,184')
    """
    text = _plain(text_of(value))
    if kind == "book_format":
        number = _FORMAT.fullmatch(text)
        return number.group(1) if number else text
    if kind == "year":
        years = _YEAR.findall(text)
        return years[0] if len(years) == 1 else text
    if kind == "extent":
        return _stable(text, _plain_extent)
    return text


def words_of(text: str) -> list[str]:
    """Return the runs of letters and digits in a text."""
    return _WORD.findall(text)


def joined(parts: Sequence[str]) -> str:
    """Return parts with nothing between them, except a space between two digits.

    Example:
        >>> joined(["X", "184"]), joined(["12", "20"])
        ('X184', '12 20')
    """
    pieces: list[str] = []
    for part in parts:
        if pieces and pieces[-1][-1].isdigit() and part[0].isdigit():
            pieces.append(" ")
        pieces.append(part)
    return "".join(pieces)


def key(text: str) -> str:
    """Return a text's letters and digits."""
    return joined(words_of(text))


def without_diacritics(text: str) -> set[str]:
    """Return a lower-case text without its diacritics, and one with umlauts as two letters.

    Example:
        >>> sorted(without_diacritics("müller"))
        ['mueller', 'muller']
    """
    return {
        "".join(
            character
            for character in unicodedata.normalize("NFKD", spelt).translate(_PLAIN_LETTERS)
            if not unicodedata.combining(character)
        )
        for spelt in (text, text.translate(_UMLAUTS))
    }


def _plain(text: str) -> str:
    return _stable(text, _plain_once)


def _stable(text: str, step: Callable[[str], str]) -> str:
    """Repeat a step until it changes nothing: one can make way for the next."""
    while (next_text := step(text)) != text:
        text = next_text
    return text


def _plain_once(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text.translate(_UNIFIED)).casefold()
    return _SPACED_SIGN.sub(r"\1", " ".join(folded.split()))


def _plain_extent(text: str) -> str:
    return _plain(_EXTENT.sub(" ", text)).strip(" .,;:")
