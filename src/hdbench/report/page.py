"""The page of a report: one HTML file with everything in it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from unicodedata import combining

from markupsafe import Markup

from hdbench.about import YEAR, __version__
from hdbench.answers.answer import STATUSES
from hdbench.benchmarks.benchmark import Benchmark
from hdbench.common.display.marks import mark
from hdbench.common.display.table import Drawn, Table
from hdbench.common.pictures import WIDTH, ItemPicture, pictures
from hdbench.common.texts import decimal, translated, written
from hdbench.errors import HdbenchError
from hdbench.evaluation import sentences
from hdbench.evaluation.by_column import ByColumn
from hdbench.evaluation.parts import in_words
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import given_options
from hdbench.evaluation.run import RunInfo
from hdbench.evaluation.tables import equal_table, violations_table
from hdbench.report.examples import example_pictures
from hdbench.report.items import BANDS, ItemView, cut, item_views
from hdbench.report.rendering import TEXTS, render
from hdbench.report.truth_errors import truth_error_url
from hdbench.scoring.metric import INDEX, Outcome, figure_heading
from hdbench.statistics.bootstrap import MIN_ITEMS, Intervals

MAX_ITEMS = 2_000
"""Maximum number of items shown: the worst ones."""

MAX_FIELDS = 60
"""Maximum rows of a table of fields, and entries of the filter: a model can invent any number."""

MAX_CONFUSIONS = 20
MAX_MESSAGE = 1_000
"""Maximum characters of a warning, note or other text about the run."""

MAX_TEXT = 5_000
"""Maximum characters of the text of an item that has one instead of images."""


TYPICAL = 3
"""Number of items at the top of the page."""

MAX_TYPICAL = 5
"""Maximum number of fields of each of these."""

FEW_PICTURES = 100
"""Number of pictures up to which a page has them in twice the width, to be zoomed."""

SOFTWARE = f"""\
@software{{hdbench,
  title   = {{{{hdbench}}: Benchmarks of the Digital Humanities, Built, Loaded and Scored}},
  author  = {{{{The hdbench authors}}}},
  year    = {{{YEAR}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""


class ShownItem(NamedTuple):
    """An item as the page has it.

    Attributes:
        number: its number in the list; 0 if that leaves it out.
        view: what became of it.
        pictures: its pictures.
        truth_error: the address for an error in its ground truth; None if there is none.
    """

    number: int
    view: ItemView
    pictures: list[ItemPicture]
    truth_error: str | None


def report_page(
    result: Result,
    benchmark: Benchmark,
    *,
    by: ByColumn | None = None,
    by_identifier: Mapping[str, Any] | None = None,
    language: str = "en",
    floor: Result | None = None,
    beside: Mapping[str, str] | None = None,
) -> str:
    """Return the page of a result: figures, fields, errors by class, items with their pictures.

    The page is self-contained, runs no script but its own, and can be written as UTF-8
    whatever a model wrote.

    Args:
        result: a result with `per_item`.
        benchmark: what was scored; those of its media that exist are shown.
        by: the headline by the values of a column, if it is to be shown.
        by_identifier: the figures with values counted as equal that share an identifier, if they
            are to be shown; see `ScoringByIdentifier.totals`.
        language: the page's language, one of `hdbench.common.texts.LANGUAGES`.
        floor: the same model's run without media, if there is one.
        beside: the files beside the page that it links, file → key of its label.

    Raises:
        HdbenchError: the result was scored without details, or the benchmark's metadata or schema
            cannot be read.
    """
    if result.ids and not result.per_item:
        raise HdbenchError("the result does not have its items: score with --details")
    errors = result.errors_by_class
    confusions = errors["confusions"][:MAX_CONFUSIONS]
    every = item_views(result.per_item, result.item_errors, result.metric)
    shown = every[:MAX_ITEMS]
    names = list(islice(_fields_with_errors(errors, shown), MAX_FIELDS))
    titles = benchmark.field_titles(language)
    fields = _worst_first(result.fields)
    middle = typical_of([view.id for view in every])
    images = item_pictures(benchmark, [*middle, *(view.id for view in shown)])
    addresses = _truth_errors(benchmark, result, shown, language)
    items = [
        ShownItem(number, view, images[view.id], address)
        for number, (view, address) in enumerate(zip(shown, addresses, strict=True), 1)
    ]
    numbers = {item.view.id: item.number for item in items}
    return render(
        "report.html",
        language,
        title=benchmark.spec.title_in(language),
        titles=titles,
        result=result,
        licence=benchmark.spec.licence,
        run=_run(result),
        sentences=sentences,
        warnings=sentences.warnings(result, language, titles),
        reached=result.dataset.people,
        floor=floor and floor.rates[result.headline],
        figures_table=_drawn(result.figures_table, language),
        figure_drawings={"figure": ("drawn", _axis(0, 1, language), _marks(result))},
        by=by,
        by_table=by and _drawn(by.table, language),
        by_drawings=by and _marks_of_groups(by, language),
        by_identifier=by_identifier,
        equal_table=by_identifier
        and _drawn(equal_table(result.rates, by_identifier["figures"]), language),
        ranges=translated(by.note, language) if by and by.note else None,
        small_groups=in_words(**by.warning, language=language) if by and by.warning else None,
        no_interval=_no_interval(result.intervals, language),
        few=MIN_ITEMS,
        violations=violations_table(result.violations)[:MAX_FIELDS].drawn(language),
        has_violations=bool(result.violations),
        fields=fields and _drawn(fields[:MAX_FIELDS], language),
        field_drawings=_field_drawings(result, fields[:MAX_FIELDS], language),
        apart=_apart(fields, language),
        has_outcomes=any(result.outcomes.values()) or bool(result.metric.set_fields),
        more_fields=max(0, len(fields) - MAX_FIELDS),
        has_schema=benchmark.schema is not None,
        classes=errors["classes"],
        classes_by_field=dict(islice(errors["fields"].items(), MAX_FIELDS)),
        confusions=confusions,
        example_pictures=example_pictures(result, benchmark, confusions),
        f1_form=errors.get("f1_form"),
        items=items,
        has_lines=any(row.lines for view in shown for row in view.errors),
        more_items=len(result.ids) - len(shown),
        texts=_texts(shown, benchmark),
        filter_fields=names,
        places={name: index for index, name in enumerate(names)},
        statuses=[status for status in STATUSES if result.status[status]],
        bands=BANDS,
        typical=[
            ShownItem(numbers.get(view.id, 0), view, images[view.id], None)
            for view in reversed(every)
            if view.id in middle
        ],
        cut=cut,
        sign=_sign,
        most=MAX_MESSAGE,
        most_typical=MAX_TYPICAL,
        is_published=benchmark.spec.source is not None,
        method=_method(result, language),
        bibtex=_bibtex(benchmark),
        label_style=_label_style(language),
        beside=beside or {},
    )


Drawings = Mapping[str, tuple[str, str, Sequence[str]]]
"""Column → the class, the head and the drawings of one that is drawn behind it."""


def _drawn(table: Table, language: str) -> Drawn:
    return table.drawn(language, partial(figure_heading, language=language))


def _axis(low: float, high: float, language: str) -> Markup:
    """Return the ends of an axis, as the head of a column of marks."""
    ends = (decimal(f"{end:.4g}", language) for end in (low, high))
    spans = Markup("").join(Markup("<span>{}</span>").format(end) for end in ends)
    return Markup('<span class="ends">{}</span>').format(spans)


def _marks(result: Result) -> list[Markup]:
    """Return a mark for each figure that can be drawn on a line from 0 to 1."""
    people = result.dataset.people
    return [
        mark(
            figure.value,
            figure.interval.ends if figure.interval else None,
            *(0, 1),
            people.value if people and people.headline == figure.name else None,
        )
        if figure.is_share
        else Markup()
        for figure in result.rated_figures
    ]


def _marks_of_groups(by: ByColumn, language: str) -> Drawings:
    """Return a mark for each group, on the scale that all have in common; none without one."""
    values = [group.figures[by.judged_by] for group in by.groups]
    ends = [value for value in values if value is not None]
    intervals = [group.interval for group in by.groups if group.interval is not None]
    for interval in intervals:
        ends += interval.ends
    if not intervals or min(ends) == max(ends):
        return {}
    low, high = min(ends), max(ends)
    marks = [
        mark(value, group.interval.ends if group.interval else None, low, high)
        for value, group in zip(values, by.groups, strict=True)
    ]
    return {"interval": ("drawn", _axis(low, high, language), marks)}


def _label_style(language: str) -> Markup:
    """Return the labels of the tables of fields on a narrow screen.

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


def _sign(text: str) -> str:
    """Return one or two confused characters; a mark without its letter has a circle instead."""
    return "◌" * bool(combining(text[0])) + text


_PARTS: dict[Outcome, str] = {
    "correct": "right",
    "substituted": "wrong",
    "missing": "lacking",
    "spurious": "added",
}
"""The parts of a field's bar."""


def _outcomes_of_fields(result: Result) -> dict[str, dict[Outcome, int]]:
    """Return field → how often it had each outcome; a substituted value counts once.

    The items of a list are one field. Where values are a set, as the persons of a letter are, a
    missing and a spurious one of an item are a substituted one, as in `EFFORT`. Fields of other
    metrics have no outcomes.
    """
    fields: dict[str, Counter[Outcome]] = {}
    for outcome, counts in result.outcomes.items():
        for path, count in counts.items():
            fields.setdefault(INDEX.sub("", path), Counter())[outcome] += count
    for field in () if fields else result.metric.set_fields:
        names = ("true_positives", "false_positives", "false_negatives")
        columns = [result.statistics[f"{field}.{name}"] for name in names]
        for right, spurious, missing in zip(*columns, strict=True):
            substituted = min(spurious, missing)
            fields.setdefault(field, Counter()).update(
                correct=int(right),
                substituted=int(substituted),
                missing=int(missing - substituted),
                spurious=int(spurious - substituted),
            )
    return {
        field: {name: counts[name] for name in result.outcomes} for field, counts in fields.items()
    }


def _value(row: Mapping[str, Any]) -> float:
    return float(row.get("f1", row.get("accuracy", 0.0)))


def _worst_first(fields: Table) -> Table:
    """Return the fields, the worst first; those that no reference has come last."""

    def order(row: Mapping[str, Any]) -> tuple[bool, float]:
        counts = [row.get(name) for name in ("true_positives", "false_negatives")]
        return counts == [0, 0], _value(row)

    return Table(sorted(fields, key=order), fields.columns)


def _apart(fields: Table, language: str) -> list[tuple[str, str]]:
    """Return the worst and the best field with their figures; nothing of fewer than two."""
    if len(fields) <= 1:
        return []
    best = max(reversed(fields), key=_value)
    return [(row["field"], written(_value(row), 3, language)) for row in (fields[0], best)]


def _field_drawings(result: Result, fields: Table, language: str) -> Drawings:
    """Return a bar for each field, and its interval as a mark, if it has one."""
    outcomes = _outcomes_of_fields(result)
    bars, marks = [], []
    for row in fields:
        counts = outcomes.get(row["field"], {})
        total = sum(counts.values()) or 1
        parts = {_PARTS[outcome]: count / total for outcome, count in counts.items()}
        bars.append(_bar({"right": row["accuracy"]} if "accuracy" in row else parts))
        ends = None if row["low"] is None else (row["low"], row["high"])
        marks.append(mark(_value(row), ends, 0, 1) if ends else Markup())
    drawings = {"field": ("drawn", TEXTS.text("bar", language), bars)}
    return drawings | {"interval": ("marked", _axis(0, 1, language), marks)}


def _bar(parts: Mapping[str, float]) -> Markup:
    """Return the parts of a bar, name → share of its length."""
    rects, x = Markup('<rect class="scale" width="100" height="10"/>'), 0.0
    for name, share in parts.items():
        rect = Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="10"/>')
        rects += rect.format(name, x, 100 * share)
        x += 100 * share
    return Markup(
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}'
        "</svg>"
    ).format(rects)


def _fields_with_errors(errors: Mapping[str, Any], items: Sequence[ItemView]) -> Iterator[str]:
    """Yield the fields to filter by, those with the most errors first."""
    counts = {name: sum(classes.values()) for name, classes in errors["fields"].items()}
    with_errors = {row.name for item in items for row in item.errors}
    return (name for name in sorted(counts, key=lambda name: -counts[name]) if name in with_errors)


def typical_of(ids: Sequence[str]) -> list[str]:
    """Return three items that show what a run is like: the middle one of each third.

    Args:
        ids: the items, worst first.

    Returns:
        Them, worst first; none of fewer than three.
    """
    if len(ids) < TYPICAL:
        return []
    return [ids[(2 * third + 1) * len(ids) // (2 * TYPICAL)] for third in range(TYPICAL)]


def item_pictures(benchmark: Benchmark, ids: Sequence[str]) -> dict[str, list[ItemPicture]]:
    """Return the pictures of items, as many as a page can hold, sharper if they are few.

    Args:
        benchmark: the benchmark.
        ids: the items, those first that need their pictures most; each once or more often.
    """
    media = benchmark.media(set(ids))
    files = {name: media.get(name, []) for name in dict.fromkeys(ids)}
    paths = [path for of_item in files.values() for path in of_item]
    made = iter(pictures(paths, width=WIDTH if len(paths) > FEW_PICTURES else 2 * WIDTH))
    return {name: list(islice(made, len(of_item))) for name, of_item in files.items()}


def _texts(items: Sequence[ItemView], benchmark: Benchmark) -> dict[str, str]:
    """Return the text of each item, shortened, if the benchmark has texts instead of images."""
    if benchmark.spec.media != "text":
        return {}
    texts = benchmark.shown({item.id for item in items})
    return {item.id: cut(texts[item.id].text, MAX_TEXT) for item in items if item.id in texts}


def _truth_errors(
    benchmark: Benchmark, result: Result, items: Sequence[ItemView], language: str
) -> list[str | None]:
    """Return the address for an error in each item's ground truth; None if there is none."""
    address = benchmark.spec.report_errors_at
    if address is None:
        return [None] * len(items)
    name, version = benchmark.spec.name, result.dataset.dataset_version
    tell = partial(TEXTS.text, language=language)
    return [truth_error_url(address, name, version, item, tell) for item in items]


def _run(result: Result) -> dict[str, str]:
    """Return what the run says about itself, by the name of its label."""
    run = result.run
    values = {
        "run_model": result.model or run.model,
        "run_run": run.run,
        "run_provider": run.provider,
        "run_date": run.date,
        "run_prompt": run.prompt and run.prompt.name,
        "run_cost": None if run.cost_usd is None else f"{run.cost_usd} USD",
    }
    return {label: cut(str(value), MAX_MESSAGE) for label, value in values.items() if value}


def _method(result: Result, language: str) -> dict[str, str]:
    """Return how the figures were computed, by the name of its label."""
    tell, intervals = partial(TEXTS.text, language=language), result.intervals
    options = given_options(result.metric)
    drawn = tell(
        "bootstrap" if result.weighed is None else "bootstrap_strata",
        items=intervals.items,
        resamples=intervals.resamples,
        seed=intervals.seed,
        level=intervals.level,
    )
    values = {
        "method_signature": result.signature,
        "method_metric": tell(
            "metric_rules",
            metric=f"hdb/{result.metric.name}",
            rules=result.metric.rules,
            reading=result.reading.version,
        ),
        "method_protocol": result.metric.protocol,
        "method_options": _listed(result.metric.options, " = ", "; "),
        "method_given": ", ".join(options),
        "method_dataset": result.dataset.benchmark,
        "method_version": result.dataset.dataset_version,
        "method_dataset_sha256": result.dataset.dataset_sha256,
        "method_answers": result.answers.path,
        "method_answers_sha256": result.answers.sha256,
        "method_prompt_sha256": result.run.prompt_sha256,
        "method_published": _published(result.run, language),
        "method_intervals": _no_interval(intervals, language) or drawn,
        "method_versions": _listed(dict(result.versions)),
    }
    return {label: cut(str(value), MAX_MESSAGE) for label, value in values.items() if value}


def _bibtex(benchmark: Benchmark) -> list[str]:
    """Return what to cite, as lines of BibTeX: the benchmark, if it says how, and hdbench."""
    return "\n\n".join(filter(None, [benchmark.spec.citation.strip(), SOFTWARE])).splitlines()


def _published(run: RunInfo, language: str) -> str:
    """Return a run's published figures, and whether they are known not to be its own."""
    figures = _listed(run.published or {})
    if run.reproducible is not False:
        return figures
    return TEXTS.text("not_reproducible", language, figures=figures)


def _no_interval(intervals: Intervals, language: str) -> str | None:
    """Return why there are no intervals; None if there are."""
    if intervals.why is None:
        return None
    return TEXTS.text("too_few", language, count=intervals.items)


def _listed(values: Mapping[str, Any], sign: str = " ", between: str = ", ") -> str:
    return between.join(f"{name}{sign}{value}" for name, value in values.items())
