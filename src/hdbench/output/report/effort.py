"""The work of correcting a run's answers: keystrokes, and what became of each field, once."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rapidfuzz.distance import Levenshtein

from hdbench.answers.letters import folded, text_of
from hdbench.results.result import Result
from hdbench.scoring.analysis.error_classes import pair
from hdbench.scoring.field_rates import INDEX
from hdbench.scoring.metric import FieldMatch, Outcome

KEYSTROKES_PER_MINUTE = 214
"""0.28 s per key: an average typist at 40 words per minute (Card, Moran and Newell, "The
keystroke-level model for user performance time with interactive systems", 1980)."""

SECONDS_PER_LOOK = 2.7
"""Twice 1.35 s of mental preparation (of the same source), to find a value on the image and to
compare it. That these two are enough is our assumption."""


def keystrokes(result: Result) -> float | None:
    """Return the mean number of keystrokes that correct an item; of a sample, for the population.

    They are the Levenshtein distance of a value from its truth, in which only letters count (see
    `folded`), over the values that the metric compares. Values that match without being equal need
    some, too.

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

    The pace is an assumption, see `KEYSTROKES_PER_MINUTE` and `SECONDS_PER_LOOK`.

    Returns:
        None if the metric compares no values, or see `keystrokes`.
    """
    strokes = keystrokes(result)
    if strokes is None or result.effort is None:
        return None
    items = len(result.ids)
    looks = items * result.effort.values * SECONDS_PER_LOOK
    return looks / 3600 + items * strokes / KEYSTROKES_PER_MINUTE / 60


def _of_item(item: Mapping[str, Any]) -> int:
    matches = pair([FieldMatch(**match) for match in item["fields"]])
    return sum(
        Levenshtein.distance(folded(text_of(match.prediction)), folded(text_of(match.reference)))
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
