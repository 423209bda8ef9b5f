"""What every metric is: pure functions from a truth and an answer to counts, and to rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, get_args

from hdbench.errors import HdbenchError

ProtocolName = Literal["documented", "published"]
Coverage = Literal["answered", "unanswered", "unparsable"]
Outcome = Literal["correct", "substituted", "missing", "spurious"]
"""What can become of a field: a substituted one is both a false positive and a false negative, a
missing one a false negative, a spurious one (in the answer alone) a false positive."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)


AS_PUBLISHED = "as_published"
"""The key under which a corrected ground truth keeps the one that was published."""


class ItemScore(NamedTuple):
    """The statistics of one item.

    Attributes:
        statistics: name → count or sum; added up over items they are all that `rates` needs. All
            of `Metric.statistics` in their order, or only those of them that the item has.
        fields: outcome → the fields that had it, where records can have any fields; a metric
            whose fields are fixed counts them in its statistics.
    """

    statistics: Mapping[str, float]
    fields: Mapping[Outcome, Sequence[str]] = MappingProxyType({})


@dataclass(frozen=True)
class FieldMatch:
    """What became of one field of one item.

    Attributes:
        field: its path in the record.
        outcome: what became of it.
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
        headline: the figure that ranks, the first of `rates`.
        option_names: its options, keyword arguments of its class.
    """

    name: ClassVar[str]
    rules: ClassVar[int]
    statistics: ClassVar[tuple[str, ...]]
    item_figure: ClassVar[str]
    headline: ClassVar[str]
    option_names: ClassVar[tuple[str, ...]]

    def __init__(self, protocol: str = ..., **options: Any) -> None: ...

    @property
    def protocol(self) -> ProtocolName:
        """Which of the two readings of its rules."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Every option's value."""

    def prepare(self, reference: Any) -> Any:
        """What scoring needs of one ground truth; made once, used for any number of answers.

        None where an option leaves the item out: then it is not among the items at all.
        """

    def score(self, record: Any, prepared: Any) -> ItemScore:
        """The statistics of one answer; a record of None is a complete failure."""

    def explain(self, record: Any, prepared: Any) -> list[FieldMatch]:
        """What became of each field of one answer."""

    def total(self, column: Sequence[float]) -> float:
        """One statistic added up over items, in their order."""

    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over items and the count `items`."""

    def headlines(self, totals: Mapping[str, Sequence[float]]) -> list[float]:
        """The headline of each of many totals: what `rates` gives, in a fraction of the time.

        Args:
            totals: each of `statistics`, and `items`, with a number for each total.
        """

    def field_rates(
        self, totals: Mapping[str, float], outcomes: Mapping[Outcome, Mapping[str, int]]
    ) -> dict[str, dict[str, Any]]:
        """Field → its counts and rates.

        Args:
            totals: as for `rates`.
            outcomes: how often each field had each outcome.
        """

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, int]],
        field: str,
    ) -> dict[str, float]:
        """The main rates as if the benchmark did not have a field; the headline comes first.

        Args:
            totals: as for `rates`.
            outcomes: as for `field_rates`.
            field: one of `field_rates`, or a dotted path.

        Returns:
            Those of `rates` that follow from the totals; none where the headline does not.
        """


def coverage_of(prediction: Any, protocol: ProtocolName) -> Coverage:
    """Whether a prediction is an answer that can be scored.

    Args:
        prediction: a JSON value; a string is a text in which no record was found.
        protocol: `documented` also takes an object that is only `{"error": …}` for no answer.

    Example:
        >>> coverage_of({"error": "timeout"}, "documented")
        'unparsable'
        >>> coverage_of({"error": "timeout"}, "published")
        'answered'
    """
    if prediction is None:
        return "unanswered"
    if not isinstance(prediction, dict):
        return "unparsable"
    return "unparsable" if protocol == "documented" and is_error(prediction) else "answered"


def is_error(prediction: Any) -> bool:
    """Whether it is an object that is only `{"error": …}`: what a harness keeps of a lost answer.

    Example:
        >>> is_error({"error": "timeout"}), is_error({"error": "timeout", "title": "Stellingen"})
        (True, False)
    """
    return isinstance(prediction, dict) and len(prediction) == 1 and "error" in prediction


def reference_for(protocol: ProtocolName, ground_truth: dict[str, Any]) -> dict[str, Any]:
    """The truth that a protocol scores: `published` takes a corrected one as it was published.

    Example:
        >>> reference_for("published", {"date": "1731", "as_published": {"date": "1731'"}})
        {'date': "1731'"}
        >>> reference_for("documented", {"date": "1731", "as_published": {"date": "1731'"}})
        {'date': '1731'}
    """
    if not isinstance(ground_truth.get(AS_PUBLISHED), dict):
        return ground_truth
    if protocol == "published":
        published: dict[str, Any] = ground_truth[AS_PUBLISHED]
        return published
    return {key: value for key, value in ground_truth.items() if key != AS_PUBLISHED}


def check_protocol(protocol: str) -> ProtocolName:
    """The protocol of that name.

    Raises:
        HdbenchError: there is none of that name.
    """
    for known in PROTOCOLS:
        if protocol == known:
            return known
    raise HdbenchError(f"no protocol {protocol!r}: choose one of {', '.join(PROTOCOLS)}")
