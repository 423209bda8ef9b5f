"""What a person must know before a decision is used."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hdbench.benchmarks.provenance import BLIND
from hdbench.trust.checked import UNKNOWN, CheckedSample
from hdbench.trust.deciding import Walk, by_field
from hdbench.trust.plan import Plan
from hdbench.trust.wish import Right, VerdictName

TWINS = 0.5
"""Share of errors with the same wrong value above which two runs count as one opinion."""

SMALL_WHOLE = 0.1
"""Betting takes items as if they were drawn from endlessly many: from more than this share of the
whole on, they are not."""


class Notice(NamedTuple):
    """Something to know.

    Attributes:
        key: of its text.
        values: of the placeholders.
        voids: whether nothing is promised because of it.
    """

    key: str
    values: Mapping[str, Any]
    voids: bool = False


def warnings_of(
    plan: Plan, sample: CheckedSample, walks: Mapping[tuple[Right, VerdictName], Walk]
) -> Iterator[Notice]:
    """All warnings, the gravest first.

    Args:
        plan: the plan.
        sample: the checked sample.
        walks: all walks.
    """
    items = len(plan.sample)
    if sample.known:
        yield Notice("known", {"known": sample.known, "items": items}, voids=True)
    if plan.as_planned is None:
        yield Notice("not_sealed", {"version": plan.hdbench})
    for how, number in sorted(sample.provenance.items()):
        if how != BLIND:
            said = None if how == UNKNOWN else how
            yield Notice("not_blind", {"number": number, "items": items, "how": said})
    for (one, other), errors in sample.shared_errors.items():
        if errors.same > TWINS * errors.either:
            pair = {"one": plan.runs[one].name, "other": plan.runs[other].name}
            yield Notice("twins", {**pair, **errors._asdict()})
    if items > SMALL_WHOLE * plan.whole.of:
        key = "small_whole_exact" if plan.verdict == "exact" else "small_whole"
        yield Notice(key, {"items": items, "of": plan.whole.of})
    counts = walks[plan.right, plan.verdict]
    yield from _of_verdicts(plan, walks)
    yield from _of_fields(plan, sample, counts)
    if sample.without_truth:
        names = ", ".join(plan.fields[place] for place in sample.without_truth)
        yield Notice("without_truth", {"items": items, "fields": names})
    without = [
        {"name": run.name, "number": number}
        for run, number in zip(plan.runs, sample.unanswered, strict=True)
        if number
    ]
    if without:
        yield Notice("unanswered", {"runs": without, "items": items})
    if plan.several_values:
        names = ", ".join(plan.several_values[:5])
        yield Notice("several_values", {"count": len(plan.several_values), "fields": names})


def _of_verdicts(plan: Plan, walks: Mapping[tuple[Right, VerdictName], Walk]) -> Iterator[Notice]:
    """Yield where the verdict that does not count says less than the one that does."""
    other: VerdictName = "exact" if plan.verdict == "rule" else "rule"
    counts, beside = walks[plan.right, plan.verdict].chosen, walks[plan.right, other].chosen
    if counts and other == "exact" and (beside is None or beside.threshold > counts.threshold):
        values = {"threshold": counts.threshold}
        if beside is None:
            yield Notice("exact_accepts_none", values)
        else:
            yield Notice("exact_is_stricter", {**values, "exact": beside.threshold})
    if plan.right == "threshold" and counts:
        yield Notice("by_threshold", {})


def _of_fields(plan: Plan, sample: CheckedSample, counts: Walk) -> Iterator[Notice]:
    """Fields that are left out, and those that the promise about all of them hides."""
    left_out = [
        {"name": plan.fields[place], "share": bounds.lower}
        for place, bounds in counts.left_out.items()
    ]
    if left_out:
        yield Notice("fields_left_out", {"fields": left_out})
    if counts.chosen is None:
        return
    each = by_field(plan, sample, plan.right, counts.chosen.threshold)
    above = [
        {"name": plan.fields[place], "share": each[place].share.upper}
        for place in counts.fields
        if each[place].passing and each[place].share.upper > plan.limit
    ]
    if above:
        yield Notice("fields_above", {"fields": above})
