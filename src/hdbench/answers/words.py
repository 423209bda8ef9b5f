"""Words for what libraries and archives record, in the languages of their tables."""

import re
import unicodedata
from functools import cache
from pathlib import Path

from hdbench.common.texts import read_texts

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe"})

LONGEST = 3
"""Maximum number of words of a heading that are tried together, as in `nom de fichier`."""

MIN_END, MAX_END = 4, 16
"""Length of a word that a longer one may end with, as `Erscheinungsjahr` with `Jahr`."""


def plain(text: str) -> str:
    """Return the letters and digits of a text, case-folded and without diacritics.

    Example:
        >>> plain("Author_Last Name"), plain("Größe")
        ('authorlastname', 'grosse')
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(filter(str.isalnum, decomposed))


def without_umlauts(text: str) -> str:
    """Return a text, case-folded, with the letters that are written where there are no umlauts.

    Example:
        >>> without_umlauts("Größe")
        'groesse'
    """
    return unicodedata.normalize("NFC", text).casefold().translate(_UMLAUTS)


def spellings(text: str) -> set[str]:
    """Return the ways in which the letters and digits of a name may be written.

    Example:
        >>> sorted(spellings("Größe (cm)"))
        ['groessecm', 'grossecm']
    """
    return {plain(text), plain(without_umlauts(text))} - {""}


def meanings(text: str) -> list[str]:
    """Return what the words of a heading or of a field's name mean, in order.

    Example:
        >>> meanings("Verfasser (Nachname)"), meanings("publication.place")
        (['author', 'last_name'], ['place'])
        >>> meanings("Erscheinungsjahr"), meanings("Année de publication"), meanings("Farbe")
        (['year'], ['year'], [])
    """
    words = re.split(r"[\W_]+", unicodedata.normalize("NFC", text))
    words = list(filter(None, map(plain, words)))
    result: list[str] = []
    begin = 0
    while begin < len(words):
        for end in range(min(begin + LONGEST, len(words)), begin, -1):
            if meaning := _by_word().get("".join(words[begin:end])):
                break
        else:
            meaning = _ending(words[begin])
        result += [meaning] if meaning else []
        begin = end
    return result


def _ending(word: str) -> str | None:
    """Return what a German compound means, by the longest word that it ends with."""
    starts = range(max(1, len(word) - MAX_END), len(word) - MIN_END + 1)
    return next(filter(None, (_by_word().get(word[start:]) for start in starts)), None)


@cache
def _by_word() -> dict[str, str]:
    """Return the meaning of each word in English, German, French, Italian and Latin."""
    by_meaning: dict[str, str] = read_texts(Path(__file__).with_name("words.yaml"))
    return {plain(word): meaning for meaning, words in by_meaning.items() for word in words.split()}
