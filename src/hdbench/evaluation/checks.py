"""Checks of a run, for what a person should know before believing its score."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from hdbench.answers.answer import KINDS, LOST, Answer, Kind, Status
from hdbench.answers.schema import Violation
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.items import ScoredItem
from hdbench.evaluation.parts import RunWarning, WarningText, message
from hdbench.evaluation.result import Result
from hdbench.scoring.letters_f1 import read_name
from hdbench.scoring.metric import FieldMatch, Metric

LOOKED_AT = 5_000
"""Maximum number of answers whose values are looked at; of more, evenly spread ones are. It takes
longer than scoring, and a share does not need a whole catalogue."""

SHOWN = 60
"""Maximum number of characters shown of a value."""

VALUE = 200
"""Maximum number of characters in a value or name that is counted: what many items share is
short."""

WARNED_OF = dict.fromkeys(kind for kind in KINDS if kind not in ("text", "other"))
"""Kinds of answers without a record that are warned about, however few: each has a cause of its own
that can be fixed. Other kinds are warned about if they are the majority."""

FEW = 5
"""Number of items that must show something before it counts as a pattern: fewer are often chance,
and a share of a page or two says nothing."""

UNANSWERED_SHARE = 0.1
"""Share of items without an answer: some failed requests are normal, and appear in the coverage.
From a tenth on, the score says as much about what was asked as about the model."""

UNPARSABLE_SHARE = 0.5
"""Share of answers that could not be read: if most could not, it is not due to one difficult
item."""

TRUNCATED_SHARE = 0.05
"""Share of answers that are cut off: one in twenty can move a model past its neighbours in a
ranking."""

CUT_OFF = 2
"""Minimum number of answers cut off: a single one may be a model that went round in circles."""

TOKENS_ITEMS = 10
TOKENS_SHARE = 0.9
"""Minimum number of items with counted input, and the share of them that have the same count: a few
images of one size are normal; a run that sent none may still have had an image in a first trial or
a retry."""

REPEATED_SHARE = 0.05
"""Share of answers that are identical: true records of different items never are."""

FIELD_SHARE = 0.1
"""Share of answers in which a field has the same wrong value, or one of the wrong type."""

ORGANISATIONS_SHARE = 1 / 3
"""Share of the wrong persons: below it, a model errs now and then; above it, the model understood
"person" that way."""

FIELDS = 10
"""Maximum number of fields warned about: a record of an entirely different form has all of them
wrong."""

ANSWER_SHOWN = 160
"""Maximum number of characters shown of an answer."""


_INDEX = re.compile(r"\[\d*\]")


@dataclass(slots=True)
class Seen:
    """Count of something that was seen, and the first items that show it.

    Attributes:
        count: how often.
        ids: the first items.
        shown: how it is shown to a person.
        truth: the hash of the first item's ground truth.
        truths_differ: whether another item has a different ground truth.
    """

    count: int = 0
    ids: list[str] = field(default_factory=list)
    shown: str = ""
    truth: int = 0
    truths_differ: bool = False

    def add(self, item_id: str) -> None:
        """Count it once more."""
        self.count += 1
        if len(self.ids) < EXAMPLES:
            self.ids.append(item_id)


class Checks:
    """Looks at a run's answers, in the dataset's order, and says what looks broken.

    Args:
        metric: the metric that the run is scored with.
        answers: how many answers it has: of many, not all are looked at.
    """

    def __init__(self, metric: Metric, answers: int = 0) -> None:
        self.metric = metric
        self._step = math.ceil(answers / LOOKED_AT) or 1
        self._items = self._answered = self._looked_at = self._records = self._counted = 0
        self._status: defaultdict[Status, Seen] = defaultdict(Seen)
        self._kinds: defaultdict[Kind, Seen] = defaultdict(Seen)
        self._long_lists: defaultdict[str, Seen] = defaultdict(Seen)
        self._not_compared: Counter[str] = Counter()
        self._tokens: defaultdict[Hashable, Seen] = defaultdict(Seen)
        self._answers: defaultdict[Hashable, Seen] = defaultdict(Seen)
        self._values: defaultdict[Hashable, Seen] = defaultdict(Seen)
        self._types: defaultdict[Hashable, Seen] = defaultdict(Seen)
        self._fields = SharedFields()

    def add(
        self,
        answer: Answer,
        scored: ScoredItem,
        violations: Iterable[Violation],
        truth: dict[str, Any],
    ) -> None:
        """Look at one item.

        Args:
            answer: its answer.
            scored: the item with its score.
            violations: where the answer does not conform to the benchmark's schema.
            truth: its ground truth.
        """
        self._items += 1
        self._status[scored.status].add(answer.id)
        if answer.kind and scored.status in LOST:  # others may be texts that were asked for
            self._kinds[answer.kind].add(answer.id)
        for name, number in scored.score.not_compared.items():
            self._long_lists[name].add(answer.id)
            self._not_compared[name] += number
        if answer.tokens and "input" in answer.tokens:
            self._counted += 1
            self._tokens[answer.tokens["input"]].add(answer.id)
        if scored.coverage != "unanswered":
            if self._answered % self._step == 0:
                self._look_at(answer, scored, violations, truth)
            self._answered += 1

    def warnings(self, result: Result) -> list[RunWarning]:
        """Return what looks broken; what concerns the whole run comes first.

        Args:
            result: the result of scoring the same items.
        """
        organisations: list[RunWarning] = []
        explained: dict[str, None] = {}
        if "false_positives_organisations" in result.statistics:
            explained = self._organisations()
            organisations = list(_warn_of_organisations(result, explained))
        broken = [*self._coverage(), *self._same_input_tokens(), *self._repeated_answer()]
        fields = self._wrong_fields(result, explained if organisations else {})
        return [*broken, *fields, *organisations]

    def _look_at(
        self,
        answer: Answer,
        scored: ScoredItem,
        violations: Iterable[Violation],
        truth: dict[str, Any],
    ) -> None:
        self._looked_at += 1
        self._fields.add(answer, scored)
        # By the record, as a model can think something different each time, and by the text, as a
        # harness can put an item's own id into the record. A hash needs little space.
        record, of_truth = repr(answer.prediction), hash(repr(truth))
        for text in dict.fromkeys((record, answer.text or record)):
            seen = self._answers[hash(text)]
            seen.add(answer.id)
            if seen.count == 1:
                seen.truth = of_truth
            seen.truths_differ |= seen.truth != of_truth
            if seen.count == FEW:
                seen.shown = shown(answer.prediction, ANSWER_SHOWN)
        if scored.coverage == "answered":
            self._records += 1
            for key in _wrong(scored.matches):
                self._values[key].add(answer.id)
            unfit = {
                _INDEX.sub("", violation.field): violation.value
                for violation in violations
                if violation.rule == "type" and violation.value not in (None, "")
            }
            for name, value in unfit.items():
                seen = self._types[name]
                seen.add(answer.id)
                seen.shown = seen.shown or shown(value)

    def _coverage(self) -> Iterator[RunWarning]:
        unanswered, unparsable, truncated = (
            self._status[status] for status in ("unanswered", "unparsable", "truncated")
        )
        items, answers = self._items, self._answered
        if unanswered.count > items * UNANSWERED_SHARE:
            text = message("partial", given=answers, items=items, count=unanswered.count)
            yield RunWarning("partial", text, unanswered.count, items, unanswered.ids)
        if unparsable.count > answers * UNPARSABLE_SHARE:
            text = message("unparsable", count=unparsable.count, given=answers)
            yield RunWarning("unparsable", text, unparsable.count, answers, unparsable.ids)
        for kind in filter(self._kinds.__contains__, WARNED_OF):
            seen = self._kinds[kind]
            text = message(f"no_record_{kind}", count=seen.count, given=answers)
            yield RunWarning("no_record", text, seen.count, answers, seen.ids)
        if truncated.count >= CUT_OFF and truncated.count > answers * TRUNCATED_SHARE:
            text = message("truncated", count=truncated.count, given=answers)
            yield RunWarning("truncated", text, truncated.count, answers, truncated.ids)
        for name, seen in self._long_lists.items():
            text = message(
                "too_many_items",
                count=seen.count,
                given=answers,
                id=shown(seen.ids[0]),
                list=escaped(name),
                entries=self._not_compared[name],
            )
            yield RunWarning("too_many_items", text, seen.count, answers, seen.ids)

    def _same_input_tokens(self) -> Iterator[RunWarning]:
        answers = self._counted
        for tokens, seen in _most(self._tokens)[:1]:
            if seen.count >= TOKENS_ITEMS and seen.count >= answers * TOKENS_SHARE:
                text = message("same_input_tokens", tokens=tokens, count=seen.count, items=answers)
                yield RunWarning("same_input_tokens", text, seen.count, answers, seen.ids)

    def _repeated_answer(self) -> Iterator[RunWarning]:
        answers = self._looked_at
        for _, seen in _most(self._answers):
            if seen.count >= FEW and seen.count > answers * REPEATED_SHARE and seen.truths_differ:
                text = message(
                    "repeated_answer",
                    count=seen.count,
                    answers=self._answers_seen(answers),
                    shown=seen.shown,
                )
                yield RunWarning("repeated_answer", text, seen.count, answers, seen.ids)
                return

    def check_fields(self, place: object) -> None:
        """Refuse answers that share no field with the ground truth; see `SharedFields.check`."""
        self._fields.check(place, self._looked_at)

    def _wrong_fields(self, result: Result, explained: Container[Any]) -> list[RunWarning]:
        """Return one warning per field, wrong values before types that are scored all the same.

        Names that another warning explains are skipped.
        """
        wrong: dict[str, tuple[str, Seen]] = {}
        for (name, value), seen in _most(self._values):
            if self._is_often(seen) and not (
                name in self.metric.person_fields and value in explained
            ):
                wrong.setdefault(name, (shown(value), seen))
        unfit = {name: seen for name, seen in _most(self._types) if self._is_often(seen)}
        warnings = []
        for name in islice(wrong | unfit, FIELDS):
            key = "wrong_value" if name in wrong else "wrong_type"
            value, seen = wrong[name] if name in wrong else (unfit[name].shown, unfit[name])
            text = message(
                key,
                field=escaped(name),
                shown=value,
                count=seen.count,
                answers=self._answers_seen(self._records),
                and_type=message("and_type", count=unfit[name].count) if name in unfit else None,
                without=_without(result, name),
            )
            warnings.append(RunWarning("wrong_field", text, seen.count, self._records, seen.ids))
        return warnings

    def _answers_seen(self, number: int) -> WarningText:
        """Return the words for a number of answers, which tell if not all were looked at."""
        return message(
            "answers_looked_at" if self._looked_at < self._answered else "answers",
            number=number,
        )

    def _is_often(self, seen: Seen) -> bool:
        return seen.count >= FEW and seen.count > self._records * FIELD_SHARE

    def _organisations(self) -> dict[str, None]:
        """Return the organizations and offices among the wrong persons, the most frequent first."""
        return {
            value: None
            for (name, value), _ in _most(self._values)
            if name in self.metric.person_fields
            and isinstance(value, str)
            and read_name(value).is_organisation
        }


def shown(value: Any, most: int = SHOWN) -> str:
    """Return a value as one short line."""
    text = json.dumps(value, ensure_ascii=False)
    return escaped(text if len(text) <= most else text[: most - 1] + "…")


def _most(seen: dict[Hashable, Seen]) -> list[tuple[Any, Seen]]:
    """Return what was seen, the most frequent first; among equals, what was seen first."""
    return sorted(seen.items(), key=lambda entry: -entry[1].count)


def _wrong(matches: Iterable[FieldMatch]) -> dict[tuple[str, Any], None]:
    """Return field and value of what is wrong in an answer, each once."""
    return {
        (_INDEX.sub("", match.field), match.prediction): None
        for match in matches
        if match.outcome in ("substituted", "spurious")
        and len(match.field) <= VALUE
        and _is_counted(match.prediction)
    }


def _is_counted(value: Any) -> bool:
    """Return whether it is a value, not a gap, and short enough to be kept."""
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= VALUE
    return isinstance(value, int | float)


def _warn_of_organisations(result: Result, examples: Iterable[str]) -> Iterator[RunWarning]:
    """Warn if many of the persons that only the answers have are organizations or offices."""
    column = result.statistics["false_positives_organisations"]
    count = int(result.totals["false_positives_organisations"])
    persons = int(
        sum(
            result.totals[f"{category}.false_positives"] for category in result.metric.person_fields
        )
    )
    if count >= FEW and count > persons * ORGANISATIONS_SHARE:
        example = next(map(shown, examples), "")
        text = message(
            "organisations",
            count=count,
            persons=persons,
            example=message("example", shown=example) if example else None,
        )
        ids = [item_id for item_id, number in zip(result.ids, column, strict=True) if number]
        yield RunWarning("organisations", text, count, persons, ids[:EXAMPLES])


def _without(result: Result, name: str) -> WarningText | None:
    """Return the score with and without a field, if that can be told."""
    rates = result.metric.rates_without(result.population_totals, result.population_outcomes, name)
    if not rates:
        return None
    headline = next(iter(rates))
    score = result.rates[headline]
    return message("without", headline=headline, score=score, other=rates[headline])


MAX_NAMES = 10
"""Maximum number of names that are kept of either side; these are shown."""

MAX_TEXT = 100_000
"""Maximum number of characters of an answer that is not a record and whose fields are looked at."""

MAX_NODES = 200
"""Maximum number of objects, and of fields in one, that are looked at in an answer."""

EXAMPLES = 5
"""Maximum number of ids that are named."""

_NAME = 60


class SharedFields:
    """Names of fields in answers, until one has a field of the ground truth."""

    def __init__(self) -> None:
        self._is_shared = False
        self._count = 0
        self._written: dict[str, None] = {}
        self._expected: dict[str, None] = {}
        self._names: set[str] = set()

    def add(self, answer: Answer, scored: ScoredItem) -> None:
        """Take the names of fields in an answer, unless it is not an object, or an empty one."""
        if self._is_shared:
            return
        record = scored.answer.prediction if scored.coverage == "answered" else None
        if answer.kind == "other":  # an object without any of the schema's fields is not a record
            record = _value(scored.answer.prediction)
        if not isinstance(record, dict) or not record:
            return
        self._is_shared = any(
            match.outcome in ("correct", "substituted") for match in scored.matches
        )
        self._count += 1
        for match in scored.matches:
            if match.outcome == "missing":
                field = _INDEX.sub("", match.field)
                _keep(self._expected, field)
                self._names.update(field[:_NAME].split("."))
                self._is_shared |= field in record  # a list, none of whose entries has a partner
        for name in _names_in(record):
            self._is_shared |= name in self._names
            _keep(self._written, name)

    def check(self, place: object, answers: int) -> None:
        """Refuse answers that share no field with the ground truth: their score says nothing.

        Args:
            place: what messages call the answers.
            answers: the number that were looked at; half of them must be objects.

        Raises:
            HdbenchError: they share none.
        """
        if self._is_shared or 2 * self._count <= answers or not self._expected:
            return
        raise HdbenchError(
            "{place}: the answers share no field with the ground truth: they have {written}, and "
            "the ground truth has {expected}: are these the answers to this benchmark, and does "
            "the prompt name its fields?",
            place=place,
            written=escaped(", ".join(self._written)),
            expected=escaped(", ".join(self._expected)),
        )


def _names_in(record: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the fields that hold no further ones, at any depth."""
    waiting: list[Any] = [record]
    for _ in range(MAX_NODES):
        if not waiting:
            return
        node = waiting.pop()
        for name, value in islice(node.items(), MAX_NODES):
            values = value if isinstance(value, list) else [value]
            inner = [item for item in islice(values, MAX_NODES) if item and isinstance(item, dict)]
            waiting += inner
            if not inner:
                yield name


def _keep(names: dict[str, None], name: str) -> None:
    if len(names) < MAX_NAMES:
        names[name[:_NAME]] = None


def _value(text: Any) -> Any:
    """Return the JSON value of a text that is not too long; None if it is not JSON."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        return None
    try:
        return parse_json(text)
    except ValueError:
        return None
