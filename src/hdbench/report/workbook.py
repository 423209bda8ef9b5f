"""A result as an Excel workbook, in which whatever a model wrote is plain text."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from hdbench.answers.answer import STATUSES
from hdbench.benchmarks.titles import Titles
from hdbench.common.csv_and_excel import workbook_into, write_text
from hdbench.common.texts import numbers_of, translated
from hdbench.errors import Message
from hdbench.evaluation.parts import NO_FILE
from hdbench.evaluation.result import Result
from hdbench.evaluation.run_info import NO_RUN, subset_in_words
from hdbench.evaluation.summary import ResultSummary
from hdbench.report.tables import Cell, direction, error_rows, field_rows, item_rows, text
from hdbench.scoring.error_classes import ERROR_CLASSES
from hdbench.scoring.metric import figure_of, figure_title
from hdbench.statistics.bootstrap import Intervals, method_in_words

MAX_ROWS = 100_000
"""Maximum rows below a sheet's header: a sheet can have 1,048,576, but is hardly usable then."""

_MAX_NUMBER = 2**53  # a run may say anything about its published figures; NaN is not a number
_NARROW, _WIDE = 13, 48
_LONG = ("field", "truth", "answer", "id")
_OUR_WORDS = ("status", "outcome", "error class")
_BANDS = (
    (">=", 1.0, "#A9D8B8"),
    (">=", 0.8, "#DDEFD5"),
    (">=", 0.5, "#FFEB9C"),
    ("<", 0.5, "#F5BBA0"),
)

# Their formats, by the kind of row in the summary.
_TITLE, _LEAD, _HEAD, _TEXT = "title", "lead", "head", "text"


def workbook(result: Result, language: str = "en", titles: Titles = str) -> bytes:
    """Return the .xlsx file: `Summary`, `Fields` (if any), `Errors`, `Items` and `Error classes`.

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
    fields, items, errors = field_rows(result), item_rows(result), error_rows(result)
    classes = result.errors_by_class
    data = io.BytesIO()
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with workbook_into(data, options) as book:
        sheets = _Sheets(book, language, titles)
        sheets.summary(_summary(result, result.intervals, language, titles))
        if result.field_rates():
            sheets.table("Fields", fields.head, fields.rows, bands=("f1", "accuracy"))
        sheets.table("Errors", errors.head, errors.rows, bands=("similarity",))
        sheets.table("Items", items.head, items.rows, bands=(result.metric.item_figure,))
        sheets.table("Error classes", *_classes(classes, language))
    return data.getvalue()


class _Sheets:
    """The sheets of one workbook, in the order in which they are asked for."""

    def __init__(self, book: Any, language: str, titles: Titles) -> None:
        self._book = book
        self._language, self._titles = language, titles
        # Without the mark Excel would turn such a text into a formula as soon as it is edited.
        base = {"quote_prefix": True, "text_wrap": True, "valign": "top"}
        self._looks = {
            _TEXT: book.add_format(base),
            _HEAD: book.add_format(base | {"bold": True, "bottom": 1, "bg_color": "#E7E9ED"}),
            _TITLE: book.add_format(base | {"bold": True, "font_size": 14, "text_wrap": False}),
            _LEAD: book.add_format(base | {"text_wrap": False}),
        }
        self._count = book.add_format({"valign": "top", "align": "left", "num_format": "0"})
        self._rate = book.add_format({"valign": "top", "align": "left", "num_format": "0.0000"})
        self._bands = [
            {
                "type": "cell",
                "criteria": criterion,
                "value": value,
                "format": book.add_format({"bg_color": colour}),
                "stop_if_true": True,
            }
            for criterion, value, colour in _BANDS
        ]

    def table(
        self,
        name: str,
        head: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        *,
        bands: Sequence[str] = (),
    ) -> None:
        """Add a sheet with a header that stays in view, a filter, and at most `MAX_ROWS` rows.

        The names, and what is in the columns `_OUR_WORDS`, are put into the workbook's language.
        Fields and figures are called by their titles.

        Args:
            name: the sheet's name.
            head: the columns' names.
            rows: a cell for each column.
            bands: the columns, if any, that are colored by their value.
        """
        sheet = self._sheet(name, [_WIDE if title in _LONG else _NARROW for title in head])
        self._write(sheet, 0, [_heading(title, self._language) for title in head], _HEAD)
        remaining, last = iter(rows), 0
        for last, row in enumerate(islice(remaining, MAX_ROWS), start=1):
            cells = [self._cell(*pair) for pair in zip(row, head, strict=False)]
            self._write(sheet, last, cells)
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, last, len(head) - 1)
        for column, title in enumerate(head):
            for band in self._bands if last and title in bands else ():
                # An empty cell would count as 0.
                sheet.conditional_format(
                    1, column, last, column, {"type": "blanks", "stop_if_true": True}
                )
                sheet.conditional_format(1, column, last, column, band)
        if more := sum(1 for _ in remaining):
            left_over = Message("and {count} more rows, which are in the CSV file", count=more)
            self._write(sheet, last + 1, [_word(left_over, self._language)], _HEAD)

    def summary(self, rows: Iterable[tuple[str, Sequence[Cell]]]) -> None:
        """Add the first sheet: rows of formats and cells."""
        sheet = self._sheet("Summary", [32, 64, _NARROW, _NARROW, 18])
        for number, (look, row) in enumerate(islice(rows, MAX_ROWS)):
            self._write(sheet, number, row, look)

    def _sheet(self, name: str, widths: Sequence[int]) -> Any:
        sheet = self._book.add_worksheet(_word(name, self._language))
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{MAX_ROWS + 2}"})
        return sheet

    def _cell(self, value: Cell, column: str) -> Cell:
        if isinstance(value, str) and column in _OUR_WORDS:
            return _word(value, self._language)
        return self._titles(value) if isinstance(value, str) and column == "field" else value

    def _write(self, sheet: Any, number: int, row: Sequence[Cell], look: str = _TEXT) -> None:
        for column, value in enumerate(row):
            if isinstance(value, str):
                write_text(sheet, number, column, value, self._looks[look])
            elif value is not None:
                kind = self._rate if isinstance(value, float) else self._count
                sheet.write_number(number, column, value, kind)


def _word(word: str, language: str) -> str:
    """Return one of our own words, or lines, in the workbook's language."""
    return translated(word if isinstance(word, Message) else Message(word), language)


