"""Initial articles, which are ignored in sorting.

They are those of Appendix F of MARC 21 (https://www.loc.gov/marc/bibliographic/bdapndxf.html).
"""

import re
from collections.abc import Iterable

ARTICLES = {
    "dut": ("de", "een", "eene", "het"),
    "eng": ("a", "an", "the"),
    "fre": ("l'", "la", "le", "les", "un", "une"),
    "ger": (
        *("das", "dem", "den", "der", "des", "die"),
        *("ein", "eine", "einem", "einen", "einer", "eines"),
    ),
    "ita": ("gl'", "gli", "i", "il", "l'", "la", "le", "li", "lo", "un", "un'", "una", "uno"),
    "por": ("a", "as", "o", "os", "um", "uma"),
    "spa": ("el", "la", "las", "lo", "los", "un", "una"),
}
"""MARC's code of a language → its articles."""

MAX_NONFILING = 9
"""Maximum number that an indicator can say."""

_FIRST_WORD = re.compile(r"[\W_]*([^\W_]+)(['’])?")
_NOT_FILED = re.compile(r"\A[\W_]*")


def nonfiling(title: str, languages: Iterable[str]) -> int:
    """Return the number of characters at the beginning of a title that sorting ignores.

    They are an article, what stands before it, and spaces and punctuation behind it. If there is
    no article, punctuation is not counted. This goes by words only, so that "A priori" begins with
    an article.

    Args:
        title: the title.
        languages: MARC's codes of the languages whose articles count.

    Example:
        >>> [nonfiling(title, ["ger", "fre"]) for title in ("Die Stadt", "L'âge", "[Zur] Stadt")]
        [4, 2, 0]
        >>> nonfiling('Das "neue" Recht', ["ger"])
        5
    """
    match = _FIRST_WORD.match(title)
    if not match:
        return 0
    word = (match[1] + (match[2] or "")).casefold().replace("’", "'")
    if not any(word in ARTICLES[language] for language in languages):
        return 0
    if not match[2] and not title[match.end() : match.end() + 1].isspace():
        return 0  # "A-Dur", "Des.", a title of nothing but an article
    count = len(title) - len(_NOT_FILED.sub("", title[match.end() :], count=1))
    return count if count <= MAX_NONFILING and count < len(title) else 0
