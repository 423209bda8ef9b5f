"""The draws of the values that people read: by what, from which, and in which order."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hdbench.collections.trust.cuts import UNANSWERED, Cut, FieldCuts, Flags, Probabilities, Terms
from hdbench.collections.trust.runs import Runs
from hdbench.errors import HdbenchError

FIRST_DRAW, SECOND_DRAW, CONTROL_DRAW, EXAMPLE_DRAW, LIKELY_DRAW = 3, 4, 5, 6, 7
"""Numbers beside the seed for each draw; 0 to 2 draw items."""

Pair = tuple[str, str]
"""An item and a field of it."""


def draw_first(
    runs: Runs,
    ids: Sequence[str],
    fields: Sequence[str],
    number: int,
    seed: int,
    *,
    without: Collection[Pair] = (),
) -> list[Pair]:
    """Draw values at random from all items that at least one run answered.

    Args:
        runs: the runs.
        ids: the ids of all items.
        fields: the fields.
        number: how many values are drawn; all, if there are fewer.
        seed: the plan's.
        without: values that are not drawn.

    Returns:
        Item and field of each, in the order in which they were drawn.
    """
    excluded = frozenset(without)
    order = np.random.default_rng([seed, FIRST_DRAW]).permutation(len(ids) * len(fields))
    drawn: list[Pair] = []
    for position in order:  # not as a list: there may be millions
        if len(drawn) == number:
            break
        item, field = divmod(int(position), len(fields))
        if (ids[item], fields[field]) in excluded:
            continue
        if any(record is not None for record in runs.records(ids[item])):
            drawn.append((ids[item], fields[field]))
    if not drawn:
        raise HdbenchError("no run answered any item: there is nothing to draw from")
    return drawn


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


def draw_second(
    terms: Terms, by_item: Probabilities, is_unread: Flags, chosen: Sequence[FieldCuts]
) -> list[DrawnGroup]:
    """Return the values to verify cuts with, drawn at random from those at or below the loosest.

    Args:
        terms: what the plan says.
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
        share = terms.verify // len(chosen) + (place < terms.verify % len(chosen))
        rng = np.random.default_rng([terms.seed, SECOND_DRAW, place])
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
