"""Scoring a set of items, and the result."""

import heapq
import json
import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib.metadata import version
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from hdbench import __version__
from hdbench.reading import READ_AS, READING
from hdbench.reading.answer import KINDS, OTHER_FORMATS, STATUSES, Answer, Kind, Status
from hdbench.scoring.metric import (
    OUTCOMES,
    Coverage,
    FieldMatch,
    Metric,
    Outcome,
    coverage_of,
    reference_for,
)

if TYPE_CHECKING:
    from hdbench.analysis.error_classes import ErrorClass
    from hdbench.statistics.bootstrap import Intervals

WORST = 5
"""How many of the worst items are kept, with what is wrong in them."""

_MATCH = tuple(each.name for each in fields(FieldMatch))


class Candidate(NamedTuple):
    """An item to score.

    Attributes:
        id: its id, or its position if there are no ids.
        prepared: its ground truth, from `prepare`; None leaves the item out.
        prediction: a JSON value; None if there is none.
        status: what was done to read the prediction, if it is a record.
        kind: what the prediction is, if it is not a record.
    """

    id: str
    prepared: Any
    prediction: Any
    status: Status = "clean"
    kind: Kind | None = None


def candidate_of(answer: Answer, prepared: Any) -> Candidate:
    """An answer with its prepared ground truth, to be scored."""
    return Candidate(answer.id, prepared, answer.prediction, answer.status, answer.kind)


def prepare(metric: Metric, ground_truth: dict[str, Any]) -> Any:
    """A ground truth as the metric's protocol takes it, prepared for scoring."""
    return metric.prepare(reference_for(metric.protocol, ground_truth))


def installed_versions() -> dict[str, str]:
    """The versions of everything that scores and their intervals depend on."""
    return {
        "hdbench": __version__,
        "rapidfuzz": version("rapidfuzz"),
        "json_repair": version("json_repair"),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "python": platform.python_version(),
    }


