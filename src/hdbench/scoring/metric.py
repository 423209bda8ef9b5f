"""What every metric is: pure functions from a truth and an answer to counts, and to rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, get_args

from hdbench.answers import Status
from hdbench.errors import HdbenchError

ProtocolName = Literal["documented", "published"]
Outcome = Literal["correct", "substituted", "missing", "spurious"]
"""What can become of a field: a substituted one is both a false positive and a false negative, a
missing one a false negative, a spurious one (in the answer alone) a false positive."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)


class ItemScore(NamedTuple):
    """The statistics of one item.

    Attributes:
        statistics: name → count or sum, in the order of `Metric.statistics`; added up over items
            they are all that `rates` needs.
        fields: outcome → the fields that had it.
    """

    statistics: Mapping[str, float]
    fields: Mapping[Outcome, Sequence[str]]


@dataclass(frozen=True)
class FieldMatch:
    """What became of one field of one item.

    Attributes:
        reference: the truth's value; None where it has no such field.
        prediction: the answer's value; None where it has no such field.
        similarity: 0.0 to 1.0, higher is better.
    """

    field: str
    outcome: Outcome
    reference: Any
    prediction: Any
    similarity: float


class Metric(Protocol):
    """A scoring method with its protocol and options bound.

    Attributes:
        name: the metric's name, as in `hdb/<name>`.
        rules: the version of its rules; another version can give another score.
        statistics: the names of an item's statistics.
        item_figure: the statistic that says how good one item is, higher is better.
        option_names: its options, keyword arguments of its class.
    """

    name: ClassVar[str]
    rules: ClassVar[int]
    statistics: ClassVar[tuple[str, ...]]
    item_figure: ClassVar[str]
    option_names: ClassVar[tuple[str, ...]]

    def __init__(self, protocol: str = ..., **options: Any) -> None: ...

    @property
    def protocol(self) -> ProtocolName:
        """Which of the two readings of its rules."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Every option's value."""

    def prepare(self, reference: Any) -> Any:
        """What scoring needs of one ground truth; made once, used for any number of answers."""

    def score(self, record: Any, prepared: Any) -> ItemScore:
        """The statistics of one answer; a record of None is a complete failure."""

    def explain(self, record: Any, prepared: Any) -> list[FieldMatch]:
        """What became of each field of one answer."""

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over items and the count `items`."""

    def field_rates(self, totals: Mapping[Outcome, Mapping[str, int]]) -> dict[str, dict[str, Any]]:
        """Field → its counts and rates, from how often each field had each outcome."""


def status_of(prediction: Any, protocol: ProtocolName) -> Status:
    """Whether a prediction is an answer that can be scored.

    Args:
        prediction: a JSON value; a string is a text in which no record was found.
        protocol: `documented` also takes an object that is only `{"error": …}` for no answer.

    Example:
        >>> status_of({"error": "timeout"}, "documented")
        'unparsable'
        >>> status_of({"error": "timeout"}, "published")
        'answered'
    """
    if prediction is None:
        return "unanswered"
    if not isinstance(prediction, dict):
        return "unparsable"
    if protocol == "documented" and len(prediction) == 1 and "error" in prediction:
        return "unparsable"
    return "answered"


def check_protocol(protocol: str) -> ProtocolName:
    """The protocol of that name.

    Raises:
        HdbenchError: there is none of that name.
    """
    for known in PROTOCOLS:
        if protocol == known:
            return known
    raise HdbenchError(f"no protocol {protocol!r}: choose one of {', '.join(PROTOCOLS)}")
