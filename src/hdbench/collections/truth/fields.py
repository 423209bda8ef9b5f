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

    Example:
        >>> with_value({"title": "Faust"}, ("persons", 0, "name"), "Mai")
        {'title': 'Faust', 'persons': [{'name': 'Mai'}]}
    """
    if not path:
        return to
    step, rest = path[0], path[1:]
    holder = ({} if isinstance(step, str) else []) if record is None else record
    if isinstance(holder, dict) and isinstance(step, str):
        return {**holder, step: with_value(holder.get(step), rest, to)}
    if not isinstance(holder, list) or isinstance(step, str) or step > len(holder):
        raise KeyError(step)
    inner = with_value(holder[step] if step < len(holder) else None, rest, to)
    return [*holder[:step], inner, *holder[step + 1 :]]


def _holds(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and step < len(value)
