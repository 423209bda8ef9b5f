"""What every metric is: pure functions from ground truth and answer to counts, and to rates."""

import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    get_args,
    overload,
)

from hdbench.common.texts import Texts
from hdbench.errors import HdbenchError, Message, did_you_mean
from hdbench.scoring.text_equality import canonical_value

if TYPE_CHECKING:  # slow to import
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Column = Sequence[float] | Numbers

ProtocolName = Literal["documented", "published"]
Coverage = Literal["answered", "unanswered", "unparsable"]
RecordOutcome = Literal["missed", "invented"]
"""What became of an item of a list that has no counterpart."""

Outcome = Literal["correct", "substituted", "missing", "spurious"]
"""What can become of a field: a substituted one is both a false positive and a false negative, a
missing one is a false negative, and a spurious one (only in the answer) is a false positive."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)


class ItemScore(NamedTuple):
    """The statistics of one item.

    Attributes:
        statistics: name → count or sum; added up over items, they are all that `rates` needs. All
            of `Metric.statistics` in order, or only those that the item has.
        fields: outcome → the fields that had it, if records can have any fields; a metric whose
            fields are fixed counts them in its statistics.
        compared: what the metric compared, from which it explains the score.
        not_compared: list (`pages[].entries`) → how many of its items in the answer were not
            compared, and count as invented, because there are too many.
        rewritten: whether the answer or the ground truth is not written in canonical form.
    """

    statistics: Mapping[str, float]
    fields: Mapping[Outcome, Sequence[str]] = MappingProxyType({})
    compared: Any = None
    not_compared: Mapping[str, int] = MappingProxyType({})
    rewritten: bool = False


class FieldMatch(NamedTuple):
    """What became of one field of one item.

    Attributes:
        field: its path in the record.
        outcome: what became of it.
        reference: the ground truth's value; None if it has no such field.
        prediction: the answer's value; None if it has no such field.
        similarity: 0.0 to 1.0, higher is better.
        record: whether the field belongs to an item of a list without a counterpart. An invented
            one has its place in the answer, so a field of another item can have the same path.
    """

    field: str
    outcome: Outcome
    reference: Any
    prediction: Any
    similarity: float
    record: RecordOutcome | None = None


ValueForm = Literal["book_format", "year", "extent"]
"""A kind of value that is written in several ways: `8°` and `in-8`, `[1924]`, `184 S.`"""

NO_FORMS: Mapping[str, ValueForm] = MappingProxyType({})

FigureKind = Literal["rate", "error", "count"]

Divisors = tuple[tuple[str, ...], ...]
"""Groups of statistics, each of which adds up to a divisor; those after a `LESS` are subtracted."""

LESS = "-"
"""Stands before a statistic that is subtracted in a divisor."""


@dataclass(frozen=True)
class Figure:
    """A figure that a metric gives, or, with `table`, a group of such figures.

    Attributes:
        name: its key.
        kind: a `rate` is from 0.0 to 1.0, an `error` is 0.0 or more; anything else is a `count`.
        higher_is_better: its direction; None for a count that is neither good nor bad.
        always: whether every result has it; otherwise it can be None, or an option adds it.
        table: whether it holds figures by field or kind.
        has_interval: whether items say how far it can be trusted: not if one of them can outweigh
            all others.
        judged_by: the figure by which runs are compared and ranked in place of one that has no
            interval; None if there is none.
        share_of: the statistic, 0 or 1 for each item, whose mean it is, if it is a share of items.
        leaves_out: the figure that is the share of the items which this ratio leaves out, if it
            leaves out any; see `hdbench.statistics.failures`.
        divided_by: for each ratio that it is or is made of, the statistics that add up to the
            divisor, or are subtracted if a `LESS` stands before their names; empty if that is the
            number of items. Items in which the sum is zero say nothing about the ratio.
        in_short: whether tables on a first page have it; files have all.
    """

    name: str
    kind: FigureKind
    higher_is_better: bool | None
    always: bool = True
    table: bool = False
    has_interval: bool = True
    judged_by: str | None = None
    share_of: str | None = None
    leaves_out: str | None = None
    divided_by: Divisors = ()
    in_short: bool = True

    @property
    def is_rate(self) -> bool:
        """Whether it is one number for which an interval makes sense: not a count or a table."""
        return self.kind != "count" and not self.table

    @classmethod
    def rates(
        cls,
        *names: str,
        always: bool = True,
        table: bool = False,
        divided_by: Divisors = (),
    ) -> tuple[Self, ...]:
        """Rates, for which higher is better."""
        return tuple(
            cls(name, "rate", True, always, table, divided_by=divided_by) for name in names
        )

    @classmethod
    def errors(
        cls,
        *names: str,
        always: bool = True,
        divided_by: Divisors = (),
        in_short: bool = True,
    ) -> tuple[Self, ...]:
        """Error rates and errors, for which lower is better."""
        return tuple(
            cls(name, "error", False, always, divided_by=divided_by, in_short=in_short)
            for name in names
        )

    @classmethod
    def counts(
        cls, *names: str, higher_is_better: bool | None = None, table: bool = False
    ) -> tuple[Self, ...]:
        """Counts."""
        return tuple(cls(name, "count", higher_is_better, table=table) for name in names)


COUNTS = ("true_positives", "false_positives", "false_negatives")
COUNTED = (
    *Figure.counts("true_positives", higher_is_better=True),
    *Figure.counts("false_positives", "false_negatives", higher_is_better=False),
)
"""The figures of `COUNTS`."""

FIELD_FIGURES = (*Figure.rates("f1", "precision", "recall"), *COUNTED)
"""The figures of a field that is right or wrong."""

ANSWERED = ("true_positives", "false_positives")
"""The counts of the values in answers, by which precision is divided."""

REQUESTED = ("true_positives", "false_negatives")
"""The counts of the values in ground truths, by which recall is divided."""

EFFORT = ("corrections", "values")
"""The statistics of an item that say what is left to do: how many of its values need a correction,
by the metric's own rule of what is correct, and how many there are to look at. A substituted value
is one correction, though it is both a false positive and a false negative. They are the last of a
metric's statistics, and no figure follows from them."""

