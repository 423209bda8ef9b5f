"""What the modules for `evaluate.load` share: from JSON values to a result."""

import json
from collections.abc import Iterable
from typing import Any, ClassVar

import datasets
import evaluate

from hdbench import __version__
from hdbench.errors import HdbenchError
from hdbench.jsonio import parse_json
from hdbench.reading.answer import Reading
from hdbench.reading.text import read_text
from hdbench.scoring import METRICS, make_metric
from hdbench.scoring.result import Candidate, prepare, score_items


class MetricModule(evaluate.Metric):  # type: ignore[misc]  # evaluate is not typed
    """An `evaluate` metric around one of `hdbench.scoring`.

    Predictions and references are JSON values: objects, null, or, for predictions, a model's raw
    text. Arrow cannot hold them as they are, so they travel as JSON text.

    The configuration is the protocol: `default` (and `documented`), or `published`.
    """

    metric: ClassVar[str]
    rules: ClassVar[int]
    description: ClassVar[str]
    inputs: ClassVar[str]
    citation: ClassVar[str]

    def _info(self) -> evaluate.MetricInfo:
        installed = METRICS[self.metric].rules
        if installed != self.rules:
            raise HdbenchError(
                f"this revision of {self.metric} is for rules {self.rules}, and hdbench "
                f"{__version__} has rules {installed}: load the revision that fits, or install it"
            )
        features = {name: datasets.Value("string") for name in ("predictions", "references")}
        return evaluate.MetricInfo(
            description=self.description,
            citation=self.citation,
            inputs_description=self.inputs,
            features=datasets.Features(features),
        )

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add predictions and references for a later `compute()`.

        Args:
            predictions: answers, one for each reference.
            references: ground truths.
            kwargs: nothing else is taken.
        """
        super().add_batch(
            predictions=_encode("predictions", predictions),
            references=_encode("references", references),
            **kwargs,
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one prediction and its reference for a later `compute()`.

        Args:
            prediction: an answer.
            reference: its ground truth.
            kwargs: nothing else is taken.
        """
        super().add(
            prediction=_encode("prediction", [prediction])[0],
            reference=_encode("reference", [reference])[0],
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
        protocol = "documented" if self.config_name == "default" else self.config_name
        metric = make_metric(self.metric, protocol, **options)
        candidates = (
            Candidate(
                str(position), prepare(metric, _reference(position, reference)), *_answer(text)
            )
            for position, (text, reference) in enumerate(zip(predictions, references, strict=True))
        )
        result = score_items(metric, candidates, details=details)
        return result.to_dict(details=details) | {"intervals": result.intervals.to_dict()}


def _encode(name: str, values: Iterable[Any] | None) -> list[str]:
    """JSON values as JSON texts, which Arrow can hold."""
    if values is None:
        raise HdbenchError(f"{name}: none were given")
    texts: list[str] = []
    for value in values:
        try:
            texts.append(json.dumps(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise HdbenchError(f"{name}[{len(texts)}] is not a JSON value: {error}") from None
    return texts


def _reference(position: int, encoded: str) -> Any:
    """A ground truth; as JSON text, as it stands in the metadata, it is read."""
    value = json.loads(encoded)
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError as error:
            raise HdbenchError(f"references[{position}] is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise HdbenchError(f"references[{position}] is not a record: {type(value).__name__}")
    return value


def _answer(encoded: str) -> Reading:
    """A prediction; a string is a model's raw text, and is read."""
    value = json.loads(encoded)
    return read_text(value) if isinstance(value, str) else Reading(value, "clean")
