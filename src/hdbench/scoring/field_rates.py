"""Figures of fields that are right or wrong one by one: what Record F1 and Zettel F1 share."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from hdbench.scoring.metric import OUTCOMES, Outcome
from hdbench.scoring.rates import counts_and_rates, f1, ratio

INDEX = re.compile(r"\[\d+\]")

Outcomes = Mapping[Outcome, Mapping[str, float]]
"""How often each field had each outcome; fractions where items are weighted."""


def rates_of_fields(outcomes: Outcomes) -> dict[str, dict[str, Any]]:
    """Field → unweighted counts, precision, recall, F1; the items of a list as one field.

    Example:
        >>> rates_of_fields({"correct": {"e[0].n": 2}, "missing": {"e[1].n": 1}})["e.n"]["recall"]
        0.6666666666666666
    """
    counts: dict[str, dict[Outcome, float]] = {}
    for outcome, paths in outcomes.items():
        for path, count in paths.items():
            of = counts.setdefault(INDEX.sub("", path), dict.fromkeys(OUTCOMES, 0))
            of[outcome] += count
    return {field: _rates_of(counts[field]) for field in sorted(counts)}


def _rates_of(outcomes: Mapping[Outcome, float]) -> dict[str, Any]:
    tp = outcomes["correct"]
    fp = outcomes["substituted"] + outcomes["spurious"]
    fn = outcomes["substituted"] + outcomes["missing"]
    return counts_and_rates(tp, fp, fn)


def micro_rates_without(
    outcomes: Outcomes, field: str, weight: Callable[[str], float]
) -> dict[str, float]:
    """The micro rates without a field.

    Args:
        outcomes: same as in `rates_of_fields`.
        field: one of its fields.
        weight: gives the weight of a path.
    """
    correct, substituted, missing, spurious = (
        math.fsum(
            count * weight(path)
            for path, count in outcomes[outcome].items()
            if INDEX.sub("", path) != field
        )
        for outcome in OUTCOMES
    )
    tp, fp, fn = correct, substituted + spurious, substituted + missing
    return {
        "f1_micro": f1(tp, fp, fn),
        "precision_micro": ratio(tp, tp + fp),
        "recall_micro": ratio(tp, tp + fn),
    }
