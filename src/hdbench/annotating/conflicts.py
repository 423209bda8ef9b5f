"""Changes of an item that do not know of each other and give different values to a field.

Sets of changes are integers with a bit for each change: untrusted histories have up to
`MAX_ITEM_CHANGES` changes of an item that all differ, too many to look at each pair.
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
    for index, change in enumerate(ordered):
        path = paths[index]
        replaced = fields.within[path]
        if change.how == SETTLED:
            replaced |= fields.around[path]
        live = live & ~(replaced & behind[index]) | 1 << index
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
            changes = tuple(ordered[index] for index in _indices(group))
            name = min((change.field for change in changes), key=len)
            conflicts.append(Conflict(ordered[0].item, ordered[0].what, name, changes))
    return conflicts


@dataclass
class _Node:
    """A field that changes set, or one that contains such a field.

    Attributes:
        path: the field, if changes set it.
        parts: step → the field below.
    """

    path: FieldPath | None = None
    parts: dict[str | int, "_Node"] = field(default_factory=dict)


class _Fields:
    """The fields that changes set.

    Args:
        paths: the field of each change.

    Attributes:
        nodes: field → its node in the tree of fields.
        within: field → the changes of it or a part of it.
        around: field → the changes of it or of a field that contains it.
    """

    def __init__(self, paths: Sequence[FieldPath]) -> None:
        exactly: dict[FieldPath, int] = defaultdict(int)
        for index, path in enumerate(paths):
            exactly[path] |= 1 << index
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
    """Return, for each change, those it was made on top of, and those made on top of it."""
    indices = {change.id: index for index, change in enumerate(ordered)}
    parents = [
        [parent for name in change.parents if (parent := indices.get(name, index)) < index]
        for index, change in enumerate(ordered)
    ]
    behind, ahead = [0] * len(ordered), [0] * len(ordered)
    for index in range(len(ordered)):
        for parent in parents[index]:
            behind[index] |= behind[parent] | 1 << parent
    for index in reversed(range(len(ordered))):
        for parent in parents[index]:
            ahead[parent] |= ahead[index] | 1 << index
    return behind, ahead


def _agreeing(
    ordered: Sequence[Change], paths: Sequence[FieldPath], fields: _Fields, live: int
) -> dict[int, int]:
    """Return, for each live change, others that give its field, or a part of it, the same value."""
    giving: dict[tuple[FieldPath, str], int] = defaultdict(int)  # also as part of a larger value
    exactly: dict[tuple[FieldPath, str], int] = defaultdict(int)
    values_of = {
        index: list(_values(fields.nodes[paths[index]], ordered[index].to))
        for index in _indices(live)
    }
    for index, values in values_of.items():
        exactly[values[0]] |= 1 << index
        for value in values:
            giving[value] |= 1 << index
    agreeing = {}
    for index, values in values_of.items():
        agreeing[index] = giving[values[0]]
        for value in values:
            agreeing[index] |= exactly.get(value, 0)
    return agreeing


def _values(node: _Node, value: Any) -> Iterator[tuple[FieldPath, str]]:
    """Yield the fields that changes set and a value contains, with their values, itself first."""
    if node.path is not None:
        yield node.path, as_text(value)
    if not node.parts or not isinstance(value, dict | list):
        return
    steps = value if isinstance(value, dict) else range(len(value))
    # Iterate over the smaller one: either can be large where the other is small.
    fewer, more = sorted((steps, node.parts), key=len)
    step: Any
    for step in fewer:
        if step in more:
            yield from _values(node.parts[step], value[step])


def _indices(changes: int) -> Iterator[int]:
    """Yield the indices of the bits that are set, in order."""
    while changes:
        lowest = changes & -changes
        yield lowest.bit_length() - 1
        changes ^= lowest
