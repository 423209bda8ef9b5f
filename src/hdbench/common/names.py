"""Names as people write them: with the namespace or without it, and with slips."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from hdbench.about import NAMESPACE
from hdbench.errors import HdbenchError, Message

_LONGEST = 100


def bare(name: str) -> str:
    """Return a benchmark's or a metric's name without the namespace.

    Example:
        >>> bare("hdb/zettelkatalog"), bare("zettelkatalog"), bare("own/zettelkatalog")
        ('zettelkatalog', 'zettelkatalog', 'own/zettelkatalog')
    """
    return name.removeprefix(f"{NAMESPACE}/")


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the known name that is most similar to one that is not known, if any is.

    Example:
        >>> nearest("treshold", ["weights", "threshold"]), nearest("x", ["weights", "threshold"])
        ('threshold', None)
    """
    return next(iter(get_close_matches(name[:_LONGEST], choices, 1)), None)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: "did you mean", or nothing.

    Example:
        >>> f"no option 'treshold'{did_you_mean('treshold', ['weights', 'threshold'])}"
        "no option 'treshold'; did you mean threshold?"
    """
    near = nearest(name, choices)
    return Message("; did you mean {near}?", near=near) if near else ""


def is_writable(text: str) -> bool:
    """Return whether a text can be written in UTF-8: half a surrogate pair can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_name(path: Path) -> None:
    """Refuse a file or folder whose name is not UTF-8: no id or file could have it.

    Raises:
        HdbenchError: its name is in another encoding, such as that of an old disk.
    """
    if not is_writable(path.name):
        name = os.fsencode(path).decode(errors="backslashreplace")
        raise HdbenchError("{place}: its name is not in UTF-8: rename it", place=name)
