"""Checks of a run, for what a person should know before believing its score."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from hdbench.answers.answer import KINDS, Answer, Kind, Status
from hdbench.answers.forms import RUN_FILE
from hdbench.answers.schema import Violation
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.evaluation.parts import RunWarning, WarningText, message
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import RunAnswers, subset_in_words
from hdbench.scoring.metric import FieldMatch, ItemScore, Metric

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
        self._answered = self._looked_at = self._records = self._counted = 0
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
        score: ItemScore,
        violations: Iterable[Violation],
        truth: dict[str, Any],
    ) -> None:
        """Look at one item.

        Args:
            answer: its answer, with the status that counts.
            score: its score.
            violations: where the answer does not conform to the benchmark's schema.
            truth: its ground truth.
        """
        if answer.kind:
            self._kinds[answer.kind].add(answer.id)
        for name, number in score.not_compared.items():
            self._long_lists[name].add(answer.id)
            self._not_compared[name] += number
        if answer.tokens and "input" in answer.tokens:
            self._counted += 1
            self._tokens[answer.tokens["input"]].add(answer.id)
        if answer.status != "unanswered":
            if self._answered % self._step == 0:
                self._look_at(answer, self.metric.explain(score), violations, truth)
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
        broken = [*self._coverage(result), *self._same_input_tokens(), *self._repeated_answer()]
        fields = self._wrong_fields(result, explained if organisations else {})
        return [*broken, *fields, *organisations]

    def _look_at(
        self,
        answer: Answer,
        matches: Sequence[FieldMatch],
        violations: Iterable[Violation],
        truth: dict[str, Any],
    ) -> None:
        self._looked_at += 1
        self._fields.add(answer, matches)
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
        if answer.is_record:
            self._records += 1
            for key in _wrong(matches):
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

    def _coverage(self, result: Result) -> Iterator[RunWarning]:
        seen_as: defaultdict[Status, Seen] = defaultdict(Seen)
        for item_id, status in zip(result.ids, result.statuses, strict=True):
            seen_as[status].add(item_id)
        unanswered, unparsable, truncated = (
            seen_as[status] for status in ("unanswered", "unparsable", "truncated")
        )
        items, answers = len(result.ids), self._answered
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
        from hdbench.scoring.letters_f1 import read_name  # noqa: PLC0415  letters alone need it

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

    def add(self, answer: Answer, matches: Sequence[FieldMatch]) -> None:
        """Take the names of fields in an answer, unless it is not an object, or an empty one."""
        if self._is_shared or any(match.outcome in ("correct", "substituted") for match in matches):
            self._is_shared = True
            return
        record = answer.prediction if answer.is_record else None
        if answer.kind == "other":  # an object without any of the schema's fields is not a record
            record = _value(answer.prediction)
        if not isinstance(record, dict) or not record:
            return
        self._count += 1
        for match in matches:
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


# Notes on a run: how it was asked and read, and what cannot be scored

REASONS = 5
"""Maximum number of reasons that are named."""


def notes_on(
    run: RunAnswers, result: Result, *, asked: int, with_truth: int, rewritten: int
) -> list[str]:
    """Return notes on a run: what was asked, how, what cannot be scored, and how its file was read.

    Args:
        run: the run.
        result: its result.
        asked: the number of items that were asked.
        with_truth: the number of these that have a ground truth.
        rewritten: the number whose answer or ground truth is not written in canonical form.
    """
    return [
        *_unseen(run),
        *_own(run),
        *_not_asked(run, asked),
        *_without_truth(asked - with_truth),
        *_empty_strata(result),
        *_proposed(result),
        *_rewritten(rewritten),
        *run.notes,
    ]


def text_notes(texts: int, undivided: int) -> list[Message]:
    """Return notes on answers that are texts and stand for a record.

    Args:
        texts: how many they are.
        undivided: how many of them lack the page breaks of their ground truth.
    """
    notes = []
    if texts:
        notes.append(
            Message(
                "{count:,} answer is a text: it is compared with the text of the ground truth, and "
                "no other field is asked of it",
                plural="{count:,} answers are texts: they are compared with the text of the ground "
                "truth, and no other field is asked of them",
                count=texts,
            )
        )
    if undivided:
        notes.append(
            Message(
                "{count:,} text has no page break, and its ground truth several pages: all of it "
                "counts as the first page",
                plural="{count:,} texts have no page break, and their ground truths several pages: "
                "all of each counts as the first page",
                count=undivided,
            )
        )
    return notes


def reason_notes(reasons: Counter[str]) -> list[Message]:
    """Return a note on why items have no answer, the most frequent reasons first.

    Args:
        reasons: reason → the number of items.
    """
    if not reasons:
        return []
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(REASONS))
    more = ", …" if len(reasons) > REASONS else ""
    return [Message("why there is no answer: {reasons}", reasons=listed + more)]


def _without_truth(number: int) -> list[str]:
    """Return a note on the items that have no ground truth, if there are any."""
    if not number:
        return []
    if number == 1:
        return [Message("1 item has no ground truth, and cannot be scored")]
    return [Message("{count} items have no ground truth, and cannot be scored", count=number)]


def _empty_strata(result: Result) -> list[str]:
    """Return a note on strata of a sample without an item that is scored, if there are any."""
    sample = result.dataset.sample
    if sample is None or result.weighed is None or not result.weighed.empty:
        return []
    empty = result.weighed.empty
    return [
        Message(
            "strata of the sample without an item here: {count:,} of {strata:,}, with {of:,} of "
            "the {whole:,} items of the whole; the nearest strata stand for them",
            count=len(empty),
            strata=len(sample.strata),
            of=sum(part.of for part in empty),
            whole=sample.of,
        )
    ]


def _proposed(result: Result) -> list[str]:
    """Return a note on what the proposed corrections of ground truths change, if there are any."""
    if not result.other_errata:
        return []
    value, other = (
        scored.rates[result.headline] for scored in (result, result.under_other_errata())
    )
    return [
        Message(
            "proposed corrections of the ground truth count here, though the data's owners have "
            "not accepted them ({count} of {items} items): {headline} is {value:.4f}, and "
            "{other:.4f} without them"
            if result.dataset.errata
            else "proposed corrections of the ground truth do not count, as the data's owners have "
            "not accepted them ({count} of {items} items): {headline} is {value:.4f}, and "
            "{other:.4f} with them (--errata proposed)",
            count=len(result.other_errata),
            items=len(result.ids),
            headline=result.headline,
            value=value,
            other=other,
        )
    ]


def _rewritten(number: int) -> list[str]:
    """Return a note on the items with texts in another form that counts as equal, if any."""
    if not number:
        return []
    return [
        Message(
            "1 answer or its ground truth has characters in another form (accents apart from "
            "their letters, no-break spaces, …), which count as equal",
            plural="{count:,} answers or their ground truths have characters in another form "
            "(accents apart from their letters, no-break spaces, …), which count as equal",
            count=number,
        )
    ]


def _unseen(run: RunAnswers) -> list[str]:
    """Return a note on a run without media."""
    if run.info is None or not run.info.without_media:
        return []
    template = (
        "{place}: asked without media, with the prompt alone: what is right here is memory or "
        "chance, and is the floor beneath the model's score"
    )
    return [Message(template, place=RUN_FILE)]


def _own(run: RunAnswers) -> list[str]:
    """Return a note on a run on the user's own images, taken for the benchmark's."""
    if run.info is None or not run.info.own_images:
        return []
    own = Message(
        "{place}: a run over own images, taken for the items with the same ids", place=RUN_FILE
    )
    if not run.left_out:
        return [own]
    number, first = len(run.left_out), min(run.left_out)
    if number == 1:
        template = "{own}; 1 image is left out, because no item has the id (such as {first!r})"
    else:
        template = (
            "{own}; {count} images are left out, because no item has the id (such as {first!r})"
        )
    return [Message(template, own=own, count=number, first=first)]


def _not_asked(run: RunAnswers, asked: int) -> list[str]:
    """Return a note on the items that are not scored, if there are any."""
    if run.info is None or run.asked is None:
        return []
    left_out = sum(1 for _ in run.benchmark.ids()) - asked
    if not left_out:
        return []
    subset = run.info.subset
    how = Message(" ({how})", how=subset_in_words(subset)) if subset else ""
    if left_out == 1:
        template = "{place}: 1 item was not asked{how}, and is not scored"
    else:
        template = "{place}: {count} items were not asked{how}, and are not scored"
    return [Message(template, place=RUN_FILE, count=left_out, how=how)]
