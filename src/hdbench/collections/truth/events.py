"""What people do in a collection: the events in the file of each person."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator

from hdbench.benchmarks.spec import Provenance, is_model, is_provenance
from hdbench.common.bounds import MAX_COMMENT, MAX_VALUE_DEPTH
from hdbench.common.jsonio import is_too_deep
from hdbench.common.validation import Strict, unfit
from hdbench.errors import HdbenchError, Message

STATUSES = ("open", "done", "doubtful", "missing", "rejected")
"""Statuses of an item: `missing` means that no ground truth can be given."""

WITHOUT_TRUTH = ("missing", "rejected")
"""The statuses of items whose ground truth is null in `metadata.jsonl`."""

What = Literal["ground_truth", "status", "comment"]

WHATS: tuple[What, ...] = ("ground_truth", "status", "comment")
"""The parts of an item that can change."""

SETTLED = "settled"
"""Provenance of a value that was chosen where people disagreed."""


MAX_NAME = 32
"""Maximum number of characters in a person's name, which is the name of a file."""

_NAME = re.compile(r"[^\W_](?:[\w -]*\w)?")


def as_name(given: str) -> str:
    """Return a person's name in one Unicode form, without spaces around it.

    Raises:
        HdbenchError: it cannot be the name of a file on every system.

    Example:
        >>> as_name(" Anna "), as_name("Jürg-2")
        ('Anna', 'Jürg-2')
    """
    name = unicodedata.normalize("NFC", given).strip()
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise HdbenchError(
            "{name!r}: a name has 1 to {most} letters, digits, spaces, _ and -, and begins with "
            "a letter or a digit",
            name=given[:100],
            most=MAX_NAME,
        )
    return name


def _name(name: str) -> str:
    try:
        if as_name(name) == name:
            return name
    except HdbenchError as error:
        raise unfit(error.message) from error
    raise unfit(Message("not a name in the Unicode form NFC"))


def _time(at: str) -> str:
    try:
        datetime.fromisoformat(at)
    except ValueError as error:
        raise unfit(Message("not a time")) from error
    return at


Name = Annotated[str, AfterValidator(_name)]
Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Count = Annotated[int, Field(ge=1)]
At = Annotated[
    str,
    Field(pattern=r"^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"),
    AfterValidator(_time),
]


class ValueKey(NamedTuple):
    """A value of an item.

    Attributes:
        item: the item's id.
        field: the field's path, such as `publication.year`; a list of plain values is one value.
    """

    item: str
    field: str


class Event(Strict):
    """Something that a person did: a line of that person's file.

    Attributes:
        kind: what it is, see `KINDS`.
        by: the person, after whom the file is named.
        at: the time in UTC.
        number: the line, from 1; 0 before it is written.
        previous: sha256 of the line before; empty for the first one.
    """

    kind: str
    by: Name
    at: At
    number: Annotated[int, Field(ge=0)] = 0
    previous: str = ""


def _not_too_deep(value: Any) -> Any:
    if is_too_deep(value, MAX_VALUE_DEPTH):
        raise unfit("nested more than {most} deep", most=MAX_VALUE_DEPTH)
    return value


class _Made(Event):
    """Something that an item has.

    Attributes:
        item: the item's id.
        how: the provenance, see `Provenance`, or `settled`.
        model: the model that wrote the draft; None without one.
    """

    item: str
    how: str
    model: str | None = None

    @model_validator(mode="after")
    def _has_provenance(self) -> Self:
        if self.how != SETTLED and not is_provenance(self.how):
            raise unfit("how: not a provenance")
        if self.model is not None and not is_model(self.model):
            raise unfit("model: not the name of a model")
        return self


class Found(_Made):
    """The ground truth that `metadata.jsonl` had before anybody changed it.

    Attributes:
        record: the ground truth.
    """

    kind: Literal["found"] = "found"
    record: Annotated[dict[str, Any], AfterValidator(_not_too_deep)]

    @property
    def made(self) -> Provenance:
        """Return the provenance in the row there."""
        return Provenance(self.how, self.model)


