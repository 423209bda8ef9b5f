"""The second stage: values that are drawn to verify what was learned, and what they show.

All of it is about arrays, so that simulations can look at what a plan decides without its files.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Checked

from hdbench.common.checked import Strict
from hdbench.statistics.share_of_unread import limit_holds
from hdbench.trust.decision import Count
from hdbench.trust.learned.cuts import (
    BILLION,
    UNANSWERED,
    Probabilities,
    cuts_of,
    promised_fields,
)
from hdbench.trust.learned.plan import SECOND_DRAW, ValuePlan

Flags = NDArray[np.bool_]


Billionths = Annotated[int, Checked(ge=0, le=BILLION)]


class FieldCuts(NamedTuple):
    """Fields that are promised together.

    Attributes:
        fields: their positions.
        cuts: their cuts in billionths, from strict to loose.
    """

    fields: list[int]
    cuts: list[int]


class Cut(Strict):
    """A cut: values whose probability of being wrong is at most this pass.

    Attributes:
        probability: in billionths.
        values: how many values of the collection pass.
        unread: how many of these nobody had read when it was learned.
    """

    probability: Billionths
    values: Count
    unread: Count


class DrawnGroup(NamedTuple):
    """Fields that are promised together, and what is read to verify it.

    Attributes:
        fields: their positions.
        cuts: their cuts, from strict to loose.
        drawn: the positions of the values to read: the item's times the number of fields, plus the
            field's.
    """

    fields: list[int]
    cuts: list[Cut]
    drawn: NDArray[np.int64]


class CutResult(NamedTuple):
    """What reading showed at one cut.

    Attributes:
        read: how many values at or below the cut were read.
        wrong: how many of these are wrong.
        accepted: whether the cut passes.
    """

    read: int
    wrong: int
    accepted: bool


def choose_cuts(plan: ValuePlan, by_item: Probabilities) -> list[FieldCuts]:
    """Return the fields that are promised together, and their cuts, from probabilities alone.

    Args:
        plan: the plan.
        by_item: the probability of each value, a row for each item and a column for each field.

    Returns:
        One group of all fields; or a group for each field that can keep the limit alone, if any.
    """
    if not plan.each_field:
        answered = by_item[by_item != UNANSWERED]
        return [FieldCuts(list(range(by_item.shape[1])), cuts_of(answered, plan.limit))]
    by_field = [column[column != UNANSWERED] for column in by_item.T]
    promised = promised_fields(by_field, plan.limit, plan.verify, plan.risk)
    return [FieldCuts([field.field], field.cuts) for field in promised]


def draw_second(
    plan: ValuePlan, by_item: Probabilities, is_unread: Flags, chosen: Sequence[FieldCuts]
) -> list[DrawnGroup]:
    """Return the values to verify cuts with, drawn at random from those at or below the loosest.

    Args:
        plan: the plan.
        by_item: the probability of each value, a row for each item and a column for each field.
        is_unread: which of these values nobody has read.
        chosen: the fields that are promised together, and their cuts; see `choose_cuts`.
    """
    groups = []
    for place, (fields, cuts) in enumerate(chosen):
        of_group = by_item[:, fields]
        answered = of_group != UNANSWERED
        passing = of_group[answered]
        open_to_read = answered & is_unread[:, fields]
        unread = of_group[open_to_read]
        rows, columns = np.nonzero(open_to_read & (of_group <= cuts[-1]))
        share = plan.verify // len(chosen) + (place < plan.verify % len(chosen))
        rng = np.random.default_rng([plan.seed, SECOND_DRAW, place])
        picked = rng.permutation(len(rows))[:share]
        groups.append(
            DrawnGroup(
                fields=fields,
                cuts=[
                    Cut(
                        probability=cut, values=(passing <= cut).sum(), unread=(unread <= cut).sum()
                    )
                    for cut in cuts
                ],
                drawn=rows[picked] * by_item.shape[1] + np.array(fields)[columns[picked]],
            )
        )
    return groups


def walk_cuts(
    cuts: Sequence[tuple[int, int]],
    probabilities: Probabilities,
    wrong: Flags,
    limit: float,
    risk: Fraction,
) -> Iterator[CutResult]:
    """Go from the strictest cut to looser ones until one fails: that needs no correction.

    Args:
        cuts: each cut, and how many values at or below it nobody had read; from strict to loose.
        probabilities: those of the values that were read, in billionths.
        wrong: which of these are wrong.
        limit: the share of wrong values that is allowed.
        risk: the risk of the promise.
    """
    for cut, unread in cuts:
        passes = probabilities <= cut
        read, found = int(passes.sum()), int((passes & wrong).sum())
        result = CutResult(read, found, limit_holds(unread, read, found, limit, risk))
        yield result
        if not result.accepted:
            return
