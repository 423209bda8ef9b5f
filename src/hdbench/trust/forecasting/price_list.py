"""Price lists: files with prices of models, their dates and sources. Nothing is fetched."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, RootModel, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from hdbench.common.checked import Strict, check_file, read_yaml, validate
from hdbench.errors import Message

MAX_FILE = 2**20
"""Maximum size in bytes of a price list."""

MILLION = 1_000_000

Dollars = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False, strict=True)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Price(Strict):
    """Price of a model, in US dollars: by tokens, or by hours of hardware.

    Attributes:
        input: price of a million tokens that it reads.
        output: price of a million tokens that it writes.
        per_hour: price of an hour of the hardware, which answers one item after the other.
        date: the day on which the price was valid.
        source: the source of the price: an address, an offer, an invoice.
    """

    input: Dollars | None = None
    output: Dollars | None = None
    per_hour: Dollars | None = None
    date: Annotated[datetime.date, Field(ge=datetime.date(2000, 1, 1))]
    source: Text

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        by_tokens = [self.input is not None, self.output is not None]
        if any(by_tokens) != all(by_tokens) or any(by_tokens) == (self.per_hour is not None):
            raise PydanticCustomError(
                "price", "needs either input and output, for a million tokens each, or per_hour"
            )
        return self

    def usd(self, tokens: Sequence[float | None], seconds: float | None) -> float | None:
        """Return the cost of one answer; None if the answer lacks the figures that it depends on.

        Args:
            tokens: how many were read and how many written.
            seconds: how long the model took.

        Example:
            >>> price = Price(input=1, output=4, date="2026-11-01", source="price list")
            >>> price.usd([1500, 125], None), price.usd([1500, None], 2.0)
            (0.002, None)
        """
        if self.per_hour is not None:
            return None if seconds is None else self.per_hour * seconds / 3600
        read, written = tokens
        if read is None or written is None or self.input is None or self.output is None:
            return None
        return (read * self.input + written * self.output) / MILLION


class _PriceList(RootModel[dict[str, Price]]):
    """Model → its price."""


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices in a YAML file: model → price.

    Raises:
        HdbenchError: the file cannot be read, or a price lacks its date or source.
    """
    check_file(path, MAX_FILE, Message("a price list"))
    return validate(_PriceList, read_yaml(path), path).root
