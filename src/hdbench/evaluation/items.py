"""Scoring a set of items, one at a time."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import repeat
from operator import attrgetter
from typing import Any

from hdbench.answers.answer import TEXTS, Answer, Kind, Status
from hdbench.answers.plain_text import plain_text
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.parts import NO_DATASET, ScoredDataset
from hdbench.evaluation.result import Result
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

ROWS = 1_000
"""Number of items whose statistics are moved at a time."""

MAX_REASON = 80
"""Maximum number of characters of a reason why there is no answer."""

MAX_REASONS = 100
"""Maximum number of different reasons that are counted."""

_MATCH = tuple(name for name in FieldMatch._fields if name != "record")


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

    @property
    def figure(self) -> float:
        """How good it is, higher is better; see `Metric.item_figure`."""
        return self.score.statistics[self.metric.item_figure]

    @cached_property
    def matches(self) -> list[FieldMatch]:
        """The outcome of each of its fields."""
        return self.metric.explain(self.score, self.prepared)

    def details(self) -> dict[str, Any]:
        """Return the outcomes of its fields and its statistics, as JSON data.

        `lists` has the items of lists by outcome, which are no fields, though they count as such.
        """
        items_of_lists = {
            outcome: [path for path in paths if path.endswith("[]")]
            for outcome, paths in self.score.fields.items()
        }
        lists = {outcome: paths for outcome, paths in items_of_lists.items() if paths}
        return {
            "id": self.answer.id,
            "status": self.status,
            **self.score.statistics,
            "fields": [
                {name: _finite(getattr(match, name)) for name in _MATCH}
                | ({} if match.record is None else {"record": match.record})
                for match in self.matches
            ],
            **({"lists": lists} if lists else {}),
        }


class ScoreCollector:
    """The statistics of items that are scored one at a time, in the dataset's order.

    An item without an answer, or whose answer is not a record, counts as a complete failure and is
    never skipped.

    Args:
        metric: the metric with its protocol and options.
        details: keep what became of every item and field.

    Attributes:
        texts: how many answers were texts that stand for a record.
        undivided: how many of them have no page break, though the ground truth has several pages.
        rewritten: how many answers or ground truths are not written in canonical form.
        reasons: why items have no answer, as far as it is said, each cut → how many these are.
    """

    def __init__(self, metric: Metric, *, details: bool = False) -> None:
        self._metric, self._details = metric, details
        self.texts = self.undivided = self.rewritten = 0
        self.reasons: Counter[str] = Counter()
        self._columns: dict[str, list[float]] = {name: [] for name in metric.statistics}
        self._rows: list[list[float]] = []  # of the last items, not yet in the columns
        self._ids: list[str] = []
        self._statuses: list[Status] = []
        self._kinds: dict[str, Kind] = {}
        self._strict: dict[str, Mapping[str, float]] = {}
        self._other_errata: dict[str, Mapping[str, float]] = {}
        self._strata: list[int] = []
        self._fields: defaultdict[int, dict[Outcome, Counter[str]]]  # by stratum; 0 without any
        self._fields = defaultdict(lambda: {outcome: Counter() for outcome in OUTCOMES})
        self._per_item: list[dict[str, Any]] = []
        self._worst: list[ScoredItem] = []

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
        metric = self._metric
        record = metric.as_record(answer.prediction)
        if record is not answer.prediction:
            answer = answer._replace(prediction=record, status="unwrapped", kind=None)
        elif (text := _text_of(answer, metric)) and (read := metric.of_text(text, prepared)):
            record, prepared, is_undivided = read
            answer = answer._replace(prediction=record, status="clean", kind=None)
            self.texts += 1
            self.undivided += is_undivided
        coverage = coverage_of(record, metric.protocol)
        self._count_reason(coverage, answer.error)
        score = metric.score(record if coverage == "answered" else None, prepared)
        item = ScoredItem(metric, answer, prepared, coverage, score)
        status, statistics = item.status, score.statistics
        self._ids.append(answer.id)
        self._statuses.append(status)
        if score.rewritten:
            self.rewritten += 1
        if stratum is not None:
            self._strata.append(stratum)
        if kind := _kind(answer, coverage):
            self._kinds[answer.id] = kind
        elif coverage == "answered" and status != "clean":
            lost = metric.score(None, prepared).statistics
            self._strict[answer.id] = {name: number for name, number in lost.items() if number}
        self._rows.append([*map(statistics.get, metric.statistics, repeat(0))])
        if len(self._rows) == ROWS:
            self._settle()
        counts = self._fields[stratum or 0]
        for outcome, paths in score.fields.items():
            if paths:  # to count none takes time, too
                counts[outcome].update(paths)
        if len(self._worst) < WORST or statistics[metric.item_figure] < self._worst[-1].figure:
            self._worst = sorted([*self._worst, item], key=attrgetter("figure"))[:WORST]
        if self._details:
            self._per_item.append(item.details())
        return item

    def _settle(self) -> None:
        """Move the last items' statistics into the columns, many at a time: it takes less time."""
        for column, numbers in zip(
            self._columns.values(), zip(*self._rows, strict=True), strict=bool(self._rows)
        ):
            column.extend(numbers)
        self._rows.clear()

    def _count_reason(self, coverage: Coverage, error: str | None) -> None:
        if coverage != "unanswered" or not error:
            return
        reason = escaped(error[:MAX_REASON])
        if reason in self.reasons or len(self.reasons) < MAX_REASONS:
            self.reasons[reason] += 1

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

    def result(self, *, dataset: ScoredDataset = NO_DATASET) -> Result:
        """Return the result for the items so far.

        Args:
            dataset: what is scored against, to be named in the result.

        Raises:
            HdbenchError: the ground truths have nothing to score by.
        """
        self._settle()
        outcomes: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
        for by_outcome in self._fields.values():
            for outcome, counts in by_outcome.items():
                outcomes[outcome].update(counts)
        result = Result.model_construct(
            metric=self._metric,
            ids=self._ids,
            statuses=self._statuses,
            statistics=self._columns,
            outcomes=outcomes,
            strata=self._strata,
            stratum_outcomes=dict(self._fields) if self._strata else {},
            kinds=self._kinds,
            strict_statistics=self._strict,
            other_errata=self._other_errata,
            worst=[item.details() for item in self._worst],
            per_item=self._per_item,
            dataset=dataset,
        )
        self._metric.check_totals(result.totals)
        return result


def _text_of(answer: Answer, metric: Metric) -> str:
    """Return the text that an answer consists of; nothing if it has a record or no answer."""
    text = answer.prediction if answer.kind in TEXTS else None
    marks_go = answer.markdown and metric.options.get("markdown") == "remove"
    return plain_text(text, markdown=marks_go) if isinstance(text, str) else ""


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
    """Return the kind of what is unparsable; None if it can be scored."""
    if coverage == "unparsable" != answer.status:  # it was given as it is, not read
        return "message" if isinstance(answer.prediction, dict) else "other"
    return answer.kind


def _finite(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and the infinities by name."""
    if isinstance(value, dict):
        return {key: _finite(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_finite(child) for child in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
