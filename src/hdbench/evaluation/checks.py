"""Whether a run looks broken: what a person should know before believing its score."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from hdbench.errors import escaped
from hdbench.evaluation.shared_fields import SharedFields
from hdbench.reading.answer import KINDS, STATUSES, Answer, Status
from hdbench.reading.answer import Kind as AnswerKind
from hdbench.reading.schema import Violation
from hdbench.results.drafts import own_drafts
from hdbench.results.items import ScoredItem
from hdbench.results.result import Result
from hdbench.results.warning_texts import Message, in_words, message
from hdbench.scoring.metric import FieldMatch, Metric
from hdbench.scoring.person_names import read_name

Kind = Literal[
    "ids",
    "drafted",
    "partial",
    "unparsable",
    "no_record",
    "several_records",
    "truncated",
    "too_many_items",
    "same_input_tokens",
    "repeated_answer",
    "no_shared_field",
    "wrong_field",
    "organisations",
]

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
"""Share of given answers that could not be read: if most could not, it is not due to one difficult
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

EXAMPLES = 5
"""Maximum number of ids that are named."""

SHOWN = 60
ANSWER_SHOWN = 160
"""Maximum number of characters shown of a value, and of an answer."""

VALUE = 200
"""Maximum number of characters in a value or name that is counted: what many items share is
short."""

ALL_UNTIL = 5_000
ONE_IN = 50
"""This many answers are all looked at, then one in this many: looking at all their values takes
longer than scoring, and a share does not need a whole catalogue."""

_INDEX = re.compile(r"\[\d*\]")


@dataclass(frozen=True)
class RunWarning:
    """Something about a run that a person should look at.

    Attributes:
        kind: what it is about.
        said: what was seen, what it can mean, and what to do.
        count: in how many items or values it was seen.
        of: among how many.
        ids: the first items that show it.
    """

    kind: Kind
    said: Message
    count: int
    of: int
    ids: list[str]

    @property
    def message(self) -> str:
        """What it says, in one line of English."""
        return in_words(**self.said)

    def to_dict(self) -> dict[str, Any]:
        """The warning as JSON data."""
        about = {"count": self.count, "of": self.of, "ids": self.ids}
        return {"kind": self.kind, "message": self.message, **self.said, **about}


def with_draft_warning(result: Result) -> Result:
    """A result that warns if its ground truths were made from drafts of its own model.

    Call it whenever the model's name is known, or another one.
    """
    others = [each for each in result.reading["warnings"] if each["kind"] != "drafted"]
    count, of = own_drafts(result), len(result.ids)
    if count:
        told = message("drafted", count=count, items=of)
        others.insert(0, RunWarning("drafted", told, count, of, []).to_dict())
    return replace(result, reading={**result.reading, "warnings": others})


@dataclass(slots=True)
class Seen:
    """How often something was seen, and in which items first.

    Attributes:
        count: how often.
        ids: the first items.
        shown: how it is shown to a person.
        truth: the ground truth of the first item.
        truths_differ: whether another item has a different ground truth.
    """

    count: int = 0
    ids: list[str] = field(default_factory=list)
    shown: str = ""
    truth: Any = None
    truths_differ: bool = False

    def add(self, item_id: str) -> None:
        """Count it once more."""
        self.count += 1
        if len(self.ids) < EXAMPLES:
            self.ids.append(item_id)


