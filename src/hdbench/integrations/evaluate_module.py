"""Base of the modules for `evaluate.load`: from JSON values to a result."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import datasets
import evaluate

from hdbench.about import __version__
from hdbench.answers.in_memory import as_json
from hdbench.benchmarks.configurations import Configuration, configuration_of
from hdbench.errors import HdbenchError
from hdbench.evaluation.parts import signature
from hdbench.integrations.by_position import score_by_position
from hdbench.scoring import METRICS

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
    if isinstance(value, int | float):
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
