"""What callers show to a person: one exception, and untrusted text made harmless."""


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
