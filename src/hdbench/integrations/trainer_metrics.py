"""Figures of what the evaluation of `transformers.Trainer` predicts."""

import json
from collections.abc import Callable
from typing import Any

from hdbench.benchmarks.benchmark import Benchmark, load_benchmark
from hdbench.integrations.by_position import score_by_position
from hdbench.scoring import METRICS, make_metric


def best_tokens(logits: Any, labels: Any) -> Any:  # noqa: ARG001  the trainer gives it
    """Return the likeliest tokens: for `Trainer(preprocess_logits_for_metrics=…)`.

    Otherwise the trainer keeps the logits of the whole vocabulary for each token of each item.
    """
    return (logits[0] if isinstance(logits, tuple) else logits).argmax(-1)


def compute_metrics(
    scored_by: str | Benchmark,
    tokenizer: Any,
    *,
    protocol: str = "documented",
    field: str | None = None,
    causal: bool = False,
    **options: Any,
) -> Callable[[Any], dict[str, float]]:
    """Return a function for `Trainer(compute_metrics=…)` that gives a metric's figures.

    The figures are those that the metric's module gives with `evaluate`, and the number of `items`
    and of those `answered`. Labels are the ground truths, as JSON. The predictions are tokens: with
    `Seq2SeqTrainer`, set `predict_with_generate`. Tokens below zero (-100) are padding.

    Args:
        scored_by: a metric, such as `zettel_f1`, or a benchmark, whose options the metric then has.
        tokenizer: the tokenizer or processor that decodes.
        protocol: `documented` or `published`.
        field: labels and predictions are plain text, not JSON: the text of this field.
        causal: the predictions are `best_tokens` of a model that continues its prompt: each is for
            the label after it. It saw the right tokens before each of them, so the figures are far
            better than those of answers that it writes alone; for these, use `ScoreCallback`.
        options: the metric's options; they take precedence over the benchmark's.

    Raises:
        HdbenchError: there is no such metric, benchmark, protocol or option.

    Example:
        >>> from types import SimpleNamespace
        >>> bytes_as_tokens = SimpleNamespace(decode=lambda ids, **_: bytes(ids).decode())
        >>> figures = compute_metrics("zettel_f1", bytes_as_tokens)
        >>> truth = [*b'{"title": "Stellingen", "year": 1924}', -100, -100]
        >>> answer = [*b'The card says {"title": "Stellingen"}']
        >>> figures(SimpleNamespace(predictions=[answer], label_ids=[truth]))["f1_micro"]
        0.6666666666666666
    """
    if isinstance(scored_by, str) and scored_by in METRICS:
        metric, schema = make_metric(scored_by, protocol, **options), None
    else:
        benchmark = load_benchmark(scored_by) if isinstance(scored_by, str) else scored_by
        metric = benchmark.spec.make_metric(protocol, **options)
        schema = benchmark.answer_schema()

    def encoded(tokens: Any) -> str:
        known = [int(token) for token in tokens if token >= 0]
        text = tokenizer.decode(known, skip_special_tokens=True)
        return json.dumps({field: text} if field else text)

    def figures(evaluated: Any) -> dict[str, float]:
        predictions, labels = evaluated.predictions, evaluated.label_ids
        if isinstance(predictions, tuple):
            predictions = predictions[0]
        pairs = list(zip(predictions, labels, strict=True))
        if causal:
            pairs = [(row[:-1][label[1:] >= 0], label[1:]) for row, label in pairs]
        result = score_by_position(
            metric,
            schema,
            [encoded(row) for row, _ in pairs],
            [encoded(label) for _, label in pairs],
        )
        numbers = {**result.rates, "items": len(result.ids), "answered": result.answered}
        return {name: value for name, value in numbers.items() if isinstance(value, int | float)}

    return figures
