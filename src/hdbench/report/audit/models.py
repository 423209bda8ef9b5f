"""Models whose answers an audit asks: each model's best run, and only those of good models."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_high, median_low
from typing import Any

from hdbench.errors import Message
from hdbench.evaluation.result import Result

MAKERS = 3
"""Minimum number of makers: two may share their training data, or a habit."""

ANSWERED = 0.95
"""The minimum share of the items that a good run has answered."""

_MAKERS = {"genai": "google", "mistralai": "mistral"}
"""Provider → maker, where a provider goes by another name."""


@dataclass(frozen=True)
class AskedRun:
    """A run, and whether the audit uses it.

    Attributes:
        name: the run's name.
        model: the model that answered.
        maker: who made the model.
        figure: the headline.
        answered: the number of items with an answer.
        good: whether the audit uses it.
        why_not: the reason if it does not.
    """

    name: str
    model: str
    maker: str
    figure: float
    answered: int
    good: bool
    why_not: Message | None


def maker_of(run: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return a run's maker and model.

    For a model `maker/model`, as OpenRouter names them, the part before the slash; otherwise the
    provider, as most providers offer what they make themselves; otherwise the model, or the run.

    Args:
        run: the run's description of itself.
        name: the run's name.

    Example:
        >>> maker_of({"provider": "openrouter", "model": "meta-llama/llama-4-maverick"}, "T0252")
        ('meta-llama', 'llama-4-maverick')
        >>> maker_of({"provider": "genai", "model": "gemini-2.0-flash"}, "T0151")
        ('google', 'gemini-2.0-flash')
        >>> maker_of({}, "answers")
        ('answers', 'answers')
    """
    full = str(run.get("model") or name)
    before, slash, model = full.partition("/")
    if not (slash and before and model):
        before, model = str(run.get("provider") or full), full
    before = before.casefold()
    return _MAKERS.get(before, before), model


def is_witness(result: Result) -> bool:
    """Return whether a run can witness against a ground truth: its model saw the items."""
    return not result.run.without_media


def ask(runs: Mapping[str, Result]) -> list[AskedRun]:
    """Return the runs, each marked as good or with the reason why not, the best first.

    The best run of a model by the headline stands for the model, so a model that was run three
    times has one vote; in a tie, the first. Such a run is good if the headline is in the upper half
    (at least the median of the models' best; with an even number, the lower of the middle two) and
    `ANSWERED` of the items have an answer. The half is taken among the given models, since what
    can be reached differs between benchmarks. As long as the good runs are by fewer than `MAKERS`
    makers, the best of each other maker is good too: of three models by three makers, all are.

    Args:
        runs: name → result, with the same items and the same headline.
    """
    first = next(iter(runs.values()))
    up = first.higher_is_better
    figures = {name: float(result.rates[first.headline]) for name, result in runs.items()}
    makers = {
        name: maker_of(
            {"model": result.run.model or result.model, "provider": result.run.provider}, name
        )
        for name, result in runs.items()
    }
    ordered = sorted(runs, key=lambda name: -figures[name] if up else figures[name])
    best: dict[tuple[str, str], str] = {}
    for name in ordered:
        best.setdefault(makers[name], name)
    middle = (median_low if up else median_high)([figures[name] for name in best.values()])

    all_runs: list[AskedRun] = []
    for name in ordered:
        result, (maker, model) = runs[name], makers[name]
        so_far = {run.maker for run in all_runs if run.good}
        is_needed = len(so_far) < MAKERS and maker not in so_far
        is_low = figures[name] < middle if up else figures[name] > middle
        why_not = None
        if best[maker, model] != name:
            why_not = Message("a repeated run; the best one is {best}", best=best[maker, model])
        elif is_low and not is_needed:
            why_not = Message("in the lower half")
        elif result.answered < ANSWERED * len(result.ids):
            why_not = Message(
                "answered {answered} of {count}", answered=result.answered, count=len(result.ids)
            )
        good = why_not is None
        all_runs.append(AskedRun(name, model, maker, figures[name], result.answered, good, why_not))
    return all_runs
