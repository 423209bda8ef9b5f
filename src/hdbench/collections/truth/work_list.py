"""What a work list holds of an item."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

Decision = Literal["taken", "checked", "check"]
"""What was decided of a value: it is accepted, a person read it, or a person has to look at it."""


Reason = Literal["no_answer", "left_out", "below", "not_read"]
"""Why a person has to look at a value: no run has an answer, the field is not accepted, it is not
sure enough, or those who read it do not agree or could not read it."""


class Candidate(NamedTuple):
    """A value that runs propose.

    Attributes:
        value: the value, as the first of them has it; None for nothing.
        text: its text; empty for nothing.
        runs: the names of the runs.
    """

    value: Any
    text: str
    runs: tuple[str, ...]


class EntryField(NamedTuple):
    """A value of an item.

    Attributes:
        path: the field's path.
        decision: what was decided of it.
        reason: why a person has to look at it; None otherwise.
        value: the value that was decided on, or the one that is most probable.
        candidates: what the runs say, the most probable first; none if it is not doubtful.
        silent: the names of the runs that have no answer; none if it is not doubtful.
        score: the trust score of a doubtful value; None without one.
    """

    path: str
    decision: Decision
    reason: Reason | None
    value: Any
    candidates: tuple[Candidate, ...] = ()
    silent: tuple[str, ...] = ()
    score: float | None = None


class WorkList(Protocol):
    """The items of which people look at values.

    Its methods are called by one thread at a time.
    """

    @property
    def seal(self) -> str:
        """Return sha256 of the values that the list is about."""

    @property
    def items(self) -> Sequence[str]:
        """Return the ids of the items, in order."""

    def doubtful(self, item: str) -> Sequence[str]:
        """Return the paths of an item's doubtful fields; none if it is not on the list."""

    def fields(self, item: str) -> Sequence[EntryField]:
        """Return the values of an item.

        Raises:
            HdbenchError: they cannot be read.
        """

    def close(self) -> None:
        """Close the files."""
