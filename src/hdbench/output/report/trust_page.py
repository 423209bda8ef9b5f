"""The page of a decision: how much of a collection must be checked, and the evidence for it."""

import math
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from hdbench.answers.titles import Titles
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.jsonio import write_whole
from hdbench.common.texts import grouped
from hdbench.errors import HdbenchError
from hdbench.output.report.decision_parts import MAX_TEXT, computed, listed, said
from hdbench.output.report.items import cut
from hdbench.output.report.rendering import TEXTS, render
from hdbench.output.report.value_decision_page import value_decision_page
from hdbench.trust.checked import UNKNOWN
from hdbench.trust.deciding import AnyDecision
from hdbench.trust.decision import CurvePoint, Decision
from hdbench.trust.learned.decision import ValueDecision
from hdbench.trust.words import sentences, warning_in_words


class Edges(NamedTuple):
    """Ends of the axes, in percent of the picture's width and height.

    All places are in percent, so that on a phone the picture is narrower, but no letter smaller.
    """

    left: float = 13.0
    right: float = 93.0
    top: float = 8.0
    bottom: float = 91.0


EDGES = Edges()

_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_TICKS = 6

Kind = Literal["letter", "threshold", "bound"]
Verdict = Literal["passes", "fails", "not_tested"]


class Tick(NamedTuple):
    """A mark of an axis: where it is, in percent of the picture, and the share it stands for."""

    place: float
    share: float


class CurveDot(NamedTuple):
    """A threshold in the picture: where it is, in percent, and whether it passes."""

    x: float
    y: float
    passes: bool


class Chart(NamedTuple):
    """The curve as a picture.

    Attributes:
        lines: kind → its dots, from strict thresholds to loose ones.
        across: marks of the x axis, the share accepted automatically.
        upwards: marks of the y axis, the share that is wrong.
        limit: the height of the limit.
        chosen: how far to the right the chosen threshold is; None if nothing is accepted.
    """

    lines: dict[Kind, list[CurveDot]]
    across: list[Tick]
    upwards: list[Tick]
    limit: float
    chosen: float | None


