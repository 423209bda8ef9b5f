"""Scoring of answers without ids: each has its ground truth at the same position."""

import json
from collections.abc import Sequence
from typing import Any

from hdbench.answers import ReadAs
from hdbench.answers.answer import WrittenAnswer
from hdbench.answers.answers import AnswerReader
from hdbench.answers.schema import AnswerSchema
from hdbench.benchmarks.form_of_truths import schema_of
from hdbench.common.jsonio import FINITE, parse_json
from hdbench.errors import HdbenchError
from hdbench.evaluation.checks import SharedFields
from hdbench.evaluation.items import ScoreCollector, prepare
from hdbench.evaluation.parts import AnswersRead
from hdbench.evaluation.result import Result
from hdbench.scoring.metric import Metric

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
        value, place = json.loads(text), f"predictions[{position}]"
        written: WrittenAnswer = (
            {"text": value} if isinstance(value, str) else {"prediction": value}
        )
        answer = reader.answer(str(position), written, place)
        truth = _reference(metric, position, reference)
        scored = collector.add(answer, prepare(metric, truth, f"references[{position}]"))
        if scored is not None and scored.coverage != "unanswered":
            shared.add(answer, scored)
            answered += 1
    if is_documented:
        shared.check("predictions", answered)
    read = AnswersRead.model_construct(notes=reader.renamed_keys)
    return collector.result().replaced(reading=read)


def _reference(metric: Metric, position: int, encoded: str) -> Any:
    """Return a ground truth; JSON text, as in the metadata, is parsed, and a plain text is one."""
    value = json.loads(encoded)
    if isinstance(value, str):
        try:
            value = parse_json(value, FINITE)
        except ValueError as error:
            if (read := metric.of_text(value)) is None:
                raise HdbenchError(
                    "references[{position}] is not JSON: {why}", position=position, why=error
                ) from error
            value = read.record
    if not isinstance(value, dict):
        raise HdbenchError(
            "references[{position}] is not a record: {type}",
            position=position,
            type=type(value).__name__,
        )
    return value
