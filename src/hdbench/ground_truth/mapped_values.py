"""What mappings of MARC and of PICA do alike with the values that they read."""

import unicodedata
from collections.abc import Iterable
from typing import Any


def on_one_line(text: str) -> str:
    """Return a value in NFC, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def first_of(texts: Iterable[str]) -> str | None:
    """Return the first text that is not empty; None if all are."""
    return next(filter(None, texts), None)


def has_something(value: Any) -> bool:
    """Return whether there is a value anywhere in a record.

    Example:
        >>> has_something({"title": None, "author": {"name": None}}), has_something({"pages": 0})
        (False, True)
    """
    if isinstance(value, dict):
        return any(map(has_something, value.values()))
    return value not in (None, [])
