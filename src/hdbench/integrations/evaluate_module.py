"""Base of the modules for `evaluate.load`: their configurations, and from JSON to a result."""

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import datasets
import evaluate

from hdbench.about import __version__, installed_folder
from hdbench.answers.answer import ReadAs, WrittenAnswer
from hdbench.answers.answers import AnswerReader
from hdbench.answers.in_memory import as_json
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.benchmark import SCHEMA
from hdbench.benchmarks.in_memory import schema_of
from hdbench.benchmarks.spec import (
    DEFAULT,
    DESCRIPTION,
    PUBLISHED_ENDING,
    BenchmarkSpec,
    read_spec,
    recipe_names,
)
from hdbench.common.jsonio import FINITE, parse_json
from hdbench.errors import HdbenchError, did_you_mean
from hdbench.evaluation.checks import SharedFields
from hdbench.evaluation.parts import AnswersRead, signature
from hdbench.evaluation.result import Result
from hdbench.evaluation.score import ScoreCollector, prepare
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.metric import PROTOCOLS, Metric, ProtocolName

# The configurations of a metric: its protocols, and the benchmarks of which hdbench has recipes
#
# `evaluate.load("hdb/record_f1", "bibliography")` has the options of that benchmark, and
# `bibliography-published` those of its published rules.


class Configuration(NamedTuple):
    """Way of scoring answers that has a name in `evaluate.load`.

    Attributes:
        metric: the metric's name.
        protocol: the protocol.
        benchmark: the benchmark whose options the metric has; None if it has its own.
    """

    metric: str
    protocol: ProtocolName
    benchmark: BenchmarkSpec | None = None

    def make_metric(self, **options: Any) -> Metric:
        """Make the metric.

        Args:
            options: take precedence over the benchmark's.

        Raises:
            HdbenchError: there is no such option, or a value is out of range.
        """
        if self.benchmark is None:
            return make_metric(self.metric, self.protocol, **options)
        return self.benchmark.make_metric(self.protocol, **options)

    def answer_schema(self) -> AnswerSchema | None:
        """Return the form of an answer to the benchmark; None if no benchmark is named."""
        if self.benchmark is None:
            return None
        return AnswerSchema.load(_recipe(self.benchmark.name) / SCHEMA)


def configuration_of(metric: str, name: str) -> Configuration:
    """Return the configuration of a metric that has a name.

    Args:
        metric: the metric's name.
        name: `documented`, `published`, or the name of a benchmark, with `-published` for its
            published rules; `default` is `documented`.

    Raises:
        HdbenchError: there is none of that name, or the benchmark has another metric.

    Example:
        >>> configuration_of("record_f1", "bibliography-published").make_metric().options["leaves"]
        'truth'
    """
    for protocol in PROTOCOLS:
        if name == protocol or (name == DEFAULT and protocol == PROTOCOLS[0]):
            return Configuration(metric, protocol)
    benchmark = name.removesuffix(PUBLISHED_ENDING)
    if benchmark not in recipe_names():
        choices = configuration_names(metric)
        raise HdbenchError(
            "no configuration {name!r}: choose one of {choices}{near}",
            name=name,
            choices=", ".join(choices),
            near=did_you_mean(name, choices),
        )
    spec = read_spec(_recipe(benchmark) / DESCRIPTION)
    if spec.metric != metric:
        raise HdbenchError(
            "{name} is scored by {needed}, not by {metric}: load {needed} with it",
            name=benchmark,
            needed=spec.metric,
            metric=metric,
        )
    return Configuration(metric, PROTOCOLS[0] if benchmark == name else PROTOCOLS[1], spec)


def configuration_names(metric: str) -> list[str]:
    """Return the names of a metric's configurations.

    Example:
        >>> configuration_names("text_cer")[:4]
        ['documented', 'published', 'advertxml', 'advertxml-published']
    """
    names: list[str] = [*PROTOCOLS]
    for name in recipe_names():
        if read_spec(_recipe(name) / DESCRIPTION).metric == metric:
            names += [name, name + PUBLISHED_ENDING]
    return names


def _recipe(name: str) -> Path:
    return installed_folder("dataset_scripts") / name


# Scoring of answers without ids: each has its ground truth at the same position

SHOW_THE_FORM = 1_000
"""Maximum ground truths from which to see what a record in a text looks like."""


def score_by_position(
    metric: Metric,
    schema: AnswerSchema | None,
    predictions: Sequence[str],
    references: Sequence[str],
    *,
    details: bool = False,
) -> Result:
    """Score JSON values that are given as JSON texts.

    Args:
        metric: the metric.
        schema: the form of an answer; None infers it from the references.
        predictions: answers, read as those of a file; a string is a model's raw text.
        references: as many ground truths; a string is JSON text, as in the metadata.
        details: keep what became of every item and field.

    Raises:
        HdbenchError: a reference is not a record, there is nothing to score by, or the answers
            share no field with the ground truth.
    """
    if schema is None:
        first = (
            _reference(metric, *numbered) for numbered in enumerate(references[:SHOW_THE_FORM])
        )
        schema = schema_of(
            (metric.right_answer(reference) for reference in first),
            metric.options.get("root_list"),
        )
    is_documented = metric.protocol == "documented"  # published scores are as they were
    reader = AnswerReader(schema, ReadAs(as_given=not is_documented))
    collector, shared, answered = ScoreCollector(metric, details=details), SharedFields(), 0
    for position, (text, reference) in enumerate(zip(predictions, references, strict=True)):
        value = json.loads(text)
        written: WrittenAnswer = (
            {"text": value} if isinstance(value, str) else {"prediction": value}
        )
        answer = reader.answer(str(position), written)
        truth = _reference(metric, position, reference)
        scored = collector.add(answer, prepare(metric, truth, f"references[{position}]"))
        if scored is not None and scored[0].status != "unanswered":
            shared.add(scored[0], metric.explain(scored[1]))
            answered += 1
    if is_documented:
        shared.check("predictions", answered)
    read = AnswersRead.model_construct(notes=reader.names.note())
    return collector.result().replaced(reading=read)


