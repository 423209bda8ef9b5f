"""The result of scoring one set of answers."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import ConfigDict, Field, StringConstraints, field_serializer, model_validator

from hdbench.answers.answer import KINDS, LOST, STATUSES, Kind, Status
from hdbench.benchmarks.benchmark import Benchmark, NoBenchmarkError, load_benchmark
from hdbench.benchmarks.sample import Weighed, weighed
from hdbench.common.display.words import Dot
from hdbench.common.extras import needed
from hdbench.common.grouping import grouped
from hdbench.common.validation import unfit
from hdbench.errors import HdbenchError, Message, did_you_mean, escaped
from hdbench.evaluation.parts import (
    NO_DATASET,
    NO_FILE,
    NOT_READ,
    AmountUsed,
    AnswersRead,
    RatedFigure,
    ResultPart,
    RunWarning,
    ScoredFile,
    Versions,
    gravest_first,
    in_language,
    installed_versions,
    item_set,
    message,
    own_drafts,
    signature,
)
from hdbench.evaluation.result_file_checks import (
    Columns,
    DatasetOfFile,
    Ids,
    Items,
    Kinds,
    MetricOfFile,
    Outcomes,
    OutcomesOfStrata,
    StatisticsOfItems,
    Statuses,
    Strata,
    Weights,
)
from hdbench.evaluation.run import NO_RUN, RunInfo
from hdbench.scoring import make_metric
from hdbench.scoring.metric import (
    INDEX,
    OUTCOMES,
    FieldMatch,
    Metric,
    Outcome,
    figure_of,
    higher_is_better,
    judging_figure,
)

if TYPE_CHECKING:
    from hdbench.common.display.style import Plot
    from hdbench.common.display.table import Table
    from hdbench.scoring.error_classes import ErrorClass
    from hdbench.statistics.bootstrap import Effort, Interval, Intervals

Choice = Callable[[Mapping[str, Any]], object]
"""Given a row of `Result.items`, says whether the item is chosen."""

V = TypeVar("V")

_RESAMPLES = 2_000
"""Number of draws for each field: there are as many fields as a card has, and their intervals are
drawn small."""

_FIELDS_SHOWN, _WORST = 25, 5
"""Maximum numbers of fields and items in a notebook."""

_NAMED = 10
"""Maximum number of values that are named."""

_WIDTH = 7.0  # inches: two columns of a paper

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
    metric: MetricOfFile
    dataset: DatasetOfFile = NO_DATASET
    reading: AnswersRead = NOT_READ
    answers: ScoredFile = NO_FILE
    run: RunInfo = NO_RUN
    usage: dict[_UsedName, AmountUsed] = Field(default_factory=dict)
    versions: Versions = Field(default_factory=installed_versions)
    ids: Ids
    statuses: Statuses
    kinds: Kinds = Field(default_factory=dict)
    statistics: Columns
    strict_statistics: StatisticsOfItems = Field(default_factory=dict)
    other_errata: StatisticsOfItems = Field(default_factory=dict)
    strata: Strata = Field(default_factory=list, validate_default=True)
    item_weights: Weights = None
    outcomes: Outcomes = Field(default_factory=dict)
    stratum_outcomes: OutcomesOfStrata = Field(default_factory=dict)
    per_item: Items = Field(default_factory=list)
    worst: Items = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_figures(self) -> Self:
        try:  # with sums that no answers give, a rate may be infinite
            json.dumps([self.rates, self.field_rates()], allow_nan=False)
        except (ValueError, ArithmeticError, HdbenchError) as error:
            raise unfit("no figures follow from its statistics: {why}", why=error) from error
        return self

    @field_serializer("metric")
    def _rules_of(self, metric: Metric) -> dict[str, Any]:
        return {
            "name": metric.name,
            "rules": metric.rules,
            "protocol": metric.protocol,
            "options": dict(metric.options),
        }

    @field_serializer("statistics")
    def _without_zeros(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        return {name: column for name, column in columns.items() if any(column)}

    def replaced(self, **changes: Any) -> "Result":
        """Return the same result with other values of some attributes, which are not checked."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        return self.model_construct(**(own | changes))

    def __repr__(self) -> str:
        """Return what was scored, the primary metric and the coverage."""
        of = self.dataset.benchmark or "references without a benchmark"
        lines = [
            f"<Result of {escaped(self.model or self.answers.path or 'answers')} on {of}",
            f" {self._headline_in_words()}",
            f" {self._coverage_in_words()}, {self.metric.name}, {self.metric.protocol}>",
        ]
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from hdbench.common.display.table import block  # noqa: PLC0415  as for all that shows it
        from hdbench.evaluation.tables import images_of, worst_table  # noqa: PLC0415

        figure = self.metric.item_figure
        worst = self.worst or sorted(self.per_item, key=itemgetter(figure))
        tables = [self.fields[:_FIELDS_SHOWN]]
        tables.append(worst_table(worst[:_WORST], figure, images_of(self.dataset)))
        warnings = [in_language(each, "en").text for each in gravest_first(self.warnings)[:3]]
        of = f"{self.model or self.answers.path} on {self.dataset.benchmark}"
        return block(
            title=self._headline_in_words(),
            lines=[of, self._coverage_in_words()],
            tables=[table.drawn() for table in tables if table],
            below=[*warnings, self.signature],
        )

    def _headline_in_words(self) -> str:
        interval = self.intervals.describe(self.headline)
        return f"{self.headline} {self.value:.4f} ({interval})"

    def _coverage_in_words(self) -> str:
        return f"{self.answered:,} of {len(self.ids):,} items answered"

    @property
    def items(self) -> "Table":
        """A row for each item: what was done to read its answer, and its statistics."""
        from hdbench.evaluation.tables import items_table  # noqa: PLC0415  as for all that shows it

        figure = self.metric.item_figure
        figures = {figure: [item[figure] for item in self.per_item]} if self.per_item else {}
        return items_table(self.ids, self.statuses, self.statistics, figures)

    def rated(self, name: str) -> RatedFigure:
        """Return a rate with its interval."""
        return RatedFigure(
            name,
            self.rates[name],
            self.intervals.figures.get(name),
            self.intervals.item_ranges.get(name),
            higher_is_better(self.metric, name),
        )

    @property
    def rated_figures(self) -> list[RatedFigure]:
        """The rates that have a value, as first pages have them, the headline first."""
        names = [
            figure.name
            for figure in self.metric.figures
            if figure.is_rate
            and (figure.in_short or figure.name == self.headline)
            and self.rates.get(figure.name) is not None
        ]
        return [self.rated(name) for name in sorted(names, key=lambda name: name != self.headline)]

    @property
    def judging(self) -> RatedFigure | None:
        """The figure by which runs are compared, if that is not the headline."""
        name = judging_figure(self.metric, self.headline)
        if name == self.headline or self.rates.get(name) is None:
            return None
        return self.rated(name)

    @property
    def figures_table(self) -> "Table":
        """A row for each of `rated_figures`, with its interval or its range over single items."""
        from hdbench.evaluation.tables import figures_table  # noqa: PLC0415  see above

        return figures_table(self.rated_figures, of_items=self.intervals.why is not None)

    @property
    def fields(self) -> "Table":
        """A row for each field, with its counts and rates, and the interval of the first figure.

        `low` and `high` are None where there is no interval; see `field_intervals`.
        """
        from hdbench.evaluation.tables import fields_table  # noqa: PLC0415  see above

        return fields_table(self.field_rates(), self.field_intervals, self.metric.field_figures)

    @property
    def errors(self) -> "Table":
        """A row for each wrong value, with the path of the item's first image if it is here.

        Raises:
            HdbenchError: the result has no details.
        """
        from hdbench.evaluation.tables import images_of  # noqa: PLC0415  see above

        return self.errors_beside(images_of(self.dataset))

    def errors_beside(self, images: Mapping[str, Path]) -> "Table":
        """Return the same with these images, as to find all takes long where none is shown.

        Args:
            images: id → the item's first image.
        """
        from hdbench.evaluation.tables import errors_table  # noqa: PLC0415  see above

        if len(self.per_item) < len(self.ids):
            raise HdbenchError(
                "this result has no details of its items: score the answers again, with "
                "details=True"
            )
        return errors_table(self.per_item, self.item_errors, images)

    def plot(self, *, language: str = "en") -> "Plot":
        """Draw the F1 or accuracy of each field with intervals; without fields, the rates.

        Args:
            language: one of `hdbench.common.texts.LANGUAGES`.

        Raises:
            HdbenchError: matplotlib is not installed.
        """
        with needed("plots", "plots need"):
            from hdbench.common.display.plots import dots  # noqa: PLC0415  imports matplotlib

        figure = ""
        if fields := self.fields:
            figure = self.metric.field_figures[0].name
            rows = [Dot(row["field"], row[figure], row["low"], row["high"]) for row in fields]
        else:
            ends = {name: interval.ends for name, interval in self.intervals.figures.items()}
            rows = [
                Dot(rate.name, self.rates[rate.name], *ends.get(rate.name, ()))
                for rate in self.metric.figures
                if rate.kind == "rate" and not rate.table and self.rates.get(rate.name) is not None
            ]
        rows.sort(key=lambda row: -(row.value or 0))
        return dots(rows, figure=figure, higher_is_better=True, language=language, width=_WIDTH)

    @cached_property
    def field_intervals(self) -> "dict[str, Interval]":
        """Field → the 95% interval of its F1, for those that enough items say something about.

        A field's F1 follows from its counts as a card's micro F1 follows from those of all its
        fields, so that each field is drawn as a card that has this field alone; see
        `hdbench.statistics.bootstrap.intervals`. The level holds for each field by itself, not for
        all at once. Without details, or where a field's first figure is no F1, there are none.
        """
        from hdbench.statistics.bootstrap import intervals  # noqa: PLC0415  numpy is slow to import

        first = self.metric.field_figures[:1]
        if not self.per_item or not first or first[0].name != "f1":
            return {}
        counts: dict[str, dict[int, list[int]]] = defaultdict(
            lambda: defaultdict(lambda: [0, 0, 0])
        )
        for place, item in enumerate(self.per_item):
            for match in item["fields"]:
                of_item = counts[INDEX.sub("", match["field"])][place]
                outcome = match["outcome"]
                of_item[0] += outcome == "correct"
                of_item[1] += outcome in ("substituted", "spurious")
                of_item[2] += outcome in ("substituted", "missing")
        metric = make_metric("zettel_f1")
        found = {}
        for field, by_place in counts.items():
            columns = [[0.0] * len(self.ids) for _ in range(3)]
            for place, of_item in by_place.items():
                for column, count in zip(columns, of_item, strict=True):
                    column[place] = count
            names = ("true_positives", "false_positives", "false_negatives")
            statistics = dict.fromkeys(metric.statistics, [0.0] * len(self.ids))
            alone = self.replaced(
                metric=metric,
                statistics={**statistics, **dict(zip(names, columns, strict=True))},
                per_item=[],
                worst=[],
            )
            drawn = intervals(alone, only="f1_micro", resamples=_RESAMPLES).figures
            if "f1_micro" in drawn:
                found[field] = drawn["f1_micro"]
        return found

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
        return self.kind_counts.get("format", 0)

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

    def filter(self, items: Iterable[str] | Choice | None = None, /, **columns: object) -> "Result":
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
        chosen = set(self.ids)
        if callable(items):
            chosen = {row["id"] for row in self.items if items(row)}
        elif items is not None:
            chosen = {items} if isinstance(items, str) else set(items)
            if unknown := chosen - set(self.ids):
                first = min(map(str, unknown))
                raise HdbenchError(
                    "this result has no item {id!r}{near}",
                    id=first,
                    near=did_you_mean(first, self.ids),
                )
        for column, value in columns.items():
            values = self._column(column)
            chosen = {item for item in chosen if values[item] == value}
            if not chosen:
                has = dict.fromkeys(repr(values[item]) for item in self.ids)
                raise HdbenchError(
                    "no item is left with {column}={value}; it has: {has}",
                    column=column,
                    value=repr(value),
                    has=", ".join([*has][:_NAMED]) + (", …" if len(has) > _NAMED else ""),
                )
        if not chosen:
            raise HdbenchError(
                "no item is left: choose at least one of {count}", count=len(self.ids)
            )
        return self._of_positions([n for n, item in enumerate(self.ids) if item in chosen])

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
        values = self._column(column) if isinstance(column, str) else column
        if missing := [item for item in self.ids if item not in values]:
            raise HdbenchError(
                "no value for {count} of the items, such as {id!r}: give None for an item without "
                "one",
                count=len(missing),
                id=missing[0],
            )
        grouping = grouped(list(values.values()))  # of all: runs on some items have the same ranges
        label = dict(zip(values, grouping.labels, strict=True))
        positions: dict[str | None, list[int]] = {value: [] for value in grouping.order}
        for position, item in enumerate(self.ids):
            positions[label[item]].append(position)
        return {value: self._of_positions(chosen) for value, chosen in positions.items() if chosen}

    def load_benchmark(self, benchmark: str | None = None, *, media: bool = False) -> Benchmark:
        """Return the benchmark that it was scored against.

        Args:
            benchmark: its folder; by default the one that the result names.
            media: whether its media are needed.

        Raises:
            HdbenchError: it names no benchmark, or the benchmark is missing or a different one.
        """
        loaded = load_benchmark(
            benchmark or self.dataset.benchmark,
            revision=None if benchmark else self.dataset.dataset_revision,
            media=media,
        )
        if loaded.content_hash() != self.dataset.dataset_sha256:
            raise HdbenchError(
                "{benchmark}: is not what was scored: version {version}, and the result is for "
                "{scored}: score the answers again",
                benchmark=loaded.id,
                version=loaded.spec.version,
                scored=self.dataset.dataset_version,
            )
        return loaded

    def _column(self, name: str) -> Mapping[str, Any]:
        try:
            return self.load_benchmark().column(name)
        except NoBenchmarkError as error:
            raise HdbenchError(
                "{column}: no such column, as {benchmark} is not here, or is ground truths in "
                "memory: choose by ids, or by a dictionary of ids and values",
                column=name,
                benchmark=self.dataset.benchmark,
            ) from error

    def _of_positions(self, positions: Sequence[int]) -> "Result":
        """Return the result of the items at some positions, in this order; see `filter`."""
        if positions == range(len(self.ids)) or [*positions] == [*range(len(self.ids))]:
            return self

        def chosen(column: Sequence[V]) -> list[V]:
            return [column[position] for position in positions] if column else []

        ids = chosen(self.ids)
        among = set(ids)

        def of_items(by_id: Mapping[str, V]) -> dict[str, V]:
            return {item: value for item, value in by_id.items() if item in among}

        per_item = chosen(self.per_item)
        has_outcomes = any(self.outcomes.values())  # those with fixed fields count in statistics
        strata = chosen(self.strata)
        return self.replaced(
            ids=ids,
            statistics={name: chosen(column) for name, column in self.statistics.items()},
            strict_statistics=of_items(self.strict_statistics),
            other_errata=of_items(self.other_errata),
            outcomes=_outcomes(per_item if has_outcomes else []),
            kinds=of_items(self.kinds),
            worst=[item for item in self.worst if item["id"] in among],
            per_item=per_item,
            strata=strata,
            stratum_outcomes={
                stratum: _outcomes(
                    [item for item, other in zip(per_item, strata, strict=True) if other == stratum]
                )
                for stratum in set(strata if has_outcomes and per_item else [])
            },
            item_weights=None if self.weighed is None else chosen(self.weighed.weights),
            statuses=chosen(self.statuses),
            usage={},
            run=self.run.model_copy(update={"cost_usd": None}),
        )

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The rates, and how many items there are, answered, unanswered and unparsable."""
        return self.rates | {"items": len(self.ids)} | self.coverage

    @property
    def coverage(self) -> dict[str, int]:
        """The number of items that were answered, unanswered and unparsable."""
        return {"answered": self.answered, **{status: self.status[status] for status in LOST}}

    @property
    def violations(self) -> list[tuple[str, str, int]]:
        """Field, rule and number of answers that break the schema, the most frequent first."""
        rows = [
            (field, rule, count)
            for field, rules in self.reading.schema_violations.items()
            for rule, count in rules.items()
        ]
        return sorted(rows, key=itemgetter(2), reverse=True)

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


def _outcomes(items: Iterable[Mapping[str, Any]]) -> dict[Outcome, Counter[str]]:
    """Return how often each field had each outcome, from what became of items."""
    outcomes: dict[Outcome, Counter[str]] = {outcome: Counter() for outcome in OUTCOMES}
    for item in items:
        for match in item["fields"]:
            outcomes[match["outcome"]][match["field"]] += 1
        for outcome, paths in item.get("lists", {}).items():
            outcomes[outcome].update(paths)
    return outcomes
