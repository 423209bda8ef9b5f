"""The items of two lists, paired by what they hold. Imported for lists only: SciPy takes time."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hdbench.scoring.records.tree import ListMode, PathRules, Record, in_order, most_compared
from hdbench.scoring.text_equality import similarity

Integers = NDArray[np.int64]
Value = TypeVar("Value")

MAX_AT_ONCE = 1_000_000
"""Maximum number of pairs that are looked at together if they are of several lists."""

ENOUGH = 500
"""Thousandths of similarity per field of the ground truth from which two items without a matching
field can be a pair: a card whose one text was read with an error is the same card."""

Counterparts = list[tuple[Record | None, Record | None]]


class Likeness(NamedTuple):
    """How alike items are, each of one list to each of another, lists within them included.

    Attributes:
        matches: the number of fields that match.
        thousandths: the summed similarity of all fields, each rounded to thousandths.
        counted: the number of the ground truth's fields that count: all but empty texts for which
            the answer has no value.
    """

    matches: Integers
    thousandths: Integers
    counted: Integers


def pair_items(
    truths: Sequence[Record], answers: Sequence[Record], rules: PathRules
) -> Counterparts:
    """The items of two lists, paired one to one; None where an item has no counterpart.

    The pairs have as many matching fields as possible, then the greatest summed similarity, then
    there are as few as possible. In `aligned` lists any item can be paired with any, in `ordered`
    ones pairs do not cross. Two items can be a pair if a field matches, or if they are similar by
    at least half.

    Args:
        truths: the ground truth's items.
        answers: the answer's items.
        rules: how their fields are compared.

    Returns:
        Pairs and missed items in the ground truth's order, then invented items in the answer's.
    """
    counterparts: dict[int, Record] = {}
    if truths and answers:
        ours, theirs = _in_order(truths, rules), _compared(_in_order(answers, rules), len(truths))
        weights = _weights(ours, _likeness(ours, theirs, rules))
        counterparts = {id(ours[i]): theirs[j] for i, j in _best(weights, ours[0].path.mode)}
    paired = {id(record) for record in counterparts.values()}
    return [
        *((record, counterparts.get(id(record))) for record in truths),
        *((None, record) for record in answers if id(record) not in paired),
    ]


def _in_order(items: Sequence[Record], rules: PathRules) -> Sequence[Record]:
    """Items in the order in which they are compared: that of an aligned list means nothing."""
    return in_order(items, rules) if items[0].path.mode == "aligned" else items


def _compared(answers: Sequence[Record], number: int) -> Sequence[Record]:
    """Those of the answer's items that are compared with a number of the ground truth's."""
    return answers[: most_compared(number)]


def _best(weights: Integers, mode: ListMode) -> list[tuple[int, int]]:
    """The best pairs of two lists with items."""
    return assign(weights) if mode == "aligned" else _without_crossing(weights)


def _weights(truths: Sequence[Record], alike: Likeness) -> Integers:
    """One number for matches and similarity together; 0 where two items cannot be a pair."""
    # More than all similarities together, so that they decide only between equally many matches.
    base = 1_000 * sum(record.size for record in truths) + 1
    matches, thousandths, counted = alike
    enough = (matches > 0) | ((thousandths >= ENOUGH * counted) & (counted > 0))
    return np.where(enough, matches * base + thousandths, 0)


def _likeness(truths: Sequence[Record], answers: Sequence[Record], rules: PathRules) -> Likeness:
    shape = (len(truths), len(answers))
    alike = Likeness(
        matches=np.zeros(shape, np.int64),
        thousandths=np.zeros(shape, np.int64),
        counted=np.repeat(np.array([[record.filled] for record in truths]), shape[1], axis=1),
    )
    for path in dict.fromkeys(path for record in truths for path in record.leaves):
        _add_leaves(path, truths, answers, rules, alike)
    for path in dict.fromkeys(path for record in truths for path in record.lists):
        _add_lists(path, truths, answers, rules, alike)
    return alike


def _add_leaves(
    path: str,
    truths: Sequence[Record],
    answers: Sequence[Record],
    rules: PathRules,
    alike: Likeness,
) -> None:
    """Add what a field contributes."""
    ours = {i: record.leaves[path] for i, record in enumerate(truths) if path in record.leaves}
    theirs = {j: record.leaves[path] for j, record in enumerate(answers) if path in record.leaves}
    if not ours or not theirs:
        return
    compare, threshold = rules.of_field(truths[0].path.segments, path)
    references, rows = _distinct(ours.values(), _key)
    predictions, columns = _distinct(theirs.values(), _key)
    if compare is None and all(isinstance(value, str) for value in (*references, *predictions)):
        # All at once, in a fraction of the time that calls from Python take.
        similarities = process.cdist(references, predictions, scorer=fuzz.ratio, dtype=np.float64)
        similarities /= 100
    else:
        compare = compare or similarity
        similarities = np.array(
            [[compare(one, other) for other in predictions] for one in references]
        )
    chosen, places = np.ix_(rows, columns), np.ix_([*ours], [*theirs])
    alike.matches[places] += (similarities >= threshold)[chosen]
    alike.thousandths[places] += _thousandths(similarities)[chosen]
    empty = np.array([value == "" for value in ours.values()])
    alike.counted[places] += empty[:, None]


def _distinct(
    values: Iterable[Value], key: Callable[[Value], Hashable]
) -> tuple[list[Value], list[int]]:
    """Values without repetitions, as the same come again and again, and which of them each was."""
    distinct: dict[Hashable, Value] = {}
    places: dict[Hashable, int] = {}
    positions = []
    for value in values:
        name = key(value)
        positions.append(places.setdefault(name, len(places)))
        distinct.setdefault(name, value)
    return list(distinct.values()), positions


def _thousandths(similarities: NDArray[np.float64]) -> Integers:
    """Similarities in thousandths, each rounded as Python rounds it."""
    # NumPy rounds by multiplying, and so differs from Python in a last digit now and then.
    values, places = np.unique(similarities, return_inverse=True)
    rounded = np.array([round(1_000 * round(value, 3)) for value in values.tolist()], np.int64)
    return rounded[places].reshape(similarities.shape)


def _key(value: object) -> tuple[type, object]:
    return (type(value), value)  # 1, 1.0 and true are equal


def _add_lists(
    path: str,
    truths: Sequence[Record],
    answers: Sequence[Record],
    rules: PathRules,
    alike: Likeness,
) -> None:
    """Add what a list within the items contributes: the sums of its own best pairs."""
    ours = {i: record.lists[path] for i, record in enumerate(truths) if path in record.lists}
    theirs = {
        j: _in_order(record.lists[path], rules)
        for j, record in enumerate(answers)
        if path in record.lists
    }
    if not theirs:
        return
    our_lists, rows = _distinct(ours.values(), partial(_name, rules))
    their_lists, columns = _distinct(theirs.values(), partial(_name, rules))
    sums = np.array([_sums(items, their_lists, rules) for items in our_lists])
    chosen, places = np.ix_(rows, columns), np.ix_([*ours], [*theirs])
    for at, total in enumerate(alike):
        total[places] += sums[..., at][chosen]


def _sums(
    truths: Sequence[Record], lists: Sequence[Sequence[Record]], rules: PathRules
) -> Integers:
    """For each of an answer's lists, what its best pairs with a list of the ground truth hold.

    Returns:
        lists × 3: their matches and thousandths, and how many fields more count in them.
    """
    sums = []
    ours = _in_order(truths, rules)
    for batch in _batches([_compared(records, len(ours)) for records in lists], ours):
        # Side by side: one comparison of many items takes less time than many of a few.
        alike = _likeness(ours, [item for items in batch for item in items], rules)
        weights = _weights(ours, alike)
        end = 0
        for items in batch:
            start, end = end, end + len(items)
            paired = _best(weights[:, start:end], ours[0].path.mode)
            pairs = [(i, start + j) for i, j in paired]
            sums.append(
                (
                    sum(int(alike.matches[pair]) for pair in pairs),
                    sum(int(alike.thousandths[pair]) for pair in pairs),
                    sum(int(alike.counted[pair]) - ours[pair[0]].filled for pair in pairs),
                )
            )
    return np.array(sums)


def _batches(
    lists: Sequence[Sequence[Record]], others: Sequence[Record]
) -> Iterator[list[Sequence[Record]]]:
    """Lists in batches, each with so few items that comparing them needs little memory."""
    batch: list[Sequence[Record]] = []
    items = 0
    for records in lists:
        items += len(records)
        if batch and items * len(others) > MAX_AT_ONCE:
            yield batch
            batch, items = [], len(records)
        batch.append(records)
    yield batch


def _name(rules: PathRules, items: Sequence[Record]) -> str:
    return "\n".join(record.canonical(rules) for record in items)


def _without_crossing(weights: Integers) -> list[tuple[int, int]]:
    """The best pairs of two sequences of which no two cross."""
    height, width = weights.shape
    # With one pair less for the same sum, a solution is better.
    scaled = np.where(weights > 0, weights * (min(height, width) + 1) - 1, 0)
    # best[r, c]: the greatest sum of rows from r and columns from c on. It is filled from the end,
    # so that of equally good solutions the one whose pairs come first is read from the start.
    best = np.zeros((height + 1, width + 1), np.int64)
    for row in range(height - 1, -1, -1):
        either = np.maximum(best[row + 1, :-1], scaled[row] + best[row + 1, 1:])
        best[row, :-1] = np.maximum.accumulate(either[::-1])[::-1]
    pairs = []
    left = 0
    for row in range(height):
        with_row = scaled[row, left:] + best[row + 1, left + 1 :]
        fitting = np.flatnonzero((scaled[row, left:] > 0) & (with_row == best[row, left]))
        if len(fitting):
            column = left + int(fitting[0])
            pairs.append((row, column))
            left = column + 1
    return pairs


# The best pairs of two lists, exactly, and always the same ones among equally good ones

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
    # The solver takes time that grows with the cube: many small parts cost less than the whole.
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
    # Prices rise until no pair beside the assignment is worth more than its row and column cost:
    # longest paths, which end because the assignment leaves nothing to gain on a circle.
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
