"""A result as an Excel workbook, in which whatever a model wrote is plain text."""

import io
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hdbench.answers.answer import STATUSES
from hdbench.benchmarks.titles import Titles
from hdbench.common.csv_and_excel import workbook_into
from hdbench.common.display.excel import HEAD, LEAD, TEXT, TITLE, Sheets, SheetValue
from hdbench.common.display.table import Column, Table, value_text
from hdbench.common.texts import numbers_of, translated
from hdbench.errors import Message
from hdbench.evaluation import sentences
from hdbench.evaluation.parts import NO_FILE
from hdbench.evaluation.result import Result
from hdbench.evaluation.run import NO_RUN, subset_in_words
from hdbench.evaluation.tables import direction_of
from hdbench.scoring.error_classes import ERROR_CLASSES
from hdbench.scoring.metric import figure_of, figure_title
from hdbench.statistics.bootstrap import Intervals, method_in_words

_CLASSES = Message("Error classes")

_MAX_NUMBER = 2**53  # a run may say anything about its published figures; NaN is not a number


def workbook(result: Result, language: str = "en", titles: Titles = str) -> bytes:
    """Return the .xlsx file: `Summary`, `Fields` (if any), `Errors`, `Items` and their classes.

    Texts are text cells, never formulas or links. Control and invisible characters except line
    breaks are written as escapes. What is too long for a cell or a sheet is cut, and says so.

    Args:
        result: a result with details.
        language: that of the sheets' names, heads and our own words in them, one of
            `hdbench.common.texts.LANGUAGES`.
        titles: path of a field → its title.

    Raises:
        HdbenchError: the result did not keep the details of every item.
        MissingExtraError: xlsxwriter is not installed.
    """
    data = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with workbook_into(data, options) as book:
        sheets = Sheets(book, language, partial(figure_title, language=language), titles)
        sheets.summary(Message("Summary"), _summary(result, result.intervals, language, titles))
        if result.field_rates():
            sheets.table(result.fields, bands=("f1", "accuracy"))
        sheets.table(result.errors_beside({}), bands=("similarity",))
        sheets.table(_without_zeros(result.items), bands=(result.metric.item_figure,))
        sheets.table(_classes(result.errors_by_class))
        if confusions := result.errors_by_class["confusions"]:
            sheets.table(_confusions(confusions))
    return data.getvalue()


def _word(word: str, language: str) -> str:
    """Return one of our own words, or lines, in the workbook's language."""
    return translated(word if isinstance(word, Message) else Message(word), language)


