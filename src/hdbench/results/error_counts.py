"""The errors of a run by class, counted batch by batch."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hdbench.answers.answer import LOST
from hdbench.scoring.analysis.error_classes import ErrorClass, errors, form_counts, summarise
from hdbench.scoring.metric import FieldMatch, Metric
from hdbench.scoring.rates import f1

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


class ErrorCounts:
    """The errors of the answered items by class.

    Args:
        metric: the one the items were scored by.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._fields: dict[str, Counter[ErrorClass]] = {}
        self._confusions: Counter[tuple[str, str]] = Counter()
        self._form = (0, 0, 0)

    def add(
        self,
        items: Sequence[Mapping[str, Any]],
        errors: Sequence[Sequence[tuple[FieldMatch, ErrorClass]]],
    ) -> None:
        """Count the errors of some items.

        Args:
            items: what became of them, as in `Result.per_item`.
            errors: their `item_errors`.
        """
        summary = summarise(
            item_errors
            for item, item_errors in zip(items, errors, strict=True)
            if item["status"] not in LOST
        )
        for name, classes in summary.fields.items():
            self._fields.setdefault(name, Counter()).update(classes)
        self._confusions.update(summary.confusions)
        if self._metric.has_form_counts:
            matches = ([FieldMatch(**match) for match in item["fields"]] for item in items)
            counted = form_counts(matches, self._metric.value_forms)
            self._form = tuple(map(sum, zip(self._form, counted, strict=True)))  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON data; see `Result.errors_by_class`."""
        total: Counter[ErrorClass] = Counter()
        for _, classes in sorted(self._fields.items()):
            total.update(classes)
        return {
            "classes": dict(total.most_common()),
            "fields": {
                name: dict(classes.most_common()) for name, classes in sorted(self._fields.items())
            },
            "confusions": [
                {"reference": reference, "prediction": prediction, "count": count}
                for (reference, prediction), count in self._confusions.most_common(CONFUSIONS)
            ],
            **({"f1_form": f1(*self._form)} if self._metric.has_form_counts else {}),
        }
