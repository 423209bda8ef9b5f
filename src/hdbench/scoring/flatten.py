"""Records as leaf fields with dotted paths."""

from bisect import bisect_left
from typing import Any

Leaves = dict[str, Any]


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
    _add_object(record, "", leaves, special)
    if not special:
        return leaves
    if split_keys:
        leaves = dict.fromkeys(special) | leaves
    else:  # again, all in one: of two leaves with the same path, the last one counts
        leaves = {}
        _add_object(record, "", leaves, leaves)
    ordered = sorted(leaves)
    return {path: value for path, value in leaves.items() if not _has_child(path, ordered)}


def _add_object(record: dict[str, Any], prefix: str, leaves: Leaves, special: Leaves) -> None:
    """Add a record's leaves; those below a key with a dot or bracket to `special` instead."""
    for key, value in record.items():
        path = prefix + key
        # Nearly every key is an identifier, and that is quick to check.
        plain = key.isidentifier() or not any(sign in key for sign in ".[]")
        target = leaves if plain else special
        if type(value) is str:  # as most are
            target[path] = value
        elif isinstance(value, dict):
            _add_object(value, path + ".", target, special)
        elif isinstance(value, list):
            _add_list(value, path, target, special)
        else:
            target[path] = value


def _add_list(values: list[Any], path: str, leaves: Leaves, special: Leaves) -> None:
    for index, value in enumerate(values):
        item = f"{path}[{index}]"
        if isinstance(value, dict):
            _add_object(value, item + ".", leaves, special)
        elif isinstance(value, list):
            _add_list(value, item, leaves, special)
        else:
            leaves[item] = value


def without_parents(paths: list[str], leaves: Leaves) -> list[str]:
    """The paths that are not the parent of a leaf.

    Example:
        >>> without_parents(["author", "year"], {"author.last_name": "Müller"})
        ['year']
    """
    # No leaf has another below it, and most requested paths are leaves themselves.
    if leaves.keys() >= set(paths):
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
