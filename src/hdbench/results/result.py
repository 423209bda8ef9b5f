"""The result of scoring one set of answers."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hdbench.answers import READING, ReadAs
from hdbench.answers.answer import KINDS, LOST, OTHER_FORMATS, STATUSES, Kind, Status
from hdbench.benchmarks.sample import Weighed, weighed
from hdbench.errors import Message
from hdbench.results.parts import (
    NO_DATASET,
    NO_FILE,
    NOT_READ,
    AnswersRead,
    ScoredDataset,
    ScoredFile,
    Versions,
    installed_versions,
)
from hdbench.results.run_info import NO_RUN, RunInfo
from hdbench.results.usage import AmountUsed
from hdbench.scoring.metric import (
    OUTCOMES,
    FieldMatch,
    Metric,
    Outcome,
    figure_of,
    higher_is_better,
)

if TYPE_CHECKING:
    from hdbench.display.style import Plot
    from hdbench.display.table import RowTable
    from hdbench.scoring.analysis.error_classes import ErrorClass
    from hdbench.statistics.bootstrap import Interval, Intervals
    from hdbench.statistics.effort import Effort


@dataclass(frozen=True, repr=False)
class Result:
    """The figures of one set of answers, with what is needed to trust and recompute them.

    Attributes:
        metric: the metric with its protocol and options.
        ids: the items' ids, in the dataset's order.
        status: what was done to read an answer → number of items; together these are all items.
        statistics: name of a statistic → its value for each item.
        outcomes: outcome → how often each field had it.
        worst: what became of the items with the lowest figures, the lowest first.
        per_item: what became of every item; empty unless details were asked for.
        kinds: what an unparsable answer was → number of items; without those that only strict
            reading rejects.
        strict_statistics: id → the statistics that an item would have if only valid JSON counted,
            for those items whose answer is a record but was not valid JSON only; without those that
            are zero.
        other_errata: id → the statistics that an item would have if the proposed corrections of its
            ground truth counted, or, where they count, if they did not; only for items that have
            any. Files of results do not keep it.
        dataset: what was scored against.
        reading: how the answers were read, and what that showed.
        reading_version: the version of the reading rules, `hdbench.answers.READING`.
        answers: the file or folder that was scored.
        model: the model that answered, if that is known: a file may have several.
        run: what the run says about itself; see `RunInfo.for_result`.
        usage: `input_tokens`, `output_tokens`, `seconds` → what the answers used; only those that
            are known at all.
        versions: the versions with which it was scored.
        strata: each item's stratum, if the benchmark is a stratified sample; otherwise empty. The
            rates are then estimates for the whole.
        stratum_outcomes: stratum → `outcomes` of its items.
        item_weights: the items' weights, if they are some of the items of a stratified sample.
        statuses: what was done to read the answer to each item; empty in a result that was read
            from a file without details.
        rewritten: the number of items whose answer or ground truth is not written in canonical
            form. Files of results do not keep it.
    """

    metric: Metric
    ids: Sequence[str]
    status: Mapping[Status, int]
    statistics: Mapping[str, Sequence[float]]
    outcomes: Mapping[Outcome, Mapping[str, int]]
    worst: list[dict[str, Any]]
    per_item: list[dict[str, Any]]
    kinds: Mapping[Kind, int] = field(default_factory=dict)
    strict_statistics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    other_errata: Mapping[str, Mapping[str, float]] = field(default_factory=dict, compare=False)
    dataset: ScoredDataset = NO_DATASET
    reading: AnswersRead = NOT_READ
    reading_version: int = READING
    answers: ScoredFile = NO_FILE
    model: str | None = None
    run: RunInfo = NO_RUN
    usage: Mapping[str, AmountUsed] = field(default_factory=dict)
    versions: Versions = field(default_factory=installed_versions)
    strata: Sequence[int] = ()
    stratum_outcomes: Mapping[int, Mapping[Outcome, Mapping[str, int]]] = field(
        default_factory=dict
    )
    item_weights: Sequence[float] | None = None
    statuses: Sequence[Status] = field(default=(), compare=False)
    rewritten: int = field(default=0, compare=False)

    def __repr__(self) -> str:
        """Return what was scored, the primary metric and the coverage."""
        from hdbench.results.tables import line_of  # noqa: PLC0415  as for all that shows it

        return line_of(self)

    def _repr_html_(self) -> str:
        from hdbench.results.tables import html_of  # noqa: PLC0415

        return html_of(self)

    @property
    def items(self) -> "RowTable":
        """A row for each item; see `hdbench.results.tables.items_table`."""
        from hdbench.results.tables import items_table  # noqa: PLC0415

        return items_table(self)

    @property
    def fields(self) -> "RowTable":
        """A row for each field; see `hdbench.results.tables.fields_table`."""
        from hdbench.results.tables import fields_table  # noqa: PLC0415

        return fields_table(self)

    @property
    def errors(self) -> "RowTable":
        """A row for each wrong value; see `hdbench.results.tables.errors_table`."""
        from hdbench.results.tables import errors_table  # noqa: PLC0415

        return errors_table(self)

    def plot(self, *, language: str = "en") -> "Plot":
        """Draw the F1 or accuracy of each field with intervals; without fields, the rates.

        Args:
            language: one of `hdbench.common.texts.LANGUAGES`.

        Raises:
            HdbenchError: matplotlib is not installed.
        """
        from hdbench.results.tables import plot_of  # noqa: PLC0415

        return plot_of(self, language)

    @cached_property
    def field_intervals(self) -> "dict[str, Interval]":
        """Field → the interval of its F1; see `hdbench.results.field_intervals`."""
        from hdbench.results.field_intervals import field_intervals  # noqa: PLC0415

        return field_intervals(self)

    @cached_property
    def totals(self) -> dict[str, float]:
        """Each statistic added up over the items, and their number, `items`."""
        columns = self.statistics.items()
        return {name: self.metric.total(column) for name, column in columns} | {
            "items": len(self.ids)
        }

    @cached_property
    def weighed(self) -> Weighed | None:
        """The weights by which items stand for the population; None if all count alike."""
        if self.dataset.sample is None or not self.strata:
            return None
        return weighed(self.dataset.sample, self.strata, self.item_weights)

    @cached_property
    def estimated(self) -> str | None:
        """A note that the rates are estimates for a population; None if they are not a sample."""
        sample = self.dataset.sample
        if sample is None:
            return None
        return Message(
            "estimated for the whole of {whole:,} items from a stratified sample of {items:,}"
            if sample.by
            else "estimated for the whole of {whole:,} items from a sample of {items:,}",
            whole=sample.of,
            items=len(self.ids),
        )

    @property
    def conditions(self) -> dict[str, Any]:
        """The conditions, besides metric and options, that compared figures have in common."""
        sample = self.dataset.sample
        return {
            "reading": self.reading_version,
            "options of reading": list(self.reading.read_as.names),
            "dataset_sha256": self.dataset.dataset_sha256 or None,
            "sample": sample and sample.model_dump(mode="json"),
            "errata": self.dataset.errata,
        }

    @cached_property
    def population_totals(self) -> dict[str, float]:
        """The totals that rates follow from: with the items' weights, if they have any."""
        if self.weighed is None:
            return self.totals
        weights = self.weighed.weights
        columns = {**self.statistics, "items": [1] * len(self.ids)}
        return {
            name: self.metric.total([a * b for a, b in zip(weights, column, strict=True)])
            for name, column in columns.items()
        }

    @cached_property
    def population_outcomes(self) -> Mapping[Outcome, Mapping[str, float]]:
        """The `outcomes` that rates follow from: with the items' weights, if they have any."""
        if self.weighed is None:
            return self.outcomes
        weight = dict(zip(self.strata, self.weighed.weights, strict=True))
        population: dict[Outcome, dict[str, float]] = {outcome: {} for outcome in OUTCOMES}
        for stratum, fields in self.stratum_outcomes.items():
            for outcome, counts in fields.items():
                sums = population[outcome]
                for name, count in counts.items():
                    sums[name] = sums.get(name, 0) + weight[stratum] * count
        return population

    @cached_property
    def rates(self) -> dict[str, Any]:
        """The metric's figures; a sample's rates, but not counts, are estimates for the population.

        Each rate follows from sums in which an item counts as many times as it stands for in the
        population (Horvitz and Thompson; a ratio of two such sums, as in Cochran, "Sampling
        Techniques", 1977, chapter 6).
        """
        counted = self.metric.rates(self.totals)
        if self.weighed is None:
            return counted
        return _with_counts(self.metric, self.metric.rates(self.population_totals), counted)

    @property
    def headline(self) -> str:
        """The name of the figure used for ranking: the benchmark's, else the metric's first."""
        return self.dataset.headline or self.metric.headline

    @property
    def value(self) -> float:
        """The headline's value."""
        return float(self.rates[self.headline])

    @property
    def higher_is_better(self) -> bool:
        """The headline's direction."""
        own = self.dataset.higher_is_better
        return higher_is_better(self.metric, self.headline) if own is None else own

    @property
    def answered(self) -> int:
        """The number of items with an answer that could be scored."""
        return len(self.ids) - sum(self.status[status] for status in LOST)

    @cached_property
    def signature(self) -> str:
        """One line that says how it was computed; see `signature`."""
        return signature(
            self.metric,
            self.reading.read_as,
            self.versions,
            reading_version=self.reading_version,
            errata=self.dataset.errata,
        )

    @cached_property
    def intervals(self) -> "Intervals":
        """The 95% intervals of the rates: `hdbench.statistics.bootstrap` with its defaults."""
        from hdbench.statistics.bootstrap import intervals  # noqa: PLC0415  numpy is slow to import

        return intervals(self)

    @cached_property
    def effort(self) -> "Effort | None":
        """The number of values of an item that need a correction; None if that was not counted."""
        from hdbench.statistics.effort import effort  # noqa: PLC0415  numpy is slow to import

        return effort(self)

    def spread_dict(self) -> dict[str, Any]:
        """Return `intervals` and, if it was counted, `effort`, as JSON data."""
        effort = {} if self.effort is None else {"effort": self.effort.to_dict()}
        return {"intervals": self.intervals.to_dict(), **effort}

    @cached_property
    def item_errors(self) -> "list[list[tuple[FieldMatch, ErrorClass]]]":
        """The errors of each item of `per_item` with their classes; see `error_classes.errors`."""
        from hdbench.results.error_counts import item_errors  # noqa: PLC0415  it needs the metrics

        return item_errors(self.per_item, self.metric)

    @cached_property
    def errors_by_class(self) -> dict[str, Any]:
        """The errors of the answered items by class, if what became of each item was kept.

        `classes` and, by field, `fields`: class → number; `confusions`: the characters most often
        read as others, with their counts; for cards and letters `f1_form`: micro F1 over the fields
        of all items, with values of the same form counted as equal, 0.0 to 1.0, higher is better,
        never ranked.
        """
        from hdbench.results.error_counts import errors_by_class  # noqa: PLC0415  see above

        return errors_by_class(self.per_item, self.item_errors, self.metric)

    @property
    def in_other_formats(self) -> int:
        """The number of unparsable answers that are data, but not in JSON: XML, YAML, tables."""
        return sum(self.kinds.get(kind, 0) for kind in OTHER_FORMATS)

    @property
    def strict_headline(self) -> float | None:
        """The headline if only valid JSON counted; None if it is the same."""
        if not self.strict_statistics:
            return None
        strict: float = self._strict_rates[self.headline]
        return None if strict == self.rates[self.headline] else strict

    def strictly(self) -> "Result":
        """Return the same run with only valid JSON counted.

        It has the figures and their intervals, but not what became of single fields and items.
        """
        clean, unanswered = self.status["clean"], self.status["unanswered"]
        status: Counter[Status] = Counter({"clean": clean, "unanswered": unanswered})
        status["unparsable"] = len(self.ids) - clean - unanswered
        return replace(
            self._with_statistics(self.strict_statistics),
            status=status,
            reading=replace(self.reading, read_as=self.reading.read_as._replace(strict=True)),
        )

    def under_other_errata(self) -> "Result":
        """Return the same run with the other choice of corrections; see `other_errata`.

        It has the figures, but not what became of single fields and items.
        """
        return self._with_statistics(self.other_errata)

    def _with_statistics(self, other: Mapping[str, Mapping[str, float]]) -> "Result":
        """Return the same run with other statistics of some items, by their ids.

        A statistic that an item lacks there is zero.
        """
        changed = [(index, other[item]) for index, item in enumerate(self.ids) if item in other]
        return replace(
            self,
            statistics={
                name: _replaced(column, ((index, row.get(name, 0)) for index, row in changed))
                for name, column in self.statistics.items()
            },
            strict_statistics={},
            other_errata={},
            outcomes={outcome: {} for outcome in OUTCOMES},
            stratum_outcomes={},
            worst=[],
            per_item=[],
        )

    def of_items(self, positions: Sequence[int]) -> "Result":
        """Return the result of some of the items, with its rates and their intervals.

        It does not have what became of single fields and items. In a stratified sample, the items
        keep their weights, so that rates are estimates for all such items of the population.
        """

        def chosen(column: Sequence[Any]) -> list[Any]:
            return [column[position] for position in positions] if column else []

        statuses = chosen(self.statuses)
        return replace(
            self,
            ids=chosen(self.ids),
            status=Counter(statuses),
            statistics={name: chosen(column) for name, column in self.statistics.items()},
            strict_statistics={},
            other_errata={},
            outcomes={outcome: {} for outcome in OUTCOMES},
            kinds={},
            worst=[],
            per_item=[],
            strata=chosen(self.strata),
            stratum_outcomes={},
            item_weights=None if self.weighed is None else chosen(self.weighed.weights),
            statuses=statuses,
        )

    def figures(self) -> dict[str, Any]:
        """Return the rates, the coverage, and the protocol and signature, as JSON data."""
        return {
            **self.rates,
            "items": len(self.ids),
            "answered": self.answered,
            **{status: self.status[status] for status in LOST},
            "status": {status: self.status[status] for status in STATUSES},
            "unparsable_kinds": {kind: self.kinds[kind] for kind in KINDS if self.kinds.get(kind)},
            **({"strictly": self._strict_rates} if self.strict_statistics else {}),
            "protocol": self.metric.protocol,
            "signature": self.signature,
            **self.dataset.to_dict(),
            **({"estimated": self.estimated} if self.estimated else {}),
            **self.reading.to_dict(),
        }

    @cached_property
    def _strict_rates(self) -> dict[str, Any]:
        """The rates if only valid JSON counted."""
        return self.strictly().rates

    def field_rates(self) -> dict[str, dict[str, Any]]:
        """Return field → its counts and rates.

        Raises:
            HdbenchError: an option names a field that no item has.
        """
        counted = self.metric.field_rates(self.totals, self.outcomes)
        if self.weighed is None:
            return counted
        estimated = self.metric.field_rates(self.population_totals, self.population_outcomes)
        return _with_counts(self.metric, estimated, counted)

    def to_dict(self, *, details: bool = False) -> dict[str, Any]:
        """Return the figures, and with details also `fields` and `per_item`.

        Raises:
            HdbenchError: an option names a field that no item has.
        """
        fields = self.field_rates()
        return self.figures() | ({"fields": fields, "per_item": self.per_item} if details else {})


