"""The work that a decision by single values leaves: hours and money."""

from typing import Literal

from hdbench import __version__
from hdbench.common.checked import Strict
from hdbench.trust.forecasting.work import check_amount
from hdbench.trust.learned.decision import ValueDecision

SECONDS_PER_VALUE = 12.0
"""How long a person takes to open an image and read one field, until it is measured: our
assumption."""


class ValueForecast(Strict):
    """The work that is left.

    Attributes:
        hdbench: the version that made it.
        plan: the plan's hash.
        holds: whether the promise holds.
        benchmark: the benchmark.
        benchmark_version: its version.
        items: how many items it has.
        values: how many values of the plan's fields there are.
        accepted: how many of them go in without anybody looking at them.
        read: how many people have read already.
        to_look_at: how many a person has to look at.
        to_correct: how many of these are wrong, as expected.
        seconds_per_value: how long a person takes for a value.
        measured: whether that was measured while values were read.
        given: whether it was given; otherwise, if it was not measured, it is our assumption.
        hours: how long it takes to look at all of them.
        wage: cost of an hour of a person; None if not given.
        cost: cost of all hours.
        wrong_expected: how many accepted values are wrong, at the rate that was found.
        wrong_at_most: how many are wrong at most, by the promise.
    """

    forecast: Literal[2] = 2
    hdbench: str
    plan: str
    holds: bool
    benchmark: str
    benchmark_version: str
    items: int
    values: int
    accepted: int
    read: int
    to_look_at: int
    to_correct: int
    seconds_per_value: float
    measured: bool
    given: bool
    hours: float
    wage: float | None
    cost: float | None
    wrong_expected: int
    wrong_at_most: int


def value_forecast(
    decision: ValueDecision, *, seconds: float | None = None, wage: float | None = None
) -> ValueForecast:
    """Return the work that a decision leaves.

    Args:
        decision: the decision.
        seconds: how long a person takes for a value; by default as measured while values were read.
        wage: cost of an hour of a person.

    Raises:
        HdbenchError: the seconds or the wage make no sense.
    """
    check_amount("--seconds-per-look", seconds or 0)
    check_amount("--wage", wage or 0)
    pace = decision.seconds if seconds is None else seconds
    hours = decision.to_look_at.values * (SECONDS_PER_VALUE if pace is None else pace) / 3600
    wrong = decision.wrong.get(decision.right)
    return ValueForecast(
        hdbench=__version__,
        plan=decision.plan,
        holds=decision.holds,
        benchmark=decision.benchmark,
        benchmark_version=decision.benchmark_version,
        items=decision.items,
        values=decision.values,
        accepted=decision.accepted,
        read=decision.read,
        to_look_at=decision.to_look_at.values,
        to_correct=round(decision.to_look_at.values * decision.to_look_at.wrong),
        seconds_per_value=SECONDS_PER_VALUE if pace is None else pace,
        measured=seconds is None and decision.seconds is not None,
        given=seconds is not None,
        hours=hours,
        wage=wage,
        cost=None if wage is None else hours * wage,
        wrong_expected=wrong.expected if wrong else 0,
        wrong_at_most=wrong.at_most if wrong else 0,
    )
