"""The page of a report: one HTML file with everything in it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from hdbench.benchmark import Benchmark
from hdbench.errors import HdbenchError
from hdbench.reading.answer import STATUSES
from hdbench.report.items import BANDS, LOST, ItemView, cut, item_views
from hdbench.report.pictures import pictures
from hdbench.report.rendering import render
from hdbench.report.rows import direction
from hdbench.results import errors_by_class, given_options
from hdbench.scoring.result import Result
from hdbench.statistics.bootstrap import Intervals
from hdbench.statistics.resampling import rate_names

MAX_ITEMS = 2_000
"""Items that are shown, the worst."""

MAX_FIELDS = 60
"""Rows of a table of fields, and entries of the filter: a model can invent any number."""

MAX_CONFUSIONS = 20
MAX_MESSAGE = 1_000
"""Characters of a warning, note or other text about the run."""

FEW_ITEMS = 20
"""With fewer, nothing can be told apart."""

ERROR_WORDS = {
    "missing": ("missing", "the answer has nothing here"),
    "invented": ("invented", "the truth has nothing here"),
    "case": ("capitals", "capital and small letters differ"),
    "white_space": ("spaces", "only spaces differ"),
    "punctuation": ("punctuation", "signs, or the way of writing a format or page count, differ"),
    "diacritics": ("diacritics", "accents or umlauts differ"),
    "other_field": ("of another field", "the value belongs to another field"),
    "truncated": ("cut short", "a part of the truth"),
    "over_specified": ("too much", "the truth, and more"),
    "number_or_date": ("number or date", "another number or date"),
    "ocr": ("misread letters", "a few letters differ"),
    "different": ("different", "another value"),
}
"""Class of error → its name for readers, and what it means."""

STATUS_WORDS = {
    "clean": "read as it was",
    "unwrapped": "taken out of other text",
    "repaired": "read after repair",
    "truncated": "breaks off; what is whole was kept",
    "unparsable": "no record found in the answer",
    "unanswered": "no answer",
}
"""Status → what it means for readers."""


class Figure(NamedTuple):
    """A figure with its interval.

    Attributes:
        name: its name.
        value: its value.
        low: the interval's lower end; None where there is no interval.
        high: its upper end.
        direction: "higher is better", or "lower is better".
    """

    name: str
    value: float
    low: float | None
    high: float | None
    direction: str

    @property
    def is_share(self) -> bool:
        """Whether it can be drawn on a line from 0 to 1."""
        return 0 <= (self.low or 0) <= 1 and 0 <= self.value <= 1 and (self.high or 0) <= 1


class FieldRow(NamedTuple):
    """A field of the chart.

    Attributes:
        name: its path, cut.
        bar: the parts of its bar, name → share of the bar's length.
        numbers: what is written beside it.
    """

    name: str
    bar: dict[str, float]
    numbers: list[str]


def report_page(result: Result, benchmark: Benchmark) -> str:
    """The page of a result: figures, fields, errors by class, and every item with its picture.

    The page is complete in itself, runs no script but its own, and can be written as UTF-8
    whatever a model wrote.

    Args:
        result: a result with `per_item`.
        benchmark: what was scored; of its media those that are there are shown.

    Raises:
        HdbenchError: the result was scored without details, or the benchmark's metadata cannot be
            read.
    """
    if result.ids and not result.per_item:
        raise HdbenchError("the result does not have its items: score with --details")
    found = result.intervals
    errors = errors_by_class(result)
    items = item_views(result.per_item, result.metric.item_figure)
    shown = items[:MAX_ITEMS]
    names = list(islice(_fields_with_errors(errors, shown), MAX_FIELDS))
    rates = result.field_rates()
    fields = list(_field_rows(rates))
    figures = result.figures()
    return render(
        "report.html",
        title=benchmark.spec.title,
        result=result,
        licence=benchmark.spec.licence,
        run=_run(result),
        headline=_figure(result, result.headline, found),
        figures=[_figure(result, name, found) for name in _rate_names(result)],
        counts=figures,
        intervals=found,
        few=FEW_ITEMS,
        warnings=[_message(each["message"]) for each in result.reading.get("warnings", ())],
        notes=[_message(note) for note in result.reading.get("notes", ())],
        violations=_violations(result),
        fields=fields[:MAX_FIELDS],
        more_fields=max(0, len(fields) - MAX_FIELDS),
        field_heads=_heads(rates),
        classes=errors["classes"],
        classes_by_field=dict(islice(errors["fields"].items(), MAX_FIELDS)),
        confusions=errors["confusions"][:MAX_CONFUSIONS],
        f1_form=errors.get("f1_form"),
        items=list(zip(shown, _pictures(shown, benchmark), strict=True)),
        more_items=len(items) - len(shown),
        filter_fields=names,
        places={name: place for place, name in enumerate(names)},
        statuses=[status for status in STATUSES if result.status[status]],
        error_words=ERROR_WORDS,
        status_words=STATUS_WORDS,
        bands=BANDS,
        lost=LOST,
        cut=cut,
        method=_method(result, found, figures["signature"]),
    )


def _rate_names(result: Result) -> list[str]:
    """The rates' names, the headline first."""
    names = rate_names(result.metric.rates(result.totals))
    return sorted(names, key=lambda name: name != result.headline)


