"""A decision and a control sample in sentences, for people who do not know statistics."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from hdbench.about import __version__
from hdbench.benchmarks.titles import Titles
from hdbench.collections.trust.control import Controlled
from hdbench.collections.trust.cuts import values_needed
from hdbench.collections.trust.decision_file import Decision, GroupDecision, ReadCut, Warned
from hdbench.collections.trust.outlook import Work
from hdbench.collections.trust.plan import RIGHTS, Right
from hdbench.common.texts import Texts, time_in_words
from hdbench.common.value_text import Case
from hdbench.errors import HdbenchError

TEXTS = Texts(Path(__file__).with_name("texts"))
"""The texts of decisions and control samples."""

GOOD = 0.5
"""The part of the limit up to which the share of wrong values that was found needs no worry."""

WORSE = 2.0
"""How many times the average share of wrong values a field has that had better be left out."""

MOST_WORSE = 3
"""Number of fields at most that are named to be left out."""


def counted(right: Right, case: Case) -> str:
    """Return the key of the text that says how wrong values are counted."""
    return f"right_{right}" if right == "threshold" else f"right_{right}_case_{case}"


def sentences(
    decision: Decision, work: Work, language: str = "en", titles: Titles = str
) -> list[str]:
    """Return a decision in sentences, the most important first.

    Args:
        decision: the decision.
        work: the work that it leaves.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.
    """
    text = partial(TEXTS.text, language=language)
    if decision.accepted:
        lines = _accepted(decision, text, titles)
    else:
        lines = _nothing(decision, text, titles)
    lines += _work(decision, work, language)
    return lines


def _work_left(work: Work, language: str) -> str:
    """Return what a decision leaves to do, in a sentence or two."""
    text = partial(TEXTS.text, language=language)
    pace = "measured" if work.measured else "assumed"
    sentence: str = text(
        "look",
        look=work.to_look_at,
        time=time_in_words(work.hours, language),
        seconds=work.seconds_per_value,
        pace=text(f"pace_{pace}"),
        correct=work.to_correct,
    )
    return sentence


def worry(decision: Decision, language: str = "en") -> str:
    """Return whether the reader has to worry, in a sentence or two; warnings follow it."""
    text = partial(TEXTS.text, language=language)
    points = text("worry_points" if decision.warnings else "worry_no_points")
    if not decision.accepted:
        return f"{text('worry_none')} {points}"
    rate = decision.wrong[decision.right].rate
    upper = max(cut.upper for group in decision.groups if (cut := group.chosen))
    key = "worry_good" if rate < GOOD * decision.limit else "worry_near"
    return f"{text(key, rate=rate, limit=100 * decision.limit, upper=upper)} {points}"


def _accepted(decision: Decision, text: Any, titles: Titles) -> list[str]:
    other = next(right for right in RIGHTS if right != decision.right)
    case = decision.case
    each = "_each" if decision.each_field else ""
    fields = ", ".join(map(titles, decision.by_field))
    promise = text(f"promise{each}", fields=fields, **_promised(decision, text))
    measured = decision.wrong[decision.right]
    return [
        text(
            "accepted",
            accepted=decision.accepted,
            values=decision.values,
            items=decision.items,
            share=decision.accepted / decision.values,
            promise=promise,
        ),
        text("remain", expected=measured.expected, at_most=measured.at_most),
        text(
            "measured",
            read=sum(cut.read for group in decision.groups if (cut := group.chosen)),
            count=measured.count,
            rate=measured.rate,
        )
        + " "
        + text(
            "also",
            right=text(counted(other, case)),
            count=decision.wrong[other].count,
            rate=decision.wrong[other].rate,
        ),
    ]


def _work(decision: Decision, work: Work, language: str) -> list[str]:
    text = partial(TEXTS.text, language=language)
    lines = [_work_left(work, language), text("read", read=decision.read)]
    if decision.runs_usd is not None:
        lines.append(text("runs_cost", usd=decision.runs_usd))
    if decision.tries > 1:
        lines.append(text("tries", tries=decision.tries, confidence=decision.confidence))
    return lines


def _nothing(decision: Decision, text: Any, titles: Titles) -> list[str]:
    """Return that nothing is accepted, why, and what would help."""
    group, cut = _closest(decision)
    why = text("none_unread")
    if cut.read:
        why = text(
            "none_why",
            read=cut.read,
            count=cut.wrong[decision.right],
            rate=cut.wrong[decision.right] / cut.read,
            upper=_above_limit(cut.upper, decision.limit),
        )
    if decision.each_field:
        closest = ", ".join(map(titles, group.fields))
        why = f"{text('none_field', field=closest)} {why}"
    lines = [text("none", **_promised(decision, text)), why]
    return [*lines, *_what_would_help(decision, text, titles)]


def _what_would_help(decision: Decision, text: Any, titles: Titles) -> Iterator[str]:
    """Yield what would help where nothing is accepted, the surest first."""
    _, cut = _closest(decision)
    needed = _needed(decision, cut)
    if needed is not None:
        yield text("help_more", needed=needed)
    elif cut.read:
        is_good = cut.wrong[decision.right] < decision.limit * cut.read
        yield text("help_small" if is_good else "help_no_more")
    if decision.each_field:
        yield text("help_each")
    if len(decision.runs) == 1:
        yield text("help_run")
    bad = [
        name
        for name, expected in decision.expected_by_field.items()
        if expected.wrong > WORSE * decision.expected.wrong
    ]
    if bad:
        bad.sort(key=lambda name: -decision.expected_by_field[name].wrong)
        yield text("help_fields", fields=", ".join(map(titles, bad[:MOST_WORSE])))
    if decision.tries == 1:
        yield text("help_once")
    else:
        yield text("help_again", tries=decision.tries, plan=decision.plan_file)


def _closest(decision: Decision) -> tuple[GroupDecision, ReadCut]:
    """Return the strictest cut that comes closest to the limit, and its fields."""
    firsts = [(group, group.cuts[0]) for group in decision.groups]
    return min(firsts, key=lambda first: (not first[1].read, first[1].upper))


def _needed(decision: Decision, cut: ReadCut) -> int | None:
    """Return how many values to verify would most likely have been enough; None if none would.

    A larger sample has more of the surest values in the same proportion, and of these as many are
    taken to be wrong as were found.
    """
    if not cut.read:
        return None
    wrong = cut.wrong[decision.right] / cut.read
    if wrong >= decision.limit:
        return None
    risk = (1 - Fraction(str(decision.confidence))) / decision.tries / len(decision.groups)
    at_cut = values_needed(wrong, decision.limit, risk)
    if at_cut is None:
        return None
    needed = 10 * round(at_cut / cut.read * decision.second.values / 10)
    return needed if at_cut < cut.unread and needed > decision.second.values else None


def control_sentences(controlled: Controlled, language: str = "en") -> list[str]:
    """Return the findings of a control sample in sentences, the most important first.

    Args:
        controlled: the findings.
        language: one of `hdbench.common.texts.LANGUAGES`.
    """
    text = partial(TEXTS.text, language=language)
    other = next(right for right in RIGHTS if right != controlled.right)
    if controlled.holds:
        verdict = "control_holds"
    elif controlled.wrong[controlled.right].rate > controlled.limit:
        verdict = "control_missed"
    else:
        verdict = "control_open"
    lines = [
        _counted_in(controlled, text, "control", controlled.right),
        text(verdict, limit=controlled.limit),
        _counted_in(controlled, text, "control_also", other),
    ]
    readings = controlled.readings
    if readings.unreadable or readings.damaged or readings.unsettled:
        lines.append(text("control_unread", **readings.model_dump()))
    return lines


def _counted_in(controlled: Controlled, text: Any, key: str, right: Right) -> str:
    """Return a sentence about wrong values in a control sample, and among those it stands for."""
    wrong, others = controlled.wrong[right], controlled.of - controlled.values
    sentence: str = text(
        key,
        of=controlled.of,
        values=controlled.values,
        count=wrong.count,
        right=text(counted(right, controlled.case)),
        rate=wrong.rate,
        upper=wrong.upper,
        confidence=controlled.confidence,
        in_whole=round(wrong.rate * others),
        at_most=round(wrong.upper * others),
    )
    return sentence


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
    return value


def _promised(decision: Decision, text: Any) -> dict[str, Any]:
    """Return the values that the texts about the limit share."""
    return {
        "confidence": decision.confidence,
        "limit": 100 * decision.limit,
        "right": text(counted(decision.right, decision.case)),
    }


def _above_limit(bound: float, limit: float) -> float:
    """Return a bound in percent, with as many decimals as show that it is above the limit.

    Example:
        >>> _above_limit(0.0623, 0.05), _above_limit(0.050006, 0.05)
        (6.2, 5.001)
    """
    digits = 1
    while round(100 * bound, digits) <= 100 * limit < 100 * bound:
        digits += 1
    return round(100 * bound, digits)