def _reference(metric: Metric, position: int, encoded: str) -> Any:
    """Return a ground truth; JSON text, as in the metadata, is parsed, and a plain text is one."""
    value = json.loads(encoded)
    if isinstance(value, str):
        read = metric.of_text(value)
        try:
            value = parse_json(value, FINITE)
        except ValueError as error:
            if read is None:
                raise HdbenchError(
                    "references[{position}] is not JSON: {why}", position=position, why=error
                ) from error
        if read is not None and not isinstance(value, dict):
            value = read.record
    if not isinstance(value, dict):
        raise HdbenchError(
            "references[{position}] is not a record: {type}",
            position=position,
            type=type(value).__name__,
        )
    return value


_CONFIGURATIONS = """
Configurations:
    documented: the rules of the benchmark's description. The default.
    published: the rules of the published results.
    NAME, NAME-published: the options that a benchmark of this metric has under these rules.
"""


class MetricModule(evaluate.Metric):  # type: ignore[misc]  # evaluate is not typed
    """An `evaluate` metric around one of `hdbench.scoring`.

    Predictions and references are JSON values: objects, null, or, for predictions, a model's raw
    text. Arrow cannot hold them as they are, so they travel as JSON text.

    The configuration is the protocol, `default` (and `documented`) or `published`, or the name of a
    benchmark of the metric, whose options it then has: see `configuration_of`.
    """

    metric: ClassVar[str]
    rules: ClassVar[int]
    description: ClassVar[str]
    inputs: ClassVar[str]
    citation: ClassVar[str]

    _configuration: Configuration

    def _info(self) -> evaluate.MetricInfo:
        self._configuration = configuration_of(self.metric, str(self.config_name))
        installed = METRICS[self.metric].rules
        if installed != self.rules:
            raise HdbenchError(
                "this revision of {metric} is for rules {rules}, and hdbench {version} has rules "
                "{installed}: load the revision for these rules, or install the hdbench that fits",
                metric=self.metric,
                rules=self.rules,
                version=__version__,
                installed=installed,
            )
        features = {name: datasets.Value("string") for name in ("predictions", "references")}
        return evaluate.MetricInfo(
            description=self.description,
            citation=self.citation,
            inputs_description=_CONFIGURATIONS + self.inputs,
            features=datasets.Features(features),
        )

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add predictions and references for a later `compute()`.

        Args:
            predictions: answers, one for each reference.
            references: ground truths.
            kwargs: nothing else is accepted.

        Raises:
            HdbenchError: one of them is not a list, or has a number in it.
        """
        super().add_batch(
            predictions=_encode_each("predictions", predictions),
            references=_encode_each("references", references),
            **kwargs,
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one prediction and its reference for a later `compute()`.

        Args:
            prediction: an answer.
            reference: its ground truth.
            kwargs: `predictions` and `references` instead, as `evaluate.combine` passes them.

        Raises:
            HdbenchError: one of them is a number.
        """
        prediction = kwargs.pop("predictions", prediction)
        reference = kwargs.pop("references", reference)
        super().add(
            prediction=_encode("prediction", prediction),
            reference=_encode("reference", reference),
            **kwargs,
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[str],
        *,
        details: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        configuration = self._configuration
        metric = configuration.make_metric(**options)
        result = score_by_position(
            metric, configuration.answer_schema(), predictions, references, details=details
        )
        for note in result.reading.notes:
            warnings.warn(note, stacklevel=3)  # the caller of compute
        spec = configuration.benchmark
        benchmark = None if spec is None else (spec.name, spec.version)
        return {
            **result.figures,
            "status": result.status,
            "unparsable_kinds": result.kind_counts,
            **({"strictly": result.strictly().rates} if result.strict_statistics else {}),
            "protocol": metric.protocol,
            "signature": signature(metric, benchmark=benchmark),
            **result.spread_dict(),
            **({"fields": result.field_rates(), "per_item": result.per_item} if details else {}),
        }


def _encode_each(name: str, values: Any) -> list[str]:
    """Return JSON values as JSON texts."""
    if values is None:
        raise HdbenchError("{name}: none were given", name=name)
    if isinstance(values, str | Mapping):  # whose letters or keys would be taken
        raise HdbenchError(
            "{name}: a {type} is not a list: give one in [ ]", name=name, type=type(values).__name__
        )
    return [_encode(f"{name}[{position}]", value) for position, value in enumerate(values)]


def _encode(name: str, value: Any) -> str:
    """Return a JSON value as a JSON text, which Arrow can hold."""
    if isinstance(value, int | float) and not math.isnan(value):  # which pandas has for nothing
        raise HdbenchError(
            "{name} is the number {number!r}: give a record (dict), a text (str), or None where "
            "there is no answer",
            name=name,
            number=value,
        )
    try:
        return as_json(value)
    except (HdbenchError, TypeError, ValueError, RecursionError) as error:
        raise HdbenchError("{name} is not a JSON value: {why}", name=name, why=error) from error
