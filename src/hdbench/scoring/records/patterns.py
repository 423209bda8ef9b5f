"""Patterns of paths, by which options name the fields of a record."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from hdbench.errors import HdbenchError

Value = TypeVar("Value")

_SEGMENT = re.compile(r"\[\d*\]|[^.\[\]]+")
_ESCAPED_SEGMENT = re.compile(r"\[\d*\]|(?:\\.|[^.\[\]\\])+")
_SIGN = re.compile(r"[.\[\]\\]")
_ESCAPE = re.compile(r"\\(.)")
_EMPTY = r"\-"
_PATTERN = re.compile(r"[^.\[\]]+(\[\])*(\.[^.\[\]]+(\[\])*)*")

ANY = "*"


def segments_of(path: str) -> tuple[str, ...]:
    """The segments of a path: keys, and `[]` for an item of a list.

    Example:
        >>> segments_of("entries[3].author[].family")
        ('entries', '[]', 'author', '[]', 'family')
    """
    return tuple("[]" if segment[0] == "[" else segment for segment in _SEGMENT.findall(path))


def escaped(key: str) -> str:
    r"""Return a key as it stands in a path in which no other key is written alike.

    Example:
        >>> print(escaped("title"), escaped("a.b[0]"), escaped(""))
        title a\.b\[0\] \-
    """
    return _SIGN.sub(r"\\\g<0>", key) or _EMPTY


def as_written(path: str) -> str:
    r"""Return a path with `escaped` keys as people write it: with the keys as they are.

    Example:
        >>> as_written(r"entries[3].a\.b")
        'entries[3].a.b'
    """
    return _ESCAPE.sub(_unescaped, path) if "\\" in path else path


def segments_of_escaped(path: str) -> tuple[str, ...]:
    r"""Return the segments of a path with `escaped` keys.

    Example:
        >>> segments_of_escaped(r"entries[3].a\.b")
        ('entries', '[]', 'a.b')
    """
    if "\\" not in path:
        return segments_of(path)
    segments = _ESCAPED_SEGMENT.findall(path)
    return tuple("[]" if segment[0] == "[" else as_written(segment) for segment in segments)


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[0] == _EMPTY else match[1]


class Patterns(Generic[Value]):
    """Values by pattern: the most specific pattern that covers a path says its value.

    A pattern is a dotted path in which `[]` is each item of a list, and `*` any one key. It covers
    everything below it. Where several fit, they are compared segment by segment from the left: a
    literal comes before `*`, and a longer pattern before its own beginning.

    Attributes:
        option: the name of the option, for messages.

    Args:
        option: same as the attribute.
        values: pattern → value.
        default: the value of a path that no pattern covers.

    Raises:
        HdbenchError: a pattern cannot be read, or is there twice in two spellings.

    Example:
        >>> thresholds = Patterns("threshold", {"entries[].*": 0.9, "entries[].note": 0.5}, 0.92)
        >>> thresholds[segments_of("entries[].note.de")], thresholds[segments_of("title")]
        (0.5, 0.92)
    """

    def __init__(self, option: str, values: Mapping[str, Value], default: Value) -> None:
        self.option = option
        self._default = default
        self._values: dict[tuple[str, ...], Value] = {}
        for pattern, value in values.items():
            if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern):
                raise HdbenchError(
                    "{option}: {pattern} is not a path such as title or entries[].author",
                    option=option,
                    pattern=repr(pattern),
                )
            segments = segments_of(pattern)
            if segments in self._values:
                raise HdbenchError(
                    "{option}: {pattern} is given twice", option=option, pattern=repr(pattern)
                )
            self._values[segments] = value

    def __getitem__(self, path: Sequence[str]) -> Value:
        fitting = self.fitting(path)
        return self._values[min(fitting, key=_rank)] if fitting else self._default

    def __bool__(self) -> bool:
        return bool(self._values)

    def fitting(self, path: Sequence[str]) -> set[tuple[str, ...]]:
        """The patterns that cover a path, as segments."""
        return {pattern for pattern in self._values if _covers(pattern, path)}


def _covers(pattern: Sequence[str], path: Sequence[str]) -> bool:
    return len(pattern) <= len(path) and all(
        wanted == segment or (wanted == ANY and segment != "[]")
        for wanted, segment in zip(pattern, path, strict=False)
    )


def _rank(pattern: Sequence[str]) -> tuple[int, ...]:
    """Sorts a literal before `*`, and a pattern before its own beginning."""
    return (*(int(segment == ANY) for segment in pattern), 2)


def by_pattern(option: str, value: Any, default: Value, read: Any) -> Patterns[Value]:
    """An option's value for all fields, or its values by pattern.

    Args:
        option: the option's name.
        value: one value, or an object of pattern and value; None is the default.
        default: the value where nothing is said.
        read: checks a value: called with its place, for messages, and the value.

    Raises:
        HdbenchError: a pattern or a value is unusable.
    """
    if value is None:
        return Patterns(option, {}, default)
    if not isinstance(value, Mapping):
        return Patterns(option, {}, read(option, value))
    values = {pattern: read(f"{option}: {pattern}", setting) for pattern, setting in value.items()}
    return Patterns(option, values, default)