def check_page(path: Path) -> None:
    """Refuse a file name that is not a page's, so that no other file is replaced.

    Raises:
        HdbenchError: the name does not end in `.html`.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise HdbenchError("{place}: a page is HTML: give it a name that ends in .html", place=path)


def write_decision_page(
    path: Path,
    decision: AnyDecision,
    language: str = "en",
    source: str | None = None,
    *,
    benchmark: Benchmark | None = None,
    wage: float | None = None,
) -> None:
    """Write the page of a decision of either kind: the whole file or nothing.

    Args:
        path: the file; its name ends in `.html`.
        decision: the decision.
        language: see `decision_page`.
        source: see `decision_page`.
        benchmark: see `value_decision_page`.
        wage: see `value_decision_page`.

    Raises:
        HdbenchError: it has another name, or cannot be written.
    """
    check_page(path)
    if isinstance(decision, ValueDecision):
        page = value_decision_page(decision, language, source, benchmark=benchmark, wage=wage)
    else:
        page = decision_page(decision, language, source, benchmark=benchmark)
    write_whole(path, page.encode(errors="backslashreplace"))


def decision_page(
    decision: Decision,
    language: str = "en",
    source: str | None = None,
    *,
    benchmark: Benchmark | None = None,
) -> str:
    """Return the page of a decision, in one file, without a script.

    The sentences come first, then what to know, the curve, the thresholds, the fields, and how all
    this was computed. Everything untrusted is escaped.

    Args:
        decision: the decision.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`; English instead of
            a partial one.
        source: the name of the file that the decision was read from; None if it was just computed.
        benchmark: the items, whose fields are called by their titles; without it, by their paths.
    """
    titles: Titles = benchmark.field_titles(language) if benchmark else str
    walk, outcome = decision.counting, decision.outcome
    points = [(point, _verdict(decision, point)) for point in decision.curve]
    values = decision.items * (len(walk.fields) + len(walk.left_out))
    accepted = outcome.passing_in_whole if outcome else 0
    return render(
        "decision.html",
        language,
        decision=decision,
        titles=titles,
        computed=computed(decision, language, source),
        sentences=[said(sentence) for sentence in sentences(decision, language)],
        warnings=[
            said(warning_in_words(warning, language, titles)) for warning in decision.warnings
        ],
        look=(values - accepted, values),
        must_look=_must_look(decision),
        chart=chart_of(decision) if decision.curve else None,
        edges=EDGES,
        tested=[entry for entry in points if entry[1] != "not_tested"],
        not_tested=[entry for entry in points if entry[1] == "not_tested"],
        method=_method(decision, language),
        cut=cut,
    )


def chart_of(decision: Decision) -> Chart:
    """Return the curve of a decision, which has at least one point."""
    curve, right = decision.curve, decision.right
    shares: dict[Kind, list[float]] = {
        "bound": [point.wrong[right].upper for point in curve],
        "threshold": [point.wrong["threshold"].rate for point in curve],
        "letter": [point.wrong["letter"].rate for point in curve],
    }
    passes = [_verdict(decision, point) == "passes" for point in curve]
    most = max(decision.limit, *(share for line in shares.values() for share in line))
    low = min(math.floor(curve[0].share * 10) / 10, 0.9)
    across, upwards = _marks(low, 1.0), _marks(0.0, most)

    def x(share: float) -> float:
        return EDGES.left + (EDGES.right - EDGES.left) * (share - across[0]) / (
            across[-1] - across[0]
        )

    def y(share: float) -> float:
        return EDGES.bottom - (EDGES.bottom - EDGES.top) * share / upwards[-1]

    outcome = decision.outcome
    return Chart(
        lines={
            kind: [
                CurveDot(x(point.share), y(share), passed)
                for point, share, passed in zip(curve, line, passes, strict=True)
            ]
            for kind, line in shares.items()
        },
        across=[Tick(x(share), share) for share in across],
        upwards=[Tick(y(share), share) for share in upwards],
        limit=y(decision.limit),
        chosen=x(outcome.share) if outcome else None,
    )


def _marks(low: float, high: float) -> list[float]:
    """Round shares, evenly spaced: the first at most the lowest, the last at least the highest."""
    for step in _STEPS:
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first < _MOST_TICKS:
            break
    return [number * step for number in range(first, last + 1)]


def _verdict(decision: Decision, point: CurvePoint) -> Verdict:
    """Return the verdict of the walk that counts on a threshold."""
    for step in decision.counting.steps:
        if step.threshold == point.threshold:
            return "passes" if step.accepted else "fails"
    return "not_tested"


def _must_look(decision: Decision) -> str:
    """Return the key of the text about the share that must be checked."""
    if decision.outcome is None:
        return "all_must_be_checked"
    return "some_must_be_checked" if decision.holds else "some_would_be_checked"


def _method(decision: Decision, language: str) -> dict[str, str]:
    """Return how the decision was made, by the name of its label."""
    tell = partial(TEXTS.text, language=language)
    provenance = [
        f"{tell('provenance_unknown') if kind == UNKNOWN else kind} ({grouped(number, language)})"
        for kind, number in decision.provenance.items()
    ]
    values = {
        "method_benchmark": f"{decision.benchmark} {decision.benchmark_version}",
        "method_sample": tell("sample_of", checked=decision.checked, items=decision.items),
        "method_runs": listed(decision.runs),
        "method_scores": decision.scores or tell("agreement"),
        "method_right": tell(f"counted_{decision.right}"),
        "method_verdict": tell(f"by_{decision.verdict}"),
        "method_provenance": listed(provenance),
        "method_plan": f"{decision.plan_file}, {decision.created}",
        "method_decided": decision.decided or tell("not_said"),
        "method_plan_sha256": decision.plan,
        "method_truths_sha256": decision.truths_sha256,
        "method_hdbench": decision.hdbench,
    }
    return {label: cut(value, MAX_TEXT) for label, value in values.items()}