def _replaced(column: Sequence[float], values: Iterable[tuple[int, float]]) -> list[float]:
    """Return a column with other values at some places."""
    replaced = list(column)
    for position, value in values:
        replaced[position] = value
    return replaced


def signature(
    metric: Metric,
    read_as: ReadAs = ReadAs(),
    versions: Versions | None = None,
    *,
    reading_version: int = READING,
    benchmark: tuple[str, str] | None = None,
    errata: str | None = None,
) -> str:
    """Return one line that says how a score was computed: metric, protocol, options, versions.

    Args:
        metric: the metric with its protocol and options.
        read_as: how the answers were read.
        versions: the versions it was scored with; the installed ones, if not given.
        reading_version: the version of the reading rules.
        benchmark: the name and version of the benchmark whose options the metric was given by name.
        errata: `proposed` if the proposed corrections of ground truths count.

    Example:
        >>> from hdbench.scoring.zettel_f1 import ZettelF1
        >>> signature(ZettelF1("published"))  # doctest: +ELLIPSIS
        'zettel_f1|protocol:published|threshold:0.92|weights:1|rules:4|reading:4|rapidfuzz:...|json_repair:...|hdbench:...'
    """
    versions = versions or installed_versions()
    parts = {
        "protocol": metric.protocol,
        **({"benchmark": benchmark[0], "dataset_version": benchmark[1]} if benchmark else {}),
        **{name: _compact(value) for name, value in metric.signed_options.items()},
        **({} if errata is None else {"errata": errata}),
        "rules": metric.rules,
        "reading": reading_version,
        **dict.fromkeys(read_as.names, "true"),
        **{name: getattr(versions, name) for name in ("rapidfuzz", "json_repair", "hdbench")},
    }
    return "|".join([metric.name, *(f"{name}:{value}" for name, value in parts.items())])


def _with_counts(
    metric: Metric, estimated: Mapping[str, Any], counted: Mapping[str, Any], path: str = ""
) -> dict[str, Any]:
    """Return figures for the population with the sample's counts: only these were counted."""
    figures = {}
    for name, value in estimated.items():
        figure = figure_of(metric, f"{path}{name}")
        if isinstance(value, dict):
            figures[name] = _with_counts(metric, value, counted[name], f"{path}{name}.")
        elif name == "items" or (figure is not None and figure.kind == "count"):
            figures[name] = counted[name]
        else:
            figures[name] = value
    return figures


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
