"""Intervals for the F1 of each field."""

from collections import defaultdict
from typing import TYPE_CHECKING

from hdbench.scoring import make_metric
from hdbench.scoring.metric import INDEX

if TYPE_CHECKING:
    from hdbench.evaluation.result import Result
    from hdbench.statistics.bootstrap import Interval

RESAMPLES = 2_000
"""Number of draws: there are as many fields as a card has, and their intervals are drawn small."""


def field_intervals(result: "Result") -> "dict[str, Interval]":
    """Return field → the 95% interval of its F1, for those that enough items say something about.

    A field's F1 follows from its counts as a card's micro F1 follows from those of all its fields,
    so that each field is drawn as a card that has this field alone; see
    `hdbench.statistics.bootstrap.intervals`. The level holds for each field by itself, not for all
    at once.

    Args:
        result: a result with details. Without them, or where a field's first figure is no F1, there
            are no intervals.
    """
    from hdbench.statistics.bootstrap import intervals  # noqa: PLC0415  numpy is slow to import

    first = result.metric.field_figures[:1]
    if not result.per_item or not first or first[0].name != "f1":
        return {}
    counts: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
    for place, item in enumerate(result.per_item):
        for match in item["fields"]:
            of_item = counts[INDEX.sub("", match["field"])][place]
            outcome = match["outcome"]
            of_item[0] += outcome == "correct"
            of_item[1] += outcome in ("substituted", "spurious")
            of_item[2] += outcome in ("substituted", "missing")
    metric = make_metric("zettel_f1")
    found = {}
    for field, by_place in counts.items():
        columns = [[0.0] * len(result.ids) for _ in range(3)]
        for place, of_item in by_place.items():
            for column, count in zip(columns, of_item, strict=True):
                column[place] = count
        names = ("true_positives", "false_positives", "false_negatives")
        statistics = dict.fromkeys(metric.statistics, [0.0] * len(result.ids))
        alone = result.replaced(
            metric=metric,
            statistics={**statistics, **dict(zip(names, columns, strict=True))},
            per_item=[],
            worst=[],
        )
        interval = intervals(alone, only="f1_micro", resamples=RESAMPLES).figures.get("f1_micro")
        if interval is not None:
            found[field] = interval
    return found
