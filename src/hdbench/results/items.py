"""Scoring a set of items, one at a time."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import repeat
from typing import Any

from hdbench.answers.answer import Answer, Kind, Status
from hdbench.errors import HdbenchError
from hdbench.results.parts import NO_DATASET, ScoredDataset
from hdbench.results.result import Result
from hdbench.scoring.metric import (
    OUTCOMES,
    Coverage,
    FieldMatch,
    ItemScore,
    Metric,
    Outcome,
    coverage_of,
)

WORST = 5
"""Number of worst items that are kept, with what is wrong in them."""

_MATCH = tuple(field.name for field in fields(FieldMatch) if field.name != "record")


class ScoredItem:
    """An item with its score.

    Args:
        metric: the metric that scored it.
        answer: its answer.
        prepared: its ground truth, from `prepare`.
        coverage: whether its prediction is an answer.
        score: its score.
    """

    def __init__(
        self, metric: Metric, answer: Answer, prepared: Any, coverage: Coverage, score: ItemScore
    ) -> None:
        self.metric, self.answer, self.prepared = metric, answer, prepared
        self.coverage, self.score = coverage, score

    @property
    def status(self) -> Status:
        """The status of its answer; `unanswered` or `unparsable` if there is none."""
        return self.answer.status if self.coverage == "answered" else self.coverage

    @cached_property
    def matches(self) -> list[FieldMatch]:
        """The outcome of each of its fields."""
        return self.metric.explain(self.score, self.prepared)

    def details(self) -> dict[str, Any]:
        """Return the outcomes of its fields and its statistics, as JSON data."""
        return {
            "id": self.answer.id,
            "status": self.status,
            **self.score.statistics,
            "fields": [
                {name: _finite(getattr(match, name)) for name in _MATCH}
                | ({} if match.record is None else {"record": match.record})
                for match in self.matches
            ],
        }


@dataclass
class CollectedScores:
    """The scores of some items, as plain data, which another process can send.

    Attributes:
        columns: the statistics in the order of the metric's, each item by item.
        ids: the items.
        statuses: what was done to read each answer.
        kinds: what an unparsable answer is → number of items.
        strict: id → the statistics that an item would have if only valid JSON counted, without
            those that are zero.
        strata: the items' strata, if they are a stratified sample.
        fields: stratum (0 if there are none) → outcome → how often each field had it.
        per_item: what became of every item, if that is kept.
        worst: the figure, the position and the details of the worst items, as a heap, whose first
            one is the best of them, and among equals the later one; an item that was scored here
            is there itself.
        other_errata: id → the statistics that an item would have if its proposed corrections
            counted, or, where they count, if they did not; only items that have any.
    """

    columns: list[list[float]]
    ids: list[str] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    kinds: Counter[Kind] = field(default_factory=Counter)
    strict: dict[str, Mapping[str, float]] = field(default_factory=dict)
    strata: list[int] = field(default_factory=list)
    fields: dict[int, dict[Outcome, Counter[str]]] = field(default_factory=dict)
    per_item: list[dict[str, Any]] = field(default_factory=list)
    worst: list[tuple[float, int, ScoredItem | dict[str, Any]]] = field(default_factory=list)
    other_errata: dict[str, Mapping[str, float]] = field(default_factory=dict)

    def count_fields(self, stratum: int, counts: Mapping[Outcome, Iterable[str]]) -> None:
        """Count the outcomes of fields: names, or counts by name."""
        of_stratum = self.fields.setdefault(stratum, {outcome: Counter() for outcome in OUTCOMES})
        for outcome, names in counts.items():
            of_stratum[outcome].update(names)

    def add_worst(self, figure: float, position: int, item: ScoredItem | dict[str, Any]) -> None:
        """Keep an item if it is one of the worst."""
        if len(self.worst) < WORST:
            heapq.heappush(self.worst, (figure, position, item))
        else:
            heapq.heappushpop(self.worst, (figure, position, item))


class ScoreCollector:
    """The statistics of items that are scored one at a time, in the dataset's order.

    An item without an answer, or whose answer is not a record, counts as a complete failure and is
    never skipped.

    Args:
        metric: the metric with its protocol and options.
        details: keep what became of every item and field.
    """

    def __init__(self, metric: Metric, *, details: bool = False) -> None:
        self._metric, self._details = metric, details
        self._all = CollectedScores([[] for _ in metric.statistics])
        self._rows: list[float] = []  # the last items' statistics, item by item: see `_settle`
        self._uncounted: defaultdict[int, dict[Outcome, list[str]]]  # by stratum
        self._uncounted = defaultdict(lambda: {outcome: [] for outcome in OUTCOMES})

    def add(self, answer: Answer, prepared: Any, stratum: int | None = None) -> ScoredItem | None:
        """Score an item.

        Args:
            answer: its answer; without ids, its position is its id.
            prepared: its ground truth, from `prepare`; None leaves the item out.
            stratum: its stratum, if the items are a stratified sample.

        Returns:
            The item with its score; None if an option of the metric leaves it out.
        """
        if prepared is None:
            return None
        metric, so_far = self._metric, self._all
        record = metric.as_record(answer.prediction)
        if record is not answer.prediction:
            answer = answer._replace(prediction=record, status="unwrapped", kind=None)
        coverage = coverage_of(record, metric.protocol)
        score = metric.score(record if coverage == "answered" else None, prepared)
        item = ScoredItem(metric, answer, prepared, coverage, score)
        position, status = len(so_far.ids), item.status
        so_far.ids.append(answer.id)
        so_far.statuses.append(status)
        if stratum is not None:
            so_far.strata.append(stratum)
        if kind := _kind(answer, coverage):
            so_far.kinds[kind] += 1
        elif coverage == "answered" and status != "clean":
            lost = metric.score(None, prepared).statistics
            # Most are zero, and a model may wrap each of a million answers.
            so_far.strict[answer.id] = {name: number for name, number in lost.items() if number}
        values = score.statistics
        if len(values) == len(metric.statistics):
            self._rows += values.values()
        else:
            self._rows += map(values.get, metric.statistics, repeat(0))
        uncounted = self._uncounted[stratum or 0]
        for outcome, paths in score.fields.items():
            if paths:
                uncounted[outcome] += paths
        if position % 200 == 0:  # rarely: a Counter is slow to start and fast to continue
            self._settle()
        figure = -values[metric.item_figure]
        if position < WORST or figure > so_far.worst[0][0]:
            so_far.add_worst(figure, -position, item)
        if self._details:
            so_far.per_item.append(item.details())
        return item

    def add_other_errata(self, item: ScoredItem, prepared: Any) -> None:
        """Score an item that was added once more, against its ground truth with other corrections.

        Args:
            item: the item.
            prepared: that ground truth, from `prepare`; None if an option leaves it out then.
        """
        if prepared is None:
            return
        record = item.answer.prediction if item.coverage == "answered" else None
        self._all.other_errata[item.answer.id] = self._metric.score(record, prepared).statistics

    def collected(self) -> CollectedScores:
        """Return the scores of the items so far, without what only this process needs."""
        self._settle()
        worst = self._all.worst
        return replace(
            self._all,
            worst=[(figure, position, _details(item)) for figure, position, item in worst],
        )

    def take(self, later: CollectedScores) -> None:
        """Take items that were scored with the same metric, and follow those so far."""
        self._settle()
        so_far = self._all
        before = len(so_far.ids)
        so_far.ids += later.ids
        so_far.statuses += later.statuses
        so_far.strata += later.strata
        so_far.per_item += later.per_item
        so_far.kinds.update(later.kinds)
        so_far.strict |= later.strict
        so_far.other_errata |= later.other_errata
        for column, more in zip(so_far.columns, later.columns, strict=True):
            column.extend(more)
        for stratum, counts in later.fields.items():
            so_far.count_fields(stratum, counts)
        for figure, position, details in later.worst:
            so_far.add_worst(figure, position - before, details)

    def result(self, *, dataset: ScoredDataset = NO_DATASET) -> Result:
        """Return the result for the items so far.

        Args:
            dataset: what is scored against, to be named in the result.

        Raises:
            HdbenchError: the ground truths have nothing to score by.
        """
        self._settle()
        so_far = self._all
        fields: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
        for by_outcome in so_far.fields.values():
            for outcome, counts in by_outcome.items():
                fields[outcome].update(counts)
        result = Result(
            metric=self._metric,
            ids=so_far.ids,
            status=Counter(so_far.statuses),
            statistics=dict(zip(self._metric.statistics, so_far.columns, strict=True)),
            outcomes=fields,
            strata=so_far.strata,
            stratum_outcomes=so_far.fields if so_far.strata else {},
            statuses=so_far.statuses,
            kinds=so_far.kinds,
            strict_statistics=so_far.strict,
            other_errata=so_far.other_errata,
            worst=[_details(item) for *_, item in sorted(so_far.worst, reverse=True)],
            per_item=so_far.per_item,
            dataset=dataset,
        )
        self._metric.check_totals(result.totals)
        return result

    def _settle(self) -> None:
        """Put the last items' statistics into the columns, and count their fields."""
        columns = self._all.columns
        for start, column in enumerate(columns):
            column.extend(self._rows[start :: len(columns)])
        self._rows.clear()
        for stratum, by_outcome in self._uncounted.items():
            self._all.count_fields(stratum, by_outcome)
            for paths in by_outcome.values():
                paths.clear()


