"""Scoring a set of items, one at a time."""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

from hdbench.errors import HdbenchError
from hdbench.reading.answer import Answer, Kind, Status
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
"""How many of the worst items are kept, with what is wrong in them."""

_MATCH = tuple(each.name for each in fields(FieldMatch) if each.name != "record")


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
        """What was done to read its answer; `unanswered` or `unparsable` if there is none."""
        return self.answer.status if self.coverage == "answered" else self.coverage

    @cached_property
    def matches(self) -> list[FieldMatch]:
        """What became of each of its fields."""
        return self.metric.explain(self.score, self.prepared)

    def details(self) -> dict[str, Any]:
        """What became of it, as JSON data."""
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


class Tallied(NamedTuple):
    """What a `Tally` has of some items, as plain data, which another process can send.

    Attributes:
        ids: the items.
        statuses: what was done to read each answer.
        kinds: what an unparsable answer is → number of items.
        strict: id → the statistics that an item would have if only valid JSON counted, without
            those that are zero.
        columns: the statistics in the order of the metric's, each item by item.
        strata: the items' strata.
        fields: stratum → outcome → how often each field had it.
        per_item: what became of every item, if that is kept.
        worst: the figure, the place and the details of the worst items, in no order.
        other_errata: id → the statistics that an item would have if its proposed corrections
            counted, or, where they count, if they did not; only items that have any.
    """

    ids: list[str]
    statuses: list[Status]
    kinds: Counter[Kind]
    strict: dict[str, Mapping[str, float]]
    columns: list[list[float]]
    strata: list[int]
    fields: dict[int, dict[Outcome, Counter[str]]]
    per_item: list[dict[str, Any]]
    worst: list[tuple[float, int, dict[str, Any]]]
    other_errata: dict[str, Mapping[str, float]]


