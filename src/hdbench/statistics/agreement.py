"""Agreement of people who annotated the same things: shares, and Krippendorff's alpha."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from krippendorff import alpha as krippendorff_alpha
from rapidfuzz import fuzz, process

from hdbench.benchmarks.agreement import Ceiling, FieldAgreement, IntervalEstimate
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import Metric
from hdbench.statistics.bootstrap import MIN_ITEMS, figure_interval, why_without
from hdbench.statistics.resampling import (
    NOTHING,
    Array,
    Counts,
    StatisticsTable,
    bootstrap,
    check_settings,
    chunks,
)

MIN_DOUBLE = 10
"""With fewer, there is no interval."""

MAX_DIFFERENT = 3_000
"""With more different values, there is no alpha by similarity: all pairs are compared."""

_MAX_COINCIDENCES = 20_000_000
"""Maximum size of the arrays that the package `krippendorff` makes: units × values × values."""


class Unit(NamedTuple):
    """Values that people entered for one and the same thing.

    Attributes:
        item: the place of its item.
        values: what each of them entered, two values or more; None where somebody entered nothing.
    """

    item: int
    values: tuple[str | None, ...]


class _Values(NamedTuple):
    """The units of a field with numbers for their different values.

    Attributes:
        different: the values, each once.
        units: the number of each unit's values.
        item: the number of each unit's item.
    """

    different: list[str | None]
    units: list[list[int]]
    item: Counts

    @property
    def items(self) -> int:
        """Return how many items they are from."""
        return int(self.item.max()) + 1

    def by_item(self, of_units: Sequence[float]) -> Array:
        """Return numbers of units, added up for each item."""
        return np.bincount(self.item, of_units, self.items).astype(np.float64)


class _Disagreement(NamedTuple):
    """Distances from which Krippendorff's alpha follows, however often each item is taken.

    Attributes:
        values: for each item, how many values it has.
        observed: for each item, the summed distances of the values within its units.
        expected: items × items: the summed distances of the values of the one and the other.
    """

    values: Array
    observed: Array
    expected: Array

    def alphas(self, times: Array, unseen: Array) -> Array:
        """Return alpha for each of many draws; NaN where it is not defined.

        Args:
            times: draws × items: how often each is taken.
            unseen: for each draw, the share of an unseen item.

        Returns:
            2 × draws: if nobody agrees in the unseen item, and if all do.
        """
        number = times @ self.values
        seen = (1 - unseen) * (times @ self.observed)
        observed = np.array([seen + unseen * number, seen])
        expected = np.einsum("ij,ij->i", times @ self.expected, times)
        is_defined = expected > NOTHING
        return np.where(
            is_defined, 1 - (number - 1) * observed / np.where(is_defined, expected, 1), np.nan
        )


def field_agreement(
    units: Sequence[Unit], *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> FieldAgreement:
    """Return the agreement in one field.

    The share of agreement is the mean over units of the share of pairs of people who entered the
    same. That nothing is there is a value like any other.

    Krippendorff's alpha is 1 - D_o / D_e: the observed mean distance of two values of the same
    unit, by that of two values of any units (Krippendorff, "Content Analysis", 4th ed., 2019,
    chapter 12). It is not defined if all values are equal. The nominal distance is 1 for values
    that are not the same to the letter. By similarity, it is 1 - similarity, which is 1 for texts
    that have nothing in common, and for a text where the other person entered nothing. It is not
    squared, as it is for numbers: a slip in one of twenty letters then counts 0.05, as it does in
    the metrics, and not 0.0025, with which any two transcriptions would seem to agree.

    Intervals are over items, which are drawn with replacement with all their units, and with one
    unseen item, in which all agree for the upper end, and nobody agrees for the lower one: without
    it, 20 items in which all agree would give the single point 1. See
    `hdbench.statistics.bootstrap.intervals`. A draw in which alpha is not defined is left out; if
    these are more than 1 - level of all, or there are fewer than 10 items, there is no interval.

    How often 95% intervals of the nominal alpha held the true value in 400 samples of n items, and
    their mean width, for two people who each err at random:

        field, errors                        n    without unseen     with it
        300 names, 2 %                      20    .56 (width .12)    .98 (.24)
                                           150    .94 (.06)          .97 (.07)
        4 languages, one of 85 %, 10 %      20    .86 (.78)          .93 (1.17)
                                           150    .95 (.29)          .96 (.32)
        yes or no, 2 %                      20    .38 (.15)         1.00 (.45)

    Args:
        units: what was entered, at least one.
        resamples: how often items are drawn.
        level: the nominal coverage.
        seed: the seed of `numpy.random.default_rng`.

    Raises:
        HdbenchError: a setting is out of range.

    Example:
        >>> pairs = [("A", "A"), ("A", "A"), ("B", "B"), ("B", "A")]
        >>> found = field_agreement([Unit(item, pair) for item, pair in enumerate(pairs)])
        >>> found.share.value, round(found.alpha.value, 4)
        (0.75, 0.5333)
    """
    check_settings(resamples, level, seed)
    values = _numbered(units)
    agreeing = [_share(unit) for unit in values.units]
    draw = _Draw(values.items, resamples, level, seed)
    by_similarity = IntervalEstimate(value=None)
    if len(values.different) <= MAX_DIFFERENT:
        distances = _distances(values.different)
        by_similarity = _alpha(values, distances, draw)
    return FieldAgreement(
        units=len(units),
        items=values.items,
        share=draw.mean(values.by_item(agreeing), values.by_item([1] * len(units))),
        alpha=_alpha(values, None, draw),
        alpha_similarity=by_similarity,
    )


class _Draw:
    """Draws of items, the same for every figure of a field.

    Args:
        items: how many there are.
        resamples: how often they are drawn.
        level: the nominal coverage.
        seed: the seed.
    """

    def __init__(self, items: int, resamples: int, level: float, seed: int) -> None:
        self._items, self._resamples, self._level, self._seed = items, resamples, level, seed

    def mean(self, sums: Array, numbers: Array) -> IntervalEstimate:
        """Return a mean over units, from their sum and number for each item."""
        value = float(sums.sum() / numbers.sum())
        if self._items < MIN_DOUBLE:
            return IntervalEstimate(value=value)
        drawn = np.concatenate([times @ sums / (times @ numbers) for times in self._times()])
        ends = figure_interval(drawn, self._items, self._level, self._seed)
        return IntervalEstimate(value=value, interval=(ends.low, ends.high))

    def alpha(self, value: float, disagreement: _Disagreement) -> IntervalEstimate:
        """Return Krippendorff's alpha with its interval."""
        if self._items < MIN_DOUBLE:
            return IntervalEstimate(value=value)
        rng = np.random.default_rng((self._seed, 2))
        drawn = np.concatenate(
            [
                disagreement.alphas(times, rng.beta(1, self._items, len(times)))
                for times in self._times()
            ],
            axis=1,
        )
        defined = drawn[:, ~np.isnan(drawn[0])]
        if defined.shape[1] < self._level * self._resamples:
            return IntervalEstimate(value=value)
        tail = (1 - self._level) / 2
        ends = np.quantile(defined[0], tail), np.quantile(defined[1], 1 - tail)
        return IntervalEstimate(value=value, interval=(max(-1.0, float(ends[0])), float(ends[1])))

    def _times(self) -> Iterator[Array]:
        """Yield draws × items, some draws at a time: how often each item is taken."""
        rng = np.random.default_rng(self._seed)
        even = [1 / self._items] * self._items
        for size in chunks(self._resamples, self._items):
            yield rng.multinomial(self._items, even, size=size).astype(np.float64)


