"""The best pairs of two lists, exactly, and always the same ones among equally good ones."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Weights = NDArray[np.int64]

FEW = 12
"""Number of weights up to which all solutions are tried: 73 of four rows and three columns."""


def assign(weights: Weights) -> list[tuple[int, int]]:
    """One-to-one pairs of rows and columns with the greatest sum of weights.

    Among equally good solutions, the one with fewer pairs; among these, the one whose sorted pairs
    come first.

    Args:
        weights: rows × columns; 0 where a row and a column cannot be paired. Their sum over any
            pairs must be below 2^52, so that it is exact as a float.

    Returns:
        The pairs, sorted.

    Example:
        >>> assign(np.array([[5, 9], [9, 9]]))
        [(0, 1), (1, 0)]
    """
    height, width = weights.shape
    if min(height, width) == 1:
        best = int(weights.argmax())
        return [divmod(best, width)] if weights.flat[best] else []
    if np.count_nonzero(weights) <= min(height, width):
        rows, columns = (places.tolist() for places in np.nonzero(weights))
        if len(set(rows)) == len(set(columns)) == len(rows):  # there is nothing to choose
            return list(zip(rows, columns, strict=True))
    if weights.size <= FEW:
        return _of_few(weights.tolist())
    pairs: list[tuple[int, int]] = []
    for members, others in _components(weights):
        part = weights[np.ix_(members, others)]
        pairs += [(int(members[row]), int(others[column])) for row, column in _assign(part)]
    return sorted(pairs)


def _of_few(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The same for a few rows and columns, by trying all there is: scipy takes long to start."""
    solutions: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    for row, of_row in enumerate(weights):
        solutions += [
            (lost - weight, [*pairs, (row, column)])
            for lost, pairs in solutions
            for column, weight in enumerate(of_row)
            if weight and all(column != taken for _, taken in pairs)
        ]
    return min((lost, len(pairs), pairs) for lost, pairs in solutions)[2]


