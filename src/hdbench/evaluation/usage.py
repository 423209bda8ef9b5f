"""Tokens and time that a run used, as far as its answers say."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hdbench.answers.batches import MAX_NUMBER


class AmountUsed(BaseModel):
    """An amount that was used over a run's answers.

    Attributes:
        total: its sum.
        items: the number of answers for which it is known.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)

    total: Annotated[int | float, Field(ge=0, le=MAX_NUMBER)]
    items: Annotated[int, Field(ge=0, le=MAX_NUMBER)]


class Usage:
    """Adds up what the answers used.

    Example:
        >>> usage = Usage()
        >>> usage.add({"input": 1196}, 2.5)
        >>> usage.add(None, 1.5)
        >>> usage.amounts
        {'input_tokens': AmountUsed(total=1196, items=1), 'seconds': AmountUsed(total=4.0, items=2)}
    """

    def __init__(self) -> None:
        self._tokens = Counter[str]()
        self._counted = Counter[str]()
        self._seconds: float = 0
        self._timed = 0

    def add(self, tokens: Mapping[str, int] | None, seconds: float | None) -> None:
        """Add the tokens and the seconds of one more answer, as far as they are known."""
        for name, count in (tokens or {}).items():
            self._tokens[name] += count
            self._counted[name] += 1
        if seconds is not None:
            self._seconds += seconds
            self._timed += 1

    @property
    def amounts(self) -> dict[str, AmountUsed]:
        """The sums of `input_tokens`, `output_tokens` and `seconds`, as far as they are known."""
        # Sums may be larger than what a file may say.
        amounts = {
            f"{name}_tokens": AmountUsed.model_construct(total=total, items=self._counted[name])
            for name, total in self._tokens.items()
        }
        if self._timed:
            amounts["seconds"] = AmountUsed.model_construct(total=self._seconds, items=self._timed)
        return amounts
