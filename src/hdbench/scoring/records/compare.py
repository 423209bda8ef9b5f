"""Two records compared: the items of their lists paired, and each field judged."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from hdbench.scoring.equality import are_plain, check_form, similarity
from hdbench.scoring.metric import Outcome
from hdbench.scoring.records.assignment import assign
from hdbench.scoring.records.tree import Check, ListMode, PathRules, Record, in_order, most_compared

_ABSENT = object()


class Fields(NamedTuple):
    """What became of the fields of a record, or of an item of a list, without its own lists.

    Attributes:
        correct: the paths of values that match.
        substituted: the paths of values that do not.
        missing: the paths of values that the answer lacks.
        spurious: the paths of values that only the answer has.
        alike: path → similarity, for values that were compared and are not equal.
    """

    correct: list[str]
    substituted: list[str]
    missing: list[str]
    spurious: list[str]
    alike: dict[str, float]

    def by_outcome(self) -> dict[Outcome, list[str]]:
        """Outcome → the paths that had it, in the order of `OUTCOMES`."""
        return {
            "correct": self.correct,
            "substituted": self.substituted,
            "missing": self.missing,
            "spurious": self.spurious,
        }


class Pair(NamedTuple):
    """A record, or an item of a list, beside its counterpart.

    Attributes:
        prefix: the path of the item, with its place in the ground truth, or in the answer if only
            the answer has it; empty for the record itself.
        truth: the ground truth's; None for an invented item.
        answer: the answer's; None for a missed item.
    """

    prefix: str
    truth: Record | None
    answer: Record | None


def pairs(pair: Pair, rules: PathRules) -> Iterator[Pair]:
    """A pair, and the items of its lists, paired, and so on."""
    yield pair
    truth, answer = pair.truth, pair.answer
    ours = truth.lists if truth is not None else {}
    theirs = answer.lists if answer is not None else {}
    if not (ours or theirs):
        return
    from hdbench.scoring.records.compare import pair_items  # noqa: PLC0415  numpy is slow to import

    for path in {**ours, **theirs}:
        prefix = joined(pair.prefix, path)
        for one, other in pair_items(ours.get(path, []), theirs.get(path, []), rules):
            index = one.index if one is not None else other.index if other is not None else 0
            yield from pairs(Pair(f"{prefix}[{index}]", one, other), rules)


def compare_fields(
    expected: Sequence[Check],
    references: Mapping[str, Any],
    leaves: Mapping[str, Any],
    *,
    canonical: bool,
) -> Fields:
    """Return what became of the fields of a record or item, without those of its lists' items.

    Args:
        expected: what the answer must have: one check for each of `references`, in order.
        references: path → value of what the ground truth has.
        leaves: path → value of what the answer has.
        canonical: whether only what is written in canonical form can be compared, as `references`
            are. What is equal to them is: so most of an answer does not have to be looked at.

    Raises:
        OtherFormError: a value of the answer is written otherwise.
    """
    if leaves == references and all(check.compare is None for check in expected):
        return Fields(list(references), [], [], [], {})
    # Of most answers, none of the values has to be asked.
    canonical = canonical and not are_plain(
        value for value in leaves.values() if type(value) is str
    )
    correct: list[str] = []
    substituted: list[str] = []
    missing: list[str] = []
    spurious: list[str] = []
    alike: dict[str, float] = {}
    common = 0
    for (path, compare, threshold), reference in zip(expected, references.values(), strict=True):
        value = leaves.get(path, _ABSENT)
        if value is _ABSENT:
            if reference != "":  # an empty text counts nothing where the other side has no value
                missing.append(path)
            continue
        common += 1
        if compare is None and value == reference:
            correct.append(path)
            continue
        if canonical:
            check_form(value)
        same = (compare or similarity)(reference, value)
        (correct if same >= threshold else substituted).append(path)
        if same != 1.0:
            alike[path] = same
    if len(leaves) > common:
        spurious = [
            path for path, value in leaves.items() if path not in references and value != ""
        ]
        if canonical:
            for path in spurious:
                check_form(leaves[path])
    return Fields(correct, substituted, missing, spurious, alike)


def joined(prefix: str, path: str) -> str:
    """The path of a field of an item.

    Example:
        >>> joined("entries[3]", "author.family"), joined("subjects[0]", ""), joined("", "title")
        ('entries[3].author.family', 'subjects[0]', 'title')
    """
    return f"{prefix}.{path}" if prefix and path and path[0] != "[" else prefix + path


# The items of two lists, paired by what they hold

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
