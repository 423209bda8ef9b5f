"""A decision in sentences that a person can sign, in English or German."""

from functools import partial
from pathlib import Path
from typing import Any

from hdbench import __version__
from hdbench.common.texts import Texts
from hdbench.errors import HdbenchError
from hdbench.statistics.acceptance import least_items
from hdbench.trust.checked import UNKNOWN
from hdbench.trust.control import Controlled
from hdbench.trust.decision import Decision, Outcome, Warned, Wrong
from hdbench.trust.plan import RIGHTS, Right

_TEXTS = Texts(Path(__file__).with_name("translations"))


def sentences(decision: Decision, language: str = "en") -> list[str]:
    """Return what was decided, most important first.

    Args:
        decision: the decision.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    text = partial(_TEXTS.text, language=language)
    said = (
        _refused(decision, text)
        if decision.outcome is None
        else _taken(decision, decision.outcome, text)
    )
    if not decision.holds:
        said[0] = text("void") + said[0]
    return said


def control_sentences(found: Controlled, language: str = "en") -> list[str]:
    """Return what a control sample says, most important first.

    Args:
        found: what was counted.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    text = partial(_TEXTS.text, language=language)

    def counted(key: str, right: Right) -> str:
        each = found.wrong[right]
        return text(
            key,
            items=found.items,
            of=found.of,
            values=found.values,
            wrong=each.count,
            right=text(f"right_{right}"),
            rate=each.rate,
            upper=each.upper,
            taken=found.taken,
            in_whole=round(each.rate * found.taken),
            at_most=round(each.upper * found.taken),
        )

    said = "control_holds" if found.holds else "control_open"
    other = next(right for right in RIGHTS if right != found.right)
    sentences = [
        counted("control", found.right),
        text(said, limit=found.limit),
        counted("control_also", other),
        text("control_means", confidence=found.confidence),
    ]
    if not found.sealed:
        sentences.append(text("control_not_sealed"))
    return sentences + [
        text(
            "not_blind",
            number=number,
            items=found.items,
            how=text("unknown") if how == UNKNOWN else how,
        )
        for how, number in sorted(found.not_blind.items())
    ]


def warning_in_words(warned: Warned, language: str = "en") -> str:
    """Return a warning of a decision.

    Args:
        warned: the warning.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Raises:
        HdbenchError: it is none that this version knows.
    """
    try:
        values = {name: _shown(name, value, language) for name, value in warned.values.items()}
        return _TEXTS.text(warned.key, language, **values)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise HdbenchError(
            "warnings: {key!r} is unknown, or has other values here: was it written by a newer "
            "hdbench than {version}?",
            key=warned.key[:50],
            version=__version__,
        ) from error


def _shown(name: str, value: Any, language: str) -> Any:
    if isinstance(value, list):
        return ", ".join(_TEXTS.text(f"each_{name}", language, **each) for each in value)
    return _TEXTS.text("unknown", language) if value is None else value


def _taken(decision: Decision, outcome: Outcome, text: Any) -> list[str]:
    of = len(outcome.fields) + len(decision.counting.left_out)
    every = len(outcome.fields) == of
    fields = text("all_fields") if every else text("some_fields", count=len(outcome.fields), of=of)
    other = next(right for right in RIGHTS if right != decision.right)
    promised = _promised(decision, text)
    said = [
        text(
            "taken",
            items=decision.items,
            passing=outcome.passing_in_whole,
            values=outcome.of_whole,
            share=outcome.share,
            fields=fields,
            threshold=outcome.threshold,
            at_most=text(f"at_most_{decision.verdict}", **promised),
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
        said.append(text("rule_means", confidence=decision.confidence))
    if decision.scores is not None:
        said.append(text("scores", path=decision.scores))
    if decision.verdict == "exact":
        said.append(text("by_exact", needed=1 / (1 - decision.confidence)))
    return said


def _counted(wrong: Wrong) -> dict[str, Any]:
    """Return the figures of texts about wrong values."""
    figures = wrong.model_dump()
    return figures | {"wrong": wrong.count, "at_most": wrong.at_most_in_whole}


def _promised(decision: Decision, text: Any) -> dict[str, Any]:
    """Return what the texts about the limit have in common."""
    return {
        "confidence": decision.confidence,
        "limit": 100 * decision.limit,
        "right": text(f"right_{decision.right}"),
    }


def _refused(decision: Decision, text: Any) -> list[str]:
    said = text(f"refused_{decision.verdict}", **_promised(decision, text))
    if not decision.counting.steps:
        return [f"{said} {text('refused_fields')}"]
    first = decision.counting.steps[0]
    least = least_items(decision.limit, decision.confidence)
    if first.items < least:
        why = text("refused_items", items=first.items, least=least)
    elif decision.verdict == "exact":
        needed = 1 / (1 - decision.confidence)
        why = text("refused_capital", capital=first.bound, needed=needed)
    else:
        why = text("refused_bound", bound=_above(first.bound, decision.limit))
    if decision.needed is None:
        return [f"{said} {why}", text("needed_none")]
    return [f"{said} {why}", text("needed", needed=decision.needed)]


def _above(bound: float, limit: float) -> float:
    """Return a bound in percent, with as many decimals as show that it is above the limit.

    Example:
        >>> _above(0.0623, 0.05), _above(0.050006, 0.05)
        (6.2, 5.001)
    """
    digits = 1
    while round(100 * bound, digits) <= 100 * limit < 100 * bound:
        digits += 1
    return round(100 * bound, digits)
