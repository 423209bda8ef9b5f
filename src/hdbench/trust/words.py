"""A decision in sentences that a person can sign, in English or German."""

from functools import partial
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.answers.titles import Titles
from hdbench.common.texts import Texts
from hdbench.errors import HdbenchError
from hdbench.statistics.acceptance import least_items
from hdbench.trust.checked import UNKNOWN
from hdbench.trust.control import Controlled
from hdbench.trust.decision import Decision, Outcome, Warned, Wrong
from hdbench.trust.learned.decision import ValueDecision
from hdbench.trust.plan import RIGHTS, Right

TEXTS = Texts(Path(__file__).with_name("texts"))
"""The texts of decisions, control samples and forecasts."""


def sentences(decision: Decision, language: str = "en") -> list[str]:
    """Return a decision in sentences, the most important first.

    Args:
        decision: the decision.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    text = partial(TEXTS.text, language=language)
    paragraphs = (
        _refused(decision, text)
        if decision.outcome is None
        else _taken(decision, decision.outcome, text)
    )
    if not decision.holds:
        paragraphs[0] = text("void") + paragraphs[0]
    return paragraphs


def control_sentences(controlled: Controlled, language: str = "en") -> list[str]:
    """Return the findings of a control sample in sentences, the most important first.

    Args:
        controlled: the findings.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    text = partial(TEXTS.text, language=language)
    if controlled.unit == "value":
        return _of_values(controlled, text)

    counted = partial(_counted_in, controlled, text, controlled.taken)
    verdict = "control_holds" if controlled.holds else "control_open"
    other = next(right for right in RIGHTS if right != controlled.right)
    sentences = [
        counted("control", controlled.right),
        text(verdict, limit=controlled.limit),
        counted("control_also", other),
        text("control_means", confidence=controlled.confidence),
    ]
    if not controlled.sealed:
        sentences.append(text("control_not_sealed"))
    return sentences + [
        text(
            "not_blind",
            number=number,
            items=controlled.items,
            how=text("unknown") if how == UNKNOWN else how,
        )
        for how, number in sorted(controlled.not_blind.items())
    ]


def _counted_in(controlled: Controlled, text: Any, population: int, key: str, right: Right) -> str:
    """Return a sentence about wrong values in a control sample, and among those it stands for."""
    wrong = controlled.wrong[right]
    sentence: str = text(
        key,
        items=controlled.items,
        of=controlled.of,
        values=controlled.values,
        count=wrong.count,
        right=text(f"right_{right}"),
        rate=wrong.rate,
        upper=wrong.upper,
        confidence=controlled.confidence,
        taken=controlled.taken,
        in_whole=round(wrong.rate * population),
        at_most=round(wrong.upper * population),
    )
    return sentence


def _of_values(controlled: Controlled, text: Any) -> list[str]:
    """Return the findings of a control sample of single values."""
    others = controlled.of - controlled.values

    counted = partial(_counted_in, controlled, text, others)
    other = next(right for right in RIGHTS if right != controlled.right)
    if controlled.holds:
        verdict = "value_control_holds"
    elif controlled.wrong[controlled.right].rate > controlled.limit:
        verdict = "value_control_missed"
    else:
        verdict = "value_control_open"
    lines = [
        counted("value_control", controlled.right),
        text(verdict, limit=controlled.limit),
        counted("value_control_also", other),
    ]
    readings = controlled.readings
    if readings and (readings.unreadable or readings.damaged or readings.unsettled):
        lines.append(text("value_control_unread", **readings.model_dump()))
    return lines


def warning_in_words(warned: Warned, language: str = "en", titles: Titles = str) -> str:
    """Return a warning of a decision.

    Args:
        warned: the warning.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.

    Raises:
        HdbenchError: this version does not have such a warning.
    """
    try:
        values = {
            name: _shown(name, value, language, titles if name == "fields" else str)
            for name, value in warned.values.items()
        }
        return TEXTS.text(warned.key, language, **values)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise HdbenchError(
            "warnings: {key!r} is unknown, or has other values here: was it written by a newer "
            "hdbench than {version}?",
            key=warned.key[:50],
            version=__version__,
        ) from error


def _shown(name: str, value: Any, language: str, titles: Titles) -> Any:
    if isinstance(value, list):
        return ", ".join(
            TEXTS.text(f"each_{name}", language, **values | {"name": titles(values["name"])})
            for values in value
        )
    return TEXTS.text("unknown", language) if value is None else value


def _taken(decision: Decision, outcome: Outcome, text: Any) -> list[str]:
    count, left_out = len(outcome.fields), len(decision.counting.left_out)
    fields = (
        text("some_fields", count=count, of=count + left_out) if left_out else text("all_fields")
    )
    other = next(right for right in RIGHTS if right != decision.right)
    terms = promised(decision, text)
    paragraphs = [
        text(
            "taken",
            items=decision.items,
            passing=outcome.passing_in_whole,
            values=outcome.of_whole,
            share=outcome.share,
            fields=fields,
            threshold=outcome.threshold,
            at_most=text(f"at_most_{decision.verdict}", **terms),
        ),
        text(
            "measured",
            checked=decision.checked,
            passing=outcome.passing,
            **_counted(outcome.wrong[decision.right]),
        ),
        text(
            "also",
            right=text(f"right_{other}"),
            **_counted(outcome.wrong[other]),
        ),
    ]
    if decision.verdict == "rule":
        paragraphs.append(text("rule_means", confidence=decision.confidence))
    if decision.scores is not None:
        paragraphs.append(text("scores", path=decision.scores))
    if decision.verdict == "exact":
        paragraphs.append(text("by_exact", needed=1 / (1 - decision.confidence)))
    return paragraphs


def _counted(wrong: Wrong) -> dict[str, Any]:
    """Return the figures for texts about wrong values."""
    figures = wrong.model_dump()
    return figures | {"wrong": wrong.count, "at_most": wrong.at_most_in_whole}


def promised(decision: Decision | ValueDecision, text: Any) -> dict[str, Any]:
    """Return the terms of a promise, by their names in the texts."""
    """Return the values that the texts about the limit share."""
    return {
        "confidence": decision.confidence,
        "limit": 100 * decision.limit,
        "right": text(f"right_{decision.right}"),
    }


def _refused(decision: Decision, text: Any) -> list[str]:
    refusal = text(f"refused_{decision.verdict}", **promised(decision, text))
    if not decision.counting.steps:
        return [f"{refusal} {text('refused_fields')}"]
    first = decision.counting.steps[0]
    least = least_items(decision.limit, decision.confidence)
    if first.items < least:
        why = text("refused_items", items=first.items, least=least)
    elif decision.verdict == "exact":
        needed = 1 / (1 - decision.confidence)
        why = text("refused_capital", capital=first.bound, needed=needed)
    else:
        why = text("refused_bound", bound=above_limit(first.bound, decision.limit))
    if decision.needed is None:
        return [f"{refusal} {why}", text("needed_none")]
    return [f"{refusal} {why}", text("needed", needed=decision.needed)]


def above_limit(bound: float, limit: float) -> float:
    """Return a bound in percent, with as many decimals as show that it is above the limit.

    Example:
        >>> above_limit(0.0623, 0.05), above_limit(0.050006, 0.05)
        (6.2, 5.001)
    """
    digits = 1
    while round(100 * bound, digits) <= 100 * limit < 100 * bound:
        digits += 1
    return round(100 * bound, digits)
