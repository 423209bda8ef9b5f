"""A decision by single values, in sentences for people who do not know statistics."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from hdbench.answers.titles import Titles
from hdbench.common.times import time_in_words
from hdbench.trust.forecasting.by_values import ValueForecast
from hdbench.trust.learned.cuts import values_needed
from hdbench.trust.learned.decision import GroupDecision, ReadCut, ValueDecision
from hdbench.trust.plan import RIGHTS
from hdbench.trust.words import TEXTS, above_limit, promised

GOOD = 0.5
"""The part of the limit up to which the share of wrong values that was found needs no worry."""

WORSE = 2.0
"""How many times the average share of wrong values a field has that had better be left out."""

MOST_WORSE = 3
"""Number of fields at most that are named to be left out."""


def value_sentences(
    decision: ValueDecision, work: ValueForecast, language: str = "en", titles: Titles = str
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
        lines = _accepted(decision, work, text, titles)
    else:
        lines = _nothing(decision, text, titles)
    lines += _work(decision, work, language)
    if not decision.holds:
        lines[0] = text("void") + lines[0]
    return lines


def work_left(work: ValueForecast, language: str = "en") -> str:
    """Return what a decision leaves to do, in a sentence or two.

    Args:
        work: the work.
        language: see `value_sentences`.
    """
    text = partial(TEXTS.text, language=language)
    pace = "measured" if work.measured else "given" if work.given else "assumed"
    look = text(
        "value_look",
        look=work.to_look_at,
        time=time_in_words(work.hours, language),
        seconds=work.seconds_per_value,
        pace=text(f"value_pace_{pace}"),
        correct=work.to_correct,
    )
    return look if work.cost is None else f"{look} {text('value_costs', cost=work.cost)}"


def forecast_sentences(work: ValueForecast, language: str = "en") -> list[str]:
    """Return all of a forecast in sentences, the most important first.

    Args:
        work: the forecast.
        language: see `value_sentences`.
    """
    text = partial(TEXTS.text, language=language)
    accepted = text(
        "value_forecast",
        accepted=work.accepted,
        values=work.values,
        share=work.accepted / work.values,
    )
    lines = [
        work_left(work, language),
        accepted,
        text("value_read", read=work.read),
    ]
    if work.accepted:
        lines.append(text("value_remain", expected=work.wrong_expected, at_most=work.wrong_at_most))
    if not work.holds:
        lines[0] = text("void") + lines[0]
    return lines


def worry(decision: ValueDecision, language: str = "en") -> str:
    """Return whether the reader has to worry, in a sentence or two; warnings follow it."""
    text = partial(TEXTS.text, language=language)
    points = text("worry_points" if decision.warnings else "worry_no_points")
    if not decision.holds:
        return text("worry_void")
    if not decision.accepted:
        return f"{text('worry_none')} {points}"
    rate = decision.wrong[decision.right].rate
    upper = max(cut.upper for group in decision.groups if (cut := group.chosen))
    key = "worry_good" if rate < GOOD * decision.limit else "worry_near"
    return f"{text(key, rate=rate, limit=100 * decision.limit, upper=upper)} {points}"


def _accepted(decision: ValueDecision, work: ValueForecast, text: Any, titles: Titles) -> list[str]:
    other = next(right for right in RIGHTS if right != decision.right)
    each = "_each" if decision.each_field else ""
    fields = ", ".join(map(titles, decision.by_field))
    promise = text(f"value_promise{each}", fields=fields, **promised(decision, text))
    measured = decision.wrong[decision.right]
    return [
        text(
            "value_accepted",
            accepted=decision.accepted,
            values=decision.values,
            items=decision.items,
            share=decision.accepted / decision.values,
            promise=promise,
        ),
        text("value_remain", expected=work.wrong_expected, at_most=work.wrong_at_most),
        text(
            "value_measured",
            read=sum(cut.read for group in decision.groups if (cut := group.chosen)),
            count=measured.count,
            rate=measured.rate,
        )
        + " "
        + text(
            "value_also",
            right=text(f"right_{other}"),
            count=decision.wrong[other].count,
            rate=decision.wrong[other].rate,
        ),
    ]


def _work(decision: ValueDecision, work: ValueForecast, language: str) -> list[str]:
    text = partial(TEXTS.text, language=language)
    lines = [work_left(work, language), text("value_read", read=decision.read)]
    if decision.tries > 1:
        lines.append(text("value_tries", tries=decision.tries, confidence=decision.confidence))
    return lines


def _nothing(decision: ValueDecision, text: Any, titles: Titles) -> list[str]:
    """Return that nothing is accepted, why, and what would help."""
    group, cut = _closest(decision)
    why = text("value_none_unread")
    if cut.read:
        why = text(
            "value_none_why",
            read=cut.read,
            count=cut.wrong[decision.right],
            rate=cut.wrong[decision.right] / cut.read,
            upper=above_limit(cut.upper, decision.limit),
        )
    if decision.each_field:
        closest = ", ".join(map(titles, group.fields))
        why = f"{text('value_none_field', field=closest)} {why}"
    lines = [text("value_none", **promised(decision, text)), why]
    return [*lines, *what_would_help(decision, text, titles)]


def what_would_help(decision: ValueDecision, text: Any, titles: Titles) -> Iterator[str]:
    """Yield what would help where nothing is accepted, the surest first."""
    _, cut = _closest(decision)
    needed = _needed(decision, cut)
    if needed is not None:
        yield text("value_help_more", needed=needed)
    elif cut.read:
        is_good = cut.wrong[decision.right] < decision.limit * cut.read
        yield text("value_help_small" if is_good else "value_help_no_more")
    if decision.each_field:
        yield text("value_help_each")
    for other in sorted(decision.what_if, key=lambda other: other.limit):
        if other.limit > decision.limit and other.accepted:
            share = other.accepted / decision.values
            limit = 100 * other.limit
            yield text("value_help_limit", limit=limit, accepted=other.accepted, share=share)
            break
    if len(decision.runs) == 1:
        yield text("value_help_run")
    bad = [
        name
        for name, expected in decision.expected_by_field.items()
        if expected.wrong > WORSE * decision.expected.wrong
    ]
    if bad:
        bad.sort(key=lambda name: -decision.expected_by_field[name].wrong)
        yield text("value_help_fields", fields=", ".join(map(titles, bad[:MOST_WORSE])))
    if decision.tries == 1:
        yield text("value_help_once")
    else:
        yield text("value_help_again", tries=decision.tries, plan=decision.plan_file)


def _closest(decision: ValueDecision) -> tuple[GroupDecision, ReadCut]:
    """Return the strictest cut that comes closest to the limit, and its fields."""
    firsts = [(group, group.cuts[0]) for group in decision.groups]
    return min(firsts, key=lambda first: (not first[1].read, first[1].upper))


def _needed(decision: ValueDecision, cut: ReadCut) -> int | None:
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