def _heading(name: str, language: str) -> str:
    """Return a column's heading: a figure's title, or one of our own words."""
    title = figure_title(name, language)
    return _word(name, language) if title == name else title


def _summary(
    result: Result, intervals: Intervals, language: str, titles: Titles
) -> Iterator[tuple[str, Sequence[Cell]]]:
    """Yield what was scored and how, every figure with its interval, and notes."""
    metric, rates, dataset = result.metric, result.rates, result.dataset
    summary = ResultSummary(result, language, titles=titles)
    say = partial(_word, language=language)
    model = text(result.model) or say("no model named")
    name = dataset.benchmark or metric.name
    yield _TITLE, [f"{name}, {say(metric.protocol)}: {model}"]
    for sentence in (
        *(summary.work, summary.lost, summary.score, summary.reading),
        summary.resources,
    ):
        if sentence:
            yield _LEAD, [sentence]
    subset = result.run.subset
    run = result.run.model_dump(exclude={"items", "own_images"}, exclude_none=True)
    chosen = {} if subset is None else {"subset": say(subset_in_words(subset))}
    yield _TEXT, []
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
    if summary.estimated:
        yield _TEXT, [say("rates"), summary.estimated]
    if summary.people is not None:
        yield _TEXT, [say("people"), summary.people.partition(": ")[2]]
        yield _TEXT, ["", summary.people_means]
    yield _TEXT, []
    percent = numbers_of(language).written(f"{100 * intervals.level:g}%")
    level = say("single items") if intervals.why else percent
    ends_of = [say(Message(template, what=level)) for template in ("{what} from", "{what} to")]
    yield _HEAD, [say("figure"), say("value"), *ends_of, say("direction")]
    for look, (figure, value) in _flat({result.headline: rates[result.headline]} | rates):
        interval = intervals.range_of(str(figure))
        ends = [None, None] if interval is None else [interval.low, interval.high]
        title = figure_title(str(figure), language)
        yield look, [title, value, *ends, say(direction(figure_of(metric, str(figure))))]
    if intervals.why:
        yield _TEXT, [say("no intervals"), summary.no_intervals]
    for name, reason in summary.without_interval.items():
        yield _TEXT, [figure_title(name, language), reason]
    yield _TEXT, []
    yield _HEAD, [say("coverage"), say("items")]
    status = {name: result.status[name] for name in STATUSES}
    yield from _flat({"items": len(result.ids), **summary.coverage, "status": status}, language)
    pairs = zip(result.warnings, summary.warnings, strict=True)
    sections = {
        "warnings": [f"{warning.kind}: {text}" for warning, (text, _) in pairs],
        "notes": [note.text for note in summary.notes],
    }
    for name, lines in sections.items():
        yield _TEXT, []
        yield _HEAD, [say(name), "" if lines else say("none")]
        yield from ((_TEXT, ["", line]) for line in lines)
    yield _TEXT, []
    yield _HEAD, [say("how to compute it again"), ""]
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
) -> Iterator[tuple[str, tuple[str, Cell]]]:
    """Yield rows of a name and a value, nested objects with dotted names; no empty ones."""
    for name, value in values.items():
        label = prefix + _word(name, language)
        if isinstance(value, Mapping):
            yield from _flat(value, language, f"{label}.")
        elif type(value) in (int, float) and abs(value) < _MAX_NUMBER:
            yield _TEXT, (label, value)
        elif value is not None:
            yield _TEXT, (label, text(value))


def _classes(errors: Mapping[str, Any], language: str) -> tuple[list[str], list[list[Cell]]]:
    """Return the errors of the answered items by class and field, then confused characters."""
    fields: Mapping[str, Mapping[str, int]] = errors["fields"]
    classes: Mapping[str, int] = errors["classes"]
    say = partial(_word, language=language)
    rows: list[list[Cell]] = [[say("all"), *(classes.get(name, 0) for name in ERROR_CLASSES)]]
    for field, counts in fields.items():
        rows.append([field, *(counts.get(name, 0) for name in ERROR_CLASSES)])
    if "f1_form" in errors:
        rows += [[], [say("F1 where the form alone may differ"), errors["f1_form"]]]
    if errors["confusions"]:
        heads = ("confused characters, ground truth", "answer", "times", "of", "example")
        rows += [[], [say(heading) for heading in heads]]
        rows += [list(pair.values()) for pair in errors["confusions"]]
    return ["field", *ERROR_CLASSES], rows
