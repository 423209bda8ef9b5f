"""The plain rows that figures are drawn from."""

from typing import NamedTuple

from hdbench.common.display.words import known


class Dot(NamedTuple):
    """A value with its interval.

    Attributes:
        label: what it is a value of, such as a field or a model: untrusted text.
        value: the value; None if there is none.
        low: the lower end of its interval; None if it has none.
        high: the upper end.
        note: a text in a column of its own, such as a range of ranks.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of its interval; None if it has none."""
        return interval_of(self.low, self.high)


class Point(NamedTuple):
    """A value against what it costs.

    Attributes:
        label: what it is a value of, such as a model: untrusted text.
        value: the value.
        x: its price or seconds; None if that is not known.
        low: the lower end of the value's interval; None if it has none.
        high: the upper end.
    """

    label: str
    value: float
    x: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of its interval; None if it has none."""
        return interval_of(self.low, self.high)


def interval_of(low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return both ends of an interval; None if one of them is missing."""
    low, high = known(low), known(high)
    return None if low is None or high is None else (low, high)
