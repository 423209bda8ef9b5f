"""The rows that figures are drawn from, and the words in figures."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hdbench.common.texts import Texts, written

_TEXTS = Texts(Path(__file__).with_name("texts"))

Cost = Literal["price", "seconds"]
"""Cost of an item: US dollars for 1,000 of them, or seconds for each."""

MAX_NAMED = 60
"""Maximum number of rows that are named in words."""


def say(key: str, language: str, **values: Any) -> str:
    """Return a text of `texts/plots.yaml`."""
    return _TEXTS.text(key, language, **values)


def axis_label(
    figure: str, language: str, *, level: float | None, higher_is_better: bool | None
) -> str:
    """Return what an axis shows, in one line.

    Args:
        figure: the name of what is drawn.
        language: one of `hdbench.common.texts.LANGUAGES`.
        level: the nominal coverage of its intervals; None if there are none.
        higher_is_better: its direction; None if it has none.
    """
    parts = [
        figure,
        "" if level is None else say("interval", language, level=round(100 * level, 6)),
        ""
        if higher_is_better is None
        else say("higher" if higher_is_better else "lower", language),
    ]
    return ", ".join(filter(None, parts))


def row_in_words(
    label: str,
    value: float | None,
    interval: tuple[float, float] | None,
    language: str,
    note: str = "",
) -> str:
    """Return a row of a figure in words."""
    if value is None:
        number = say("no_value", language)
    else:
        number = written(value, 3, language)
        if interval is not None:
            low, high = (written(end, 3, language) for end in interval)
            number += f" ({say('between', language, low=low, high=high)})"
    return f"{label} {number}" + (f", {note}" if note else "")


def listed(head: str, rows: Sequence[str], language: str) -> str:
    """Return a figure in words: what it shows, and each of its rows."""
    named = list(rows[:MAX_NAMED])
    if len(rows) > MAX_NAMED:
        named.append(say("and_more", language, count=len(rows) - MAX_NAMED))
    return f"{head}: {'; '.join(named)}"


def known(value: float | None) -> float | None:
    """Return a value; None also for one that is not a number."""
    return value if value is not None and math.isfinite(value) else None


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
