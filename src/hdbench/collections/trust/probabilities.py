"""How probable it is that a value is wrong: what describes it, and what is fitted to values read.

A collection may have millions of values: everything about them is in arrays, never in objects.
"""

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hdbench.collections.trust.cuts import BILLION, Probabilities
from hdbench.collections.trust.fields import value_of
from hdbench.collections.trust.runs import ROUNDING, Judged, Runs, similarity
from hdbench.collections.truth.events import ValueKey
from hdbench.common.progress import progress
from hdbench.common.value_text import Case, folded, text_of

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
"""Positions of values: the row of the item times the number of fields, plus that of the field."""

ALMOST_ALL, MOST = 0.98, 0.9
"""Mean similarities from which runs are said to agree."""

AT_ONCE = 100_000
"""Number of values whose columns are in memory at once."""


@dataclass(frozen=True)
class ChosenValues:
    """The values of the items that at least one run answered; rows are items, columns fields.

    Attributes:
        fields: the paths of the fields.
        items: the positions of the items in the benchmark.
        runs: the number of runs.
        mean: the mean similarity to the values of the other runs, 0.0 to 1.0.
        least: the least similarity to one of them.
        greatest: the greatest similarity to one of them.
        same: in how many other runs the text is the same.
        empty: whether the value is empty.
        text_count: how often the field has this text in the collection.
        shape_count: how often the field has a text of this shape; see `shape_of`.
    """

    fields: tuple[str, ...]
    items: NDArray[np.int64]
    runs: int
    mean: Floats
    least: Floats
    greatest: Floats
    same: NDArray[np.uint8]
    empty: NDArray[np.bool_]
    text_count: NDArray[np.int32]
    shape_count: NDArray[np.int32]

    def __len__(self) -> int:
        return self.empty.size


def chosen_values(runs: Runs, ids: Sequence[str], fields: Sequence[str]) -> ChosenValues:
    """Read the answers of runs to all items, and describe the values that are chosen.

    Args:
        runs: the runs.
        ids: the ids of all items.
        fields: the paths of the fields, as in `runs`.
    """
    items = array("q")
    mean, least, greatest = array("d"), array("d"), array("d")
    same, empty = bytearray(), bytearray()
    texts, shapes = array("Q"), array("Q")
    others = len(runs.answers) - 1
    all_alike = [1.0] * others
    for number, item_id in enumerate(progress(ids, "Reading the answers", len(ids))):
        records = runs.records(item_id)
        if all(record is None for record in records):
            continue
        items.append(number)
        for position, choice in enumerate(runs.judged(records)):
            # Most values are the same in all runs, and there are millions of them.
            if choice.score == 1.0:
                alike = all_alike
            else:
                alike = _similarities(runs, records, position, choice)
            mean.append(sum(alike) / others if others else 0.0)
            least.append(min(alike, default=0.0))
            greatest.append(max(alike, default=0.0))
            same.append(alike.count(1.0))
            empty.append(not choice.text)
            texts.append(_hash(choice.text))
            shapes.append(_hash(shape_of(choice.text)))
    size = (len(items), len(fields))
    text_count = _counts(texts, size)
    del texts  # before the next one: with millions of values, each of these is large
    shape_count = _counts(shapes, size)
    del shapes
    return ChosenValues(
        fields=tuple(fields),
        items=np.array(items, dtype=np.int64),
        runs=len(runs.answers),
        mean=np.frombuffer(mean, dtype=np.float64).reshape(size),
        least=np.frombuffer(least, dtype=np.float64).reshape(size),
        greatest=np.frombuffer(greatest, dtype=np.float64).reshape(size),
        same=np.frombuffer(same, dtype=np.uint8).reshape(size),
        empty=np.frombuffer(empty, dtype=np.bool_).reshape(size),
        text_count=text_count,
        shape_count=shape_count,
    )


def _similarities(
    runs: Runs, records: Sequence[dict[str, Any] | None], field: int, choice: Judged
) -> list[float]:
    """Return the similarity of the chosen value to that of each other run."""
    where = runs.fields[field]
    return [
        similarity(choice.text, None if record is None else text_of(value_of(record, where)))
        for run, record in enumerate(records)
        if run != choice.run
    ]


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _counts(hashes: "array[int]", size: tuple[int, int]) -> NDArray[np.int32]:
    """Return how often each hash occurs in its column."""
    table = np.frombuffer(hashes, dtype=np.uint64).reshape(size)
    counts = np.empty(size, dtype=np.int32)
    for column in range(size[1]):
        _, places, times = np.unique(table[:, column], return_inverse=True, return_counts=True)
        counts[:, column] = times[places]
    return counts


