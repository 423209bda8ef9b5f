"""What a plan is likely to let through before anybody has read a value, and what work it leaves."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.collections.trust.cuts import power
from hdbench.collections.trust.decision_file import Decision
from hdbench.collections.trust.plan import Plan
from hdbench.collections.trust.runs import opened_runs
from hdbench.collections.trust.sample import LIKELY_DRAW
from hdbench.common.value_text import folded
from hdbench.errors import Message

SOME_ITEMS = 500
"""Number of items at most, drawn at random, whose answers are compared."""

OF_AGREED, OF_REPEATED = (0.7, 1.1), (0.35, 0.65)
"""Parts of the values on which all runs agree, and of those of a single run whose text occurs more
than once, that pass at the chosen cut: the range of seven sets of recorded runs."""

WRONG_PARTS = (0.6, 0.2)
"""Shares of wrong values among these, as parts of the limit."""

MORE_OFTEN_THAN_NOT = 0.5


class Likely(NamedTuple):
    """Shares of all values that are likely to be accepted.

    Attributes:
        least: the least share.
        most: the greatest share.
    """

    least: float
    most: float


def likely_shares(plan: Plan, benchmark: Benchmark, plan_file: Path) -> Likely:
    """Return what a plan lets through if its runs are as good as others that agree as much.

    Args:
        plan: the plan.
        benchmark: the items.
        plan_file: the plan's file.

    Raises:
        HdbenchError: the runs cannot be read.
    """
    share = _share_of_sure(plan, benchmark, plan_file)
    parts = OF_AGREED if len(plan.runs) > 1 else OF_REPEATED
    shares = (min(1.0, share * part) for part in parts)
    return Likely(*(_accepted(plan, *each) for each in zip(shares, WRONG_PARTS, strict=True)))


def _share_of_sure(plan: Plan, benchmark: Benchmark, plan_file: Path) -> float:
    ids = list(benchmark.ids())
    order = np.random.default_rng([plan.seed, LIKELY_DRAW]).permutation(len(ids))[:SOME_ITEMS]
    said: list[tuple[str, set[str | None]]] = []
    with opened_runs(plan.runs, plan.fields, benchmark, plan_file) as runs:
        for item in order.tolist():
            texts = runs.texts(runs.records(ids[item]))
            for column, name in enumerate(plan.fields):
                letters = {folded(each[column], plan.case) if each else None for each in texts}
                said.append((name, letters))
    if len(plan.runs) > 1:
        sure = sum(len(letters) == 1 and None not in letters for _, letters in said)
    else:
        times = Counter((name, *letters) for name, letters in said)
        sure = sum(count for (_, text), count in times.items() if count > 1 and text is not None)
    return sure / len(said)


def _accepted(plan: Plan, share: float, wrong: float) -> float:
    """Return the share of values that is accepted if this share passes, and so much is wrong."""
    values = plan.items * len(plan.fields)
    passing = round(share * (values - plan.learn))
    drawn = min(plan.verify, passing)
    chance = power(passing, drawn, wrong * plan.limit, plan.limit, plan.risk)
    return (passing - drawn) / values if chance >= MORE_OFTEN_THAN_NOT else 0.0


def likely_in_words(likely: Likely) -> Message:
    """Return in a sentence what a plan is likely to let through."""
    if not likely.most:
        return Message(
            "most likely nothing can be accepted, even if these models are as good as others that "
            "agree as much: read fewer values to verify, or take more models"
        )
    return Message(
        "if these models are as good as others that agree as much, {least:.0%} to {most:.0%} of "
        "all values will be accepted without anybody reading them",
        **likely._asdict(),
    )


SECONDS_PER_VALUE = 12.0
"""How long a person takes to open an image and read one field, until it is measured: our
assumption."""


class Work(NamedTuple):
    """The work that is left.

    Attributes:
        to_look_at: how many values a person has to look at.
        to_correct: how many of these are wrong, as expected.
        seconds_per_value: how long a person takes for a value.
        measured: whether that was measured while values were read; otherwise, it is our assumption.
        hours: how long it takes to look at all of them.
    """

    to_look_at: int
    to_correct: int
    seconds_per_value: float
    measured: bool
    hours: float


def work_left(decision: Decision) -> Work:
    """Return the work that a decision leaves."""
    values = decision.to_look_at.values
    seconds = SECONDS_PER_VALUE if decision.seconds is None else decision.seconds
    return Work(
        to_look_at=values,
        to_correct=round(values * decision.to_look_at.wrong),
        seconds_per_value=seconds,
        measured=decision.seconds is not None,
        hours=values * seconds / 3600,
    )
