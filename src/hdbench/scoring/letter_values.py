"""Reading an answer about a letter: the object that holds it, and the values of a key."""

import ast
import reprlib
import warnings
from typing import Any

from hdbench.common.bounds import MAX_DEPTH
from hdbench.common.jsonio import parse_json

_LONGEST_LITERAL = 10_000
"""Maximum number of characters in a Python literal: Python's own parser is not safe at every
length."""

_MARKS = {"correspondence": ("<<", ">>"), "function": ("<", ">")}
"""What a person was inferred from → the brackets around the name in the description's texts."""


def metadata(record: dict[str, Any] | None) -> dict[str, Any]:
    """The object that holds the categories; an empty one if there is none."""
    inner = record.get("metadata", record) if record else {}
    if isinstance(inner, str):
        inner = _read_object(inner)
    return inner if isinstance(inner, dict) else {}


def _read_object(text: str) -> Any:
    """The value of a text that is JSON or a Python literal; None if it is neither."""
    try:
        return parse_json(text)
    except ValueError:
        pass
    if len(text) > _LONGEST_LITERAL or sum(map(text.count, "([{")) > MAX_DEPTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's parser warns about odd escapes
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def parts(value: Any) -> list[Any]:
    """The items of a list, or of a text in which `|` separates them; otherwise the value itself."""
    if isinstance(value, str):
        return value.split("|")
    return value if isinstance(value, list) else [value]


def first_text(value: Any) -> str | None:
    """The first value, as the published results took it: only null and "null" count as none."""
    first = next(iter(parts(value)), None)
    return None if first is None or as_text(first) == "null" else as_text(first)


def as_text(value: Any) -> str:
    """A value as text without white space around it."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) else reprlib.repr(value)


def read_marks(name: str) -> tuple[str, str | None]:
    """Return a name without the brackets of an inferred person, and what they say.

    Example:
        >>> read_marks("<Muster, Hans>"), read_marks("<<Muster, Maria>>"), read_marks("Muster")
        (('Muster, Hans', 'function'), ('Muster, Maria', 'correspondence'), ('Muster', None))
    """
    for inferred, (opening, closing) in _MARKS.items():
        if name.startswith(opening) and name.endswith(closing):
            return name[len(opening) : -len(closing)].strip(), inferred
    return name, None


def with_marks(name: str, inferred: str) -> str:
    """Return the name of an inferred person in the brackets that say what it was inferred from."""
    opening, closing = _MARKS[inferred]
    return f"{opening}{name}{closing}"