class _Shapes(dict[int, str]):
    """Character → what stands for it in a shape; filled as characters come."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if sign.isalpha():
            self[code] = "A" if sign.isupper() else "a"
        else:
            self[code] = "9" if sign.isdigit() else sign
        return self[code]


_SHAPES = _Shapes()


def shape_of(text: str) -> str:
    """Return a text with A for each upper-case letter, a for other letters, and 9 for digits.

    Example:
        >>> shape_of("Diss. Zürich 1961, 8°")
        'Aaaa. Aaaaaa 9999, 9°'
    """
    return text.translate(_SHAPES)


AGREEMENT = ("mean", "least", "greatest", "same", "same_in_item", "almost_all", "most")
"""Names of the columns about other runs."""


def names_of_columns(values: ChosenValues) -> list[str]:
    """Return the names of all columns, in their order."""
    fields = values.fields
    names = [f"field={field}" for field in fields]
    if values.runs > 1:
        names += [*AGREEMENT, *(f"same×field={field}" for field in fields)]
    names += ["empty", "text_count", "shape_count"]
    names += [f"shape_count×field={field}" for field in fields]
    return names


def columns_of(values: ChosenValues, positions: Positions) -> Floats:
    """Return the columns of some values: a row for each, a column for each name.

    Args:
        values: the values.
        positions: which of them.
    """
    rows, fields = np.divmod(positions, len(values.fields))
    in_field = np.eye(len(values.fields))[fields]
    columns = [in_field]
    if values.runs > 1:
        of_item = values.same[rows] / (values.runs - 1)
        same, mean = of_item[np.arange(len(rows)), fields], values.mean[rows, fields]
        columns += [
            mean,
            values.least[rows, fields],
            values.greatest[rows, fields],
            same,
            of_item.mean(axis=1),
            (mean >= ALMOST_ALL - ROUNDING).astype(float),
            (mean >= MOST - ROUNDING).astype(float),
            in_field * same[:, None],
        ]
    shapes = np.log(values.shape_count[rows, fields])
    columns += [
        values.empty[rows, fields].astype(float),
        np.log(values.text_count[rows, fields]),
        shapes,
        in_field * shapes[:, None],
    ]
    return np.column_stack(columns)


@dataclass(frozen=True)
class Scales:
    """The means and standard deviations of all columns over a collection.

    Attributes:
        mean: the mean of each column.
        deviation: the standard deviation of each column; exactly 0.0 if it is constant.
    """

    mean: Floats
    deviation: Floats

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Return which columns are not constant."""
        return self.deviation > 0

    def scaled(self, columns: Floats) -> Floats:
        """Return columns with mean 0 and standard deviation 1; constant ones are 0."""
        deviation = np.where(self.varies, self.deviation, 1.0)
        return np.where(self.varies, (columns - self.mean) / deviation, 0.0)


def scales_of(values: ChosenValues) -> Scales:
    """Return the means and standard deviations of the columns over all values."""
    number = len(values)
    blocks = [(each.sum(axis=0), each.min(axis=0), each.max(axis=0)) for each in _blocks(values)]
    sums, least, greatest = map(np.array, zip(*blocks, strict=True))
    mean = sums.sum(axis=0) / number
    spread = sum(((columns - mean) ** 2).sum(axis=0) for columns in _blocks(values)) / number
    # The mean of millions of equal numbers may be a little off.
    is_constant = least.min(axis=0) == greatest.max(axis=0)
    return Scales(mean, np.where(is_constant, 0.0, np.sqrt(spread)))


def _blocks(values: ChosenValues) -> Iterator[Floats]:
    for positions in blocks_of(len(values)):
        yield columns_of(values, positions)


def blocks_of(number: int) -> Iterator[Positions]:
    """Yield the positions of values, as many at once as may be in memory."""
    for first in range(0, number, AT_ONCE):
        yield np.arange(first, min(first + AT_ONCE, number))


COEFFICIENT_DIGITS = 6
"""Decimals of coefficients: only rounded ones count."""


@dataclass(frozen=True)
class Examples:
    """Values to learn from."""

    columns: Floats
    names: list[str]
    varies: NDArray[np.bool_]
    wrong: NDArray[np.bool_]


class Fitted(NamedTuple):
    """The intercept, and column → its coefficient."""

    intercept: float
    coefficients: dict[str, float]


def examples_of(
    values: ChosenValues,
    scales: Scales,
    runs: Runs,
    texts: Mapping[ValueKey, str | None],
    *,
    ids: Sequence[str],
    case: Case,
) -> Examples:
    """Return the columns of values that were read, and whether they are wrong to the letter."""
    columns = {name: column for column, name in enumerate(values.fields)}
    wrong = [
        text is None or folded(choice.text, case) != folded(text, case)
        for choice, text in zip(runs.choices(texts), texts.values(), strict=True)
    ]
    rows = {ids[item]: row for row, item in enumerate(values.items.tolist())}
    positions = [rows[value.item] * len(columns) + columns[value.field] for value in texts]
    return Examples(
        scales.scaled(columns_of(values, np.array(positions, dtype=np.int64))),
        names_of_columns(values),
        scales.varies,
        np.array(wrong),
    )