@dataclass
class Result:
    """The figures of one set of answers, with what is needed to trust and recompute them.

    Attributes:
        metric: the metric with its protocol and options.
        ids: the items' ids, in the dataset's order.
        status: what was done to read an answer → number of items; together these are all items.
        statistics: name of a statistic → its value for each item.
        fields: outcome → how often each field had it.
        worst: what became of the items with the lowest figures, the lowest first.
        per_item: what became of every item; empty unless details were asked for.
        kinds: what an unparsable answer was → number of items; without those that only strict
            reading rejects.
        strict_statistics: id → the statistics that an item would have if only valid JSON counted,
            for those items whose answer is a record but was not valid JSON only.
        dataset: what was scored against: `benchmark`, `dataset_version`, `dataset_sha256`,
            `dataset_revision` (the commit, if it is from the Hub), its `headline` and the direction
            of that, `higher_is_better`; empty if the ground truths came alone.
        reading: what reading a file of answers showed: `options`, `notes`, `schema_violations`,
            `warnings`; empty if the answers did not come from a file.
        reading_version: the version of the reading rules, `hdbench.reading.READING`.
        answers: the file or folder that was scored, `path` and `sha256`; empty if there is none.
        model: the model that answered, if that is known: a file may have several.
        run: what the run says about itself; see `RunInfo.about`; empty if it says nothing.
        usage: `input_tokens`, `output_tokens`, `seconds` → their sum over the answers, `total`, and
            the number of answers for which they are known, `items`; only those that are known at
            all.
        versions: the versions with which it was scored; see `installed_versions`.
    """

    metric: Metric
    ids: Sequence[str]
    status: Mapping[Status, int]
    statistics: Mapping[str, Sequence[float]]
    fields: Mapping[Outcome, Mapping[str, int]]
    worst: list[dict[str, Any]]
    per_item: list[dict[str, Any]]
    kinds: Mapping[Kind, int] = field(default_factory=dict)
    strict_statistics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    reading_version: int = READING
    answers: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    run: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=installed_versions)

    @cached_property
    def totals(self) -> dict[str, float]:
        """Each statistic added up over the items, and their number, `items`."""
        columns = self.statistics.items()
        return {name: self.metric.total(column) for name, column in columns} | {
            "items": len(self.ids)
        }

    @property
    def headline(self) -> str:
        """The name of the figure used for ranking: the benchmark's, else the metric's first."""
        return self.dataset.get("headline") or self.metric.headline

    @property
    def higher_is_better(self) -> bool:
        """The headline's direction; for every metric's first figure, higher is better."""
        return bool(self.dataset.get("higher_is_better", True))

    @cached_property
    def intervals(self) -> "Intervals":
        """The 95 % intervals of the rates: `hdbench.statistics.bootstrap` with its defaults."""
        from hdbench.statistics.bootstrap import intervals  # noqa: PLC0415  numpy is slow to import

        return intervals(self)

    @cached_property
    def item_errors(self) -> "list[list[tuple[FieldMatch, ErrorClass]]]":
        """The errors of each item of `per_item` with their classes; see `error_classes.errors`."""
        from hdbench.analysis.error_classes import errors  # noqa: PLC0415  it needs the metrics

        return [
            errors([FieldMatch(**match) for match in item["fields"]], self.metric.person_fields)
            for item in self.per_item
        ]

    @property
    def in_other_formats(self) -> int:
        """How many of the unparsable answers are data, but not in JSON: XML, YAML, tables."""
        return sum(self.kinds.get(kind, 0) for kind in OTHER_FORMATS)

    @property
    def strict_headline(self) -> float | None:
        """The headline if only valid JSON counted; None if it is the same."""
        if not self.strict_statistics:
            return None
        strict: float = self._strict_rates[self.headline]
        return None if strict == self.metric.rates(self.totals)[self.headline] else strict

    def strictly(self) -> "Result":
        """The same run with valid JSON only counted as answers, as with `hdbench score --strict`.

        It has the figures and their intervals, but not what became of single fields and items.
        """
        strict = self.strict_statistics
        clean, unanswered = self.status["clean"], self.status["unanswered"]
        status: Counter[Status] = Counter({"clean": clean, "unanswered": unanswered})
        status["unparsable"] = len(self.ids) - clean - unanswered
        return replace(
            self,
            status=status,
            statistics={
                name: [
                    strict[item_id].get(name, 0) if item_id in strict else value
                    for item_id, value in zip(self.ids, column, strict=True)
                ]
                for name, column in self.statistics.items()
            },
            strict_statistics={},
            fields={outcome: {} for outcome in OUTCOMES},
            worst=[],
            per_item=[],
            reading={**self.reading, "strict": True},
        )

    def figures(self) -> dict[str, Any]:
        """The rates, the coverage, and the protocol and signature, as JSON data."""
        unanswered, unparsable = self.status["unanswered"], self.status["unparsable"]
        return {
            **self.metric.rates(self.totals),
            "items": len(self.ids),
            "answered": len(self.ids) - unanswered - unparsable,
            "unanswered": unanswered,
            "unparsable": unparsable,
            "status": {status: self.status[status] for status in STATUSES},
            "unparsable_kinds": {kind: self.kinds[kind] for kind in KINDS if self.kinds.get(kind)},
            **({"strictly": self._strict_rates} if self.strict_statistics else {}),
            "protocol": self.metric.protocol,
            "signature": signature(
                self.metric, self.reading, self.versions, reading_version=self.reading_version
            ),
            **self.dataset,
            **self.reading,
        }

    @cached_property
    def _strict_rates(self) -> dict[str, Any]:
        """The rates if only valid JSON counted."""
        return self.metric.rates(self.strictly().totals)

    def field_rates(self) -> dict[str, dict[str, Any]]:
        """Field → its counts and rates.

        Raises:
            HdbenchError: an option names a field that no item has.
        """
        return self.metric.field_rates(self.totals, self.fields)

    def to_dict(self, *, details: bool = False) -> dict[str, Any]:
        """The figures, and with details also `fields` and `per_item`.

        Raises:
            HdbenchError: an option names a field that no item has.
        """
        fields = self.field_rates()
        return self.figures() | ({"fields": fields, "per_item": self.per_item} if details else {})