Corrected = Literal["field", "value", "character"]
"""What `EFFORT` counts; of characters, a correction inserts, removes or replaces one."""

PERFECT = Figure.counts("items_perfect", higher_is_better=True)
"""How many items need no edit."""


class TextRecord(NamedTuple):
    """A text that is taken for a record.

    Attributes:
        record: the record that has the text.
        prepared: what `prepare` gives for the ground truth, without what a text cannot say.
        is_undivided: whether the ground truth has several pages, and the text no page break.
    """

    record: dict[str, Any]
    prepared: Any
    is_undivided: bool = False


class Metric(ABC):
    """A scoring method with its protocol and options bound.

    Attributes:
        name: the metric's name, as in `hdb/<name>`.
        rules: the version of its rules; a different version can give a different score.
        statistics: the names of an item's statistics.
        item_figure: the statistic that says how good one item is, higher is better.
        figures: what `rates` gives, in order; the first one is the headline, and `PERFECT` is among
            them.
        field_figures: what `field_rates` gives for a field; the first one says how good it is. None
            where fields have no figures of their own.
        option_names: its options, which are keyword arguments of its class.
        set_fields: the fields that have several values without order.
        person_fields: those of them whose values are names of persons.
        value_forms: field → what kind of value it has, if that is written in several ways.
        has_form_counts: whether each of its fields is right or wrong by itself, so that those that
            are right in form can be counted.
        corrected: what its `EFFORT` counts; None if `EFFORT` is not among its statistics.
        vectorized: whether `rates` also takes an array for each of the totals, and then gives
            arrays, with NaN for None. It holds for the class that defines `rates`.
        protocol: which of the two readings of its rules.

    Args:
        protocol: `documented` or `published`. Under `documented` texts and keys are compared in
            canonical form; see `canonical`.

    Raises:
        HdbenchError: there is no such protocol.
    """

    name: ClassVar[str]
    rules: ClassVar[int]
    statistics: ClassVar[tuple[str, ...]]
    item_figure: ClassVar[str]
    figures: ClassVar[tuple[Figure, ...]]
    field_figures: ClassVar[tuple[Figure, ...]] = ()
    option_names: ClassVar[tuple[str, ...]] = ()
    set_fields: ClassVar[tuple[str, ...]] = ()
    person_fields: ClassVar[tuple[str, ...]] = ()
    value_forms: ClassVar[Mapping[str, ValueForm]] = NO_FORMS
    has_form_counts: ClassVar[bool] = False
    corrected: ClassVar[Corrected | None] = None
    vectorized: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "rates" in vars(cls) and "vectorized" not in vars(cls):
            cls.vectorized = False

    def __init__(self, protocol: str = "documented") -> None:
        self.protocol = check_protocol(protocol)
        self._published = self.protocol == "published"

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same method with the same protocol and options."""
        if not isinstance(other, Metric):
            return NotImplemented
        own, others = ((type(metric), metric.protocol, metric.options) for metric in (self, other))
        return own == others

    def __hash__(self) -> int:
        """Return a hash of the method and the protocol, as options may be of any kind."""
        return hash((type(self), self.protocol))

    @property
    def headline(self) -> str:
        """The figure used for ranking, unless a benchmark names another."""
        return self.figures[0].name

    @property
    def figure_statistics(self) -> tuple[str, ...]:
        """The statistics that its figures follow from: all but `EFFORT`."""
        return tuple(name for name in self.statistics if name not in EFFORT)

    @property
    def options(self) -> dict[str, Any]:
        """Every option's value."""
        return {name: getattr(self, name) for name in self.option_names}

    @property
    def signed_options(self) -> dict[str, Any]:
        """The options that a signature names: all of them, unless there are many."""
        return self.options

    def canonical(self, value: Any) -> Any:
        """A value in the form in which it is compared; the value itself if it has that form.

        Under `published` every value has; see `hdbench.scoring.text_equality`.
        """
        return value if self._published else canonical_value(value)

    @property
    def watched(self) -> Container[str]:
        """The characters whose loss counts among confusions, because an edition watches them."""
        return ()

    def as_record(self, prediction: Any) -> Any:
        """A prediction as the record that it stands for, if an option says how to read it."""
        return prediction

    def of_text(self, text: str, prepared: Any = None) -> TextRecord | None:
        """A text as the record that it stands for, and what of a ground truth it is compared with.

        None if the records of this metric do not consist of one text.
        """
        return None

    @abstractmethod
    def prepare(self, reference: dict[str, Any]) -> Any:
        """What scoring needs from one ground truth; made once, used for any number of answers.

        None if an option leaves the item out: then it is not among the items at all.
        """

    def right_answer(self, reference: dict[str, Any]) -> dict[str, Any]:
        """An answer with no error: a ground truth in the form that answers have."""
        return reference

    @abstractmethod
    def score(self, record: dict[str, Any] | None, prepared: Any) -> ItemScore:
        """The statistics of one answer; None as the record counts as a complete failure."""

    @abstractmethod
    def explain(self, score: ItemScore) -> list[FieldMatch]:
        """What became of each field of one answer, from its score: nothing is compared again."""

    def total(self, column: Sequence[float]) -> float:
        """One statistic added up over items, in order, and rounded once."""
        return math.fsum(column)

    def check_totals(self, totals: Mapping[str, float]) -> None:  # noqa: B027  most refuse nothing
        """Refuse a run for which the figures would mean nothing.

        Args:
            totals: same as in `rates`.

        Raises:
            HdbenchError: there is nothing to score it by.
        """

    @abstractmethod
    def rates(self, totals: Mapping[str, float]) -> dict[str, Any]:
        """The figures, from the statistics added up over items and the count `items`."""

    def headlines(self, totals: Mapping[str, Sequence[float]]) -> list[float]:
        """The headline for each of many totals, where `rates` takes one at a time.

        A metric that is not `vectorized` may give it in less time.

        Args:
            totals: each of `statistics`, and `items`, with a list or array of numbers, one for each
                total.
        """
        rows = zip(*map(numbers, totals.values()), strict=True)
        return [self.rates(dict(zip(totals, row, strict=True)))[self.headline] for row in rows]

    def field_rates(
        self, totals: Mapping[str, float], outcomes: Mapping[Outcome, Mapping[str, float]]
    ) -> dict[str, dict[str, Any]]:
        """Field → its counts and rates; empty where fields have no figures of their own.

        Args:
            totals: same as in `rates`.
            outcomes: how often each field had each outcome; with weights, if the totals have them.
        """
        return {}

    def rates_without(
        self,
        totals: Mapping[str, float],
        outcomes: Mapping[Outcome, Mapping[str, float]],
        field: str,
    ) -> dict[str, float]:
        """The main rates if the benchmark did not have a field; the headline comes first.

        Args:
            totals: same as in `rates`.
            outcomes: same as in `field_rates`.
            field: one of `field_rates`, or a dotted path.

        Returns:
            Those of `rates` that follow from the totals; none if the headline does not.
        """
        return {}


