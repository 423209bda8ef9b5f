"""Where a benchmark's items come from: a sample of a larger whole, simple or by strata."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from hdbench.common.validation import Strict, unfit

STRATUM = "stratum"
"""The column with an item's stratum: its place in `Sample.strata`, from 0."""

Count = Annotated[int, Field(ge=1, le=2**53)]


_UNIT = 2**-30
"""Unit of weights, so that sums of weighted counts are exact."""


class Stratum(Strict):
    """One part of the whole.

    Attributes:
        values: column → the value, or range of values, that its items have; without the columns in
            which they have none.
        of: how many items it has in the whole.
        items: how many of them were drawn.
    """

    values: dict[str, str] = Field(default_factory=dict)
    of: Count
    items: Count


class Sample(Strict):
    """Draw of items from a whole.

    Attributes:
        of: how many items the whole has.
        by: the columns by which it was divided into strata; none if the sample is simple.
        seed: the seed of the draw.
        strata: its parts; a simple sample has one.
    """

    of: Count
    by: tuple[str, ...] = ()
    seed: Annotated[int, Field(ge=0)]
    strata: Annotated[tuple[Stratum, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _adds_up(self) -> "Sample":
        total = sum(stratum.of for stratum in self.strata)
        if total != self.of:
            raise unfit(
                "the strata have {total} items together, and the whole has {whole}",
                total=total,
                whole=self.of,
            )
        for number, stratum in enumerate(self.strata):
            if stratum.items > stratum.of:
                raise unfit("strata.{place}: more items than it has", place=number)
            if not stratum.values.keys() <= set(self.by):
                raise unfit(
                    "strata.{place}: it has values of columns that are not in by", place=number
                )
        if not self.by and len(self.strata) > 1:
            raise unfit("several strata, but no column in by")
        return self

    @property
    def items(self) -> int:
        """Return how many items were drawn."""
        return sum(stratum.items for stratum in self.strata)


class Weighed(NamedTuple):
    """Weights and groups with which the items of a stratified sample stand for the whole.

    Attributes:
        weights: of each item: its stratum's share of the whole, divided by the stratum's share of
            the items. Their mean is 1.
        groups: of each item: the strata among which items are resampled. These are the strata,
            except that one with a single item belongs to the nearest.
        empty: the strata without an item; the nearest stratum stands for them too.
    """

    weights: list[float]
    groups: list[int]
    empty: list[Stratum]


def weighed(
    sample: Sample, strata: Sequence[int], of_item: Sequence[float] | None = None
) -> Weighed:
    """Return the weights of items, and how they are resampled.

    The nearest stratum has the most values in common and, among these, the nearest place.

    Args:
        sample: how the items were drawn.
        strata: the stratum of each item, at least one; fewer items than were drawn may be there.
        of_item: the items' weights, if they are some of the items of which `strata` stand for the
            whole: those of one language count as they do among all.
    """
    items = Counter(strata)
    sizes = {stratum: sample.strata[stratum].of for stratum in items}
    empty = [stratum for stratum in range(len(sample.strata)) if stratum not in items]
    for stratum in empty:
        sizes[_nearest(sample, stratum, items)] += sample.strata[stratum].of
    group = {stratum: stratum for stratum in items}
    for stratum in sorted(items):
        if (
            len(group) > 1
            and sum(items[member] for member in group if group[member] == group[stratum]) == 1
        ):
            other = group[_nearest(sample, stratum, group.keys() - {stratum})]
            group = {
                member: other if member_group == group[stratum] else member_group
                for member, member_group in group.items()
            }
    if of_item is None:
        of_item = [sizes[stratum] / items[stratum] for stratum in strata]
    mean = math.fsum(of_item) / len(of_item)
    return Weighed(
        [round(weight / mean / _UNIT) * _UNIT for weight in of_item],
        [group[stratum] for stratum in strata],
        [sample.strata[stratum] for stratum in empty],
    )


def _nearest(sample: Sample, stratum: int, among: Collection[int]) -> int:
    values = sample.strata[stratum].values

    def distance(other: int) -> tuple[int, int, int]:
        of_other = sample.strata[other].values
        same = sum(values.get(name) == of_other.get(name) for name in sample.by)
        return -same, abs(other - stratum), other

    return min(among, key=distance)
