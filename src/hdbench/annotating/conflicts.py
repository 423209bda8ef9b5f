"""Changes of an item that do not know of each other and give different values to a field.

Sets of changes are whole numbers, with a bit for each: untrusted histories have up to
`MAX_ITEM_CHANGES` changes of an item that all differ, and no pair of them is looked at by itself.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hdbench.annotating.changes import SETTLED, Change, as_text
from hdbench.annotating.fields import FieldPath, parse_field


@dataclass(frozen=True)
class Conflict:
    """Changes that do not know of each other, and give different values to the same field.

    Attributes:
        item: the item's id.
        what: one of `WHATS`.
        field: the field; the outer one if one is a part of the other.
        changes: two or more, the one whose value stands for now last.
    """

    item: str
    what: str
    field: str
    changes: tuple[Change, ...]


def conflicts_of(ordered: Sequence[Change]) -> list[Conflict]:
    """Find the conflicts that no later change has settled.

    Args:
        ordered: changes of one item and what, in causal order.
    """
    if all(one.id == other.after for one, other in pairwise(ordered)):
        return []  # one after the other
    paths = [parse_field(change.field) for change in ordered]
    fields = _Fields(paths)
    behind, ahead = _relatives(ordered)
    live = 0
    for place, change in enumerate(ordered):
        path = paths[place]
        replaced = fields.within[path]
        if change.how == SETTLED:
            replaced |= fields.around[path]
        live = live & ~(replaced & behind[place]) | 1 << place
    agreeing = _agreeing(ordered, paths, fields, live)
    conflicts = []
    left = live
    while left:
        group, todo = 0, left & -left
        left ^= todo
        while todo:
            last = todo.bit_length() - 1
            todo ^= 1 << last
            group |= 1 << last
            overlapping = fields.within[paths[last]] | fields.around[paths[last]]
            clashing = left & overlapping & ~(behind[last] | ahead[last] | agreeing[last])
            left ^= clashing
            todo |= clashing
        if group & (group - 1):
            changes = tuple(ordered[place] for place in _places(group))
            name = min((change.field for change in changes), key=len)
            conflicts.append(Conflict(ordered[0].item, ordered[0].what, name, changes))
    return conflicts


@dataclass
class _Node:
    """A field that changes are about, or one that such a field is a part of.

    Attributes:
        path: the field, if changes are about it.
        parts: step → the field below.
    """

    path: FieldPath | None = None
    parts: dict[str | int, "_Node"] = field(default_factory=dict)


class _Fields:
    """The fields that changes are about.

    Args:
        paths: of each change, the field.

    Attributes:
        nodes: field → its place among the fields.
        within: field → the changes of it or a part of it.
        around: field → the changes of it or of what it is a part of.
    """

    def __init__(self, paths: Sequence[FieldPath]) -> None:
        exactly: dict[FieldPath, int] = defaultdict(int)
        for place, path in enumerate(paths):
            exactly[path] |= 1 << place
        self.nodes: dict[FieldPath, _Node] = {}
        self.within: dict[FieldPath, int] = defaultdict(int)
        self.around: dict[FieldPath, int] = defaultdict(int)
        root = _Node()
        for path, changes in exactly.items():
            node = root
            for step in path:
                node = node.parts.setdefault(step, _Node())
            node.path = path
            self.nodes[path] = node
            for outer in (path[:end] for end in range(len(path) + 1)):
                if outer in exactly:
                    self.within[outer] |= changes
                    self.around[path] |= exactly[outer]


def _relatives(ordered: Sequence[Change]) -> tuple[list[int], list[int]]:
    """Return the changes that each one has behind it, and those that have it behind them."""
    places = {change.id: place for place, change in enumerate(ordered)}
    parents = [
        [at for each in change.parents if (at := places.get(each, place)) < place]
        for place, change in enumerate(ordered)
    ]
    behind, ahead = [0] * len(ordered), [0] * len(ordered)
    for place, found in enumerate(parents):
        for parent in found:
            behind[place] |= behind[parent] | 1 << parent
    for place in reversed(range(len(ordered))):
        for parent in parents[place]:
            ahead[parent] |= ahead[place] | 1 << place
    return behind, ahead


def _agreeing(
    ordered: Sequence[Change], paths: Sequence[FieldPath], fields: _Fields, live: int
) -> dict[int, int]:
    """For each live change, others that give its field, or a part of it, the same value."""
    giving: dict[tuple[FieldPath, str], int] = defaultdict(int)  # also as a part of what they give
    exactly: dict[tuple[FieldPath, str], int] = defaultdict(int)
    given = {
        place: list(_values(fields.nodes[paths[place]], ordered[place].to))
        for place in _places(live)
    }
    for place, values in given.items():
        exactly[values[0]] |= 1 << place
        for each in values:
            giving[each] |= 1 << place
    agreeing = {}
    for place, values in given.items():
        agreeing[place] = giving[values[0]]
        for each in values:
            agreeing[place] |= exactly.get(each, 0)
    return agreeing


def _values(node: _Node, value: Any) -> Iterator[tuple[FieldPath, str]]:
    """Yield the fields that changes are about for which a value says something, itself first."""
    if node.path is not None:
        yield node.path, as_text(value)
    if not node.parts or not isinstance(value, dict | list):
        return
    steps = value if isinstance(value, dict) else range(len(value))
    # Whichever is less to go through: either can be large where the other is small.
    fewer, more = sorted((steps, node.parts), key=len)
    step: Any
    for step in fewer:
        if step in more:
            yield from _values(node.parts[step], value[step])


def _places(changes: int) -> Iterator[int]:
    """Yield the places of the bits that are set, in order."""
    while changes:
        lowest = changes & -changes
        yield lowest.bit_length() - 1
        changes ^= lowest