def figure_of(metric: Metric | type[Metric], path: str) -> Figure | None:
    """The figure that a key of `rates` or `field_rates` stands for; None if it is not a figure.

    Args:
        metric: the metric.
        path: the key, or the keys of a figure in a table, with points between them.

    Example:
        >>> from hdbench.scoring import METRICS
        >>> figure_of(METRICS["letters_f1"], "categories.send_date.recall").kind
        'rate'
    """
    known = {figure.name: figure for figure in (*metric.field_figures, *metric.figures)}
    return next((known[key] for key in reversed(path.split(".")) if key in known), None)


def figure_names(metric: Metric | type[Metric]) -> list[str]:
    """Return the keys of `rates`."""
    return [figure.name for figure in metric.figures]


def higher_is_better(metric: Metric, path: str) -> bool:
    """Return whether higher is better for a figure; also for one that the metric does not declare.

    Args:
        metric: the metric.
        path: see `figure_of`.
    """
    figure = figure_of(metric, path)
    return figure is None or figure.higher_is_better is not False


def judging_figure(metric: Metric, name: str) -> str:
    """Return the figure by which runs are compared where a figure is asked for.

    Args:
        metric: the metric.
        name: the figure, such as a benchmark's primary metric.

    Example:
        >>> from hdbench.scoring import METRICS
        >>> judging_figure(METRICS["text_cer"](), "cer")
        'cer_without_failures'
    """
    figure = figure_of(metric, name)
    return name if figure is None or figure.judged_by is None else figure.judged_by


