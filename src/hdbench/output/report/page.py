"""The page of a report: one HTML file with everything in it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from hdbench.answers.answer import STATUSES
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.told import is_told, told
from hdbench.errors import HdbenchError
from hdbench.evaluation.by_column import ByColumn, Group
from hdbench.output.report.details import MOST_LOST, Excerpt, Item
from hdbench.output.report.effort import keystrokes, outcomes_of_fields
from hdbench.output.report.items import BANDS, ItemView, cut, item_views
from hdbench.output.report.pictures import Picture, pictures
from hdbench.output.report.rendering import TEXTS, render
from hdbench.output.report.truth_errors import truth_error_url
from hdbench.results.error_counts import item_errors
from hdbench.results.files import given_options
from hdbench.results.lead import lead, lead_figures, resources
from hdbench.results.result import Result
from hdbench.results.warning_texts import in_language, in_words, people_in_words
from hdbench.scoring.metric import Outcome, higher_is_better, judging_figure
from hdbench.statistics.bootstrap import MIN_ITEMS, Interval, Intervals
from hdbench.statistics.resampling import rate_names

MAX_ITEMS = 2_000
"""How many items are shown: the worst ones."""

MAX_FIELDS = 60
"""Maximum rows of a table of fields, and entries of the filter: a model can invent any number."""

MAX_CONFUSIONS = 20
MAX_MESSAGE = 1_000
"""Maximum characters of a warning, note or other text about the run."""

MAX_TEXT = 5_000
"""Maximum characters of the text of an item that has one instead of images."""


PartKind = Literal["all", "worst", "drawn"]


class RatedFigure(NamedTuple):
    """A figure with its interval.

    Attributes:
        name: its name.
        value: its value.
        interval: its interval; None where there is none.
        item_range: from the lowest to the highest single item, where there are too few items.
        higher_is_better: its direction.
    """

    name: str
    value: float
    interval: Interval | None
    item_range: Interval | None
    higher_is_better: bool

    @property
    def is_share(self) -> bool:
        """Return whether it can be drawn on a line from 0 to 1."""
        ends = [] if self.interval is None else [self.interval.low, self.interval.high]
        return all(0 <= each <= 1 for each in (self.value, *ends))


class ShownItems(NamedTuple):
    """Items that are shown together.

    Attributes:
        kind: `all`; in a page of a large run `worst` and `drawn`.
        items: the items, each with its number on the page, its pictures, and the address for an
            error in its ground truth.
    """

    kind: PartKind
    items: list[tuple[int, ItemView, list[Picture], str | None]]


class FieldRow(NamedTuple):
    """A field of the chart.

    Attributes:
        name: its path, shortened.
        bar: the parts of its bar, name → share of the bar's length.
        numbers: what is written beside it.
    """

    name: str
    bar: dict[str, float]
    numbers: list[str]


def report_page(
    result: Result,
    benchmark: Benchmark,
    *,
    by: ByColumn[Group] | None = None,
    language: str = "en",
    floor: Result | None = None,
    excerpt: Excerpt | None = None,
    beside: Mapping[str, str] | None = None,
) -> str:
    """The page of a result: figures, fields, errors by class, and the items with their pictures.

    The page is self-contained, runs no script but its own, and can be written as UTF-8
    whatever a model wrote.

    Args:
        result: a result with `per_item`, or with its excerpt.
        benchmark: what was scored; those of its media that exist are shown.
        by: the headline by the values of a column, if it is to be shown.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.
        floor: the same model's run without media, if there is one.
        excerpt: what is kept of the items of a large run.
        beside: the files beside the page that it links, file → key of its label.

    Raises:
        HdbenchError: the result was scored without details, or the benchmark's metadata or schema
            cannot be read.
    """
    if result.ids and not result.per_item and excerpt is None:
        raise HdbenchError("the result does not have its items: score with --details")
    found = result.intervals
    errors: Mapping[str, Any]
    if excerpt is None:
        errors = result.errors_by_class
        views: dict[PartKind, list[ItemView]]
        views = {"all": item_views(result.per_item, result.item_errors, result.metric)[:MAX_ITEMS]}
    else:
        errors = excerpt.errors
        kept: dict[PartKind, Sequence[Item]] = {"worst": excerpt.worst, "drawn": excerpt.drawn}
        views = {
            kind: item_views(items, item_errors(items, result.metric), result.metric)
            for kind, items in kept.items()
        }
    shown = [view for those in views.values() for view in those]
    names = list(islice(_fields_with_errors(errors, shown), MAX_FIELDS))
    rates = result.field_rates()
    fields = list(_field_rows(rates, outcomes_of_fields(result)))
    figures, said = result.figures(), lead_figures(result)
    return render(
        "report.html",
        language,
        title=benchmark.spec.title_in(language),
        titles=benchmark.field_titles(language),
        result=result,
        licence=benchmark.spec.licence,
        run=_run(result),
        headline=_figure(result, result.headline, found),
        judging=_judging(result, found),
        lead=lead(said, language),
        resources=resources(said, language, keystrokes=keystrokes(result)),
        people=None if result.people is None else people_in_words(result.people, language),
        people_means=in_words("people_means", {}, language),
        floor=None if floor is None else _figure(floor, result.headline, floor.intervals),
        figures=[_figure(result, name, found) for name in _rate_names(result)],
        counts=figures,
        other_formats=result.in_other_formats,
        strictly=result.strict_headline,
        estimated=result.estimated_in(language),
        by=by,
        small_groups=in_words(**by.warning, language=language) if by and by.warning else None,
        no_interval=_no_interval(found, language),
        without={name: told(why, language) for name, why in found.without.items()},
        few=MIN_ITEMS,
        warnings=[in_language(each, language) for each in result.reading.get("warnings", ())],
        notes=[
            (told(each, language), is_told(each, language))
            for each in result.reading.get("notes", ())
        ],
        violations=_violations(result),
        fields=fields[:MAX_FIELDS],
        more_fields=max(0, len(fields) - MAX_FIELDS),
        field_heads=_heads(rates),
        has_schema=benchmark.schema is not None,
        classes=errors["classes"],
        classes_by_field=dict(islice(errors["fields"].items(), MAX_FIELDS)),
        confusions=errors["confusions"][:MAX_CONFUSIONS],
        f1_form=errors.get("f1_form"),
        parts=list(_parts(views, benchmark, result, language)),
        seed=None if excerpt is None else excerpt.seed,
        most_lost=MOST_LOST,
        more_items=0 if excerpt else len(result.ids) - len(shown),
        texts=_texts(shown, benchmark),
        filter_fields=names,
        places={name: place for place, name in enumerate(names)},
        statuses=[status for status in STATUSES if result.status[status]],
        bands=BANDS,
        cut=cut,
        most=MAX_MESSAGE,
        method=_method(result, found, figures["signature"], language),
        label_style=_label_style(language),
        beside=beside or {},
    )


def _label_style(language: str) -> Markup:
    """The labels that the tables of fields have on a narrow screen.

    They are part of the style sheet: repeated in each of thousands of cells, they would be a tenth
    of the page.
    """
    labels = {
        ".pairs td:nth-child(2)": "truth",
        ".pairs td:nth-child(3)": "answer",
        ".pairs td:nth-child(4)": "what_is_wrong",
        ".pairs.alike td:nth-child(4)": "similarity",
    }
    rules = (
        f'{cells}::before {{ content: "{TEXTS.text(key, language)}"; }}'
        for cells, key in labels.items()
    )
    return Markup("@media (max-width: 40rem) {{ {} }}").format(Markup(" ".join(rules)))  # noqa: S704


def _rate_names(result: Result) -> list[str]:
    """The rates' names, the headline first."""
    names = rate_names(result.metric, result.rates)
    return sorted(names, key=lambda name: name != result.headline)