def prepare(metric: Metric, reference: dict[str, Any], place: str) -> Any:
    """Prepare a ground truth for scoring.

    Args:
        metric: the metric.
        reference: the ground truth that its protocol scores.
        place: what messages call it, such as the item's id.

    Raises:
        HdbenchError: the metric cannot score by it.
    """
    try:
        return metric.prepare(reference)
    except HdbenchError as error:
        raise HdbenchError("{place}: {why}", place=place, why=error) from error


def score_items(
    metric: Metric,
    items: Iterable[tuple[Answer, Any] | tuple[Answer, Any, int]],
    *,
    details: bool = False,
    dataset: ScoredDataset = NO_DATASET,
) -> Result:
    """Score items in the given order; see `ScoreCollector`.

    Args:
        metric: the metric with its protocol and options.
        items: the arguments of `ScoreCollector.add` for each, in the dataset's order.
        details: keep what became of every item and field.
        dataset: what is scored against, to be named in the result.
    """
    collector = ScoreCollector(metric, details=details)
    for item in items:
        collector.add(*item)
    return collector.result(dataset=dataset)


def _kind(answer: Answer, coverage: Coverage) -> Kind | None:
    """Return the kind of what is unparsable; None if only strict reading rejects it."""
    if coverage == "unparsable" != answer.status:  # it was given as it is, not read
        return "message" if isinstance(answer.prediction, dict) else "other"
    return answer.kind


def _details(item: ScoredItem | dict[str, Any]) -> dict[str, Any]:
    return item if isinstance(item, dict) else item.details()


def _finite(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and the infinities by name."""
    if isinstance(value, dict):
        return {key: _finite(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_finite(child) for child in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
