"""What callers show to a person: one exception, and untrusted text made harmless and short."""

from collections.abc import Sequence

SHOWN = 3
"""How many places, names or problems a message lists, unless told otherwise."""


class HdbenchError(ValueError):
    """Something a person can fix: one line that says where, what, and what to do."""


def escaped(text: str) -> str:
    r"""Untrusted text for a terminal: control and invisible characters as their escapes.

    Example:
        >>> escaped("\x1b[31mred")
        '\\x1b[31mred'
    """
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def shortened(texts: Sequence[str], most: int = SHOWN, separator: str = ", ") -> str:
    """The first of some texts, and how many more there are.

    Example:
        >>> shortened(["a.xml:3", "b.xml:1", "b.xml:7", "c.xml:2", "d.xml:9"])
        'a.xml:3, b.xml:1, b.xml:7 and 2 more'
    """
    more = len(texts) - most
    return separator.join(texts[:most]) + (f" and {more} more" if more > 0 else "")
