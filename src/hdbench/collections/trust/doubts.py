"""What to know before a decision is used: implausible readings, twins among the runs, and more."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from hdbench.collections.trust.decision_file import Decision, Warned
from hdbench.collections.trust.plan import Plan
from hdbench.collections.trust.runs import Runs
from hdbench.collections.truth.events import ValueKey
from hdbench.collections.truth.readings import Settled
from hdbench.common.value_text import Case, folded, text_of

TWINS = 0.5
"""Share of errors with the same wrong value above which two runs are not independent."""

FEW_AGREE = 0.9
"""Share of the values read twice that two people should agree on at least."""

HASTY = 2.0
"""Number of seconds for a value, as a median, within which nobody reads it from an image."""

ALL_LIKE_RUN = 50
"""So many values to learn from, all of which are what a run says, were hardly read."""


class ReadByRuns(NamedTuple):
    """A value that people read.

    Attributes:
        text: what they read.
        said: what each run says of it; None without an answer.
    """

    text: str
    said: Sequence[str | None]


def read_by_runs(
    outcomes: Mapping[ValueKey, Settled], runs: Runs, case: Case
) -> Iterator[ReadByRuns]:
    """Yield what people could read of the first stage, and what each run says of it.

    The values of the second stage were drawn where the runs agree, so that they say less.
    """
    columns = {field.path: column for column, field in enumerate(runs.fields)}
    for key, outcome in outcomes.items():
        if outcome.outcome == "value":
            records = runs.texts(runs.records(key.item))
            column = columns[key.field]
            said = [folded(each[column], case) if each else None for each in records]
            yield ReadByRuns(folded(text_of(outcome.value), case), said)


def _implausible(plan: Plan, decision: Decision, first: Sequence[ReadByRuns]) -> Iterator[Warned]:
    """Yield a warning about readings that can hardly have been read from the images."""
    if decision.seconds is not None and decision.seconds < HASTY:
        yield Warned.of("hasty", seconds=decision.seconds)
    for place, run in enumerate(plan.runs):
        if len(first) >= ALL_LIKE_RUN and all(value.said[place] == value.text for value in first):
            yield Warned.of("like_run", run=run.name, values=len(first))


def _twins(plan: Plan, first: Sequence[ReadByRuns]) -> Iterator[Warned]:
    """Yield a warning about each pair of runs that make the same errors."""
    for one, other in combinations(range(len(plan.runs)), 2):
        said = [(value.said[one], value.said[other], value.text) for value in first]
        wrong = [each for each in said if None not in each and set(each) != {each[2]}]
        same = sum(mine == theirs for mine, theirs, _ in wrong)
        if same > TWINS * len(wrong):
            names = {"one": plan.runs[one].name, "other": plan.runs[other].name}
            yield Warned.of("twins", **names, same=same, either=len(wrong))


def doubts(plan: Plan, decision: Decision, first: Sequence[ReadByRuns]) -> Iterator[Warned]:
    """Yield what to know about a decision, the most serious first."""
    stages = (decision.first, decision.second)
    yield from _implausible(plan, decision, first)
    yield from _twins(plan, first)
    twice, same = (sum(getattr(stage, name) for stage in stages) for name in ("twice", "same"))
    if not twice:
        yield Warned.of("read_once", values=decision.read)
    elif same < FEW_AGREE * twice:
        yield Warned.of("readers_differ", twice=twice, same=same)
    lost = decision.second.unreadable + decision.second.damaged
    if lost:
        yield Warned.of(
            "not_readable",
            unreadable=decision.second.unreadable,
            damaged=decision.second.damaged,
            values=decision.second.values,
        )
    if decision.second.unsettled:
        yield Warned.of("unsettled", count=decision.second.unsettled)
    above = [
        {"name": name, "share": field.wrong / field.read}
        for name, field in decision.by_field.items()
        if field.wrong > plan.limit * field.read
    ]
    if above:
        yield Warned.of("fields_may_be_above", fields=above)
    if decision.unanswered:
        yield Warned.of("unanswered_items", count=decision.unanswered, items=decision.items)
    if plan.right == "threshold":
        yield Warned.of("by_threshold")
    if plan.several_values:
        names = ", ".join(plan.several_values[:5])
        yield Warned.of("several_values", count=len(plan.several_values), fields=names)