def score_items(
    metric: Metric,
    candidates: Iterable[Candidate],
    *,
    details: bool = False,
    dataset: Mapping[str, Any] | None = None,
) -> Result:
    """Score answers one at a time, in the given order.

    An item without an answer, or whose answer is not a record, counts as a complete failure and is
    never skipped. An item that an option leaves out is not among the items.

    Args:
        metric: the metric with its protocol and options.
        candidates: the items with their answers, in the dataset's order.
        details: keep what became of every item and field.
        dataset: what is scored against, to be named in the result.
    """
    ids: list[str] = []
    status: Counter[Status] = Counter()
    kinds: Counter[Kind] = Counter()
    strict: dict[str, Mapping[str, float]] = {}
    names = metric.statistics
    rows: list[float] = []  # the statistics, item by item
    fields: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
    uncounted: dict[Outcome, list[str]] = {outcome: [] for outcome in OUTCOMES}
    per_item: list[dict[str, Any]] = []

    # A heap whose smallest entry is the best of the worst so far; among equals, the later one.
    worst: list[tuple[float, int, Candidate]] = []
    for candidate in candidates:
        item_id, prepared, prediction, read, _ = candidate
        if prepared is None:
            continue
        position = len(ids)
        ids.append(item_id)
        coverage = coverage_of(prediction, metric.protocol)
        status[read if coverage == "answered" else coverage] += 1
        if kind := _kind(candidate, coverage):
            kinds[kind] += 1
        elif coverage == "answered" and read != "clean":
            strict[item_id] = metric.score(None, prepared).statistics
        score = metric.score(prediction if coverage == "answered" else None, prepared)
        values = score.statistics
        if len(values) == len(names):
            rows += values.values()
        else:
            rows += map(values.get, names, repeat(0))
        for outcome, paths in score.fields.items():
            if paths:
                uncounted[outcome] += paths
        if position % 200 == 0:  # seldom: a Counter is slow to start, and quick to continue
            _count(uncounted, fields)
        figure = values[metric.item_figure]
        if position < WORST:
            heapq.heappush(worst, (-figure, -position, candidate))
        elif -figure > worst[0][0]:
            heapq.heapreplace(worst, (-figure, -position, candidate))
        if details:
            per_item.append(_explain(metric, candidate))
    _count(uncounted, fields)
    return Result(
        metric=metric,
        ids=ids,
        status=status,
        statistics={name: rows[start :: len(names)] for start, name in enumerate(names)},
        fields=fields,
        kinds=kinds,
        strict_statistics=strict,
        worst=[_explain(metric, candidate) for *_, candidate in sorted(worst, reverse=True)],
        per_item=per_item,
        dataset=dataset or {},
    )


def _kind(candidate: Candidate, coverage: Coverage) -> Kind | None:
    """What an unparsable prediction is; None for one that only strict reading rejects."""
    if coverage == "unparsable" != candidate.status:  # it was given as it is, not read
        return "message" if isinstance(candidate.prediction, dict) else "other"
    return candidate.kind


def _count(paths: dict[Outcome, list[str]], counts: dict[Outcome, Counter[str]]) -> None:
    """Move paths to the counts."""
    for outcome, outcome_paths in paths.items():
        counts[outcome].update(outcome_paths)
        outcome_paths.clear()


def _explain(metric: Metric, candidate: Candidate) -> dict[str, Any]:
    """What became of one item, as JSON data."""
    coverage = coverage_of(candidate.prediction, metric.protocol)
    record = candidate.prediction if coverage == "answered" else None
    return {
        "id": candidate.id,
        "status": candidate.status if coverage == "answered" else coverage,
        **metric.score(record, candidate.prepared).statistics,
        "fields": [
            {name: _finite(getattr(match, name)) for name in _MATCH}
            for match in metric.explain(record, candidate.prepared)
        ],
    }


def _finite(value: Any) -> Any:
    """A value that JSON can hold: NaN and the infinities by name."""
    if isinstance(value, dict):
        return {key: _finite(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_finite(child) for child in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def signature(
    metric: Metric,
    reading: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
    *,
    reading_version: int = READING,
) -> str:
    """One line that says how a score was computed: metric, protocol, options, versions.

    Args:
        metric: the metric with its protocol and options.
        reading: same as in `Result`, if answers were read from a file.
        versions: the versions it was scored with; the installed ones, if not given.
        reading_version: the version of the reading rules.

    Example:
        >>> from hdbench.scoring.zettel_f1 import ZettelF1
        >>> signature(ZettelF1("published"))  # doctest: +ELLIPSIS
        'zettel_f1|protocol:published|threshold:0.92|weights:1|rules:1|reading:2|rapidfuzz:...|json_repair:...|hdbench:...'
    """
    versions = versions or installed_versions()
    parts = {
        "protocol": metric.protocol,
        **{name: _compact(value) for name, value in metric.options.items()},
        "rules": metric.rules,
        "reading": reading_version,
        **{name: "true" for name in READ_AS if reading and reading[name]},
        **{name: versions[name] for name in ("rapidfuzz", "json_repair", "hdbench")},
    }
    return "|".join([metric.name, *(f"{name}:{value}" for name, value in parts.items())])


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
