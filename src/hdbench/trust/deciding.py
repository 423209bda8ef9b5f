"""What may be taken over: thresholds, bounds and fields, from a checked sample."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hdbench.statistics.acceptance import (
    ROUNDING,
    ShareBounds,
    Step,
    Verdict,
    bounds_of_share,
    by_betting,
    by_rule,
    last_accepted,
    upper_bound,
    walk,
)
from hdbench.trust.checked import CheckedSample, Flags
from hdbench.trust.plan import RIGHTS, Plan, Right, VerdictName

VERDICTS: tuple[VerdictName, ...] = ("rule", "exact")

FACTORS = (1.25, 1.5, 2, 3, 4, 6, 10)
"""Sizes of larger samples that are tried out, as multiples of the sample's."""

DRAWS = 200
"""How often each of them is."""

CHANCE = 0.8
"""How often something must pass for a size to be recommended."""


class Walk(NamedTuple):
    """The walk down the thresholds.

    Attributes:
        fields: the places of the fields that are in.
        left_out: the place of each other field → the bounds of its share of wrong values among
            those with the highest score.
        steps: the thresholds that were looked at.
    """

    fields: list[int]
    left_out: dict[int, ShareBounds]
    steps: list[Step]

    @property
    def chosen(self) -> Step | None:
        """The threshold to use; None if nothing can be taken over."""
        return last_accepted(self.steps)


@dataclass(frozen=True)
class FieldResult:
    """The values of one field that pass.

    Attributes:
        passing: how many.
        wrong: how many of these are wrong.
        empty: how many of them are empty.
        wrong_empty: how many of these are wrong.
        share: the bounds of the share of wrong values among those that pass.
    """

    passing: int
    wrong: int
    empty: int
    wrong_empty: int
    share: ShareBounds


def decided(plan: Plan, sample: CheckedSample) -> Iterator[tuple[Right, VerdictName, Walk]]:
    """All walks: for both ways of being right, and by both verdicts."""
    for right in RIGHTS:
        for verdict in VERDICTS:
            yield right, verdict, walk_of(plan, sample, right, verdict)


def walk_of(plan: Plan, sample: CheckedSample, right: Right, verdict: VerdictName) -> Walk:
    """Walk with all fields that are not certainly too bad.

    By the rule, a field is left out if even the lower bound of its share of wrong values, among
    those with the highest score, is above the limit. The bounds hold for all fields together
    (Bonferroni): a choice made by the same sample favors fields that happen to have few errors in
    it, and with 100 fields that are all just above the limit, bounds that hold for one field each
    broke 29 of 100 promises instead of 10. The exact verdict leaves out none, as no such choice
    goes with a promise without assumptions.
    """
    wrong = sample.wrong[right]
    number = len(plan.fields)
    of_all = 1 - (1 - plan.confidence) / number
    left_out = {}
    for place in range(number) if verdict == "rule" else ():
        found = _of_field(sample, wrong, place, plan.grid[0], of_all)
        if found.share.lower > plan.limit:
            left_out[place] = found.share
    fields = [place for place in range(number) if place not in left_out]
    if not fields:
        return Walk([], left_out, [])
    steps = walk(
        sample.scores[:, fields],
        wrong[:, fields],
        _verdict(plan, verdict, len(fields)),
        least=plan.least_items,
        grid=plan.grid,
    )
    return Walk(fields, left_out, steps)


def by_field(
    plan: Plan, sample: CheckedSample, right: Right, threshold: float
) -> list[FieldResult]:
    """Each field by itself at a threshold; its bounds are exact, as an item has one value of it."""
    wrong = sample.wrong[right]
    return [
        _of_field(sample, wrong, place, threshold, plan.confidence)
        for place in range(len(plan.fields))
    ]


def bound_at(
    plan: Plan, sample: CheckedSample, right: Right, fields: Sequence[int], threshold: float
) -> float:
    """The rule's upper bound at a threshold, for some fields."""
    passes = passing(sample.scores[:, fields], threshold)
    errors = (passes & sample.wrong[right][:, fields]).sum(axis=1)
    return upper_bound(passes.sum(axis=1), errors, plan.confidence)


def passing(scores: np.ndarray, threshold: float) -> Flags:
    """Return which values reach a threshold."""
    reached: Flags = scores >= threshold - ROUNDING
    return reached


def needed_items(plan: Plan, sample: CheckedSample, found: Walk) -> int | None:
    """Return how many items a sample would need for something to pass, most likely.

    Larger samples are drawn, with replacement, from the items that were checked: an estimate, only
    as good as these items represent the whole. Something passes if the strictest threshold does,
    as the walk begins there.

    Returns:
        None if none of the sizes that are tried is large enough: they are at most ten times the
        sample's, and no larger than the whole.
    """
    if not found.fields:
        return None
    items = len(sample.scores)
    passes = passing(sample.scores[:, found.fields], plan.grid[0])
    of_item = passes.sum(axis=1)
    wrong = (passes & sample.wrong[plan.right][:, found.fields]).sum(axis=1)
    verdict = _verdict(plan, plan.verdict, len(found.fields))
    rng = np.random.default_rng(0)
    for factor in FACTORS:
        size = int(np.ceil(factor * items))
        if size > plan.whole.of:
            return None
        passed = 0
        for _ in range(DRAWS):
            rows = rng.integers(items, size=size)
            enough = np.count_nonzero(of_item[rows]) >= plan.least_items
            if enough and verdict(of_item[rows], wrong[rows])[1]:
                passed += 1
        if passed >= CHANCE * DRAWS:
            return size
    return None


def _of_field(
    sample: CheckedSample, wrong: Flags, place: int, threshold: float, confidence: float
) -> FieldResult:
    passes = passing(sample.scores[:, place], threshold)
    errors = passes & wrong[:, place]
    empty = sample.empty[:, place]
    number, failed = int(passes.sum()), int(errors.sum())
    return FieldResult(
        number,
        failed,
        int((passes & empty).sum()),
        int((errors & empty).sum()),
        bounds_of_share(failed, number, confidence) if number else ShareBounds(0.0, 1.0),
    )


def _verdict(plan: Plan, name: VerdictName, fields: int) -> Verdict:
    if name == "rule":
        return by_rule(plan.limit, plan.confidence)
    return by_betting(fields, plan.limit, plan.confidence)