def _components(weights: Weights) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The rows and columns that can be paired with each other, directly or by way of others."""
    height, width = weights.shape
    rows, columns = np.nonzero(weights)
    size = height + width
    edges = csr_array((np.ones(len(rows), bool), (rows, columns + height)), shape=(size, size))
    _, labels = connected_components(edges, directed=False)
    order = np.argsort(labels, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        split = np.searchsorted(members, height)  # each component has its rows first
        if 0 < split < len(members):
            yield members[:split], members[split:] - height


def _assign(weights: Weights) -> list[tuple[int, int]]:
    if weights.size == 1:
        return [(0, 0)]
    rows, columns, tight, needed = _optimum(weights, weights > 0)
    if len(rows) == np.count_nonzero(tight):  # there is no other
        return list(zip(rows.tolist(), columns.tolist(), strict=True))
    # Once more among the best, for the fewest pairs: whatever must be paired in each of the best
    # weighs more than any number of pairs.
    most = min(weights.shape) + 1
    must = most * (needed[0][:, None].astype(np.int64) + needed[1].astype(np.int64))
    fewest = np.where(tight & (must > 0), must - 1, 0)
    rows, columns, tight, needed = _optimum(fewest, fewest > 0)
    return _first(dict(zip(rows.tolist(), columns.tolist(), strict=True)), tight, needed)


def _optimum(
    weights: Weights, possible: NDArray[np.bool_]
) -> tuple[
    NDArray[np.intp],
    NDArray[np.intp],
    NDArray[np.bool_],
    tuple[NDArray[np.bool_], NDArray[np.bool_]],
]:
    """An optimal assignment, and by its dual what all others can consist of.

    Returns:
        The rows and columns of the pairs, which pairs any optimal assignment can have, and which
        rows and columns are paired in each of them.
    """
    rows, columns = linear_sum_assignment(weights.astype(float), maximize=True)
    positive = weights[rows, columns] > 0
    rows, columns = rows[positive], columns[positive]
    row_price, column_price = _dual(weights, rows, columns)
    tight = possible & (row_price[:, None] + column_price == weights)
    return rows, columns, tight, (row_price > 0, column_price > 0)


def _dual(
    weights: Weights, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> tuple[Weights, Weights]:
    """Prices of rows and columns, none below 0: each pair costs its weight, no other one less."""
    height, width = weights.shape
    paired = weights[rows, columns]
    column_price = np.zeros(width, np.int64)
    free = np.ones(height, bool)
    free[rows] = False
    if free.any():
        column_price = weights[free].max(axis=0)
    gains = weights[rows] - paired[:, None]
    for _ in range(len(rows) + 1):
        raised = np.maximum(column_price, (gains + column_price[columns][:, None]).max(axis=0))
        if np.array_equal(raised, column_price):
            break
        column_price = raised
    else:  # pragma: no cover  the assignment would not be optimal
        raise ArithmeticError("the assignment is not optimal")
    row_price = np.zeros(height, np.int64)
    row_price[rows] = paired - column_price[columns]
    return row_price, column_price


def _first(
    of_row: dict[int, int],
    tight: NDArray[np.bool_],
    needed: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> list[tuple[int, int]]:
    """The optimal assignment whose sorted pairs come first, from any optimal one.

    Any assignment of tight pairs that pairs all rows and columns that need it is optimal.
    """
    rows = _Side(tight, needed[0], of_row, set())
    columns = _Side(tight.T, needed[1], {column: row for row, column in of_row.items()}, set())
    for row in range(len(tight)):
        rows.fixed.add(row)
        for column in np.flatnonzero(tight[row]).tolist():
            if column not in columns.fixed and _pair(row, column, rows, columns):
                break
    return sorted(rows.partner.items())


@dataclass
class _Side:
    """The rows, or the columns, of an assignment.

    Attributes:
        tight: which of the other side each can be paired with.
        needed: which of them must be paired.
        partner: what each is paired with.
        fixed: those whose partner stays.
    """

    tight: NDArray[np.bool_]
    needed: NDArray[np.bool_]
    partner: dict[int, int]
    fixed: set[int]


def _pair(row: int, column: int, rows: _Side, columns: _Side) -> bool:
    """Fix a pair, if those that lose their partners by it can do without or find others."""
    columns.fixed.add(column)
    if rows.partner.get(row) == column:
        return True
    before = dict(rows.partner), dict(columns.partner)
    left, lonely = rows.partner.pop(row, None), columns.partner.pop(column, None)
    if left is not None:
        del columns.partner[left]
    if lonely is not None:
        del rows.partner[lonely]
    rows.partner[row], columns.partner[column] = column, row
    if _is_provided(lonely, rows, columns) and _is_provided(left, columns, rows):
        return True
    rows.partner, columns.partner = before
    columns.fixed.discard(column)
    return False


def _is_provided(one: int | None, side: _Side, others: _Side) -> bool:
    """Whether one of a side need not be paired, is paired, or can be by a chain of exchanges.

    In a chain each takes the partner of the next; the last one is paired with what was free, or
    goes without a partner, if it may. All of the other side that were paired still are.
    """
    if one is None or not side.needed[one] or one in side.partner:
        return True
    came_from: dict[int, int] = {}
    waiting = deque([one])
    while waiting:
        taker = waiting.popleft()
        for other in np.flatnonzero(side.tight[taker]).tolist():
            if other in came_from or other in others.fixed:
                continue
            came_from[other] = taker
            owner = others.partner.get(other)
            if owner is not None and side.needed[owner]:
                waiting.append(owner)
                continue
            if owner is not None:
                del side.partner[owner]
            _exchange(other, came_from, side, others)
            return True
    return False


def _exchange(last: int, came_from: dict[int, int], side: _Side, others: _Side) -> None:
    """Let each of a chain take what it came to, from its end to its beginning."""
    other: int | None = last
    while other is not None:
        taker = came_from[other]
        before = side.partner.get(taker)
        side.partner[taker], others.partner[other] = other, taker
        other = before
