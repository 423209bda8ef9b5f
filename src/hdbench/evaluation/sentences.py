"""What a result says, in sentences of a language; terminal, page, workbook and Space draw them.

The first sentences say what work the result leaves; the figures come after.
"""

from functools import partial
from pathlib import Path
from typing import Any

from hdbench.benchmarks.titles import Titles
from hdbench.common.texts import Texts, is_translated, translated, written
from hdbench.errors import changed, escaped
from hdbench.evaluation.parts import Told, gravest_first, in_language, in_words, people_in_words
from hdbench.evaluation.result import Result
from hdbench.scoring.metric import figure_heading, figure_title

_TEXTS = Texts(Path(__file__).with_name("texts"))

_MANY = 100  # from there on, decimals say nothing
_WHOLE = 10  # from there on, decimals say nothing about a number of values
MOST_WATCHED = 3
"""Maximum number of characters of which it is said what they were read as."""

LEAST_WATCHED = 0.1
"""Minimum share of a character that was read as the same for it to be said."""

_USED = ("input_tokens", "output_tokens", "seconds")


def lead(result: Result, language: str = "en") -> list[str]:
    """Return the first sentences: what work it leaves, what is lost, its score, what was read."""
    return [text for say in (work, lost, score, reading) if (text := say(result, language))]


def work(result: Result, language: str = "en") -> str:
    """Return the items that need no correction, and the mean number of wrong values per item.

    Items are counted that are right to the letter, and values by the metric's own rule.
    """
    items, perfect = len(result.ids), result.rates["items_perfect"]
    names = _items(result, items, language)
    sentence = _TEXTS.text("summary_items", language, count=perfect, items=items, names=names)
    if mean := _mean(result, language):
        sentence = _TEXTS.text("summary_both", language, items=sentence, mean=mean)
    return f"{sentence}."


def lost(result: Result, language: str = "en") -> str:
    """Return the number of items without a usable answer; empty if there are none."""
    number = len(result.ids) - result.answered
    if not number:
        return ""
    names = _items(result, number, language)
    return _TEXTS.text("summary_lost", language, count=number, names=names)


def score(result: Result, language: str = "en") -> str:
    """Return the headline, its title before its value."""
    heading = figure_heading(result.headline, language)
    return f"{heading} {written(result.value, 4, language)}."


def reading(result: Result, language: str = "en") -> str:
    """Return what is wrong with transcriptions, in sentences; empty for other metrics.

    How much of the word errors is order, how many items failed, and what became of the characters
    that an edition watches.
    """
    say, rates = partial(_TEXTS.text, language=language), result.rates
    if rates.get("order_gap") is None or not rates["wer"]:
        return ""
    order = rates["order_gap"] / rates["wer"]
    sentences = [say("summary_order", order=order, letters=1 - order)]
    if failed := round(result.totals["failures"]):
        names = _items(result, failed, language)
        sentences.append(say("summary_failed", count=failed, names=names))
    if rates.get("watch_kept") is not None:
        of, kept = round(result.totals["watched"]), rates["watch_kept"]
        sentences.append(say("summary_watched", count=of, kept=kept))
        confusions = result.errors_by_class["confusions"] if result.per_item else []
        for pair in confusions[:MOST_WATCHED]:
            share = pair["count"] / (pair["of"] or 1)
            if pair["reference"] in result.metric.watched and share >= LEAST_WATCHED:
                key = "summary_written_as" if pair["prediction"] else "summary_left_out"
                values = {"sign": pair["reference"], "read": escaped(pair["prediction"])}
                sentences.append(say(key, count=pair["of"], share=share, **values))
    return " ".join(sentences)


def resources(result: Result, language: str = "en") -> str:
    """Return the tokens, time and money for an item, on average, as far as they are known.

    A sentence; empty if nothing is known.
    """
    used = {name: result.usage[name] for name in _USED if name in result.usage}
    amounts = {name: use.total / use.items for name, use in used.items() if use.items}
    if result.run.cost_usd is not None and result.ids:
        amounts["usd"] = result.run.cost_usd / len(result.ids)
    if not amounts:
        return ""
    parts = [
        _TEXTS.text(f"summary_{name}", language, amount=written(value, _digits(value), language))
        for name, value in amounts.items()
    ]
    name = _items(result, 1, language)
    return _TEXTS.text("summary_resources", language, name=name, parts=", ".join(parts))


def estimated(result: Result, language: str = "en") -> str | None:
    """Return that the rates are estimates for a population; None if they are not a sample."""
    return result.estimated and translated(result.estimated, language)


def people(result: Result, language: str = "en") -> str | None:
    """Return the figure that people reach against each other; None if the benchmark has none."""
    figure = result.dataset.people
    return None if figure is None else people_in_words(figure, language)


def people_means(language: str = "en") -> str:
    """Return the meaning of `people`."""
    return in_words("people_means", {}, language)


def without_interval(result: Result, language: str = "en") -> dict[str, str]:
    """Return rate → the reason why it has no interval although others have one."""
    without = result.intervals.without
    return {name: _titled(why, language) for name, why in without.items()}


def warnings(
    result: Result, language: str = "en", titles: Titles = str, *, gravest: bool = False
) -> list[Told]:
    """Return the warnings about the run.

    Args:
        result: the result.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.
        gravest: the gravest first, rather than in the order of the checks.
    """
    ordered = gravest_first(result.warnings) if gravest else result.warnings
    return [in_language(warning, language, titles) for warning in ordered]


def notes(result: Result, language: str = "en") -> list[Told]:
    """Return notes about the run and how it was read."""
    return [
        Told(_titled(note, language), language if is_translated(note, language) else "en")
        for note in result.reading.notes
    ]


def _titled(message: str, language: str) -> str:
    """Return a message in the language, with figures called by their titles."""
    titled: Any = changed(message, partial(figure_title, language=language))
    return translated(titled, language)


def _items(result: Result, number: int, language: str) -> str:
    """Return what a number of items is called."""
    own: tuple[str, str] | None = getattr(result.dataset.item_name, language, None)
    if own is None:
        return _TEXTS.text("summary_item", language, count=number)
    return own[number != 1]


def _mean(result: Result, language: str) -> str:
    """Return the mean number of values that need a correction, and its interval, if any."""
    effort = result.effort
    if effort is None:
        return ""
    mean, values, ends = effort.corrections, effort.values, effort.interval
    digits = _digits(mean or (ends.high if ends else 0) or 1)
    is_exact = values < _WHOLE or mean > round(values)  # 10.3 of 10 would be too many
    sentence = _TEXTS.text(
        f"summary_mean_{effort.corrected}",
        language,
        name=_items(result, 1, language),
        mean=written(mean, digits, language),
        values=written(values, _digits(values) if is_exact else 0, language),
    )
    if ends is not None:
        low, high = (written(end, digits, language) for end in (ends.low, ends.high))
        sentence += _TEXTS.text("summary_interval", language, low=low, high=high)
    return sentence


def _digits(value: float) -> int:
    """Return the decimals of an amount: about two figures, and none after a hundred."""
    if value >= _MANY or value == round(value):
        return 0
    if value >= 1:
        return 1
    return 2 if value >= 0.01 else 4  # noqa: PLR2004
