"""The work that a decision leaves."""

from typing import NamedTuple

from hdbench.collections.trust.decision_file import Decision

SECONDS_PER_VALUE = 12.0
"""How long a person takes to open an image and read one field, until it is measured: our
assumption."""


class Work(NamedTuple):
    """The work that is left.

    Attributes:
        to_look_at: how many values a person has to look at.
        to_correct: how many of these are wrong, as expected.
        seconds_per_value: how long a person takes for a value.
        measured: whether that was measured while values were read; otherwise, it is our assumption.
        hours: how long it takes to look at all of them.
    """

    to_look_at: int
    to_correct: int
    seconds_per_value: float
    measured: bool
    hours: float


def work_left(decision: Decision) -> Work:
    """Return the work that a decision leaves."""
    values = decision.to_look_at.values
    seconds = SECONDS_PER_VALUE if decision.seconds is None else decision.seconds
    return Work(
        to_look_at=values,
        to_correct=round(values * decision.to_look_at.wrong),
        seconds_per_value=seconds,
        measured=decision.seconds is not None,
        hours=values * seconds / 3600,
    )