def _numbered(units: Sequence[Unit]) -> _Values:
    number: dict[str | None, int] = {}
    numbered = [[number.setdefault(value, len(number)) for value in unit.values] for unit in units]
    _, item = np.unique([unit.item for unit in units], return_inverse=True)
    return _Values(list(number), numbered, item)


def _share(unit: Sequence[int]) -> float:
    """Return the share of pairs of people who entered the same."""
    pairs = [one == other for one, other in permutations(unit, 2)]
    return sum(pairs) / len(pairs)


def _distances(values: Sequence[str | None]) -> Array:
    """Return values × values: 1 - similarity; 1 between a value and none."""
    texts = [value or "" for value in values]
    distances: Array = 1 - process.cdist(texts, texts, scorer=fuzz.ratio, dtype=np.float64) / 100
    if None in values:
        missing = values.index(None)
        distances[missing] = distances[:, missing] = 1
        distances[missing, missing] = 0
    return distances


def _alpha(values: _Values, distances: Array | None, draw: _Draw) -> IntervalEstimate:
    """Return Krippendorff's alpha with its interval; without distances, the nominal one."""
    if len(values.different) == 1:
        return IntervalEstimate(value=None)
    disagreement = _disagreement(values, distances)
    if len(values.units) * len(values.different) ** 2 > _MAX_COINCIDENCES:
        value = disagreement.alphas(np.ones((1, values.items)), np.zeros(1))[0, 0]
    else:
        value = _packaged(values, distances)
    return draw.alpha(float(value), disagreement)