class Tally:
    """The statistics of items that are scored one at a time, in the dataset's order.

    An item without an answer, or whose answer is not a record, counts as a complete failure and is
    never skipped.

    Args:
        metric: the metric with its protocol and options.
        details: keep what became of every item and field.
    """

    def __init__(self, metric: Metric, *, details: bool = False) -> None:
        self._metric = metric
        self._details = details
        self._ids: list[str] = []
        self._status: Counter[Status] = Counter()
        self._kinds: Counter[Kind] = Counter()
        self._strict: dict[str, Mapping[str, float]] = {}
        self._other_errata: dict[str, Mapping[str, float]] = {}
        self._columns: list[list[float]] = [[] for _ in metric.statistics]
        self._rows: list[float] = []  # the last items' statistics, item by item: see `_settle`
        self._strata: list[int] = []
        self._statuses: list[Status] = []
        # By stratum:
        self._fields: defaultdict[int, dict[Outcome, Counter[str]]]
        self._fields = defaultdict(lambda: {outcome: Counter() for outcome in OUTCOMES})
        self._uncounted: defaultdict[int, dict[Outcome, list[str]]]
        self._uncounted = defaultdict(lambda: {outcome: [] for outcome in OUTCOMES})
        self._per_item: list[dict[str, Any]] = []
        # A heap whose smallest entry is the best of the worst so far; among equals, the later one.
        self._worst: list[tuple[float, int, ScoredItem | dict[str, Any]]] = []

    def add(self, answer: Answer, prepared: Any, stratum: int = 0) -> ScoredItem | None:
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
        metric, item_id = self._metric, answer.id
        record = metric.as_record(answer.prediction)
        if record is not answer.prediction:
            answer = answer._replace(prediction=record, status="unwrapped", kind=None)
        coverage = coverage_of(record, metric.protocol)
        score = metric.score(record if coverage == "answered" else None, prepared)
        item = ScoredItem(metric, answer, prepared, coverage, score)
        position = len(self._ids)
        self._ids.append(item_id)
        status = item.status
        self._status[status] += 1
        self._statuses.append(status)
        if kind := _kind(answer, coverage):
            self._kinds[kind] += 1
        elif coverage == "answered" and status != "clean":
            lost = metric.score(None, prepared).statistics
            # Most are zero, and a model may wrap each of a million answers.
            self._strict[item_id] = {name: number for name, number in lost.items() if number}
        values = score.statistics
        if len(values) == len(metric.statistics):
            self._rows += values.values()
        else:
            self._rows += map(values.get, metric.statistics, repeat(0))
        self._strata.append(stratum)
        uncounted = self._uncounted[stratum]
        for outcome, paths in score.fields.items():
            if paths:
                uncounted[outcome] += paths
        if position % 200 == 0:  # seldom: a Counter is slow to start, and quick to continue
            self._settle()
        figure = -values[metric.item_figure]
        if position < WORST or figure > self._worst[0][0]:
            self._add_worst(figure, -position, item)
        if self._details:
            self._per_item.append(item.details())
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
        self._other_errata[item.answer.id] = self._metric.score(record, prepared).statistics

    def tallied(self) -> Tallied:
        """What there is of the items so far."""
        self._settle()
        return Tallied(
            self._ids,
            self._statuses,
            self._kinds,
            self._strict,
            self._columns,
            self._strata,
            dict(self._fields),
            self._per_item,
            [(figure, place, _details(item)) for figure, place, item in self._worst],
            self._other_errata,
        )

    def take(self, later: Tallied) -> None:
        """Take items that were scored with the same metric, and follow those so far."""
        self._settle()
        before = len(self._ids)
        self._ids += later.ids
        self._status.update(later.statuses)
        self._statuses += later.statuses
        self._kinds.update(later.kinds)
        self._strict |= later.strict
        self._other_errata |= later.other_errata
        for column, more in zip(self._columns, later.columns, strict=True):
            column.extend(more)
        self._strata += later.strata
        self._per_item += later.per_item
        for stratum, by_outcome in later.fields.items():
            for outcome, counts in by_outcome.items():
                self._fields[stratum][outcome].update(counts)
        for figure, place, details in later.worst:
            self._add_worst(figure, place - before, details)

    def result(self, *, dataset: Mapping[str, Any] | None = None) -> Result:
        """The result for the items so far.

        Args:
            dataset: what is scored against, to be named in the result.

        Raises:
            HdbenchError: the ground truths have nothing to score by.
        """
        self._settle()
        fields: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
        for by_outcome in self._fields.values():
            for outcome, counts in by_outcome.items():
                fields[outcome].update(counts)
        is_stratified = len((dataset or {}).get("sample", {}).get("strata", ())) > 1
        result = Result(
            metric=self._metric,
            ids=self._ids,
            status=self._status,
            statistics=dict(zip(self._metric.statistics, self._columns, strict=True)),
            fields=fields,
            strata=self._strata if is_stratified else (),
            stratum_fields=self._fields if is_stratified else {},
            statuses=self._statuses,
            kinds=self._kinds,
            strict_statistics=self._strict,
            other_errata=self._other_errata,
            worst=[_details(item) for *_, item in sorted(self._worst, reverse=True)],
            per_item=self._per_item,
            dataset=dataset or {},
        )
        self._metric.check_totals(result.totals)
        return result

    def _add_worst(self, figure: float, place: int, item: ScoredItem | dict[str, Any]) -> None:
        if len(self._worst) < WORST:
            heapq.heappush(self._worst, (figure, place, item))
        else:
            heapq.heappushpop(self._worst, (figure, place, item))

    def _settle(self) -> None:
        """Put the last items' statistics into the columns, and count their fields."""
        for start, column in enumerate(self._columns):
            column.extend(self._rows[start :: len(self._columns)])
        self._rows.clear()
        for stratum, by_outcome in self._uncounted.items():
            for outcome, paths in by_outcome.items():
                self._fields[stratum][outcome].update(paths)
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
    dataset: Mapping[str, Any] | None = None,
) -> Result:
    """Score items in the given order; see `Tally`.

    Args:
        metric: the metric with its protocol and options.
        items: the arguments of `Tally.add` for each, in the dataset's order.
        details: keep what became of every item and field.
        dataset: what is scored against, to be named in the result.
    """
    tally = Tally(metric, details=details)
    for item in items:
        tally.add(*item)
    return tally.result(dataset=dataset)


def _kind(answer: Answer, coverage: Coverage) -> Kind | None:
    """What an unparsable prediction is; None for one that only strict reading rejects."""
    if coverage == "unparsable" != answer.status:  # it was given as it is, not read
        return "message" if isinstance(answer.prediction, dict) else "other"
    return answer.kind


def _details(item: ScoredItem | dict[str, Any]) -> dict[str, Any]:
    return item if isinstance(item, dict) else item.details()


def _finite(value: Any) -> Any:
    """A value that JSON can hold: NaN and the infinities by name."""
    if isinstance(value, dict):
        return {key: _finite(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_finite(child) for child in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
