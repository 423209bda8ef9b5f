"""The authors in a benchmark's BibTeX."""

import re
import unicodedata
from typing import NamedTuple

_COMBINING = dict(zip("\"'`^~", "\u0308\u0301\u0300\u0302\u0303", strict=True))

_ACCENT = re.compile(r"""\{?\\(["'`^~])\{?(\w)\}?\}?""")


class Creator(NamedTuple):
    """An author: a person, as `Müller, Gabriel`, or an organisation."""

    name: str
    is_organisation: bool


def creators(citation: str) -> list[Creator]:
    r"""Return the authors of a BibTeX entry; one entirely in braces is an organisation.

    Example:
        >>> [each.name for each in creators(r'author = {M{\"u}ller, Gabriel and {RISE}},')]
        ['Müller, Gabriel', 'RISE']
        >>> creators("author = {},")
        []
    """
    match = re.search(r"^\s*author\s*=\s*\{(.*)\},?\s*$", citation, re.MULTILINE)
    names = re.split(r"\s+and\s+(?![^{]*\})", _plain(match[1])) if match else []
    return [
        Creator(name[1:-1], True) if name.startswith("{") else Creator(name, False)
        for name in names
        if name
    ]


def _plain(tex: str) -> str:
    """Return a text with TeX's accents as letters."""
    return _ACCENT.sub(
        lambda accent: unicodedata.normalize("NFC", accent[2] + _COMBINING[accent[1]]), tex
    )
