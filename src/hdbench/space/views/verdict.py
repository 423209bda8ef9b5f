"""What a comparison says: each pair's verdict in a sentence, and the figures behind it."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from string import ascii_uppercase

from markupsafe import Markup

from hdbench.common.texts import decimal
from hdbench.reading.titles import FieldTitles
from hdbench.report.items import cut
from hdbench.report.page import MAX_MESSAGE
from hdbench.results.result import Result
from hdbench.results.warning_texts import in_language
from hdbench.scoring.metric import higher_is_better
from hdbench.space.texts import text
from hdbench.space.views.summary import render
from hdbench.statistics.bootstrap import MIN_ITEMS
from hdbench.statistics.comparison import Comparison, FieldEffect

MAX_FIELDS = 10
"""How many fields are shown: those whose rates differ most."""

MAX_WARNINGS = 3
"""How many warnings of one run are shown."""


def comparison_page(
    runs: Mapping[str, Result],
    comparisons: Sequence[Comparison],
    language: str,
    titles: FieldTitles,
) -> str:
    """A comparison as HTML: untrusted text is escaped.

    Args:
        runs: name → result.
        comparisons: the comparison of each pair.
        language: the interface's language.
        titles: what people call the fields in it.
    """
    metric = next(iter(runs.values())).metric
    return render(
        "comparison.html",
        language,
        runs=runs,
        letters=dict(zip(runs, ascii_uppercase, strict=False)),
        comparisons=comparisons,
        verdict=lambda comparison: verdict(comparison, language),
        number=partial(_number, language=language),
        signed=partial(_signed, language=language),
        direction=lambda name: _direction(higher_is_better(metric, name), language),
        fields_apart=fields_apart,
        titles=titles,
        lost=any(result.answered < len(result.ids) for result in runs.values()),
        warnings={
            name: [in_language(each, language) for each in islice(found, MAX_WARNINGS)]
            for name, result in runs.items()
            if (found := result.reading.warnings)
        },
        cut=cut,
        most=MAX_MESSAGE,
        language=language,
    )


def verdict(comparison: Comparison, language: str) -> Markup:
    """What the paired test says about two runs, in one sentence; the better figure comes first.

    Args:
        comparison: the comparison of two runs, whose names are escaped here.
        language: one of `LANGUAGES`.
    """
    tested = comparison.figures[comparison.judged_by]
    ahead = tested.difference if comparison.higher_is_better else -tested.difference
    names = (comparison.a, comparison.b) if ahead >= 0 else (comparison.b, comparison.a)
    values = (tested.a, tested.b) if ahead >= 0 else (tested.b, tested.a)
    if tested.difference == 0 and not comparison.items_apart:
        kind = "compare_same"
    elif comparison.items < MIN_ITEMS:
        kind = "compare_few"
    else:
        kind = "compare_better" if comparison.separable else "compare_alike"
    a, b = (Markup("<b><bdi>{}</bdi></b>").format(name) for name in names)
    sentence = text(
        kind,
        language,
        a=a,
        b=b,
        headline=comparison.judged_by,
        value_a=_number(values[0], language),
        value_b=_number(values[1], language),
        direction=_direction(comparison.higher_is_better, language),
        difference=_number(abs(tested.difference), language),
        evidence=_evidence(comparison, language),
        items=comparison.items,
        least=MIN_ITEMS,
        detectable=_number(comparison.detectable or 0, language),
    )
    return Markup(sentence)  # noqa: S704  our own text; the names in it are escaped


def _evidence(comparison: Comparison, language: str) -> str:
    """The interval of the difference as it is reported, without its sign, and p."""
    tested = comparison.figures[comparison.judged_by]
    told = []
    if tested.interval is not None:
        ends = (tested.interval.low, tested.interval.high)
        low, high = (-ends[1], -ends[0]) if tested.difference < 0 else ends
        told.append(
            text(
                "compare_interval",
                language,
                low=_number(low, language),
                high=_number(high, language),
            )
        )
    p = comparison.p_holm
    shown = "p &lt; 0.001" if p < 0.001 else f"p = {p:.2g}"  # noqa: PLR2004  as is usual
    told.append(decimal(shown, language))
    if comparison.comparisons > 1:
        told[-1] += text("compare_corrected", language, pairs=comparison.comparisons)
    return "; ".join(told)


def fields_apart(comparison: Comparison) -> list[tuple[str, FieldEffect]]:
    """The fields whose rates differ, those that differ most first, at most `MAX_FIELDS`."""
    apart = [(name, effect) for name, effect in comparison.fields.items() if effect.difference]
    apart.sort(key=lambda field: -abs(field[1].difference or 0))
    return [(cut(name), effect) for name, effect in apart[:MAX_FIELDS]]


def _direction(higher: bool, language: str) -> str:
    return text("higher" if higher else "lower", language)


def _number(value: float, language: str = "en") -> str:
    """A figure, without a sign if it rounds to zero.

    Example:
        >>> _number(0.8444), _number(-0.01), _number(-0.0001)
        ('0.844', '−0.010', '0.000')
    """
    return decimal(f"{round(value, 3) + 0.0:.3f}".replace("-", "−"), language)


def _signed(value: float, language: str = "en") -> str:
    """A difference, always with its sign, unless it is zero.

    Example:
        >>> _signed(0.01), _signed(-0.01), _signed(0.0001)
        ('+0.010', '−0.010', '0.000')
    """
    number = _number(value, language)
    return f"+{number}" if round(value, 3) > 0 else number
