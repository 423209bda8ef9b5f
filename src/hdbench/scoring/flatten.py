"""Records as leaf fields with dotted paths."""

from bisect import bisect_left
from itertools import count
from typing import Any, ClassVar

from hdbench.common.bounds import MAX_KEPT_LENGTH, MAX_KEPT_PATHS

Leaves = dict[str, Any]


class _Path(dict[str | int, "_Path"]):
    """A path in records, and by key or index those below it, which are kept once they were built.

    Records of a benchmark have the same few paths, and looking one up takes a fraction of the time
    in which it can be put together.

    Attributes:
        text: the path.
        is_plain: whether no key in it contains a dot or bracket.
    """

    __slots__ = ("is_plain", "text")
    numbers: ClassVar = count()

    def __init__(self, text: str, is_plain: bool) -> None:
        self.text, self.is_plain = text, is_plain

    def __missing__(self, key: str | int) -> "_Path":
        if isinstance(key, int):
            path = _Path(f"{self.text}[{key}]", self.is_plain)
        else:
            is_plain = self.is_plain and not any(sign in key for sign in ".[]")
            path = _Path(f"{self.text}.{key}" if self is not _ROOT else key, is_plain)
        if len(path.text) <= MAX_KEPT_LENGTH and next(self.numbers) < MAX_KEPT_PATHS:
            self[key] = path
        return path


_ROOT = _Path("", True)


def flatten(record: dict[str, Any], *, split_keys: bool = False) -> Leaves:
    """The leaf fields of a record: dotted path → value, nulls included.

    List items are `path[0]`, `path[1]`, …. An empty object or list has no leaves. No leaf is the
    parent of another: if a key with a dot or bracket makes it one, it is left out.

    Args:
        record: a JSON object.
        split_keys: how a key that itself contains `.`, `[` or `]` is treated. False: as a key like
            any other, so that `{"a.b": 1}` has the same leaf as `{"a": {"b": 1}}`. True, as in the
            published results: its path is split at those characters to look up its value, so that
            nothing is found and its leaves are null, unless there is a nested field with the same
            path.

    Example:
        >>> flatten({"author": {"last_name": "Müller"}, "subjects": ["Diss", None]})
        {'author.last_name': 'Müller', 'subjects[0]': 'Diss', 'subjects[1]': None}
        >>> flatten({"a": 1, "a.b": 2, "c": 3}, split_keys=True)
        {'a.b': None, 'c': 3}
    """
    leaves: Leaves = {}
    special: Leaves = {}
    _add_object(record, _ROOT, leaves, special)
    if not special:
        return leaves
    if split_keys:
        leaves = dict.fromkeys(special) | leaves
    else:  # again, all in one: of two leaves with the same path, the last one counts
        leaves = {}
        _add_object(record, _ROOT, leaves, leaves)
    ordered = sorted(leaves)
    return {path: value for path, value in leaves.items() if not _has_child(path, ordered)}


def _add_object(record: dict[str, Any], at: _Path, leaves: Leaves, special: Leaves) -> None:
    """Add a record's leaves; those below a key with a dot or bracket to `special` instead."""
    for key, value in record.items():
        path = at[key]
        if type(value) is not str:  # as most are
            if isinstance(value, dict):
                _add_object(value, path, leaves, special)
                continue
            if isinstance(value, list):
                _add_list(value, path, leaves, special)
                continue
        if path.is_plain:
            leaves[path.text] = value
        else:
            special[path.text] = value


def _add_list(values: list[Any], at: _Path, leaves: Leaves, special: Leaves) -> None:
    for index, value in enumerate(values):
        path = at[index]
        if isinstance(value, dict):
            _add_object(value, path, leaves, special)
        elif isinstance(value, list):
            _add_list(value, path, leaves, special)
        else:
            (leaves if path.is_plain else special)[path.text] = value


def without_parents(paths: list[str], leaves: Leaves) -> list[str]:
    """The paths that are not the parent of a leaf.

    Example:
        >>> without_parents(["author", "year"], {"author.last_name": "Müller"})
        ['year']
    """
    # No leaf has another below it, and most requested paths are leaves themselves.
    if not paths or leaves.keys() >= set(paths):
        return paths
    ordered = sorted(leaves)
    return [path for path in paths if not _has_child(path, ordered)]


def _has_child(path: str, ordered: list[str]) -> bool:
    for sign in ".[":
        start = path + sign
        at = bisect_left(ordered, start)
        if at < len(ordered) and ordered[at].startswith(start):
            return True
    return False
