"""The work that a decision leaves: hours and money."""

from typing import NamedTuple

from hdbench.errors import HdbenchError
from hdbench.trust.decision import Decision

SECONDS_PER_VALUE = 12.0
"""How long a person takes to open an image and read one field, until it is measured: our
assumption."""

MAX_WAGE = 1_000_000
"""The highest wage: anything above is a typing error."""


class Work(NamedTuple):
    """The work that is left.

    Attributes:
        to_look_at: how many values a person has to look at.
        to_correct: how many of these are wrong, as expected.
        seconds_per_value: how long a person takes for a value.
        measured: whether that was measured while values were read; otherwise, it is our assumption.
        hours: how long it takes to look at all of them.
        cost: cost of all hours; None if no wage was given.
    """

    to_look_at: int
    to_correct: int
    seconds_per_value: float
    measured: bool
    hours: float
    cost: float | None


def work_left(decision: Decision, *, wage: float | None = None) -> Work:
    """Return the work that a decision leaves.

    Args:
        decision: the decision.
        wage: cost of an hour of a person.

    Raises:
        HdbenchError: the wage makes no sense.
    """
    if not 0 <= (wage or 0) <= MAX_WAGE:
        raise HdbenchError(
            "--wage {wage}: must be from 0 to {most:,}", wage=f"{wage:g}", most=MAX_WAGE
        )
    values = decision.to_look_at.values
    seconds = SECONDS_PER_VALUE if decision.seconds is None else decision.seconds
    hours = values * seconds / 3600
    return Work(
        to_look_at=values,
        to_correct=round(values * decision.to_look_at.wrong),
        seconds_per_value=seconds,
        measured=decision.seconds is not None,
        hours=hours,
        cost=None if wage is None else hours * wage,
    )