class Frequent:
    """The most frequent among any number of keys, in bounded memory (Misra and Gries, 1982).

    With at most `size` different keys, the counts are exact. With more, a count can be too low by
    one in `size + 1` of everything that was added, but never too high.

    Example:
        >>> frequent = Frequent(2)
        >>> for number, letter in enumerate("abacada"):
        ...     _ = frequent.add(letter, str(number))
        >>> [(letter, seen.count) for letter, seen in frequent.most()]
        [('a', 3), ('d', 1)]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._seen: dict[Hashable, Seen] = {}

    def add(self, key: Hashable, item_id: str) -> Seen | None:
        """Count a key once more; if too many are kept, count each of them once less instead."""
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) == self.size:
                self._forget()
                return None
            seen = self._seen[key] = Seen()
        seen.add(item_id)
        return seen

    def most(self) -> list[tuple[Any, Seen]]:
        """The keys that are kept, the most frequent first; among equals, the one kept longest."""
        return sorted(self._seen.items(), key=lambda entry: -entry[1].count)

    def _forget(self) -> None:
        for seen in self._seen.values():
            seen.count -= 1
        self._seen = {key: seen for key, seen in self._seen.items() if seen.count}


class Checks:
    """Looks at a run's answers one at a time, and says what looks broken.

    Only counts and a few values are kept, so that a whole catalogue can be looked at.

    Args:
        metric: the metric that the run is scored with.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._items = self._given = self._counted = self._records = self._looked_at = 0
        self._status: dict[Status, Seen] = {status: Seen() for status in STATUSES}
        self._kinds: dict[AnswerKind, Seen] = defaultdict(Seen)
        self._set_aside = Seen()
        self._long_lists: dict[str, Seen] = defaultdict(Seen)
        self._not_compared: Counter[str] = Counter()
        self._tokens = Frequent(1_000)
        self._answers = Frequent(2_000)
        self._values = Frequent(20_000)  # some thousand items with all their fields wrong
        self._types = Frequent(1_000)
        self._fields = SharedFields()

    def add(self, answer: Answer, scored: ScoredItem, violations: Iterable[Violation]) -> None:
        """Look at one item.

        Args:
            answer: its answer.
            scored: the item with its score.
            violations: where the answer does not conform to the benchmark's schema.
        """
        self._items += 1
        coverage = scored.coverage
        self._status[scored.status].add(answer.id)
        if answer.kind:
            self._kinds[answer.kind].add(answer.id)
        if answer.set_aside:
            self._set_aside.add(answer.id)
        for name, number in scored.score.not_compared.items():
            self._long_lists[name].add(answer.id)
            self._not_compared[name] += number
        if answer.tokens and "input" in answer.tokens:
            self._counted += 1
            self._tokens.add(answer.tokens["input"], answer.id)
        if coverage != "unanswered":
            self._given += 1
            if self._given > ALL_UNTIL and self._given % ONE_IN:
                return
            self._looked_at += 1
            self._add_content(answer, scored.candidate.prepared)
            self._fields.add(answer, scored)
        if coverage == "answered":
            self._records += 1
            self._add_fields(answer.id, scored.matches, violations)

    def warnings(self, result: Result) -> list[RunWarning]:
        """What looks broken; what concerns the whole run comes first.

        Args:
            result: the result of scoring the same items.
        """
        organisations: list[RunWarning] = []
        explained: dict[str, None] = {}
        if "false_positives_organisations" in result.statistics:
            explained = self._organisations()
            organisations = list(_warn_of_organisations(result, explained))
        broken = [*self._coverage(), *self._same_input_tokens(), *self._repeated_answer()]
        if apart := self._no_shared_field():  # explains why no record was found or is right
            return [apart, *(each for each in broken if each.kind != "unparsable")]
        fields = self._wrong_fields(result, explained if organisations else {})
        return [*broken, *fields, *organisations]

    def _add_content(self, answer: Answer, prepared: Any) -> None:
        # By the record, as a model can think something different each time, and by the text, as a
        # harness can put an item's own id into the record. A hash needs little space.
        record = repr(answer.prediction)
        for content in dict.fromkeys((hash(record), hash(answer.text or record))):
            seen = self._answers.add(content, answer.id)
            if seen is None:
                continue
            if seen.count == 1:
                seen.truth = prepared
            elif not seen.truths_differ:
                seen.truths_differ = bool(prepared != seen.truth)
            if seen.count == FEW:
                seen.shown = _shown(answer.prediction, ANSWER_SHOWN)

    def _add_fields(
        self, item_id: str, matches: Iterable[FieldMatch], violations: Iterable[Violation]
    ) -> None:
        wrong = {
            (_INDEX.sub("", match.field), match.prediction): None
            for match in matches
            if match.outcome in ("substituted", "spurious")
            and len(match.field) <= VALUE
            and _is_counted(match.prediction)
        }
        for key in wrong:
            self._values.add(key, item_id)
        unfit = {
            _INDEX.sub("", violation.field): violation.value
            for violation in violations
            if violation.rule == "type" and violation.value not in (None, "")
        }
        for name, value in unfit.items():
            seen = self._types.add(name, item_id)
            if seen is not None and not seen.shown:
                seen.shown = _shown(value)

    def _coverage(self) -> Iterator[RunWarning]:
        unanswered, unparsable, truncated = (
            self._status[status] for status in ("unanswered", "unparsable", "truncated")
        )
        items, given = self._items, self._given
        if unanswered.count > items * UNANSWERED_SHARE:
            told = message("partial", given=given, items=items, count=unanswered.count)
            yield RunWarning("partial", told, unanswered.count, items, unanswered.ids)
        if unparsable.count > given * UNPARSABLE_SHARE:
            told = message("unparsable", count=unparsable.count, given=given)
            yield RunWarning("unparsable", told, unparsable.count, given, unparsable.ids)
        for kind in filter(self._kinds.__contains__, WARNED_OF):
            seen = self._kinds[kind]
            told = message(f"no_record_{kind}", count=seen.count, given=given)
            yield RunWarning("no_record", told, seen.count, given, seen.ids)
        if several := self._set_aside.count:
            told = message("several_records", count=several, given=given)
            yield RunWarning("several_records", told, several, given, self._set_aside.ids)
        if truncated.count >= CUT_OFF and truncated.count > given * TRUNCATED_SHARE:
            told = message("truncated", count=truncated.count, given=given)
            yield RunWarning("truncated", told, truncated.count, given, truncated.ids)
        for name, seen in self._long_lists.items():
            told = message(
                "too_many_items",
                count=seen.count,
                given=given,
                id=_shown(seen.ids[0]),
                list=escaped(name),
                entries=self._not_compared[name],
            )
            yield RunWarning("too_many_items", told, seen.count, given, seen.ids)

    def _same_input_tokens(self) -> Iterator[RunWarning]:
        of = self._counted
        for tokens, seen in self._tokens.most()[:1]:
            if seen.count >= TOKENS_ITEMS and seen.count >= of * TOKENS_SHARE:
                told = message("same_input_tokens", tokens=tokens, count=seen.count, items=of)
                yield RunWarning("same_input_tokens", told, seen.count, of, seen.ids)

    def _repeated_answer(self) -> Iterator[RunWarning]:
        of = self._looked_at
        for _, seen in self._answers.most():
            if seen.count >= FEW and seen.count > of * REPEATED_SHARE and seen.truths_differ:
                told = message(
                    "repeated_answer", count=seen.count, answers=self._of(of), shown=seen.shown
                )
                yield RunWarning("repeated_answer", told, seen.count, of, seen.ids)
                return

    def _no_shared_field(self) -> RunWarning | None:
        of = self._looked_at
        apart = self._fields.apart(of)
        if apart is None:
            return None
        names = {"written": apart.written, "expected": apart.expected}
        told = message("no_shared_field", answers=self._of(of), **names)
        return RunWarning("no_shared_field", told, apart.objects, of, apart.ids)

    def _wrong_fields(self, result: Result, explained: Container[Any]) -> list[RunWarning]:
        """One warning per field, wrong values before types that are scored all the same.

        Names that another warning explains are skipped.
        """
        wrong: dict[str, tuple[str, Seen]] = {}
        for (name, value), seen in self._values.most():
            if self._is_often(seen) and not (
                name in self.metric.person_fields and value in explained
            ):
                wrong.setdefault(name, (_shown(value), seen))
        unfit = {name: seen for name, seen in self._types.most() if self._is_often(seen)}
        warnings = []
        for name in islice(wrong | unfit, FIELDS):
            key = "wrong_value" if name in wrong else "wrong_type"
            shown, seen = wrong[name] if name in wrong else (unfit[name].shown, unfit[name])
            told = message(
                key,
                field=escaped(name),
                shown=shown,
                count=seen.count,
                answers=self._of(self._records),
                and_type=message("and_type", count=unfit[name].count) if name in unfit else None,
                without=_without(result, name),
            )
            warnings.append(RunWarning("wrong_field", told, seen.count, self._records, seen.ids))
        return warnings

    def _of(self, number: int) -> Message:
        """That many answers, and whether there are more."""
        return message(
            "answers_looked_at" if self._looked_at < self._given else "answers", number=number
        )

    def _is_often(self, seen: Seen) -> bool:
        return seen.count >= FEW and seen.count > self._records * FIELD_SHARE

    def _organisations(self) -> dict[str, None]:
        """The organisations and offices among the wrong persons, the most frequent first."""
        return {
            value: None
            for (name, value), _ in self._values.most()
            if name in self.metric.person_fields
            and isinstance(value, str)
            and read_name(value).is_organisation
        }


