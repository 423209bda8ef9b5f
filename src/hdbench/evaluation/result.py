"""The result of scoring one set of answers."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from hdbench.answers.answer import KINDS, LOST, OTHER_FORMATS, STATUSES, Kind, Status
from hdbench.benchmarks.sample import Weighed, weighed
from hdbench.common.validation import unfit
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.file_columns import (
    check_choices,
    check_column,
    check_numbers,
    is_item,
    metric_of,
    outcomes_of,
    place_of_statistic,
    rules_of,
)
from hdbench.evaluation.parts import (
    NO_DATASET,
    NO_FILE,
    NOT_READ,
    AmountUsed,
    AnswersRead,
    ResultPart,
    ScoredDataset,
    ScoredFile,
    Versions,
    are_texts,
    installed_versions,
    item_set,
    own_drafts,
    signature,
)
from hdbench.evaluation.run_info import NO_RUN, RunInfo
from hdbench.evaluation.warning_texts import RunWarning, message
from hdbench.scoring import check_headline
from hdbench.scoring.metric import (
    OUTCOMES,
    FieldMatch,
    Metric,
    Outcome,
    figure_of,
    higher_is_better,
)

if TYPE_CHECKING:
    from hdbench.common.display.style import Plot
    from hdbench.common.display.table import RowTable
    from hdbench.evaluation.selection import Choice
    from hdbench.scoring.error_classes import ErrorClass
    from hdbench.statistics.bootstrap import Effort, Interval, Intervals

_UsedName = Annotated[str, StringConstraints(pattern="^(input_tokens|output_tokens|seconds)$")]


class Result(ResultPart):
    """The figures of one set of answers, with what is needed to trust and recompute them.

    Attributes:
        model: the model that answered, if that is known: a file may have several.
        metric: the metric with its protocol and options.
        dataset: what was scored against.
        reading: how the answers were read, and what that showed.
        answers: the file or folder that was scored.
        run: what the run says about itself; see `RunInfo.for_result`.
        usage: `input_tokens`, `output_tokens`, `seconds` → what the answers used; only those that
            are known at all.
        versions: the versions with which it was scored.
        ids: the items' ids, in the dataset's order.
        statuses: what was done to read the answer to each item.
        kinds: id → what its answer was, if that is unparsable; without those that only strict
            reading rejects.
        statistics: name of a statistic → its value for each item.
        strict_statistics: id → the statistics that an item would have if only valid JSON counted,
            for those items whose answer is a record but was not valid JSON only; without those that
            are zero.
        other_errata: id → the statistics that an item would have if the proposed corrections of its
            ground truth counted, or, where they count, if they did not; only for items that have
            any.
        strata: each item's stratum, if the benchmark is a stratified sample; otherwise empty. The
            rates are then estimates for the whole.
        item_weights: the items' weights, if they are some of the items of a stratified sample.
        outcomes: outcome → how often each field had it.
        stratum_outcomes: stratum → `outcomes` of its items.
        worst: what became of the items with the lowest figures, the lowest first.
        per_item: what became of every item; empty unless details were asked for.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: str | None = None
    metric: Annotated[Metric, PlainValidator(metric_of), PlainSerializer(rules_of)]
    dataset: ScoredDataset = NO_DATASET
    reading: AnswersRead = NOT_READ
    answers: ScoredFile = NO_FILE
    run: RunInfo = NO_RUN
    usage: dict[_UsedName, AmountUsed] = Field(default_factory=dict)
    versions: Versions = Field(default_factory=installed_versions)
    ids: list[str]
    statuses: list[Status]
    kinds: dict[str, Kind] = Field(default_factory=dict)
    statistics: Mapping[str, Sequence[float]]
    strict_statistics: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    other_errata: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    strata: list[int] = Field(default_factory=list, validate_default=True)
    item_weights: list[float] | None = None
    outcomes: Annotated[Mapping[Outcome, Mapping[str, int]], PlainValidator(outcomes_of)] = Field(
        default_factory=dict
    )
    stratum_outcomes: Mapping[int, Mapping[Outcome, Mapping[str, int]]] = Field(
        default_factory=dict
    )
    per_item: list[dict[str, Any]] = Field(default_factory=list)
    worst: list[dict[str, Any]] = Field(default_factory=list)

    @field_validator("dataset", mode="after")
    @classmethod
    def _is_ranked_by_a_rate(cls, dataset: ScoredDataset, info: ValidationInfo) -> ScoredDataset:
        if dataset.headline and "metric" in info.data:
            try:
                check_headline(info.data["metric"].name, dataset.headline)
            except HdbenchError as error:
                raise unfit("{why}", why=error) from error
        return dataset

    @field_validator("ids", mode="plain")
    @classmethod
    def _differ(cls, ids: Any) -> list[str]:
        if not are_texts(ids) or len(set(ids)) < len(ids):
            raise unfit("is not a list of texts that are all different")
        return ids

    @field_validator("statuses", mode="plain")
    @classmethod
    def _are_statuses(cls, statuses: Any, info: ValidationInfo) -> list[Status]:
        check_column(statuses, info)
        check_choices(statuses, STATUSES)
        return [*statuses]

    @field_validator("kinds", mode="plain")
    @classmethod
    def _are_kinds(cls, kinds: Any) -> dict[str, Kind]:
        check_choices(kinds.values() if isinstance(kinds, dict) else [kinds], KINDS)
        return {**kinds}

    @field_validator("statistics", mode="plain")
    @classmethod
    def _are_columns(cls, columns: Any, info: ValidationInfo) -> dict[str, list[float]]:
        if not isinstance(columns, dict):
            raise unfit("is not an object of names and lists")
        metric, ids = info.data.get("metric"), info.data.get("ids")
        for name, column in columns.items():
            of = place_of_statistic(name, metric)
            check_column(column, info, of)
            check_numbers(column, of)
        if metric is None or ids is None:
            return columns
        return dict.fromkeys(metric.statistics, [0.0] * len(ids)) | columns

    @field_serializer("statistics")
    def _without_zeros(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        return {name: column for name, column in columns.items() if any(column)}

    @field_validator("strict_statistics", "other_errata", mode="plain")
    @classmethod
    def _are_of_items(cls, by_item: Any, info: ValidationInfo) -> dict[str, dict[str, float]]:
        if not isinstance(by_item, dict) or not all(
            isinstance(statistics, dict) for statistics in by_item.values()
        ):
            raise unfit("is not an object of ids and statistics")
        for statistics in by_item.values():
            for name, value in statistics.items():
                check_numbers([value], place_of_statistic(name, info.data.get("metric")))
        return by_item

    @field_validator("strata", mode="plain")
    @classmethod
    def _are_strata(cls, strata: Any, info: ValidationInfo) -> list[int]:
        sample = info.data["dataset"].sample if "dataset" in info.data else None
        number = len(sample.strata) if sample else 0
        if number <= 1:
            return []
        check_column(strata, info)
        if not all(type(stratum) is int and 0 <= stratum < number for stratum in strata):
            raise unfit("is not a list of the stratum of each id")
        return [*strata]

    @field_validator("item_weights", mode="plain")
    @classmethod
    def _are_weights(cls, weights: Any, info: ValidationInfo) -> list[float] | None:
        if weights is not None:
            check_column(weights, info)
            check_numbers(weights)
        return None if weights is None else [*weights]

    @field_validator("stratum_outcomes", mode="plain")
    @classmethod
    def _are_outcomes_of_strata(
        cls, by_stratum: Any, info: ValidationInfo
    ) -> Mapping[int, Mapping[Outcome, Mapping[str, int]]]:
        strata = set(info.data.get("strata", ()))
        if not isinstance(by_stratum, dict) or not by_stratum.keys() <= set(map(str, strata)):
            raise unfit("is not an object of outcomes by stratum")
        return {int(stratum): outcomes_of(counts) for stratum, counts in by_stratum.items()}

    @field_validator("per_item", "worst", mode="plain")
    @classmethod
    def _are_items(cls, items: Any, info: ValidationInfo) -> list[dict[str, Any]]:
        if not isinstance(items, list):
            raise unfit("is not a list")
        if items and info.field_name == "per_item":
            check_column(items, info)
        if not items or not {"metric", "ids"} <= info.data.keys():
            return items
        # Those with the lowest figures stand in another order.
        ids = info.data["ids"] if info.field_name == "per_item" else [None] * len(items)
        for number, (item, expected) in enumerate(zip(items, ids, strict=True)):
            if not is_item(item, expected, info.data["metric"]):
                raise unfit(
                    "{number}: is not that item with its status, statistics and fields: score the "
                    "answers again",
                    number=number,
                )
        return items

    @model_validator(mode="after")
    def _has_figures(self) -> Self:
        try:  # with sums that no answers give, a rate may be infinite
            json.dumps([self.rates, self.field_rates()], allow_nan=False)
        except (ValueError, ArithmeticError, HdbenchError) as error:
            raise unfit("no figures follow from its statistics: {why}", why=error) from error
        return self

    def replaced(self, **changes: Any) -> "Result":
        """Return the same result with other values of some attributes, which are not checked."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return self.model_construct(**(own | changes))

    def __repr__(self) -> str:
        """Return what was scored, the primary metric and the coverage."""
        from hdbench.evaluation.tables import line_of  # noqa: PLC0415  as for all that shows it

        return line_of(self)

    def _repr_html_(self) -> str:
        from hdbench.evaluation.tables import html_of  # noqa: PLC0415

        return html_of(self)

    @property
    def items(self) -> "RowTable":
        """A row for each item; see `hdbench.evaluation.tables.items_table`."""
        from hdbench.evaluation.tables import items_table  # noqa: PLC0415

        return items_table(self)

    @property
    def fields(self) -> "RowTable":
        """A row for each field; see `hdbench.evaluation.tables.fields_table`."""
        from hdbench.evaluation.tables import fields_table  # noqa: PLC0415

        return fields_table(self)

    @property
    def errors(self) -> "RowTable":
        """A row for each wrong value; see `hdbench.evaluation.tables.errors_table`."""
        from hdbench.evaluation.tables import errors_table  # noqa: PLC0415

        return errors_table(self)

    def plot(self, *, language: str = "en") -> "Plot":
        """Draw the F1 or accuracy of each field with intervals; without fields, the rates.

        Args:
            language: one of `hdbench.common.texts.LANGUAGES`.

        Raises:
            HdbenchError: matplotlib is not installed.
        """
        from hdbench.evaluation.tables import plot_of  # noqa: PLC0415

        return plot_of(self, language)

    @cached_property
    def field_intervals(self) -> "dict[str, Interval]":
        """Field → the interval of its F1; see `hdbench.evaluation.field_intervals`."""
        from hdbench.evaluation.field_intervals import field_intervals  # noqa: PLC0415

        return field_intervals(self)

    @cached_property
    def status(self) -> dict[Status, int]:
        """What was done to read an answer → number of items; together these are all items."""
        counts = Counter(self.statuses)
        return {status: counts[status] for status in STATUSES}

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
            "reading": self.reading.version,
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

    @cached_property
    def item_set(self) -> str:
        """A name for its set of items, within which results are compared; see `item_set`."""
        return item_set(self.ids)

    @cached_property
    def warnings(self) -> list[RunWarning]:
        """What to look at in this run, with the drafts of its own that became ground truths."""
        count, items = self.own_drafts, len(self.ids)
        text = message("drafted", count=count, items=items)
        drafted = [RunWarning("drafted", text, count, items, [])] if count else []
        return [*drafted, *self.reading.warnings]

    @cached_property
    def own_drafts(self) -> int:
        """How many of its ground truths were made from drafts of its run or model."""
        drafts = self.dataset.drafts or ()
        return own_drafts(drafts, self.run, self.model, self.answers.path)

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
            reading_version=self.reading.version,
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
        from hdbench.statistics.bootstrap import effort  # noqa: PLC0415  numpy is slow to import

        return effort(self)

    def spread_dict(self) -> dict[str, Any]:
        """Return `intervals` and, if it was counted, `effort`, as JSON data."""
        effort = {} if self.effort is None else {"effort": self.effort.to_dict()}
        return {"intervals": self.intervals.to_dict(), **effort}

    @cached_property
    def item_errors(self) -> "list[list[tuple[FieldMatch, ErrorClass]]]":
        """The errors of each item of `per_item` with their classes; see `error_classes.errors`."""
        from hdbench.evaluation.error_counts import item_errors  # noqa: PLC0415  it needs the metrics

        return item_errors(self.per_item, self.metric)

    @cached_property
    def errors_by_class(self) -> dict[str, Any]:
        """The errors of the answered items by class, if what became of each item was kept.

        `classes` and, by field, `fields`: class → number; `confusions`: the characters most often
        read as others, with their counts; for cards and letters `f1_form`: micro F1 over the fields
        of all items, with values of the same form counted as equal, 0.0 to 1.0, higher is better,
        never ranked.
        """
        from hdbench.evaluation.error_counts import errors_by_class  # noqa: PLC0415  see above

        return errors_by_class(self.per_item, self.item_errors, self.metric)

    @cached_property
    def kind_counts(self) -> dict[Kind, int]:
        """What unparsable answers are → their number, in the order of `KINDS`."""
        counts = Counter(self.kinds.values())
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    @property
    def in_other_formats(self) -> int:
        """The number of unparsable answers that are data, but not in JSON: XML, YAML, tables."""
        return sum(kind in OTHER_FORMATS for kind in self.kinds.values())

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
        kept = ("clean", "unanswered")
        return self._with_statistics(self.strict_statistics).replaced(
            statuses=[each if each in kept else "unparsable" for each in self.statuses],
            reading=self.reading.model_copy(update={"strict": True}),
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
        return self.replaced(
            statistics={
                name: _replaced(column, ((index, row.get(name, 0)) for index, row in changed))
                for name, column in self.statistics.items()
            },
            strict_statistics={},
            other_errata={},
            outcomes={},
            stratum_outcomes={},
            worst=[],
            per_item=[],
        )

    def filter(
        self, items: "Iterable[str] | Choice | None" = None, /, **columns: object
    ) -> "Result":
        """Return the result of some of the items, with all that it knows of them.

        In a stratified sample, the items keep their weights, so that rates are estimates for all
        such items of the population. What is known of the run as a whole stays as it is: its
        warnings and notes are about all of its items, and what it used is left out.

        Args:
            items: their ids, or a function that is given each row of `items`, and says whether the
                item is among them.
            columns: column of the benchmark → the value that the items have in it; several columns
                have to fit.

        Raises:
            HdbenchError: there is no such id or column, or no item is left.

        Example:
            >>> import hdbench as hd
            >>> truths = {"a": {"year": 1924}, "b": {"year": 1925}}
            >>> result = hd.score(truths, {"a": {"year": 1924}}, metric="record_f1")
            >>> result.filter(["a"]).value, result.filter(lambda item: item["perfect"] == 0).ids
            (1.0, ['b'])
        """
        from hdbench.evaluation.selection import filtered  # noqa: PLC0415  as for all that shows it

        return filtered(self, items, columns)

    def by(self, column: "str | Mapping[str, Any]") -> "dict[str | None, Result]":
        """Return value → the result of the items that have it in a column; see `filter`.

        Many numbers or dates are cut into up to five ranges; see `hdbench.common.grouping`.

        Args:
            column: a column of the benchmark, or id → value.

        Returns:
            In the order of the values; None for the items without one comes last.

        Raises:
            HdbenchError: there is no such column, or an item is not in the dictionary.

        Example:
            >>> import hdbench as hd
            >>> truths = {"a": {"year": 1924}, "b": {"year": 1935}}
            >>> result = hd.score(truths, {"a": {"year": 1924}}, metric="record_f1")
            >>> by_decade = result.by({"a": "1920s", "b": "1930s"})
            >>> {decade: part.value for decade, part in by_decade.items()}
            {'1920s': 1.0, '1930s': 0.0}
        """
        from hdbench.evaluation.selection import by  # noqa: PLC0415  as for all that shows it

        return by(self, column)

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The rates, and how many items there are, answered, unanswered and unparsable."""
        coverage = {"items": len(self.ids), "answered": self.answered}
        return self.rates | coverage | {str(status): self.status[status] for status in LOST}

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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data: what follows from it, for readers, and all that it is made of.

        Statistics that are zero for every item are left out.

        Raises:
            HdbenchError: an option names a field that no item has.
        """
        data = self.model_dump(exclude_none=True, warnings=False)
        data["reading"]["warnings"] = [warning.to_dict() for warning in self.warnings]
        return {
            "figures": self.figures,
            **({"strictly": self._strict_rates} if self.strict_statistics else {}),
            **({"estimated": self.estimated} if self.estimated else {}),
            "status": self.status,
            "unparsable_kinds": self.kind_counts,
            "signature": self.signature,
            "item_set": self.item_set,
            **self.spread_dict(),
            "fields": self.field_rates(),
            **({"errors": self.errors_by_class} if self.per_item else {}),
            **data,
        }


def _replaced(column: Sequence[float], values: Iterable[tuple[int, float]]) -> list[float]:
    """Return a column with other values at some places."""
    replaced = list(column)
    for position, value in values:
        replaced[position] = value
    return replaced


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