def _packaged(values: _Values, distances: Array | None) -> float:
    """Return alpha as the package `krippendorff` computes it."""
    times = np.zeros((len(values.units), len(values.different)), np.int64)
    for row, unit in zip(times, values.units, strict=True):
        np.add.at(row, unit, 1)
    if distances is None:
        return float(krippendorff_alpha(value_counts=times, level_of_measurement="nominal"))

    def distance(_one: Any, _other: Any, i1: Any, i2: Any, **_: Any) -> Any:
        return distances[i1, i2]

    return float(krippendorff_alpha(value_counts=times, level_of_measurement=distance))  # type: ignore[arg-type]


def _disagreement(values: _Values, distances: Array | None) -> _Disagreement:
    from scipy.sparse import coo_array  # noqa: PLC0415  slow to import

    observed = [
        sum(
            float(one != other) if distances is None else float(distances[one, other])
            for one, other in permutations(unit, 2)
        )
        / (len(unit) - 1)
        for unit in values.units
    ]
    sizes = [len(unit) for unit in values.units]
    number = values.by_item(sizes)
    positions = np.repeat(values.item, sizes), np.concatenate([*map(np.array, values.units)])
    shape = (values.items, len(values.different))
    times = coo_array((np.ones(sum(sizes)), positions), shape).tocsr()
    if distances is None:
        expected = np.outer(number, number) - (times @ times.T).toarray()
    else:
        expected = (times @ distances) @ times.T
    return _Disagreement(number, values.by_item(observed), expected)


Records = Mapping[str, dict[str, Any] | None]
"""Person → what they made of an item; None if they say that nobody can know it."""


def ceiling(
    metric: Metric,
    headline: str,
    items: Sequence[Records],
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Ceiling | None:
    """Return the headline with one person's record as the answer and another's as the ground truth.

    It is computed for every ordered pair of people, over the items that both annotated, and the
    mean is taken. An item of which the second one says that nobody can know it has no ground
    truth, and is not scored; if the first one says so, that is not an answer.

    The interval is that of a model's headline (`hdbench.statistics.bootstrap.intervals`), over
    items that are drawn for all pairs together: with fewer than 20, there is none, nor where the
    headline has none itself.

    Args:
        metric: the benchmark's metric.
        headline: the benchmark's headline.
        items: what people made of each item.
        resamples: how often items are drawn.
        level: the nominal coverage.
        seed: the seed of `numpy.random.default_rng`.

    Returns:
        None if there is nothing to score.

    Raises:
        HdbenchError: a setting is out of range.
    """
    check_settings(resamples, level, seed)
    people = sorted({name for records in items for name in records})
    values, tables = [], []
    for one, other in permutations(people, 2):
        pairs = [(records.get(one), records.get(other), one in records) for records in items]
        table = _table(metric, pairs)
        value = _headline(metric, headline, table)
        if value is not None:
            values.append(value)
            tables.append(table)
    if not tables:
        return None
    scored = np.any([table.values[:, -1] for table in tables], axis=0)
    number = int(scored.sum())
    interval = None
    tables = [table._replace(values=table.values[scored]) for table in tables]
    if number >= MIN_ITEMS and not any(why_without(table, headline) for table in tables):
        drawn = bootstrap(tables, [headline], resamples, seed)
        means = np.nanmean([figures[:, 0] for figures in drawn], axis=0)
        ends = figure_interval(means, number, level, seed)
        interval = ends.low, ends.high
    return Ceiling(
        headline=headline,
        value=float(np.mean(values)),
        interval=interval,
        annotators=len(people),
        items=number,
    )


def _table(
    metric: Metric,
    pairs: Sequence[tuple[dict[str, Any] | None, dict[str, Any] | None, bool]],
) -> StatisticsTable:
    """Return the statistics of each item, and whether it is scored, in the column `items`.

    Args:
        metric: the metric.
        pairs: for each item, the answer, the ground truth, and whether anybody was to answer.
    """
    names = [*metric.figure_statistics, "items"]
    rows = []
    for answer, truth, is_asked in pairs:
        prepared = None
        if truth is not None and is_asked:
            prepared = metric.prepare(truth)
        statistics: Mapping[str, float] = {}
        if prepared is not None:
            record = None if answer is None else metric.as_record(metric.right_answer(answer))
            statistics = {**metric.score(record, prepared).statistics, "items": 1}
        rows.append([statistics.get(name, 0) for name in names])
    return StatisticsTable(metric, names, np.array(rows, np.float64))


def _headline(metric: Metric, headline: str, table: StatisticsTable) -> float | None:
    """Return the headline over all items; None if there is nothing to score."""
    columns = zip(table.names, table.values.T.tolist(), strict=True)
    totals = {name: metric.total(column) for name, column in columns}
    if not totals["items"]:
        return None
    try:
        metric.check_totals(totals)
    except HdbenchError:
        return None
    value = metric.rates(totals)[headline]
    return None if value is None else float(value)