class Change(_Made):
    """A change to an item.

    Attributes:
        kind: what is changed.
        field: the field of the record that is set; empty for the whole record, and for a status or
            comment.
        value: the value from then on; None for nothing.
        alone: whether the person could not see what others entered.
        seen: person → the number of that person's events that were known.
    """

    kind: What
    field: str = ""
    value: Annotated[Any, AfterValidator(_not_too_deep)] = None
    alone: bool = False
    seen: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)

    def knows(self, other: "Change") -> bool:
        """Return whether it was made by somebody who saw another change."""
        if self.by == other.by:
            return other.number < self.number
        return not self.alone and other.number <= self.seen.get(other.by, 0)

    @model_validator(mode="after")
    def _is_of_its_kind(self) -> Self:
        is_right = {
            "ground_truth": bool(self.field) or isinstance(self.value, dict | None),
            "status": self.value in STATUSES,
            "comment": isinstance(self.value, str) and len(self.value) <= MAX_COMMENT,
        }[self.kind]
        if not is_right or (self.field and self.kind != "ground_truth"):
            raise unfit("value: not one of its kind")
        return self


class Undo(Event):
    """That a change of the same person is undone.

    Attributes:
        item: the item's id.
        undoes: the number of the change.
    """

    kind: Literal["undo"] = "undo"
    item: str
    undoes: Count


class Double(Event):
    """That a person reads items that others read, too, none seeing the others' entries.

    Attributes:
        items: the ids of the items.
        seed: the seed of the draw.
    """

    kind: Literal["double"] = "double"
    items: Annotated[tuple[str, ...], Field(min_length=1)]
    seed: int


StageName = Literal["learn", "verify", "control"]
"""What values are read for: to learn confidence from them, to verify what was learned, or to check
a random sample of those that were accepted."""

Outcome = Literal["value", "unreadable", "damaged"]


class _OfValue(Event):
    """What one person says of a single value.

    Attributes:
        id: 32 hexadecimal digits.
        item: the item's id.
        field: the field's path.
        value: the value; None for nothing.
    """

    id: Id
    item: str
    field: str
    value: Any = None

    @property
    def key(self) -> ValueKey:
        """Return the value that it is about."""
        return ValueKey(self.item, self.field)


class Reading(_OfValue):
    """What one person read of a value, without seeing what models or others read.

    Attributes:
        plan: the hash of the plan that the value was drawn by.
        stage: what it was read for.
        what: `value` if it could be read, or if nothing is there.
        seconds: how long it was on screen and in use.
        turn: how many times this person has read the value, this time included.
    """

    kind: Literal["reading"] = "reading"
    plan: str
    stage: StageName
    what: Outcome
    seconds: Annotated[float, Field(strict=True, ge=0, le=86_400)] | None = None
    turn: Annotated[int, Field(ge=1, le=3)] = 1


How = Literal["candidate", "typed", "nothing", "table"]
"""Where a value is from: a run, the keyboard, the decision that there is none, or a table."""


class WorkedValue(_OfValue):
    """What a person decided of a value on a work list.

    Attributes:
        list: sha256 of the values that the list is about.
        how: where the value is from.
        run: the run whose value was taken.
    """

    kind: Literal["worked"] = "worked"
    list: str
    how: How
    run: str | None = None


KINDS: Mapping[str, type[Event]] = {
    "found": Found,
    **dict.fromkeys(WHATS, Change),
    "undo": Undo,
    "double": Double,
    "reading": Reading,
    "worked": WorkedValue,
}
"""Key `kind` of a line → its model."""


def list_name(listed: Sequence[object]) -> str:
    """Return a name of a list of items or values; another list has another one."""
    return sha256(repr(listed).encode(errors="replace")).hexdigest()


def now() -> str:
    """Return the current time in UTC, in milliseconds, as in events."""
    return as_time(datetime.now(UTC))


def as_time(moment: datetime) -> str:
    """Return a time in UTC as in events."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
