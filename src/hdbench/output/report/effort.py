"""The work of correcting a run's answers: keystrokes, and what became of each field, once."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hdbench.answers.letters import text_of
from hdbench.results.result import Result
from hdbench.scoring.analysis.error_classes import pair
from hdbench.scoring.field_rates import INDEX
from hdbench.scoring.metric import FieldMatch, Outcome
from hdbench.trust.forecasting.work import DEFAULT_PACE
from hdbench.trust.forecasting.work import keystrokes as between


def keystrokes(result: Result) -> float | None:
    """Return the mean number of keystrokes that correct an item; of a sample, for the population.

    They are those of `hdbench.trust.forecasting.work.keystrokes`, over the values that the metric
    compares. Values that match without being equal need some, too.

    Returns:
        None if the result did not keep what became of every item.
    """
    if not result.per_item:
        return None
    weights = [1.0] * len(result.ids) if result.weighed is None else result.weighed.weights
    terms = [weight * _of_item(item) for weight, item in zip(weights, result.per_item, strict=True)]
    return sum(terms) / sum(weights)


def hours_left(result: Result) -> float | None:
    """Return the hours of a person who checks all values of all items and corrects the wrong ones.

    The pace is that of `hdbench.trust.forecasting.work`.

    Returns:
        None if the metric compares no values, or see `keystrokes`.
    """
    strokes = keystrokes(result)
    if strokes is None or result.effort is None:
        return None
    items = len(result.ids)
    return DEFAULT_PACE.hours(looks=items * result.effort.values, keystrokes=items * strokes)


def _of_item(item: Mapping[str, Any]) -> int:
    matches = pair([FieldMatch(**match) for match in item["fields"]])
    return sum(
        between(text_of(match.prediction), text_of(match.reference))
        for match in matches
        if match.outcome != "correct" or match.similarity < 1
    )


def outcomes_of_fields(result: Result) -> dict[str, dict[Outcome, int]]:
    """Return field → how often it had each outcome; a substituted value counts once.

    The items of a list are one field. Where values are a set, as the persons of a letter are, a
    missing and a spurious one of an item are a substituted one, as in `EFFORT`. Fields of other
    metrics have no outcomes.
    """
    fields: dict[str, Counter[Outcome]] = {}
    for outcome, counts in result.outcomes.items():
        for path, count in counts.items():
            fields.setdefault(INDEX.sub("", path), Counter())[outcome] += count
    for field in () if fields else result.metric.set_fields:
        names = ("true_positives", "false_positives", "false_negatives")
        columns = [result.statistics[f"{field}.{name}"] for name in names]
        for right, spurious, missing in zip(*columns, strict=True):
            substituted = min(spurious, missing)
            fields.setdefault(field, Counter()).update(
                correct=int(right),
                substituted=int(substituted),
                missing=int(missing - substituted),
                spurious=int(spurious - substituted),
            )
    return {
        field: {name: counts[name] for name in result.outcomes} for field, counts in fields.items()
    }
