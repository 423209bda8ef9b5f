"""Forms of a bibliographic field in which the same thing is equal however it is written."""

import re
import unicodedata

IDENTIFIERS = ("doi", "isbn", "pub_time")
"""The fields that `canonical` knows."""

_DOI_PREFIX = re.compile(r"(?:https?://)?(?:dx\.|www\.)?doi\.org/|doi:?")
_ISBN_PREFIX = re.compile(r"isbn(?:-?1[03](?=[\s:]))?")
_SEPARATOR = re.compile(r"[,;、|/]")
_NAME_SEPARATOR = re.compile(r"[,;、|]")
_NO_ISBN = re.compile(r"[^0-9x]")
_ISBN_10 = re.compile(r"[0-9]{9}[0-9x]")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")


def normalize(text: str) -> str:
    r"""A text in Unicode's NFKC form, each run of white space as one space, none at the ends.

    Example:
        >>> normalize("选辑（文史部分）\n")
        '选辑(文史部分)'
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


def canonical(field: str, text: str) -> str:
    """An identifier in one form, however it was written.

    A DOI: without white space, resolver or `doi:`, and final punctuation. An ISBN: each of those
    that the text lists, as 13 digits. A `pub_time`: its first four-digit year. Text in which
    nothing of the kind is found is only normalised. Case is folded.

    Args:
        field: one of `IDENTIFIERS`.
        text: the field's text.

    Returns:
        The canonical form, empty only for blank text.

    Example:
        >>> canonical("doi", "https://doi.org/10.1186/S41038-017-0090-Z.")
        '10.1186/s41038-017-0090-z'
        >>> canonical("isbn", "3-16-148410-X") == canonical("isbn", "ISBN 978-3-16-148410-0")
        True
        >>> canonical("pub_time", "2021年5月")
        '2021'
    """
    plain = normalize(text).casefold()
    if field == "doi":
        canonical_text = _DOI_PREFIX.sub("", "".join(plain.split()), count=1).rstrip(".,;")
    elif field == "isbn":
        parts = (_NO_ISBN.sub("", _ISBN_PREFIX.sub("", part)) for part in _SEPARATOR.split(plain))
        canonical_text = ",".join(sorted({_isbn_13(part) for part in parts if part}))
    else:
        year = _YEAR.search(plain)
        canonical_text = year.group() if year else ""
    return canonical_text or plain


def names(text: str) -> frozenset[str]:
    """The names or keywords that a text lists, without order.

    They are separated by commas, semicolons, `、` or bars; they are normalised, and case is folded.

    Example:
        >>> sorted(names("MIHAI Carmen,Grosu Catalin， "))
        ['grosu catalin', 'mihai carmen']
    """
    parts = (part.strip() for part in _NAME_SEPARATOR.split(normalize(text).casefold()))
    return frozenset(part for part in parts if part)


def _isbn_13(isbn: str) -> str:
    """A valid 10-digit ISBN as the 13-digit one; anything else as it is."""
    if not _ISBN_10.fullmatch(isbn):
        return isbn
    digits = [10 if sign == "x" else int(sign) for sign in isbn]
    if sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True)) % 11:
        return isbn
    longer = "978" + isbn[:9]
    weighted = sum(int(sign) * (3 if position % 2 else 1) for position, sign in enumerate(longer))
    return longer + str(-weighted % 10)
