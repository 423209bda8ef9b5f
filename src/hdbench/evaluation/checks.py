"""Checks of a run, for what a person should know before believing its score."""

from collections.abc import Container, Iterable, Iterator
from itertools import islice
from typing import Any

from hdbench.answers.answer import KINDS
from hdbench.errors import escaped
from hdbench.evaluation.frequent import EXAMPLES, Frequent, Seen
from hdbench.evaluation.looks import Content, Looks, shown
from hdbench.evaluation.shared_fields import SharedFields
from hdbench.results.result import Result
from hdbench.results.warning_texts import Message, RunWarning, message
from hdbench.scoring.metric import Metric
from hdbench.scoring.person_names import read_name

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


class Checks:
    """Takes what was seen in a run's answers, in the dataset's order, and says what looks broken.

    Only counts and a few values are kept, so that a whole catalogue can be looked at.

    Args:
        metric: the metric that the run is scored with.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._seen = Looks()
        self._looked_at = self._records = self._counted = 0
        self._tokens = Frequent(1_000)
        self._answers = Frequent(2_000)
        self._values = Frequent(20_000)  # some thousand items with all their fields wrong
        self._types = Frequent(1_000)
        self._fields = SharedFields()

    def take(self, looks: Looks) -> None:
        """Take what was seen in some items, which follow those that were taken so far."""
        self._seen.count(looks)
        for item_id, tokens in looks.tokens:
            self._counted += 1
            self._tokens.add(tokens, item_id)
        for content in looks.contents:
            self._looked_at += 1
            self._add_content(content)
            self._fields.take(content.id, content.names)
            if content.is_record:
                self._records += 1
                self._add_fields(content)

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
        if apart := self._no_shared_field():  # explains why no record was found or is right
            return [apart, *(warning for warning in broken if warning.kind != "unparsable")]
        fields = self._wrong_fields(result, explained if organisations else {})
        return [*broken, *fields, *organisations]

    def _add_content(self, content: Content) -> None:
        for digest in content.digests:
            seen = self._answers.add(digest, content.id)
            if seen is None:
                continue
            if seen.count == 1:
                seen.truth = content.truth
            elif not seen.truths_differ:
                seen.truths_differ = self._differ(content.truth, seen.truth)
            if seen.count == FEW:
                seen.shown = shown(content.prediction, ANSWER_SHOWN)

    def _differ(self, *truths: dict[str, Any]) -> bool:
        """Return whether two ground truths differ in what is scored."""
        one, other = truths
        return one != other and bool(self.metric.prepare(one) != self.metric.prepare(other))

    def _add_fields(self, content: Content) -> None:
        for key in content.wrong:
            self._values.add(key, content.id)
        for name, value in content.unfit.items():
            seen = self._types.add(name, content.id)
            if seen is not None and not seen.shown:
                seen.shown = shown(value)

    def _coverage(self) -> Iterator[RunWarning]:
        unanswered, unparsable, truncated = (
            self._seen.status[status] for status in ("unanswered", "unparsable", "truncated")
        )
        items, answers = self._seen.items, self._seen.answered
        if unanswered.count > items * UNANSWERED_SHARE:
            text = message("partial", given=answers, items=items, count=unanswered.count)
            yield RunWarning("partial", text, unanswered.count, items, unanswered.ids)
        if unparsable.count > answers * UNPARSABLE_SHARE:
            text = message("unparsable", count=unparsable.count, given=answers)
            yield RunWarning("unparsable", text, unparsable.count, answers, unparsable.ids)
        for kind in filter(self._seen.kinds.__contains__, WARNED_OF):
            seen = self._seen.kinds[kind]
            text = message(f"no_record_{kind}", count=seen.count, given=answers)
            yield RunWarning("no_record", text, seen.count, answers, seen.ids)
        if several := self._seen.set_aside.count:
            text = message("several_records", count=several, given=answers)
            yield RunWarning("several_records", text, several, answers, self._seen.set_aside.ids)
        if truncated.count >= CUT_OFF and truncated.count > answers * TRUNCATED_SHARE:
            text = message("truncated", count=truncated.count, given=answers)
            yield RunWarning("truncated", text, truncated.count, answers, truncated.ids)
        for name, seen in self._seen.long_lists.items():
            text = message(
                "too_many_items",
                count=seen.count,
                given=answers,
                id=shown(seen.ids[0]),
                list=escaped(name),
                entries=self._seen.not_compared[name],
            )
            yield RunWarning("too_many_items", text, seen.count, answers, seen.ids)

    def _same_input_tokens(self) -> Iterator[RunWarning]:
        answers = self._counted
        for tokens, seen in self._tokens.most()[:1]:
            if seen.count >= TOKENS_ITEMS and seen.count >= answers * TOKENS_SHARE:
                text = message("same_input_tokens", tokens=tokens, count=seen.count, items=answers)
                yield RunWarning("same_input_tokens", text, seen.count, answers, seen.ids)

    def _repeated_answer(self) -> Iterator[RunWarning]:
        answers = self._looked_at
        for _, seen in self._answers.most():
            if seen.count >= FEW and seen.count > answers * REPEATED_SHARE and seen.truths_differ:
                text = message(
                    "repeated_answer",
                    count=seen.count,
                    answers=self._answers_seen(answers),
                    shown=seen.shown,
                )
                yield RunWarning("repeated_answer", text, seen.count, answers, seen.ids)
                return

    def _no_shared_field(self) -> RunWarning | None:
        answers = self._looked_at
        apart = self._fields.apart(answers)
        if apart is None:
            return None
        names = {"written": apart.written, "expected": apart.expected}
        text = message("no_shared_field", answers=self._answers_seen(answers), **names)
        return RunWarning("no_shared_field", text, apart.objects, answers, apart.ids)

    def _wrong_fields(self, result: Result, explained: Container[Any]) -> list[RunWarning]:
        """Return one warning per field, wrong values before types that are scored all the same.

        Names that another warning explains are skipped.
        """
        wrong: dict[str, tuple[str, Seen]] = {}
        for (name, value), seen in self._values.most():
            if self._is_often(seen) and not (
                name in self.metric.person_fields and value in explained
            ):
                wrong.setdefault(name, (shown(value), seen))
        unfit = {name: seen for name, seen in self._types.most() if self._is_often(seen)}
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

    def _answers_seen(self, number: int) -> Message:
        """Return the words for a number of answers, which tell if not all were looked at."""
        return message(
            "answers_looked_at" if self._looked_at < self._seen.answered else "answers",
            number=number,
        )

    def _is_often(self, seen: Seen) -> bool:
        return seen.count >= FEW and seen.count > self._records * FIELD_SHARE

    def _organisations(self) -> dict[str, None]:
        """Return the organizations and offices among the wrong persons, the most frequent first."""
        return {
            value: None
            for (name, value), _ in self._values.most()
            if name in self.metric.person_fields
            and isinstance(value, str)
            and read_name(value).is_organisation
        }


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


def _without(result: Result, name: str) -> Message | None:
    """Return the score with and without a field, if that can be told."""
    rates = result.metric.rates_without(result.population_totals, result.population_outcomes, name)
    if not rates:
        return None
    headline = next(iter(rates))
    score = result.rates[headline]
    return message("without", headline=headline, score=score, other=rates[headline])