def _summary(
    result: Result, intervals: Intervals, language: str, titles: Titles
) -> Iterator[tuple[str, Sequence[SheetValue]]]:
    """Yield what was scored and how, every figure with its interval, and notes."""
    metric, rates, dataset = result.metric, result.rates, result.dataset
    say = partial(_word, language=language)
    model = result.model or say("no model named")
    name = dataset.benchmark or metric.name
    yield TITLE, [f"{name}, {say(metric.protocol)}: {model}"]
    for sentence in sentences.lead(result, language):
        yield LEAD, [sentence]
    if resources := sentences.resources(result, language):
        yield LEAD, [resources]
    subset = result.run.subset
    run = result.run.model_dump(exclude={"items", "own_images"}, exclude_none=True)
    chosen = {} if subset is None else {"subset": say(subset_in_words(subset))}
    yield TEXT, []
    yield from _flat(
        {
            "model": result.model,
            "run": {} if result.run == NO_RUN else run | chosen,
            "benchmark": dataset.benchmark or None,
            "benchmark version": dataset.dataset_version or None,
            "metric": metric.name,
            "protocol": say(metric.protocol),
            "options": metric.options,
        },
        language,
    )
    if estimated := sentences.estimated(result, language):
        yield TEXT, [say("rates"), estimated]
    if people := sentences.people(result, language):
        yield TEXT, [say("people"), people.partition(": ")[2]]
        yield TEXT, ["", sentences.people_means(language)]
    yield TEXT, []
    percent = numbers_of(language).written(f"{100 * intervals.level:g}%")
    level = say("single items") if intervals.why else percent
    ends_of = [say(Message(template, what=level)) for template in ("{what} from", "{what} to")]
    yield HEAD, [say("figure"), say("value"), *ends_of, say("direction")]
    for look, (figure, value) in _flat({result.headline: rates[result.headline]} | rates):
        interval = intervals.range_of(str(figure))
        ends = [None, None] if interval is None else [interval.low, interval.high]
        title = figure_title(str(figure), language)
        yield look, [title, value, *ends, say(direction_of(figure_of(metric, str(figure))))]
    if intervals.why:
        yield TEXT, [say("no intervals"), translated(intervals.why, language)]
    for name, reason in sentences.without_interval(result, language).items():
        yield TEXT, [figure_title(name, language), reason]
    yield TEXT, []
    yield HEAD, [say("coverage"), say("items")]
    status = {name: result.status[name] for name in STATUSES}
    yield from _flat({"items": len(result.ids), **result.coverage, "status": status}, language)
    pairs = zip(result.warnings, sentences.warnings(result, language, titles), strict=True)
    if result.per_item and "f1_form" in result.errors_by_class:
        yield (
            TEXT,
            [
                say("F1 where the form alone may differ"),
                result.errors_by_class["f1_form"],
            ],
        )
    sections = {
        "warnings": [f"{warning.kind}: {text}" for warning, (text, _) in pairs],
        "notes": [note.text for note in sentences.notes(result, language)],
    }
    for name, lines in sections.items():
        yield TEXT, []
        yield HEAD, [say(name), "" if lines else say("none")]
        yield from ((TEXT, ["", line]) for line in lines)
    yield TEXT, []
    yield HEAD, [say("how to compute it again"), ""]
    yield from _flat(
        {
            "signature": result.signature,
            "rules": metric.rules,
            "reading": result.reading.version,
            "versions": dict(result.versions),
            "answers": {} if result.answers == NO_FILE else dict(result.answers),
            "dataset sha256": dataset.dataset_sha256 or None,
            "item set": result.item_set,
            "intervals": say(method_in_words(intervals.method)),
            "resamples": intervals.resamples,
            "seed": intervals.seed,
        },
        language,
    )


def _flat(
    values: Mapping[str, Any], language: str = "en", prefix: str = ""
) -> Iterator[tuple[str, tuple[str, SheetValue]]]:
    """Yield rows of a name and a value, nested objects with dotted names; no empty ones."""
    for name, value in values.items():
        label = prefix + _word(name, language)
        if isinstance(value, Mapping):
            yield from _flat(value, language, f"{label}.")
        elif type(value) in (int, float) and abs(value) < _MAX_NUMBER:
            yield TEXT, (label, value)
        elif value is not None:
            yield TEXT, (label, value_text(value))


def _classes(errors: Mapping[str, Any]) -> Table:
    """Return the errors of the answered items by class and field."""
    rows = [{"field": Message("all"), **errors["classes"]}]
    rows += [{"field": field, **counts} for field, counts in errors["fields"].items()]
    columns = [Column(name, "number", Message(name)) for name in ERROR_CLASSES]
    filled = [dict.fromkeys(ERROR_CLASSES, 0) | row for row in rows]
    return Table(filled, [Column("field", "field", Message("field")), *columns], _CLASSES)


def _confusions(confusions: Sequence[Mapping[str, Any]]) -> Table:
    """Return the characters that are most often read as others."""
    columns = [
        Column("reference", title=Message("confused characters, ground truth")),
        Column("prediction", title=Message("answer")),
        Column("count", "number", Message("times")),
        Column("of", "number", Message("of")),
        Column("example", title=Message("example")),
    ]
    return Table(confusions, columns, Message("Confused characters"))


def _without_zeros(table: Table) -> Table:
    """Return a table without the statistics that are zero for every item."""
    zero = [
        each.name
        for each in table.columns
        if each.is_number and not any(row[each.name] for row in table)
    ]
    return table.without(zero)


def csv_files(result: Result) -> dict[str, bytes]:
    """Return the files `fields.csv`, `items.csv` and `errors.csv`; see `Table.to_csv`.

    Args:
        result: a result with details.

    Returns:
        Name → content.

    Raises:
        HdbenchError: the result did not keep the details of every item.
    """
    items = _without_zeros(result.items)
    tables = {"fields": result.fields, "items": items, "errors": result.errors_beside({})}
    return {f"{name}.csv": table.to_csv() for name, table in tables.items()}
