"""The errors of a run by class."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.answers.answer import LOST
from hdbench.scoring.error_classes import (
    ErrorClass,
    ErrorSummary,
    errors,
    form_counts,
    summarise,
    text_of,
)
from hdbench.scoring.metric import FieldMatch, Metric, f1

CONFUSIONS = 50
"""Maximum number of pairs of confused characters that a result holds."""


def item_errors(
    items: Sequence[Mapping[str, Any]], metric: Metric
) -> list[list[tuple[FieldMatch, ErrorClass]]]:
    """Return the errors of each item with their classes; see `error_classes.errors`.

    Args:
        items: what became of items, as in `Result.per_item`.
        metric: the one they were scored by.
    """
    return [
        errors(
            [FieldMatch(**match) for match in item["fields"]],
            metric.person_fields,
            metric.value_forms,
        )
        for item in items
    ]


def error_summary(
    items: Sequence[Mapping[str, Any]],
    errors: Sequence[Sequence[tuple[FieldMatch, ErrorClass]]],
    metric: Metric,
) -> ErrorSummary:
    """Count the errors of the answered items; the numbers of examples are those of all items.

    Args:
        items: see `errors_by_class`, as for the others.
        errors: their `item_errors`.
        metric: the one they were scored by.
    """
    return summarise(
        (
            () if item["status"] in LOST else of_item
            for item, of_item in zip(items, errors, strict=True)
        ),
        pages=metric.corrected == "character",
        watched=metric.watched,
    )


def errors_by_class(
    items: Sequence[Mapping[str, Any]],
    errors: Sequence[Sequence[tuple[FieldMatch, ErrorClass]]],
    metric: Metric,
) -> dict[str, Any]:
    """Return the errors of the answered items by class; see `Result.errors_by_class`.

    Args:
        items: what became of them, as in `Result.per_item`.
        errors: their `item_errors`.
        metric: the one they were scored by.
    """
    answered = [item for item in items if item["status"] not in LOST]
    summary = error_summary(items, errors, metric)
    signs = Counter(
        sign
        for item in answered
        for match in item["fields"]
        for sign in text_of(match["reference"])
    )
    # Those that an edition watches come first.
    confused = sorted(
        summary.confusions.items(), key=lambda pair: (pair[0][0] not in metric.watched, -pair[1])
    )
    counted = {
        "classes": dict(summary.total.most_common()),
        "fields": {name: dict(classes.most_common()) for name, classes in summary.fields.items()},
        "confusions": [
            {
                "reference": reference,
                "prediction": prediction,
                "count": count,
                "of": signs.get(reference),
                "example": summary.examples[reference, prediction].words,
            }
            for (reference, prediction), count in confused[:CONFUSIONS]
        ],
    }
    if not metric.has_form_counts:
        return counted
    matches = ([FieldMatch(**match) for match in item["fields"]] for item in items)
    return counted | {"f1_form": f1(*form_counts(matches, metric.value_forms))}
