"""Fields of a record by their path, such as `entries[0].name`."""

import re
from itertools import islice
from typing import Any

from hdbench.errors import HdbenchError

MAX_STEPS = 30
"""Maximum number of steps in a path. Records here are three deep."""

FieldPath = tuple[str | int, ...]

_STEP = re.compile(r"(?P<key>[^.\[\]]+)|\[(?P<index>\d{1,6})\]", re.ASCII)
_PATH = re.compile(r"\.?[^.\[\]]+(?:\.[^.\[\]]+|\[\d{1,6}\])*", re.ASCII)


def parse_field(field: str) -> FieldPath:
    """Return the keys and indices that a path consists of; none for the whole record.

    Raises:
        HdbenchError: it is not a path.

    Example:
        >>> parse_field("entries[0].name")
        ('entries', 0, 'name')
    """
    steps = list(islice(_STEP.finditer(field), MAX_STEPS + 1))
    if field and (len(steps) > MAX_STEPS or not _PATH.fullmatch(field)):
        raise HdbenchError(
            "{field!r}: not the path of a field, such as entries[0].name", field=field[:100]
        )
    return tuple(step["key"] if step["index"] is None else int(step["index"]) for step in steps)


def as_field(path: FieldPath) -> str:
    """Return a path as text.

    Example:
        >>> as_field(("entries", 0, "name"))
        'entries[0].name'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def get(value: Any, path: FieldPath) -> Any:
    """Return the value at a path.

    Raises:
        KeyError: there is none.
    """
    for step in path:
        if not _holds(value, step):
            raise KeyError(step)
        value = value[step]
    return value


def with_value(record: Any, path: FieldPath, to: Any) -> Any:
    """Return a record with another value at a path; the original is not modified.

    A missing key is added, also to a record or object that is null so far, and an index just after
    the end of a list appends to it.

    Raises:
        KeyError: the path does not fit the record.
    """
    growing = Growing(record)
    growing.put(path, to)
    return growing.value


class Growing:
    """A record that many values are put into, in time that is independent of its size.

    Attributes:
        value: the record; objects and lists that it began with, or that were put into it, are not
            modified.
    """

    def __init__(self, value: Any = None) -> None:
        self.value = value
        self._own: dict[int, Any] = {}  # id → copied object that may be changed

    def put(self, path: FieldPath, to: Any) -> None:
        """Put a value at a path, as `with_value` does.

        Raises:
            KeyError: the path does not fit the record, which is left as it is.
        """
        inner, end = self.value, 0
        while inner is not None and end < len(path):
            step: Any = path[end]
            if not isinstance(inner, dict if isinstance(step, str) else list):
                raise KeyError(step)
            if _holds(inner, step):
                inner = inner[step]
            elif isinstance(step, int) and step > len(inner):
                raise KeyError(step)
            else:
                inner = None
            end += 1
        new = _nested(path[end:], to)
        if not end:
            self.value = new
            return
        self.value = container = self._owned(self.value)
        for step in path[: end - 1]:
            container[step] = self._owned(container[step])
            container = container[step]
        if isinstance(container, list) and path[end - 1] == len(container):
            container.append(new)
        else:
            container[path[end - 1]] = new

    def _owned(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        copied = container.copy()
        self._own[id(copied)] = copied
        return copied


def _nested(path: FieldPath, to: Any) -> Any:
    """Return new objects and lists with a value at a path."""
    for step in reversed(path):
        if isinstance(step, int) and step:
            raise KeyError(step)
        to = {step: to} if isinstance(step, str) else [to]
    return to


def _holds(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and step < len(value)
