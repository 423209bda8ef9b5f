"""What may be taken over: thresholds, bounds and fields, from a checked sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hdbench.common.checked import Strict
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


class Walk(Strict):
    """A walk down the thresholds.

    Attributes:
        right: by which way of being right.
        verdict: by which verdict.
        fields: the paths of the fields that are in.
        left_out: path of each other field → the bounds of its share of wrong values among those
            with the highest score.
        steps: the thresholds that were looked at.
        threshold: the one to use; None if nothing can be taken over.
    """

    right: Right
    verdict: VerdictName
    fields: tuple[str, ...]
    left_out: dict[str, ShareBounds]
    steps: tuple[Step, ...]
    threshold: float | None

    def places(self, plan: Plan) -> list[int]:
        """Return the places of the fields that are in, among those of the plan."""
        return [plan.fields.index(name) for name in self.fields]


Walks = Mapping[tuple[Right, VerdictName], Walk]
"""All walks, by the way of being right and the verdict."""


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


def walks_of(plan: Plan, sample: CheckedSample) -> Walks:
    """Return all walks: for both ways of being right, and by both verdicts."""
    return {
        (right, verdict): walk_of(plan, sample, right, verdict)
        for right in RIGHTS
        for verdict in VERDICTS
    }


def walk_of(plan: Plan, sample: CheckedSample, right: Right, verdict: VerdictName) -> Walk:
    """Walk with all fields that are not certainly too bad.

    By the rule, a field is left out if even the lower bound of its share of wrong values, among
    those with the highest score, is above the limit. The bounds hold for all fields together
    (Bonferroni): a choice made by the same sample favors fields that happen to have few errors in
    it, and with 100 fields that are all just above the limit, bounds that hold for one field each
    broke 29 of 100 promises instead of 10. The exact verdict leaves out none, as no such choice
    goes with a promise without assumptions.
    """
    of_all = 1 - (1 - plan.confidence) / len(plan.fields)
    first = by_field(plan, sample, right, plan.grid[0], of_all) if verdict == "rule" else {}
    left_out = {
        name: found.share for name, found in first.items() if found.share.lower > plan.limit
    }
    places = [place for place, name in enumerate(plan.fields) if name not in left_out]
    steps = (
        walk(
            sample.scores[:, places],
            sample.wrong[right][:, places],
            _verdict(plan, verdict, len(places)),
            least=plan.least_items,
            grid=plan.grid,
        )
        if places
        else []
    )
    chosen = last_accepted(steps)
    return Walk(
        right=right,
        verdict=verdict,
        fields=tuple(plan.fields[place] for place in places),
        left_out=left_out,
        steps=tuple(steps),
        threshold=chosen.threshold if chosen else None,
    )


def by_field(
    plan: Plan, sample: CheckedSample, right: Right, threshold: float, confidence: float
) -> dict[str, FieldResult]:
    """Return path → the values of that field at a threshold.

    The bounds of a field by itself are exact, as an item has one value of it.
    """
    passes = passing(sample.scores, threshold)
    wrong = passes & sample.wrong[right]
    flags = (passes, wrong, passes & sample.empty, wrong & sample.empty)
    counts = zip(plan.fields, *(each.sum(axis=0).tolist() for each in flags), strict=True)
    return {
        name: FieldResult(
            number,
            failed,
            empty,
            wrong_empty,
            bounds_of_share(failed, number, confidence) if number else ShareBounds(0.0, 1.0),
        )
        for name, number, failed, empty, wrong_empty in counts
    }


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
    items, places = len(sample.scores), found.places(plan)
    passes = passing(sample.scores[:, places], plan.grid[0])
    of_item = passes.sum(axis=1)
    wrong = (passes & sample.wrong[plan.right][:, places]).sum(axis=1)
    verdict = _verdict(plan, plan.verdict, len(places))
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


def _verdict(plan: Plan, name: VerdictName, fields: int) -> Verdict:
    if name == "rule":
        return by_rule(plan.limit, plan.confidence)
    return by_betting(fields, plan.limit, plan.confidence)