def coverage_of(prediction: Any, protocol: ProtocolName) -> Coverage:
    """Return whether a prediction is an answer that can be scored.

    Args:
        prediction: a JSON value; a string is a text in which no record was found.
        protocol: `documented` also treats an object that is only `{"error": …}` as no answer.

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
    """Whether it is an object that is only `{"error": …}`: what a harness keeps for a lost answer.

    Example:
        >>> is_error({"error": "timeout"}), is_error({"error": "timeout", "title": "Stellingen"})
        (True, False)
    """
    return isinstance(prediction, dict) and len(prediction) == 1 and "error" in prediction


def check_protocol(protocol: str) -> ProtocolName:
    """The protocol of that name.

    Raises:
        HdbenchError: there is none of that name.
    """
    for known in PROTOCOLS:
        if protocol == known:
            return known
    near = did_you_mean(protocol, PROTOCOLS)
    raise HdbenchError(
        "no protocol {protocol!r}: choose one of {choices}{near}",
        protocol=protocol,
        choices=", ".join(PROTOCOLS),
        near=near,
    )


class MissingFieldsError(HdbenchError):
    """A ground truth has none of the fields that a metric scores."""


def check_fields(metric: str, value: Any, fields: Collection[str], path: str = "") -> None:
    """Refuse a ground truth that has none of the fields that a metric scores.

    Args:
        metric: the metric's name.
        value: the ground truth, or an object in it.
        fields: its fields; one is enough, and may be null.
        path: where the object is in the ground truth.

    Raises:
        MissingFieldsError: it has none of them.
    """
    if not isinstance(value, dict) or value.keys().isdisjoint(fields):
        raise MissingFieldsError(
            "not a ground truth for {metric}: none of the fields {fields}{where}",
            metric=metric,
            fields=", ".join(fields),
            where=Message(" in {path}", path=path) if path else "",
        )


def check_list(metric: str, reference: Mapping[str, Any], name: str) -> None:
    """Refuse a ground truth whose list is something else; it may be null, or absent.

    Raises:
        HdbenchError: it is not a list.
    """
    if not isinstance(reference.get(name), list | None):
        raise HdbenchError(
            "not a ground truth for {metric}: {name} is not a list", metric=metric, name=name
        )


def check_flag(name: str, value: Any) -> bool:
    """The value of an option that is true or false.

    Raises:
        HdbenchError: it is neither.
    """
    if not isinstance(value, bool):
        raise HdbenchError("{name}: {value} is not true or false", name=name, value=repr(value))
    return value


# Titles of figures, for readers; files, commands and programs use the names

_TEXTS = Texts(Path(__file__).with_name("texts"))


def figure_title(name: str, language: str = "en") -> str:
    """Return what a figure is called in a text; its name if it is from another package's metric.

    Example:
        >>> figure_title("cer", "de"), figure_title("their_rate", "de")
        ('Zeichenfehlerrate', 'their_rate')
    """
    return _TEXTS.text(name, language) if name in _TEXTS.english else name


def figure_heading(name: str, language: str = "en") -> str:
    """Return a figure's title as a heading or the beginning of a sentence.

    Example:
        >>> figure_heading("cer"), figure_heading("their_rate")
        ('Character error rate', 'their_rate')
    """
    title = figure_title(name, language)
    return title[:1].upper() + title[1:] if name in _TEXTS.english else name


# Figures of fields that are right or wrong one by one: what Record F1 and Zettel F1 share

INDEX = re.compile(r"\[\d+\]")

Outcomes = Mapping[Outcome, Mapping[str, float]]
"""How often each field had each outcome; fractions where items are weighted."""


def rates_of_fields(outcomes: Outcomes) -> dict[str, dict[str, Any]]:
    """Field → unweighted counts, precision, recall, F1; the items of a list as one field.

    Example:
        >>> rates_of_fields({"correct": {"e[0].n": 2}, "missing": {"e[1].n": 1}})["e.n"]["recall"]
        0.6666666666666666
    """
    counts: dict[str, dict[Outcome, float]] = {}
    for outcome, paths in outcomes.items():
        for path, count in paths.items():
            of = counts.setdefault(INDEX.sub("", path), dict.fromkeys(OUTCOMES, 0))
            of[outcome] += count
    return {field: _rates_of(counts[field]) for field in sorted(counts)}


def _rates_of(outcomes: Mapping[Outcome, float]) -> dict[str, Any]:
    tp = outcomes["correct"]
    fp = outcomes["substituted"] + outcomes["spurious"]
    fn = outcomes["substituted"] + outcomes["missing"]
    return counts_and_rates(tp, fp, fn)


def micro_rates_without(
    outcomes: Outcomes, field: str, weight: Callable[[str], float]
) -> dict[str, float]:
    """The micro rates without a field.

    Args:
        outcomes: same as in `rates_of_fields`.
        field: one of its fields.
        weight: gives the weight of a path.
    """
    correct, substituted, missing, spurious = (
        math.fsum(
            count * weight(path)
            for path, count in outcomes[outcome].items()
            if INDEX.sub("", path) != field
        )
        for outcome in OUTCOMES
    )
    tp, fp, fn = correct, substituted + spurious, substituted + missing
    return {
        "f1_micro": f1(tp, fp, fn),
        "precision_micro": ratio(tp, tp + fp),
        "recall_micro": ratio(tp, tp + fn),
    }


# Rates of counts; if there is nothing to divide by, they are 0.0. Where a metric is `vectorized`,
# each number may be an array of them, as many as there are totals.

Amount = TypeVar("Amount", float, "Numbers")
"""A number, or an array of them."""

_NUMBER = (int, float, Real)  # also those of numpy


def ratio(part: Amount, whole: Amount, empty: float = 0.0) -> Amount:
    """Divide one number by another, or the numbers of an array by those of another.

    Args:
        part: the dividend.
        whole: the divisor.
        empty: what it is where the divisor is zero.

    Example:
        >>> ratio(8, 11) == 8 / 11, ratio(0, 0)
        (True, 0.0)
        >>> import numpy as np
        >>> ratio(np.array([8.0, 0.0]), np.array([11.0, 0.0])).tolist() == [8 / 11, 0.0]
        True
    """
    if isinstance(whole, _NUMBER):
        return part / whole if whole else empty
    import numpy as np  # noqa: PLC0415  slow to import, and not needed for scoring

    out = np.full(np.shape(whole), empty, np.float64)
    return np.divide(part, whole, out=out, where=whole != 0)


@overload
def only_if(whole: float, rate: float) -> float | None: ...
@overload
def only_if(whole: "Numbers", rate: "Numbers") -> "Numbers": ...
def only_if(whole: Amount, rate: Amount) -> Amount | None:
    """Give a rate, or the rates in an array, where there is anything; otherwise None, or NaN.

    Example:
        >>> only_if(3, 0.5), only_if(0, 0.0)
        (0.5, None)
    """
    if isinstance(whole, _NUMBER):
        return rate if whole else None
    import numpy as np  # noqa: PLC0415  see `ratio`

    return np.where(whole != 0, rate, np.nan)


def plain(number: Amount) -> Amount:
    """Give a sum of counts as an int, unless weights made it fractional; an array as it is."""
    if isinstance(number, _NUMBER):
        return int(number) if number == int(number) else number
    return number


@overload
def truncated(number: float) -> int: ...
@overload
def truncated(number: "Numbers") -> "Numbers": ...
def truncated(number: "float | Numbers") -> "int | Numbers":
    """Cut off what weights made fractional in a count, or in an array of counts.

    Example:
        >>> truncated(2.7)
        2
    """
    if isinstance(number, _NUMBER):
        return int(number)
    import numpy as np  # noqa: PLC0415  see `ratio`

    return np.trunc(number)


def rounded(number: Amount, digits: int) -> Amount:
    """Round a number, or those in an array, as Python does; numpy multiplies first, which rounds.

    Example:
        >>> rounded(2.675, 2)
        2.67
    """
    if isinstance(number, _NUMBER):
        return round(number, digits)
    import numpy as np  # noqa: PLC0415  see `ratio`

    return np.array([round(value, digits) for value in number.tolist()])


def added(parts: Sequence[Amount]) -> Amount:
    """Add numbers, or arrays number by number, and round once.

    Example:
        >>> added([0.1] * 10)
        1.0
    """
    if isinstance(parts[0], _NUMBER):
        return math.fsum(parts)
    if len(parts) == 1:
        return parts[0]
    import numpy as np  # noqa: PLC0415  see `ratio`

    rows = zip(*(part.tolist() for part in parts), strict=True)
    return np.array([math.fsum(row) for row in rows])


def is_any(number: "float | Numbers") -> bool:
    """Tell whether a number, or any of those in an array, is not zero."""
    return bool(number) if isinstance(number, _NUMBER) else bool(number.any())


@overload
def mean(values: Collection[float], empty: float = 0.0) -> float: ...
@overload
def mean(values: "Collection[Numbers]", empty: float = 0.0) -> "float | Numbers": ...
def mean(values: Collection[Any], empty: float = 0.0) -> "float | Numbers":
    """Average numbers, or arrays number by number without NaN, and round the sum once.

    Args:
        values: the numbers or arrays.
        empty: what it is where there are none.

    Example:
        >>> mean([0.5, 1.0]), mean([])
        (0.75, 0.0)
        >>> import numpy as np
        >>> mean([np.array([0.5, np.nan]), np.array([1.0, np.nan])]).tolist()
        [0.75, 0.0]
    """
    rows = list(values)
    if not rows or isinstance(rows[0], _NUMBER):
        return math.fsum(rows) / len(rows) if rows else empty
    import numpy as np  # noqa: PLC0415  see `ratio`

    is_number = ~np.isnan(rows)
    sums: Numbers = added([*np.where(is_number, rows, 0.0)])
    counts: Numbers = is_number.sum(axis=0)
    return ratio(sums, counts, empty)


def f1(true_positives: Amount, false_positives: Amount, false_negatives: Amount) -> Amount:
    """The harmonic mean of precision and recall, 0.0 to 1.0; 0.0 if it is undefined.

    Example:
        >>> f1(8, 3, 3) == 8 / 11
        True
        >>> f1(0, 0, 0)
        0.0
    """
    # From the two rates, not from the counts, so that published figures agree to the last digit.
    precision = ratio(true_positives, true_positives + false_positives)
    recall = ratio(true_positives, true_positives + false_negatives)
    return ratio(2 * precision * recall, precision + recall)


def numbers(column: "Column") -> list[float]:
    """A column as a list of Python's numbers, with which single figures are computed faster.

    Example:
        >>> numbers((8, 0.5))
        [8.0, 0.5]
    """
    import numpy as np  # noqa: PLC0415  slow to import, and not needed for scoring

    found: list[float] = np.asarray(column).tolist()
    return found


cached_f1 = lru_cache(maxsize=4096)(f1)
"""The same for one item: items have the same few counts again and again."""


def counts_and_rates(
    true_positives: Amount, false_positives: Amount, false_negatives: Amount
) -> dict[str, Amount]:
    """Counts with their precision, recall and F1, each from 0.0 to 1.0, by name.

    Example:
        >>> counts_and_rates(8, 3, 3)["precision"] == 8 / 11
        True
    """
    return {
        "true_positives": true_positives,
        "false_positives": false_positives,
        "false_negatives": false_negatives,
        "precision": ratio(true_positives, true_positives + false_positives),
        "recall": ratio(true_positives, true_positives + false_negatives),
        "f1": f1(true_positives, false_positives, false_negatives),
    }


# Options of several metrics, read and checked

_MAX_DIGITS = 15


def read_digits(value: Any, names: Sequence[str]) -> dict[str, int]:
    """The option `round`: what is rounded → decimals.

    Raises:
        HdbenchError: it is unusable.
    """
    if not isinstance(value, Mapping) or not all(
        name in names and type(digits) is int and 0 <= digits <= _MAX_DIGITS
        for name, digits in value.items()
    ):
        raise HdbenchError(
            "round: {value} is not an object of {names} and decimals",
            value=repr(value),
            names=", ".join(names),
        )
    return dict(value)


def read_figures(value: Any, names: Sequence[str]) -> dict[str, tuple[str, float]]:
    """The option `figures`: name → the figure that it repeats, and the factor.

    Args:
        value: the option.
        names: the keys of `rates`; `items` is a figure in any case.

    Raises:
        HdbenchError: it is unusable, or repeats a figure that there is not.
    """
    if not isinstance(value, Mapping):
        raise HdbenchError(
            "figures: {value} is not an object of names and figures", value=repr(value)
        )
    figures = {}
    for name, figure in value.items():
        if not isinstance(figure, Mapping) or not {"of"} <= figure.keys() <= {"of", "scale"}:
            raise HdbenchError(
                'figures: {name}: {each} is not {{"of": FIGURE, "scale": 1}}',
                name=name,
                each=repr(figure),
            )
        if figure["of"] not in (*names, "items"):
            raise HdbenchError(
                "figures: {name}: there is no figure {figure} to repeat",
                name=name,
                figure=repr(figure["of"]),
            )
        figures[str(name)] = (figure["of"], number("figures", figure.get("scale", 1)))
    return figures


def number(option: str, value: Any) -> float:
    """A number of 0 or more.

    Raises:
        HdbenchError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HdbenchError("{option}: {value} is not a number", option=option, value=repr(value))
    if not 0 <= value <= sys.float_info.max:  # nor NaN, nor an integer that is not a float
        raise HdbenchError(
            "{option}: {value} is not a number of 0 or more", option=option, value=repr(value)
        )
    return float(value)


def one_of(option: str, value: Any, choices: Sequence[str]) -> str:
    """A value, if it is one of the choices.

    Raises:
        HdbenchError: it is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        raise HdbenchError(
            "{option}: {value} is not one of {choices}",
            option=option,
            value=repr(value),
            choices=", ".join(choices),
        )
    return value


def renamed(figures: Mapping[str, Any], names: Mapping[str, tuple[str, float]]) -> dict[str, Any]:
    """The figures that the option `figures` adds, from those of the metric."""
    return {
        name: figures[of] if scale == 1 or figures[of] is None else figures[of] * scale
        for name, (of, scale) in names.items()
    }


def added_plainly(numbers: Iterable[float]) -> float:
    """From left to right, each sum rounded, as some published results were computed."""
    total = 0.0
    for value in numbers:  # sum() compensates from Python 3.12 on
        total += value
    return total
