"""Where a benchmark's items come from: a sample of a larger whole, simple or by strata."""

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hdbench.common.checked import Strict

STRATUM = "stratum"
"""The column with an item's stratum: its place in `Sample.strata`, from 0."""

Count = Annotated[int, Field(ge=1, le=2**53)]


class Stratum(Strict):
    """One part of the whole.

    Attributes:
        values: column → the value, or range of values, that its items have; None if they have none.
        of: how many items it has in the whole.
        items: how many of them were drawn.
    """

    values: dict[str, str | None] = Field(default_factory=dict)
    of: Count
    items: Count


class Sample(Strict):
    """How items were drawn from a whole.

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
        total = sum(each.of for each in self.strata)
        if total != self.of:
            wrong = "the strata have {total} items together, and the whole has {whole}"
            raise PydanticCustomError("sample", wrong, {"total": total, "whole": self.of})
        for place, each in enumerate(self.strata):
            if each.items > each.of:
                raise PydanticCustomError(
                    "sample", "strata.{place}: more items than it has", {"place": place}
                )
            if each.values.keys() != set(self.by):
                raise PydanticCustomError(
                    "sample", "strata.{place}: its values are not those of by", {"place": place}
                )
        if not self.by and len(self.strata) > 1:
            raise PydanticCustomError("sample", "several strata, but no column in by", {})
        return self

    @property
    def items(self) -> int:
        """How many items were drawn."""
        return sum(each.items for each in self.strata)
