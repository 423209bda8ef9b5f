"""The page of a decision by single values: for the director who signs it."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from hdbench.answers.titles import Titles
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.texts import written
from hdbench.common.thumbnails import ItemPicture, pictures
from hdbench.common.times import time_in_words
from hdbench.display.differences import TextPart, differences
from hdbench.output.report.decision_parts import MAX_TEXT, computed, listed, said
from hdbench.output.report.items import Value, cut
from hdbench.output.report.rendering import TEXTS, render
from hdbench.trust.forecasting.by_values import value_forecast
from hdbench.trust.learned.decision import AcceptedField, ValueDecision, WrongExample
from hdbench.trust.learned.learning import Expected, StageReadings
from hdbench.trust.value_words import value_sentences, worry
from hdbench.trust.words import TEXTS as TRUST_TEXTS
from hdbench.trust.words import warning_in_words

PICTURE_WIDTH = 384
"""Maximum width of an example's image, in pixels."""

MAX_VALUE = 300
"""Maximum characters of a value in an example."""


class AcceptedFieldRow(NamedTuple):
    """A field in the main table.

    Attributes:
        name: its title, or its path.
        accepted: its accepted values; None if there are none.
        expected: what was learned about all of its values.
    """

    name: str
    accepted: AcceptedField | None
    expected: Expected


class ShownExample(NamedTuple):
    """A wrong value as it is shown.

    Attributes:
        item: the item's id.
        field: the field's title, or its path.
        given: the value that the models gave.
        truth: what people read; None if they could not.
        outcome: what came of their reading.
        picture: the item's first image; None without a benchmark.
    """

    item: str
    field: str
    given: Value
    truth: Value | None
    outcome: str
    picture: ItemPicture | None


def value_decision_page(
    decision: ValueDecision,
    language: str = "en",
    source: str | None = None,
    *,
    benchmark: Benchmark | None = None,
    wage: float | None = None,
) -> str:
    """Return the page of a decision by single values, in one file, without a script.

    It prints on two sides of A4, with a line to sign on.

    Args:
        decision: the decision.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`; English instead of
            a partial one.
        source: the name of the file that the decision was read from; None if it was just computed.
        benchmark: the items, of which some images are shown; without it, there are none.
        wage: cost of an hour of a person.
    """
    work = value_forecast(decision, wage=wage)
    titles: Titles = benchmark.field_titles(language) if benchmark else str
    first, *others = value_sentences(decision, work, language, titles)
    return render(
        "value_decision.html",
        language,
        decision=decision,
        computed=computed(decision, language, source),
        first=said(first),
        others=[said(sentence) for sentence in others],
        worry=said(worry(decision, language)),
        warnings=[
            said(warning_in_words(warning, language, titles)) for warning in decision.warnings
        ],
        work=work,
        time=time_in_words(work.hours, language),
        cost=None if work.cost is None else written(work.cost, 0, language),
        fields=list(_fields(decision, titles)),
        signs=_signs(decision, language),
        examples=list(_examples(decision, benchmark, titles)),
        method=_method(decision, language),
        limits=_limits(decision),
        wrong_share=decision.learned_wrong / max(1, decision.learned_from),
        several=len(decision.groups) > 1,
        listed=listed,
        cut=cut,
    )


def _fields(decision: ValueDecision, titles: Titles) -> Iterator[AcceptedFieldRow]:
    for name, expected in decision.expected_by_field.items():
        yield AcceptedFieldRow(cut(titles(name)), decision.by_field.get(name), expected)


def _limits(decision: ValueDecision) -> list[tuple[float, int, bool]]:
    """Return limits, how many values they allow, and whether it is the limit that was planned."""
    others = [(other.limit, other.accepted, False) for other in decision.what_if]
    return sorted([*others, (decision.limit, decision.accepted, True)])


def _signs(decision: ValueDecision, language: str) -> dict[str, Expected]:
    """Return signs of trouble in words, those with the most wrong values first."""
    shown = [(expected.wrong, name) for name, expected in decision.expected_by_sign.items()]
    return {
        TRUST_TEXTS.text(f"sign_{name}", language): decision.expected_by_sign[name]
        for wrong, name in sorted(shown, reverse=True)
    }


def _examples(
    decision: ValueDecision, benchmark: Benchmark | None, titles: Titles
) -> Iterator[ShownExample]:
    shown = _pictures(decision, benchmark) if benchmark else {}
    for example in decision.examples:
        given, truth = _parts(example)
        yield ShownExample(
            cut(example.item),
            cut(titles(example.field)),
            given,
            truth,
            example.outcome,
            shown.get(example.item),
        )


def _pictures(decision: ValueDecision, benchmark: Benchmark) -> dict[str, ItemPicture]:
    """Return the first image of each example's item; none if the benchmark lacks the item."""
    media = benchmark.media({example.item for example in decision.examples})
    firsts = {item: files[0] for item, files in media.items() if files}
    return dict(zip(firsts, pictures(list(firsts.values()), width=PICTURE_WIDTH), strict=True))


def _parts(example: WrongExample) -> tuple[Value, Value | None]:
    given = example.value[:MAX_VALUE]
    if example.truth is None:
        return _value(_whole(given), example.value), None
    truth = example.truth[:MAX_VALUE]
    if given and truth:
        of_truth, of_given = differences(truth, given)
    else:
        of_truth, of_given = _whole(truth), _whole(given)
    return _value(of_given, example.value), _value(of_truth, example.truth)


def _whole(text: str) -> list[TextPart]:
    return [TextPart(text, differs=False)] if text else []


def _value(parts: list[TextPart], text: str) -> Value:
    return Value(parts, absent=False, more=max(0, len(text) - MAX_VALUE))


def _method(decision: ValueDecision, language: str) -> dict[str, str]:
    """Return how the decision was made, by the name of its label."""
    tell = partial(TEXTS.text, language=language)

    def stage(readings: StageReadings) -> str:
        return tell("stage_of", count=readings.people, **readings.model_dump())

    learned_from = "agreement" if len(decision.runs) > 1 else "alone"
    confidence = tell(f"confidence_{learned_from}")
    if decision.scores:
        confidence += "; " + tell("confidence_scores", file=decision.scores)
    fields = len(decision.expected_by_field)
    first = decision.first
    values = {
        "method_benchmark": f"{decision.benchmark} {decision.benchmark_version}",
        "method_items": tell(
            "items_of", items=decision.items, values=decision.values, fields=fields
        ),
        "method_runs": listed(decision.runs),
        "method_confidence": confidence,
        "method_right": tell(f"counted_{decision.right}"),
        **({"method_first": stage(first)} if first else {"method_source": decision.source or ""}),
        "method_second": stage(decision.second),
        "method_plan": f"{decision.plan_file}, {decision.created}",
        "method_decided": decision.decided,
        "method_plan_sha256": decision.plan,
        "method_learned_sha256": decision.learned,
        "method_readings_sha256": decision.readings_sha256,
        "method_hdbench": decision.hdbench,
    }
    return {label: cut(value, MAX_TEXT) for label, value in values.items()}