def _figure(result: Result, name: str, found: Intervals) -> RatedFigure:
    value = result.rates[name]
    higher = higher_is_better(result.metric, name)
    return RatedFigure(name, value, found.figures.get(name), found.item_ranges.get(name), higher)


def _judging(result: Result, found: Intervals) -> RatedFigure | None:
    """The figure by which runs are compared, if that is not the headline."""
    name = judging_figure(result.metric, result.headline)
    if name == result.headline or result.rates.get(name) is None:
        return None
    return _figure(result, name, found)


def _heads(rates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    words = {
        "true_positives": "TP",
        "false_positives": "FP",
        "false_negatives": "FN",
        "f1": "F1",
    }
    return [words.get(name, name) for name in next(iter(rates.values()), ())]


_PARTS: dict[Outcome, str] = {
    "correct": "right",
    "substituted": "wrong",
    "missing": "lacking",
    "spurious": "added",
}
"""The parts of a field's bar."""


def _field_rows(
    rates: Mapping[str, Mapping[str, Any]], outcomes: Mapping[str, Mapping[Outcome, int]]
) -> Iterator[FieldRow]:
    """The fields, the worst first; those that no reference has come last."""

    def order(item: tuple[str, Mapping[str, Any]]) -> tuple[bool, float]:
        numbers = item[1]
        counts = [numbers.get(name) for name in ("true_positives", "false_negatives")]
        return counts == [0, 0], numbers.get("f1", numbers.get("accuracy", 0.0))

    for name, numbers in sorted(rates.items(), key=order):
        if "accuracy" in numbers:
            bar = {"right": numbers["accuracy"]}
        else:
            counts = outcomes.get(name, {})
            whole = sum(counts.values()) or 1
            bar = {_PARTS[outcome]: count / whole for outcome, count in counts.items()}
        written = [
            str(value) if isinstance(value, int) else f"{value:.3f}" for value in numbers.values()
        ]
        yield FieldRow(cut(name), bar, written)


def _fields_with_errors(errors: Mapping[str, Any], items: Sequence[ItemView]) -> Iterator[str]:
    """The fields to filter by, those with the most errors first."""
    counts = {name: sum(classes.values()) for name, classes in errors["fields"].items()}
    seen = {row.name for item in items for row in item.errors}
    return (name for name in sorted(counts, key=lambda name: -counts[name]) if name in seen)


def _parts(
    views: Mapping[PartKind, Sequence[ItemView]],
    benchmark: Benchmark,
    result: Result,
    language: str,
) -> Iterator[ShownItems]:
    """The items of each kind as they are shown."""
    every = [view for those in views.values() for view in those]
    shown = zip(
        count(1),
        every,
        _pictures(every, benchmark),
        _truth_errors(benchmark, result, every, language),
        strict=False,
    )
    for kind, those in views.items():
        yield ShownItems(kind, list(islice(shown, len(those))))


def _pictures(items: Sequence[ItemView], benchmark: Benchmark) -> Iterator[list[Picture]]:
    """The pictures of each item."""
    media = benchmark.media({item.id for item in items})
    files = [media.get(item.id, []) for item in items]
    found = iter(pictures([file for those in files for file in those]))
    for those in files:
        yield list(islice(found, len(those)))


def _texts(items: Sequence[ItemView], benchmark: Benchmark) -> dict[str, str]:
    """The text of each item, shortened, if the benchmark has texts instead of images."""
    if benchmark.spec.media != "text":
        return {}
    given = benchmark.shown({item.id for item in items})
    return {item.id: cut(given[item.id].text, MAX_TEXT) for item in items if item.id in given}


def _violations(result: Result) -> list[tuple[str, str, int]]:
    """Field, rule and number of answers that break the schema, the most frequent first."""
    rows = [
        (cut(field), rule, count)
        for field, rules in result.reading.get("schema_violations", {}).items()
        for rule, count in rules.items()
    ]
    return sorted(rows, key=lambda row: -row[2])[:MAX_FIELDS]


def _truth_errors(
    benchmark: Benchmark, result: Result, items: Sequence[ItemView], language: str
) -> list[str | None]:
    """The address for an error in each item's ground truth; None if the benchmark names none."""
    address = benchmark.spec.report_errors_at
    if address is None:
        return [None] * len(items)
    name, version = benchmark.spec.name, result.dataset["dataset_version"]
    tell = partial(TEXTS.text, language=language)
    return [truth_error_url(address, name, version, item, tell) for item in items]


def _run(result: Result) -> dict[str, str]:
    """Return what the run says about itself, by the name of its label."""
    run = result.run
    prompt = run.get("prompt") or {}
    told = {
        "run_model": result.model or run.get("model"),
        "run_run": run.get("run"),
        "run_provider": run.get("provider"),
        "run_date": run.get("date"),
        "run_prompt": prompt.get("name"),
        "run_cost": None if run.get("cost_usd") is None else f"{run['cost_usd']} USD",
    }
    return {label: cut(str(value), MAX_MESSAGE) for label, value in told.items() if value}


def _method(result: Result, found: Intervals, signature: str, language: str) -> dict[str, str]:
    """Return how the figures were computed, by the name of its label."""
    tell = partial(TEXTS.text, language=language)
    options = given_options(result.metric)
    drawn = tell(
        ("delta" if found.by_delta else "bootstrap")
        + ("" if result.weighed is None else "_strata"),
        items=found.items,
        resamples=found.resamples,
        seed=found.seed,
        level=found.level,
    )
    told = {
        "method_signature": signature,
        "method_metric": tell(
            "metric_rules",
            metric=f"hdb/{result.metric.name}",
            rules=result.metric.rules,
            reading=result.reading_version,
        ),
        "method_protocol": result.metric.protocol,
        "method_options": _listed(result.metric.options, " = ", "; "),
        "method_given": ", ".join(options),
        "method_dataset": result.dataset.get("benchmark"),
        "method_version": result.dataset.get("dataset_version"),
        "method_dataset_sha256": result.dataset.get("dataset_sha256"),
        "method_answers": result.answers.get("path"),
        "method_answers_sha256": result.answers.get("sha256"),
        "method_prompt_sha256": (result.run.get("prompt") or {}).get("sha256"),
        "method_published": _published(result.run, language),
        "method_intervals": _no_interval(found, language) or drawn,
        "method_versions": _listed(result.versions),
    }
    return {label: cut(str(value), MAX_MESSAGE) for label, value in told.items() if value}


def _published(run: Mapping[str, Any], language: str) -> str:
    """The figures that were published for a run, and whether they are known not to be its own."""
    figures = _listed(run.get("published") or {})
    if run.get("reproducible") is not False:
        return figures
    return TEXTS.text("not_reproducible", language, figures=figures)


def _no_interval(found: Intervals, language: str) -> str | None:
    """Return why there are no intervals; None if there are."""
    if found.why is None:
        return None
    key = "too_few_one" if found.items == 1 else "too_few"
    return TEXTS.text(key, language, items=found.items)


def _listed(values: Mapping[str, Any], sign: str = " ", between: str = ", ") -> str:
    return between.join(f"{name}{sign}{value}" for name, value in values.items())