def _figure(result: Result, name: str, found: Intervals) -> Figure:
    value = result.metric.rates(result.totals)[name]
    interval = found.figures.get(name)
    told = direction(name, value)
    if name == result.headline:  # which its benchmark knows best
        told = f"{'higher' if result.higher_is_better else 'lower'} is better"
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(name, value, low, high, told)


def _heads(rates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    words = {
        "true_positives": "TP",
        "false_positives": "FP",
        "false_negatives": "FN",
        "f1": "F1",
        "both_empty": "both empty",
    }
    return [words.get(name, name) for name in next(iter(rates.values()), ())]


def _field_rows(rates: Mapping[str, Mapping[str, Any]]) -> Iterator[FieldRow]:
    """The fields, the worst first; those that no truth has come last."""

    def order(item: tuple[str, Mapping[str, Any]]) -> tuple[bool, float]:
        numbers = item[1]
        counts = [numbers.get(name) for name in ("true_positives", "false_negatives")]
        return counts == [0, 0], numbers.get("f1", numbers.get("accuracy", 0.0))

    for name, numbers in sorted(rates.items(), key=order):
        if "accuracy" in numbers:
            bar = {"right": numbers["accuracy"]}
        else:
            counts = {
                "right": numbers["true_positives"],
                "wrong": numbers["false_positives"],
                "lacking": numbers["false_negatives"],
            }
            whole = sum(counts.values()) or 1
            bar = {part: count / whole for part, count in counts.items()}
        written = [
            str(value) if isinstance(value, int) else f"{value:.3f}" for value in numbers.values()
        ]
        yield FieldRow(cut(name), bar, written)


def _fields_with_errors(errors: Mapping[str, Any], items: Sequence[ItemView]) -> Iterator[str]:
    """The fields to filter by, those with most errors first."""
    counts = {name: sum(classes.values()) for name, classes in errors["fields"].items()}
    seen = {row.name for item in items for row in item.errors}
    return (name for name in sorted(counts, key=lambda name: -counts[name]) if name in seen)


def _pictures(items: Sequence[ItemView], benchmark: Benchmark) -> Iterator[list[Any]]:
    """The pictures of each item."""
    media = benchmark.media()
    files = [media.get(item.id, []) for item in items]
    found = iter(pictures([file for those in files for file in those]))
    for those in files:
        yield list(islice(found, len(those)))


def _violations(result: Result) -> list[tuple[str, str, int]]:
    """Field, rule and number of answers that do not keep to the schema, the most frequent first."""
    rows = [
        (cut(field), rule, count)
        for field, rules in result.reading.get("schema_violations", {}).items()
        for rule, count in rules.items()
    ]
    return sorted(rows, key=lambda row: -row[2])[:MAX_FIELDS]


def _run(result: Result) -> dict[str, str]:
    """What the run says of itself."""
    run = result.run
    prompt = run.get("prompt") or {}
    told = {
        "Model": result.model or run.get("model"),
        "Run": run.get("run"),
        "Provider": run.get("provider"),
        "Date": run.get("date"),
        "Prompt": prompt.get("name"),
        "Cost": None if run.get("cost_usd") is None else f"{run['cost_usd']} USD",
    }
    return {label: cut(str(value), MAX_MESSAGE) for label, value in told.items() if value}


def _method(result: Result, found: Intervals, signature: str) -> dict[str, str]:
    """How the figures were computed."""
    options = given_options(result.metric)
    told = {
        "Signature": signature,
        "Metric": f"hdb/{result.metric.name}, rules {result.metric.rules}",
        "Protocol": result.metric.protocol,
        "Options": "; ".join(f"{name} = {value}" for name, value in result.metric.options.items()),
        "Not the default": ", ".join(options),
        "Dataset": result.dataset.get("benchmark"),
        "Dataset version": result.dataset.get("dataset_version"),
        "Dataset sha256": result.dataset.get("dataset_sha256"),
        "Answers": result.answers.get("path"),
        "Answers sha256": result.answers.get("sha256"),
        "Prompt sha256": (result.run.get("prompt") or {}).get("sha256"),
        "Published as": ", ".join(
            f"{name} {value}" for name, value in (result.run.get("published") or {}).items()
        ),
        "Intervals": found.why
        or f"bootstrap over {found.items} items, {found.resamples} resamples, seed {found.seed}, "
        f"expanded percentile intervals of level {found.level}",
        "Versions": ", ".join(f"{name} {version}" for name, version in result.versions.items()),
    }
    return {label: cut(str(value), MAX_MESSAGE) for label, value in told.items() if value}


def _message(text: str) -> str:
    return cut(text, MAX_MESSAGE)
