"""An answer of a model to one item, and what had to be done to read it."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

Status = Literal["clean", "unwrapped", "repaired", "truncated", "unparsable", "unanswered"]
"""What was done to an answer.

- `clean`: the text is JSON, and that is the record; or the record was given.
- `unwrapped`: sound JSON that stood in something else: a fence, prose, a wrapper object, a list of
  one, a text inside JSON; or that is the bare list of a record that has but one.
- `repaired`: damaged JSON.
- `truncated`: it breaks off; what is whole was kept.
- `unparsable`: there is a text or value, and no record in it.
- `unanswered`: there is none.
"""

STATUSES: tuple[Status, ...] = get_args(Status)


class Reading(NamedTuple):
    """What reading gave.

    Attributes:
        value: the record; what could not be read stands here as it was given, and None is nothing.
        status: what was done.
    """

    value: Any
    status: Status


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to one item.

    Attributes:
        id: the item's, as in the dataset.
        text: what the model wrote, where it was kept.
        prediction: the record, a JSON value; None where there is none.
        status: what was done to read it.
        tokens: `input` and `output`, where they were counted.
        seconds: how long the model took, where that was measured.
        error: what went wrong instead of an answer.
    """

    id: str
    text: str | None
    prediction: Any
    status: Status
    tokens: dict[str, int] | None = None
    seconds: float | None = None
    error: str | None = None
