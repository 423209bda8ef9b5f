"""Time and money: what tokens cost, and both as people read them."""

from collections.abc import Mapping
from typing import NamedTuple

from hdbench.errors import HdbenchError, Message

MILLION = 1_000_000

CENT = 0.01
MINUTE, HOUR = 60, 3600


class Price(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float

    @classmethod
    def of(cls, given: tuple[float, float]) -> "Price":
        """Return the price that a person gives.

        Raises:
            HdbenchError: it is negative, or no number.
        """
        if not all(0 <= rate < MILLION for rate in given):
            raise HdbenchError(
                "--price {input} {output}: must be US dollars per million tokens, in and out",
                input=given[0],
                output=given[1],
            )
        return cls(*given)

    def usd(self, tokens: Mapping[str, float] | None) -> float | None:
        """Return what `input` and `output` tokens cost; None if their numbers are not known.

        Example:
            >>> Price(1, 4).usd({"input": 1_000_000, "output": 500_000})
            3.0
        """
        if tokens is None or not {"input", "output"} <= tokens.keys():
            return None
        return (tokens["input"] * self.input + tokens["output"] * self.output) / MILLION


def as_time(seconds: float) -> Message:
    """Return a duration.

    Example:
        >>> as_time(90), as_time(3000), as_time(9000)
        ('90 s', '50 min', '2.5 h')
    """
    if seconds < 2 * MINUTE:
        return Message("{seconds:.0f} s", seconds=seconds)
    if seconds < 2 * HOUR:
        return Message("{minutes:.0f} min", minutes=seconds / MINUTE)
    return Message("{hours:.1f} h", hours=seconds / HOUR)


def as_rate(rate: float) -> Message:
    """Return the rate at which items are answered.

    Args:
        rate: items per second, more than none.

    Example:
        >>> as_rate(2), as_rate(0.25)
        ('2.0/s', '4.0 s each')
    """
    if rate >= 1:
        return Message("{rate:.1f}/s", rate=rate)
    return Message("{seconds:.1f} s each", seconds=1 / rate)


def as_usd(cost: float, *, about: bool = False) -> Message:
    """Return an amount of US dollars.

    Args:
        cost: the amount.
        about: say that it is an estimate, unless it is less than a cent.

    Example:
        >>> as_usd(1.5, about=True), as_usd(0.001)
        ('about 1.50 USD', 'less than 0.01 USD')
    """
    if cost < CENT:
        return Message("less than {cent:.2f} USD", cent=CENT)
    return Message("about {cost:.2f} USD" if about else "{cost:.2f} USD", cost=cost)
