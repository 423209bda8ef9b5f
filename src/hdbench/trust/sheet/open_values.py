"""The values of a work list that people have to look at, with what each run says."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hdbench.annotating.checking.checked_values import ValueKey
from hdbench.trust.working import REASONS, AppliedWorkList

_TEXTS = {reason: text for text, reason in REASONS.items()}


class OpenValue(NamedTuple):
    """A value that people have to look at.

    Attributes:
        key: the value.
        reason: why they have to.
        score: its trust score; None without one.
        candidates: the value in each run; None for nothing.
    """

    key: ValueKey
    reason: str
    score: float | None
    candidates: Sequence[Any]


def open_keys(work_list: AppliedWorkList) -> Iterator[ValueKey]:
    """Yield the values of a work list, in its order."""
    for item in work_list.items:
        yield from (ValueKey(item, field) for field in work_list.doubtful(item))


def open_values(work_list: AppliedWorkList, item: str) -> list[OpenValue]:
    """Return the values of an item of a work list, in the order of the fields.

    Raises:
        HdbenchError: they cannot be read.
    """
    doubtful = work_list.doubtful(item)
    values = []
    for field in work_list.fields(item):
        if field.path in doubtful and field.reason is not None:
            said = {run: one.value for one in field.candidates for run in one.runs}
            candidates = [said.get(name) for name in work_list.names]
            key = ValueKey(item, field.path)
            values.append(OpenValue(key, _TEXTS[field.reason], field.score, candidates))
    return values
