"""A decision in sentences that a person can sign, in English or German."""

from pathlib import Path
from typing import Any

from hdbench.common.texts import Texts
from hdbench.statistics.acceptance import least_items
from hdbench.trust.deciding import RIGHTS
from hdbench.trust.decision import Decision, Outcome, Warned

_TEXTS = Texts(Path(__file__).with_name("translations"))


def sentences(decision: Decision, language: str = "en") -> list[str]:
    """What was decided, most important first.

    Args:
        decision: the decision.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """

    def text(key: str, **values: Any) -> str:
        return _TEXTS.text(key, language, **values)

    said = (
        _refused(decision, text)
        if decision.outcome is None
        else _taken(decision, decision.outcome, text)
    )
    if not decision.holds:
        said[0] = text("void") + said[0]
    return said


def warning_in_words(warned: Warned, language: str = "en") -> str:
    """A warning of a decision.

    Args:
        warned: the warning.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    values = {name: _shown(value, language) for name, value in warned.values.items()}
    return _TEXTS.text(warned.key, language, **values)


def _shown(value: Any, language: str) -> Any:
    return _TEXTS.text("nothing", language) if value is None else value


def _taken(decision: Decision, outcome: Outcome, text: Any) -> list[str]:
    counted = outcome.wrong[decision.right]
    of = len(outcome.fields) + len(decision.counting.left_out)
    every = len(outcome.fields) == of
    fields = text("all_fields") if every else text("some_fields", count=len(outcome.fields), of=of)
    other = next(right for right in RIGHTS if right != decision.right)
    beside = outcome.wrong[other]
    said = [
        text(
            "taken",
            items=decision.items,
            passing=outcome.passing_in_whole,
            values=outcome.of_whole,
            share=outcome.share,
            fields=fields,
            threshold=outcome.threshold,
            confidence=decision.confidence,
            limit=decision.limit,
            right=text(f"right_{decision.right}"),
        ),
        text(
            "measured",
            checked=decision.checked,
            passing=outcome.passing,
            wrong=counted.count,
            rate=counted.rate,
            upper=counted.upper,
            in_whole=counted.in_whole,
            at_most=counted.at_most_in_whole,
        ),
        text(
            "also",
            right=text(f"right_{other}"),
            wrong=beside.count,
            rate=beside.rate,
            upper=beside.upper,
            in_whole=beside.in_whole,
            at_most=beside.at_most_in_whole,
        ),
    ]
    if decision.verdict == "exact":
        last = [step for step in decision.counting.steps if step.accepted][-1]
        stake = 1 / (1 - decision.confidence)
        said.insert(1, text("by_exact", capital=last.bound, needed=stake))
    return said


def _refused(decision: Decision, text: Any) -> list[str]:
    said = text(
        "refused",
        confidence=decision.confidence,
        limit=decision.limit,
        right=text(f"right_{decision.right}"),
    )
    steps = decision.counting.steps
    if decision.best_bound is None or not steps:
        return [f"{said} {text('refused_fields')}"]
    first = steps[0]
    least = least_items(decision.limit, decision.confidence)
    if first.items < least:
        said += " " + text("refused_items", items=first.items, least=least)
    else:
        said += " " + text("refused_bound", best=decision.best_bound)
    if decision.needed is None:
        return [said, text("needed_none")]
    return [said, text("needed", needed=decision.needed)]
