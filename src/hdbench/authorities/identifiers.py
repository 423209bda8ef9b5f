"""Identifiers of values: those that an authority file leaves no doubt about."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hdbench.answers.letters import folded
from hdbench.authorities.files import AuthorityLine, read_lines_with_identifiers

_GND = re.compile(r"(?:1[012]?\d{7}[0-9X]|[47]\d{6}-\d|[1-9]\d{0,7}-[0-9X]|3\d{7}[0-9X])")
_WIKIDATA = re.compile(r"Q[1-9]\d*")
_URI = re.compile(r"https?://\S+")


class AuthorityTable:
    """The names of an authority file with their identifiers.

    Names are the same if they are so to the letter: normalized, and in either case. A name that
    lines with different identifiers have is nobody's in particular.

    Args:
        lines: the lines of the file.

    Example:
        >>> table = AuthorityTable([
        ...     AuthorityLine("Basel", "Q78"), AuthorityLine("Basle", "Q78"),
        ...     AuthorityLine("Freiburg", "Q2833"), AuthorityLine("Freiburg", "Q36378"),
        ... ])
        >>> table.identifier("BASLE"), table.identifier("Freiburg"), table.identifier("Bern")
        ('Q78', None, None)
    """

    def __init__(self, lines: Iterable[AuthorityLine]) -> None:
        self._identifiers: dict[str, str | None] = {}
        for value, identifier in lines:
            if not identifier:
                continue
            key = folded(value)
            is_other = self._identifiers.setdefault(key, identifier) != identifier
            if is_other:
                self._identifiers[key] = None

    def identifier(self, value: str) -> str | None:
        """Return the identifier of a value; None if there is none, or more than one."""
        return self._identifiers.get(folded(value))


def read_authority_table(path: Path) -> AuthorityTable:
    """Return the names of an authority file with their identifiers.

    Raises:
        HdbenchError: the file is unusable, or has no identifiers.
    """
    return AuthorityTable(read_lines_with_identifiers(path))


NAMESPACES: Mapping[str, tuple[re.Pattern[str], str]] = {
    "gnd": (_GND, "https://d-nb.info/gnd/"),
    "wikidata": (_WIKIDATA, "http://www.wikidata.org/entity/"),
}
"""Name of a namespace → the form of its identifiers, and what its addresses begin with."""


def namespace_of(identifiers: Iterable[str]) -> str | None:
    """Return the namespace that all identifiers have the form of; None if there is none.

    Example:
        >>> namespace_of(["118585053", "4004617-5"]), namespace_of(["Q78", "4004617-5"])
        ('gnd', None)
    """
    left = dict(NAMESPACES)
    for identifier in identifiers:
        left = {name: each for name, each in left.items() if each[0].fullmatch(identifier)}
        if not left:
            return None
    return next(iter(left), None)


def address_of(identifier: str) -> str | None:
    """Return the address that an identifier stands for; None if it does not say.

    Example:
        >>> address_of("4004617-5"), address_of("https://example.org/7"), address_of("p7")
        ('https://d-nb.info/gnd/4004617-5', 'https://example.org/7', None)
    """
    if _URI.fullmatch(identifier):
        return identifier
    for form, begins in NAMESPACES.values():
        if form.fullmatch(identifier):
            return begins + identifier
    return None


def in_marc(identifier: str) -> str:
    """Return an identifier as subfield `$0` of MARC has it.

    One of the GND gets the code of its agency before it, one of Wikidata becomes its address, and
    any other stays as it is.

    Example:
        >>> in_marc("4004617-5"), in_marc("Q78"), in_marc("(DE-588)118585053")
        ('(DE-588)4004617-5', 'http://www.wikidata.org/entity/Q78', '(DE-588)118585053')
    """
    if _GND.fullmatch(identifier):
        return f"(DE-588){identifier}"
    return (address_of(identifier) if _WIKIDATA.fullmatch(identifier) else None) or identifier