def _warn_of_organisations(result: Result, examples: Iterable[str]) -> Iterator[RunWarning]:
    """Warn if many of the persons that only the answers have are organisations or offices."""
    column = result.statistics["false_positives_organisations"]
    count = int(result.totals["false_positives_organisations"])
    of = int(
        sum(
            result.totals[f"{category}.false_positives"] for category in result.metric.person_fields
        )
    )
    if count >= FEW and count > of * ORGANISATIONS_SHARE:
        shown = next(map(_shown, examples), "")
        told = message(
            "organisations",
            count=count,
            persons=of,
            example=message("example", shown=shown) if shown else None,
        )
        ids = [item_id for item_id, number in zip(result.ids, column, strict=True) if number]
        yield RunWarning("organisations", told, count, of, ids[:EXAMPLES])


def _is_counted(value: Any) -> bool:
    """Whether it is a value, not a gap, and short enough to be kept."""
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= VALUE
    return isinstance(value, int | float)


def _without(result: Result, name: str) -> Message | None:
    """The score with and without a field, if that can be told."""
    rates = result.metric.rates_without(result.whole_totals, result.whole_fields, name)
    if not rates:
        return None
    headline = next(iter(rates))
    score = result.rates[headline]
    return message("without", headline=headline, score=score, other=rates[headline])


def _shown(value: Any, most: int = SHOWN) -> str:
    """A value as one short line."""
    text = json.dumps(value, ensure_ascii=False)
    return escaped(text if len(text) <= most else text[: most - 1] + "…")
