"""Score of people against each other, computed as that of a model is."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from hdbench.benchmarks.agreement import Ceiling
from hdbench.errors import HdbenchError
from hdbench.scoring.metric import Metric
from hdbench.statistics.bootstrap import MIN_ITEMS, figure_interval, why_without
from hdbench.statistics.resampling import StatisticsTable, bootstrap, check_settings

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
