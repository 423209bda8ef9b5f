"""A result as people see it, in a language: terminal, page, workbook and Space only draw it.

The first sentences say what work the result leaves; the figures come after.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hdbench.answers.answer import LOST
from hdbench.benchmarks.titles import Titles
from hdbench.common.display.table import INTERVAL, Column, Table
from hdbench.common.texts import Texts, is_translated, translated, written
from hdbench.errors import Message, changed, escaped
from hdbench.evaluation.result import Result
from hdbench.evaluation.warning_texts import (
    Told,
    gravest_first,
    in_language,
    in_words,
    people_in_words,
)
from hdbench.scoring.metric import figure_heading, figure_title, higher_is_better, judging_figure

if TYPE_CHECKING:
    from hdbench.statistics.bootstrap import Interval

_TEXTS = Texts(Path(__file__).with_name("texts"))

_MANY = 100  # from there on, decimals say nothing
_WHOLE = 10  # from there on, decimals say nothing about a number of values
MOST_WATCHED = 3
"""Maximum number of characters of which it is said what they were read as."""

LEAST_WATCHED = 0.1
"""Minimum share of a character that was read as the same for it to be said."""

_USED = ("input_tokens", "output_tokens", "seconds")


class RatedFigure(NamedTuple):
    """A rate with its interval.

    Attributes:
        name: its name.
        value: its value.
        interval: its interval; None where there is none.
        item_range: from the lowest to the highest single item, where there are too few items.
        higher_is_better: its direction.
    """

    name: str
    value: float
    interval: "Interval | None"
    item_range: "Interval | None"
    higher_is_better: bool

    @property
    def ends(self) -> "Interval | None":
        """The interval or, with too few items, the range over single ones."""
        return self.interval or self.item_range

    @property
    def is_share(self) -> bool:
        """Return whether it can be drawn on a line from 0 to 1."""
        ends = [] if self.interval is None else [self.interval.low, self.interval.high]
        return all(0 <= number <= 1 for number in (self.value, *ends))


class ResultSummary:
    """A result in the words of a language.

    Args:
        result: the result.
        language: one of `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title, for warnings.
    """

    def __init__(self, result: Result, language: str = "en", *, titles: Titles = str) -> None:
        self.result, self.language = result, language
        self._titles = titles
        own: tuple[str, str] | None = getattr(result.dataset.item_name, language, None)
        self._name, self._names = own or (
            _TEXTS.text("summary_item", language, count=1),
            _TEXTS.text("summary_item", language, count=2),
        )

    @property
    def work(self) -> str:
        """The items that need no correction, and the mean number of wrong values per item.

        Items are counted that are right to the letter, and values by the metric's own rule.
        """
        items, perfect = len(self.result.ids), self.result.rates["items_perfect"]
        names = self._names if items > 1 else self._name
        sentence = self._text("summary_items", count=perfect, items=items, names=names)
        if mean := self._mean():
            sentence = self._text("summary_both", items=sentence, mean=mean)
        return f"{sentence}."

    @property
    def lost(self) -> str:
        """The number of items without a usable answer, in a sentence; empty if there are none."""
        lost = len(self.result.ids) - self.result.answered
        if not lost:
            return ""
        return self._text(
            "summary_lost", count=lost, names=self._name if lost == 1 else self._names
        )

    @property
    def score(self) -> str:
        """The headline, its title before its value."""
        heading = figure_heading(self.result.headline, self.language)
        return f"{heading} {written(self.result.value, 4, self.language)}."

    @property
    def reading(self) -> str:
        """What is wrong with transcriptions, in sentences; empty for other metrics.

        How much of the word errors is order, how many items failed, and what became of the
        characters that an edition watches.
        """
        rates, sentences = self.result.rates, []
        if rates.get("order_gap") is None or not rates["wer"]:
            return ""
        order = rates["order_gap"] / rates["wer"]
        sentences.append(self._text("summary_order", order=order, letters=1 - order))
        if failed := round(self.result.totals["failures"]):
            names = self._name if failed == 1 else self._names
            sentences.append(self._text("summary_failed", count=failed, names=names))
        if rates.get("watch_kept") is not None:
            of, kept = round(self.result.totals["watched"]), rates["watch_kept"]
            sentences.append(self._text("summary_watched", count=of, kept=kept))
            watched = self.result.metric.watched
            confusions = self.result.errors_by_class["confusions"] if self.result.per_item else []
            for pair in confusions[:MOST_WATCHED]:
                share = pair["count"] / (pair["of"] or 1)
                if pair["reference"] in watched and share >= LEAST_WATCHED:
                    key = "summary_written_as" if pair["prediction"] else "summary_left_out"
                    values = {"sign": pair["reference"], "read": escaped(pair["prediction"])}
                    sentences.append(self._text(key, count=pair["of"], share=share, **values))
        return " ".join(sentences)

    @property
    def resources(self) -> str:
        """The tokens, time and money for an item, on average, as far as they are known.

        A sentence; empty if nothing is known.
        """
        used = {name: self.result.usage[name] for name in _USED if name in self.result.usage}
        amounts = {name: use.total / use.items for name, use in used.items() if use.items}
        if self.result.run.cost_usd is not None and self.result.ids:
            amounts["usd"] = self.result.run.cost_usd / len(self.result.ids)
        if not amounts:
            return ""
        parts = [
            self._text(f"summary_{name}", amount=written(value, _digits(value), self.language))
            for name, value in amounts.items()
        ]
        return self._text("summary_resources", name=self._name, parts=", ".join(parts))

    @property
    def estimated(self) -> str | None:
        """A note that the rates are estimates for a population; None if they are not a sample."""
        return self.result.estimated and translated(self.result.estimated, self.language)

    @property
    def people(self) -> str | None:
        """The figure that people reach against each other; None if the benchmark has none."""
        people = self.result.dataset.people
        return None if people is None else people_in_words(people, self.language)

    @property
    def people_means(self) -> str:
        """The meaning of `people`."""
        return in_words("people_means", {}, self.language)

    @property
    def figures(self) -> list[RatedFigure]:
        """The rates that have a value, the headline first."""
        rates, headline = self.result.rates, self.result.headline
        names = [
            figure.name
            for figure in self.result.metric.figures
            if figure.is_rate and (figure.in_short or figure.name == headline)
        ]
        with_value = [name for name in names if rates.get(name) is not None]
        return [self.figure(name) for name in sorted(with_value, key=lambda name: name != headline)]

    @property
    def table(self) -> Table:
        """The same as a table, each with its interval or its range over single items."""
        rows = [
            {"figure": figure.name, "value": figure.value, "direction": direction_of(figure)}
            | {end: figure.ends and getattr(figure.ends, end) for end in ("low", "high")}
            for figure in self.figures
        ]
        columns = [
            Column("figure", "name", Message("figure")),
            Column("value", "figure", Message("value"), ("low", "high")),
            Column("direction", "word", Message("direction")),
        ]
        of = INTERVAL if self.result.intervals.why is None else Message("single items")
        return Table(rows, columns, interval=of)

    @property
    def headline(self) -> RatedFigure:
        """The figure used for ranking."""
        return self.figure(self.result.headline)

    @property
    def judging(self) -> RatedFigure | None:
        """The figure by which runs are compared, if that is not the headline."""
        name = judging_figure(self.result.metric, self.result.headline)
        if name == self.result.headline or self.result.rates.get(name) is None:
            return None
        return self.figure(name)

    def figure(self, name: str) -> RatedFigure:
        """Return a rate of the result with its interval."""
        intervals = self.result.intervals
        return RatedFigure(
            name,
            self.result.rates[name],
            intervals.figures.get(name),
            intervals.item_ranges.get(name),
            higher_is_better(self.result.metric, name),
        )

    @property
    def no_intervals(self) -> str | None:
        """The reason why there are no intervals; None if there are."""
        return self.result.intervals.why and translated(self.result.intervals.why, self.language)

    @property
    def without_interval(self) -> dict[str, str]:
        """Rate → the reason why it has no interval although others have one."""
        without = self.result.intervals.without
        return {name: self._titled(why) for name, why in without.items()}

    @property
    def coverage(self) -> dict[str, int]:
        """The number of items that were answered, unanswered and unparsable."""
        return {name: self.result.figures[name] for name in ("answered", *LOST)}

    @property
    def warnings(self) -> list[Told]:
        """The warnings about the run, in the order of the checks."""
        return [
            in_language(warning, self.language, self._titles) for warning in self.result.warnings
        ]

    @property
    def gravest_warnings(self) -> list[Told]:
        """The same, the gravest first."""
        ordered = gravest_first(self.result.warnings)
        return [in_language(warning, self.language, self._titles) for warning in ordered]

    @property
    def notes(self) -> list[Told]:
        """Notes about the run and how it was read."""
        return [
            Told(
                self._titled(note),
                self.language if is_translated(note, self.language) else "en",
            )
            for note in self.result.reading.notes
        ]

    @property
    def violations(self) -> list[tuple[str, str, int]]:
        """Field, rule and number of answers that break the schema, the most frequent first."""
        rows = [
            (field, rule, count)
            for field, rules in self.result.reading.schema_violations.items()
            for rule, count in rules.items()
        ]
        return sorted(rows, key=lambda row: -row[2])

    def _titled(self, message: str) -> str:
        """Return a message in the language, with figures called by their titles."""
        titled: Any = changed(message, partial(figure_title, language=self.language))
        return translated(titled, self.language)

    def _mean(self) -> str:
        """Return the mean number of values that need a correction, and its interval, if any."""
        effort = self.result.effort
        if effort is None:
            return ""
        mean, values, ends = effort.corrections, effort.values, effort.interval
        digits = _digits(mean or (ends.high if ends else 0) or 1)
        is_exact = values < _WHOLE or mean > round(values)  # 10.3 of 10 would be too many
        sentence = self._text(
            f"summary_mean_{effort.corrected}",
            name=self._name,
            mean=written(mean, digits, self.language),
            values=written(values, _digits(values) if is_exact else 0, self.language),
        )
        if ends is not None:
            low, high = (written(end, digits, self.language) for end in (ends.low, ends.high))
            sentence += self._text("summary_interval", low=low, high=high)
        return sentence

    def _text(self, key: str, **values: object) -> str:
        return _TEXTS.text(key, self.language, **values)


def direction_of(figure: Any) -> str:
    """Return the better direction of a figure; empty if it has none.

    Args:
        figure: a figure, or None for none.
    """
    is_higher_better = getattr(figure, "higher_is_better", None)
    if is_higher_better is None:
        return ""
    return Message("higher is better" if is_higher_better else "lower is better")


def _digits(value: float) -> int:
    """Return the decimals of an amount: about two figures, and none after a hundred."""
    if value >= _MANY or value == round(value):
        return 0
    if value >= 1:
        return 1
    return 2 if value >= 0.01 else 4  # noqa: PLR2004