def probabilities_of(
    values: ChosenValues, scales: Scales, intercept: float, coefficients: Mapping[str, float]
) -> Probabilities:
    """Return the probability of each value to be wrong, in billionths."""
    by_column = np.array([coefficients.get(name, 0.0) for name in names_of_columns(values)])
    probabilities = np.empty(len(values), dtype=np.int32)
    for positions in blocks_of(len(values)):
        logits = intercept + scales.scaled(columns_of(values, positions)) @ by_column
        probabilities[positions] = np.rint(probability(logits) * BILLION)
    return probabilities


def fitted(
    values: ChosenValues, scales: Scales, examples: Examples, source: Examples | None
) -> Fitted:
    """Return intercept and coefficients, for columns that vary wherever they are.

    Those of another collection are what is expected before values of this one are learned from:
    deviations from them cost what deviations from 0 do otherwise.
    """
    known = examples if source is None else source
    places = {name: place for place, name in enumerate(known.names) if known.varies[place]}
    own = [
        place
        for place, name in enumerate(names_of_columns(values))
        if scales.varies[place] and name in places
    ]
    used = [examples.names[place] for place in own]
    prior = None
    if source is not None:
        _, prior = fit(source.columns[:, [places[name] for name in used]], source.wrong)
    intercept, coefficients = fit(examples.columns[:, own], examples.wrong, prior)
    return Fitted(
        round(intercept, COEFFICIENT_DIGITS),
        {
            name: round(float(coefficient), COEFFICIENT_DIGITS)
            for name, coefficient in zip(used, coefficients, strict=True)
        },
    )


Array = NDArray[np.float64]

RIDGE = 10.0
"""The strength of the penalty: as if (RIDGE / 2) times the sum of squared coefficients were lost
from the log-likelihood."""

MAX_STEPS = 100

NOISE = 1e-12
"""Part of the loss by which it may seem to grow: so near the minimum, only because numbers are
rounded."""

GRADIENT = 1e-9
"""Where no part of the gradient is larger, the minimum is found: coefficients are right to ten
decimals."""


def fit(
    columns: Array, outcomes: NDArray[np.bool_], prior: Array | None = None
) -> tuple[float, Array]:
    """Return the intercept and the coefficients that minimise log-loss and penalty.

    The intercept is not penalised. With a penalty there is exactly one minimum; where all outcomes
    are the same, the intercept has none, and half an outcome of the other kind is added at the
    mean of the columns.

    Args:
        columns: a row for each observation; the columns have about mean 0 and standard deviation 1.
        outcomes: whether it is so in each row; at least one row.
        prior: the coefficients that cost nothing; 0 for each by default.

    Example:
        >>> columns = np.array([[-1.0], [-1.0], [1.0], [1.0]])
        >>> intercept, (slope,) = fit(columns, np.array([False, False, True, True]))
        >>> round(intercept, 6) + 0, round(float(slope), 6)
        (0.0, 0.181864)
    """
    rows = np.column_stack([np.ones(len(columns)), columns])
    weights, target = np.ones(len(rows)), outcomes.astype(float)
    if outcomes.all() or not outcomes.any():
        rows = np.vstack([rows, rows.mean(axis=0)])
        weights, target = np.append(weights, 0.5), np.append(target, 1 - target[0])
    penalty = np.full(rows.shape[1], RIDGE)
    penalty[0] = 0.0
    prior = np.zeros(columns.shape[1]) if prior is None else prior
    start = np.concatenate([[0.0], prior])
    coefficients = start

    def loss_of(tried: Array) -> float:
        logits = rows @ tried
        log_loss = np.logaddexp(0, logits) - target * logits
        return float(weights @ log_loss + 0.5 * penalty @ (tried - start) ** 2)

    loss = loss_of(coefficients)
    for _ in range(MAX_STEPS):
        chance = probability(rows @ coefficients)
        gradient = rows.T @ (weights * (chance - target)) + penalty * (coefficients - start)
        if np.abs(gradient).max() < GRADIENT:
            break
        curvature = (rows.T * (weights * chance * (1 - chance))) @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        most = loss + NOISE * (1 + loss)
        while True:
            tried = coefficients - step
            reached = loss_of(tried)
            if reached <= most:
                break
            step /= 2  # a full step may lead too far where probabilities are extreme
        coefficients, loss = tried, reached
    return float(coefficients[0]), coefficients[1:]


def probability(logits: Array) -> Array:
    """Return the probabilities that belong to logits."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * logits)))
