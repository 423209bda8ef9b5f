"""What is said of a result first: the work that it leaves, in a sentence, and then its score."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hdbench.common.texts import Texts, written
from hdbench.results.result import Result

_TEXTS = Texts(Path(__file__).with_name("translations"))

_ITEM = {"en": ("item", "items"), "de": ("Eintrag", "Einträgen")}
"""What an item is called if the benchmark does not say it."""

_MANY = 100  # from there on, decimals say nothing
_WHOLE = 10  # from there on, they say nothing of how many values there are
_USED = ("input_tokens", "output_tokens", "seconds")


class Lead(NamedTuple):
    """What is said of a result first, each part a sentence.

    Attributes:
        work: how many items need no correction, being right to the letter, and how many values of
            an item are wrong, by the metric's own rule.
        lost: how many items have no usable answer; empty if none.
        score: the headline, its name before its value.
    """

    work: str
    lost: str
    score: str

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def lead_figures(result: Result) -> dict[str, Any]:
    """Return what `lead` and `resources` need of a result; a record of it has that, too."""
    return {
        **result.figures(),
        **effort_of(result),
        "headline": result.headline,
        "usage": result.usage,
        "run": result.run,
    }


def effort_of(result: Result) -> dict[str, Any]:
    """`effort`, as in a result's record; nothing if it was not counted."""
    return {} if result.effort is None else {"effort": result.effort.to_dict()}


def lead(figures: Mapping[str, Any], language: str = "en") -> Lead:
    r"""Return what is said of a result first, in words.

    Args:
        figures: of a result: from `lead_figures`, or its record.
        language: one of `hdbench.common.texts.LANGUAGES`.

    Example:
        >>> effort = {
        ...     "corrected": "field", "corrections": 2.08, "values": 10.97, "interval": [1.87, 2.31]
        ... }
        >>> figures = {
        ...     "items": 263, "items_perfect": 16, "unanswered": 2, "unparsable": 1,
        ...     "effort": effort, "headline": "f1_micro", "f1_micro": 0.83877,
        ...     "item_name": {"en": ["card", "cards"], "de": ["Karte", "Karten"]},
        ... }
        >>> print(str(lead(figures)).replace("; ", "\n").replace(" 3 ", "\n3 "))
        16 of 263 cards need no correction
        on average 2.1 of 11 fields per card are wrong (1.9 to 2.3).
        3 cards without a usable answer count as complete failures. f1_micro 0.8388.
        >>> print(lead(figures, "de").work.replace("; ", "\n"))
        16 von 263 Karten brauchen keine Korrektur
        im Durchschnitt sind je Karte 2,1 von 11 Feldern falsch (1,9 bis 2,3).
    """
    name, names = _item_name(figures, language)
    items, perfect = figures["items"], figures["items_perfect"]
    lost = figures["unanswered"] + figures["unparsable"]
    work = _say("lead_items", perfect, language, items=items, names=names if items > 1 else name)
    if "effort" in figures:
        work += f"; {_mean(figures['effort'], name, language)}"
    said = ""
    if lost:
        said = _say("lead_lost", lost, language, names=name if lost == 1 else names)
    headline = figures["headline"]
    return Lead(f"{work}.", said, f"{headline} {written(figures[headline], 4, language)}.")


def resources(
    figures: Mapping[str, Any], language: str = "en", *, keystrokes: float | None = None
) -> str:
    """Return what an item took on average, as far as it is known: keystrokes, tokens, time, money.

    Args:
        figures: same as in `lead`.
        language: same as in `lead`.
        keystrokes: how many it takes to correct an item, if that was counted.

    Returns:
        A sentence; empty if nothing is known.

    Example:
        >>> figures = {
        ...     "items": 4, "usage": {"output_tokens": {"total": 600, "items": 3}},
        ...     "run": {"cost_usd": 0.52},
        ... }
        >>> resources(figures, keystrokes=14.2)
        'Per item: 14.2 keystrokes to correct it, 200 output tokens, 0.13 US dollars.'
        >>> resources(figures, "de")
        'Je Eintrag: 200 Ausgabe-Token, 0,13 US-Dollar.'
    """
    usage, run = figures.get("usage") or {}, figures.get("run") or {}
    known = {} if keystrokes is None else {"keystrokes": keystrokes}
    known |= {
        what: usage[what]["total"] / usage[what]["items"]
        for what in _USED
        if usage.get(what, {}).get("items")
    }
    if run.get("cost_usd") is not None and figures["items"]:
        known["usd"] = run["cost_usd"] / figures["items"]
    if not known:
        return ""
    parts = [
        _TEXTS.text(f"lead_{what}", language, amount=written(value, _digits(value), language))
        for what, value in known.items()
    ]
    name, _ = _item_name(figures, language)
    return _TEXTS.text("lead_resources", language, name=name, parts=", ".join(parts))


def _item_name(figures: Mapping[str, Any], language: str) -> tuple[str, str]:
    """Return what one and several items are called."""
    one, several = (figures.get("item_name") or {}).get(language) or _ITEM[language]
    return one, several


def _mean(effort: Mapping[str, Any], name: str, language: str) -> str:
    """Return how many values of an item need a correction, on average, and the interval, if any."""
    mean, values = effort["corrections"], effort["values"]
    low, high = effort.get("interval") or (None, None)
    digits = _digits(mean or high or 1)
    said = _TEXTS.text(
        f"lead_mean_{effort['corrected']}",
        language,
        name=name,
        mean=written(mean, digits, language),
        values=written(values, _digits(values) if values < _WHOLE else 0, language),
    )
    if low is None or high is None:
        return said
    ends = {name: written(end, digits, language) for name, end in (("low", low), ("high", high))}
    return said + _TEXTS.text("lead_interval", language, **ends)


def _digits(value: float) -> int:
    """How many decimals an amount is shown with: about two figures, and none after a hundred."""
    if value >= _MANY or value == round(value):
        return 0
    if value >= 1:
        return 1
    return 2 if value >= 0.01 else 4  # noqa: PLR2004


def _say(key: str, count: int, language: str, **values: Any) -> str:
    """A text that has a form for one."""
    return _TEXTS.text(f"{key}_one" if count == 1 else key, language, count=count, **values)
