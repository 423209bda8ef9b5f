"""Scoring some of a run's items, in this process or in another one."""

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, Protocol

from hdbench.answers import ReadAs
from hdbench.answers.answer import Answer, WrittenAnswer
from hdbench.answers.answers import AnswerReader
from hdbench.answers.json_lines import NO_LINE, AnswerPlace
from hdbench.answers.schema import AnswerSchema
from hdbench.answers.usage import Usage
from hdbench.benchmarks.benchmark import Benchmark, Item, Part
from hdbench.benchmarks.provenance import Provenance
from hdbench.benchmarks.truths import ErrataName
from hdbench.evaluation.looks import Looks
from hdbench.results.items import CollectedScores, ScoreCollector, ScoredItem, prepare
from hdbench.scoring.metric import Metric

OBJECTS = 200_000
"""Number of new objects after which the garbage collector looks for cycles."""


EachItem = Callable[[ScoredItem], None]

_OTHER: dict[ErrataName, ErrataName] = {"accepted": "proposed", "proposed": "accepted"}


@dataclass(frozen=True)
class Rules:
    """A metric, and how answers are read for it.

    Attributes:
        metric: the metric.
        read_as: how answers are read.
        details: whether the outcome of every item is wanted.
        each_item: is given each scored item, in the dataset's order.
        errata: which corrections of values count.
    """

    metric: Metric
    read_as: ReadAs
    details: bool
    each_item: EachItem | None = None
    errata: ErrataName = "accepted"

    @property
    def keeps_items(self) -> bool:
        """Return whether the result keeps what became of every item."""
        return self.details and self.each_item is None


class Task(NamedTuple):
    """Items to score.

    Attributes:
        part: the items.
        keys: with what each item's answer is loaded; None, or `NO_LINE`, if it has none.
        asked: whether each item was asked; None if all were.
        strata: each item's stratum; empty if the benchmark has none.
        answers: how many answers the whole run has.
    """

    part: Part
    keys: Sequence[Any]
    asked: list[bool] | None
    strata: list[int]
    answers: int

    @property
    def answered(self) -> int:
        """The number of its items that have an answer."""
        return len(self.keys) - self.keys.count(None) - self.keys.count(NO_LINE)


class ReadOnce(NamedTuple):
    """Result of reading answers in one way.

    Attributes:
        usage: what the answers used.
        violations: field → rule of the schema → how often it was violated.
        scored: for each of the rules that read so: the scores, and what was seen.
    """

    usage: Usage
    violations: dict[str, Counter[str]]
    scored: list[tuple[CollectedScores, Looks]]


class ScoredTask(NamedTuple):
    """Result of a task.

    Attributes:
        items: the number of items with a ground truth that were asked.
        drafts: how ground truths were made that come from drafts, with the number of items.
        read: one for each way in which answers are read, in the order of the rules.
    """

    items: int
    drafts: Counter[Provenance]
    read: list[ReadOnce]


class AnswerSource(Protocol):
    """Source of answers: a container, its lines, or what was sent to this process."""

    def load(self, key: Any) -> WrittenAnswer:
        """See `Container.load`."""

    def where(self, key: Any) -> str:
        """See `Container.where`."""


class PartScorer:
    """Scores items of a benchmark under some rules.

    Args:
        benchmark: the benchmark.
        schema: what an answer looks like.
        source: gives an answer by its key, and its place.
        rules: the rules.
        most_values: see `AnswerReader`.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        schema: AnswerSchema | None,
        source: AnswerSource,
        rules: Sequence[Rules],
        most_values: int | None = None,
    ) -> None:
        self._benchmark, self._schema = benchmark, schema
        self._source = source
        self._readers = [
            (
                AnswerReader(schema, read_as, most_values),
                [rule for rule in rules if rule.read_as == read_as],
            )
            for read_as in ways_of(rules)
        ]

    def score(self, task: Task) -> ScoredTask:
        """Score the items of a task.

        Raises:
            HdbenchError: an item or an answer is unusable.
        """
        drafts = Counter[Provenance]()
        items = 0
        readings = [_Reading(reader, rules, task.answers) for reader, rules in self._readers]
        following = self._benchmark.items_of(task.part)  # in the same order
        item = next(following, None)
        asked = task.asked or [True] * len(task.keys)
        strata: Sequence[int | None] = task.strata or [None] * len(task.keys)
        for item_id, key, is_asked, stratum in zip(
            task.part.ids, task.keys, asked, strata, strict=True
        ):
            fields = None if key is None or key == NO_LINE else self._source.load(key)
            if item is None or item.id != item_id:
                continue
            current, item = item, next(following, None)
            if not is_asked:
                continue
            items += 1
            if current.provenance and current.provenance.run:
                drafts[current.provenance] += 1
            for reading in readings:
                answer = reading.reader.answer(
                    item_id, fields, AnswerPlace(self._source.where, key)
                )
                reading.add(answer, current, stratum, self._schema)
        return ScoredTask(items, drafts, [reading.done() for reading in readings])


class _Reading:
    """Answers that are read in one way, and scored under all rules with that way."""

    def __init__(self, reader: AnswerReader, rules: Sequence[Rules], answers: int) -> None:
        self.reader = reader
        self._usage = Usage()
        self._violations: dict[str, Counter[str]] = defaultdict(Counter)
        self._scorers = [
            (rule, ScoreCollector(rule.metric, details=rule.keeps_items), Looks(answers))
            for rule in rules
        ]

    def add(
        self, answer: Answer, item: Item, stratum: int | None, schema: AnswerSchema | None
    ) -> None:
        self._usage.add(answer.tokens, answer.seconds)
        violations = []
        if schema and isinstance(answer.prediction, dict):
            violations = schema.violations(answer.prediction)
            for violation in violations:
                self._violations[violation.field][violation.rule] += 1
        for rules, tally, looks in self._scorers:
            metric = rules.metric
            truth = item.reference(metric.protocol, rules.errata)
            scored = tally.add(answer, prepare(metric, truth, item.id), stratum)
            if scored is not None:
                looks.add(answer, scored, violations, truth)
                if rules.each_item is not None:
                    rules.each_item(scored)
                if item.proposed is not None and metric.protocol == "documented":
                    other = item.reference("documented", _OTHER[rules.errata])
                    tally.add_other_errata(scored, prepare(metric, other, item.id))

    def done(self) -> ReadOnce:
        scored = [(tally.collected(), looks) for _, tally, looks in self._scorers]
        return ReadOnce(self._usage, self._violations, scored)


def ways_of(rules: Sequence[Rules]) -> list[ReadAs]:
    """Return the ways in which answers are read for some rules, each once."""
    return list(dict.fromkeys(rule.read_as for rule in rules))


class _Collected:
    """The garbage collector's thresholds before, and the number of blocks that changed them."""

    lock = Lock()
    users = 0
    before: tuple[int, int, int]


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Make the garbage collector look for cycles less often: records have none.

    Otherwise, it goes through all of memory again and again, which takes a tenth of the time.
    Threads can do this at the same time: the last one to end restores what was before the first.
    """
    with _Collected.lock:
        if not _Collected.users:
            _Collected.before = gc.get_threshold()
            gc.set_threshold(OBJECTS, *_Collected.before[1:])
        _Collected.users += 1
    try:
        yield
    finally:
        with _Collected.lock:
            _Collected.users -= 1
            if not _Collected.users:
                gc.set_threshold(*_Collected.before)
