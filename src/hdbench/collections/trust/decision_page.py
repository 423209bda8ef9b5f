"""The page of a decision: for the director who signs it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup, escape

from hdbench.benchmarks.benchmark import Benchmark
from hdbench.benchmarks.titles import Titles
from hdbench.collections.trust.decision import changed_since
from hdbench.collections.trust.decision_file import AcceptedField, Decision, WrongExample
from hdbench.collections.trust.learning import Expected
from hdbench.collections.trust.outcomes import StageReadings
from hdbench.collections.trust.outlook import Work
from hdbench.collections.trust.sentences import TEXTS as TRUST_TEXTS
from hdbench.collections.trust.sentences import counted, sentences, warning_in_words, worry
from hdbench.common.display.differences import TextPart, differences
from hdbench.common.pictures import ItemPicture, pictures
from hdbench.common.templates import shown
from hdbench.common.texts import time_in_words, translated
from hdbench.common.writing import write_whole
from hdbench.errors import HdbenchError
from hdbench.report.items import Value, cut
from hdbench.report.rendering import TEXTS, render

PICTURE_WIDTH = 384
"""Maximum width of an example's image, in pixels."""

MAX_TEXT = 1_000
"""Maximum characters of a sentence, a warning or a name."""

_NO_BREAK = "\N{NO-BREAK SPACE}"

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
        picture: the item's first image; None if the benchmark lacks the item, or has no images.
    """

    item: str
    field: str
    given: Value
    truth: Value | None
    outcome: str
    picture: ItemPicture | None


def check_page(path: Path) -> None:
    """Refuse a file name that is not a page's, so that no other file is replaced.

    Raises:
        HdbenchError: the name does not end in `.html`.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise HdbenchError("{place}: a page is HTML: give it a name that ends in .html", place=path)


def write_decision_page(
    path: Path, decision: Decision, work: Work, benchmark: Benchmark, language: str
) -> None:
    """Write the page of a decision: the whole file or nothing.

    Args:
        path: the file; its name ends in `.html`.
        decision: see `decision_page`, as for all others.
        work: the work that it leaves.
        benchmark: the items.
        language: the page's language.

    Raises:
        HdbenchError: it has another name, or cannot be written.
    """
    check_page(path)
    page = decision_page(decision, work, benchmark, language)
    write_whole(path, page.encode(errors="backslashreplace"))


def decision_page(
    decision: Decision, work: Work, benchmark: Benchmark, language: str = "en"
) -> str:
    """Return the page of a decision, in one file, without a script.

    It prints on two sides of A4, with a line to sign on. Everything untrusted is escaped.

    Args:
        decision: the decision.
        work: the work that it leaves.
        benchmark: the items, of which some images are shown.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`; English instead of
            a partial one.
    """
    titles = benchmark.field_titles(language)
    changed = changed_since(decision.plan, benchmark)
    first, *others = sentences(decision, work, language, titles)
    return render(
        "decision.html",
        language,
        decision=decision,
        computed=_computed(decision, language),
        first=_said(first),
        others=[_said(sentence) for sentence in others],
        worry=_said(worry(decision, language)),
        warnings=[
            *([_said(translated(changed, language))] if changed else []),
            *(_said(warning_in_words(warning, language, titles)) for warning in decision.warnings),
        ],
        work=work,
        time=time_in_words(work.hours, language),
        fields=list(_fields(decision, titles)),
        examples=list(_examples(decision, benchmark, titles)),
        method=_method(decision, language),
        wrong_share=decision.learned_wrong / max(1, decision.learned_from),
        several=len(decision.groups) > 1,
        listed=_listed,
        cut=cut,
    )


def _said(text: str) -> Markup:
    """Return a sentence as HTML; names in it are untrusted, its no-break spaces are not."""
    pieces = cut(text, MAX_TEXT).split(_NO_BREAK)
    return Markup("<bdi>{}</bdi>").format(escape(_NO_BREAK).join(shown(piece) for piece in pieces))


def _computed(decision: Decision, language: str) -> Markup:
    """Return when the figures were computed, and that showing them computes nothing."""
    tell = partial(TEXTS.text, language=language, version=decision.hdbench)
    return _said(f"{tell('computed', when=_day(decision.decided))} {tell('shows_figures')}")


def _day(moment: str) -> date | str:
    try:
        return datetime.fromisoformat(moment).date()
    except ValueError:
        return moment  # of a file that somebody has changed


def _listed(names: Sequence[str]) -> str:
    """Return names with commas between them, long ones shortened."""
    return ", ".join(cut(name, MAX_TEXT // 10) for name in names)


def _readers(decision: Decision) -> str:
    """Return who read how many values, those most of all first."""
    read = Counter(decision.first.readers) + Counter(decision.second.readers)
    return _listed([f"{name} ({number:,})" for name, number in read.most_common()])


def _fields(decision: Decision, titles: Titles) -> Iterator[AcceptedFieldRow]:
    for name, expected in decision.expected_by_field.items():
        yield AcceptedFieldRow(cut(titles(name)), decision.by_field.get(name), expected)


def _examples(decision: Decision, benchmark: Benchmark, titles: Titles) -> Iterator[ShownExample]:
    firsts = _pictures(decision, benchmark)
    for example in decision.examples:
        given, truth = _parts(example)
        yield ShownExample(
            cut(example.item),
            cut(titles(example.field)),
            given,
            truth,
            example.outcome,
            firsts.get(example.item),
        )


def _pictures(decision: Decision, benchmark: Benchmark) -> dict[str, ItemPicture]:
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


def _method(decision: Decision, language: str) -> dict[str, str]:
    """Return how the decision was made, by the name of its label."""
    tell = partial(TEXTS.text, language=language)

    def stage(readings: StageReadings) -> str:
        return tell("stage_of", count=len(readings.readers), **readings.model_dump())

    learned_from = "agreement" if len(decision.runs) > 1 else "alone"
    fields = len(decision.expected_by_field)
    values = {
        "method_benchmark": f"{decision.benchmark} {decision.benchmark_version}",
        "method_items": tell(
            "items_of", items=decision.items, values=decision.values, fields=fields
        ),
        "method_runs": _listed(decision.runs),
        "method_draw": tell("draw_of", count=decision.plans, seed=decision.seed),
        "method_readers": _readers(decision),
        "method_confidence": tell(f"confidence_{learned_from}"),
        "method_right": TRUST_TEXTS.text(counted(decision.right, decision.case), language),
        **({"method_source": decision.source} if decision.source else {}),
        "method_first": stage(decision.first),
        "method_second": stage(decision.second),
        "method_plan": f"{decision.plan_file}, {decision.created}",
        "method_decided": decision.decided,
        "method_plan_sha256": decision.plan,
        "method_learned_sha256": decision.learned,
        "method_readings_sha256": decision.readings_sha256,
        "method_hdbench": decision.hdbench,
    }
    return {label: cut(value, MAX_TEXT) for label, value in values.items()}
