"""A result as tables: its items, its fields, and its errors with what was expected and found."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.names import DESCRIPTION, full_name
from hdbench.common.display.html import HtmlTable, Lines, Picture, block
from hdbench.common.display.rows import Dot
from hdbench.common.display.table import RowTable
from hdbench.common.extras import needed
from hdbench.common.pictures import thumbnail
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.warning_texts import gravest_first, in_language

if TYPE_CHECKING:
    from hdbench.common.display.style import Plot
    from hdbench.evaluation.result import Result
    from hdbench.statistics.bootstrap import Interval

ERROR_COLUMNS = ("id", "field", "expected", "found", "kind", "similarity", "image")
"""Columns of the table of errors."""

_RATES = ("f1", "accuracy", "precision", "recall")
_WORST = 5
_WIDTH = 7.0  # inches: two columns of a paper
_ERRORS_SHOWN = 6
_FIELDS_SHOWN = 25


def items_table(result: "Result") -> RowTable:
    """Return a row for each item: what was done to read its answer, and its statistics."""
    names = list(result.statistics)
    columns = [result.statistics[name] for name in names]
    rows = [
        {
            "id": item,
            "status": result.statuses[place],
            **{name: column[place] for name, column in zip(names, columns, strict=True)},
        }
        for place, item in enumerate(result.ids)
    ]
    return RowTable(rows, ["id", "status", *names])


def fields_table(result: "Result") -> RowTable:
    """Return a row for each field, with its counts and rates, and the interval of the first one.

    `low` and `high` are None where there is no interval; see `field_intervals`.
    """
    rates, intervals = result.field_rates(), result.field_intervals
    names = list(dict.fromkeys(name for of_field in rates.values() for name in of_field))
    rows = []
    for field, of_field in rates.items():
        interval = intervals.get(field)
        ends = {"low": interval and interval.low, "high": interval and interval.high}
        rows.append({"field": field} | {name: of_field.get(name) for name in names} | ends)
    return RowTable(rows, ["field", *names, "low", "high"])


def errors_table(result: "Result") -> RowTable:
    """Return a row for each wrong value, with the path of the item's first image if it is here.

    Raises:
        HdbenchError: the result has no details.
    """
    if result.ids and not result.per_item:
        raise HdbenchError(
            "this result has no details of its items: score the answers again, with details=True"
        )
    images = images_of(result)
    rows = [
        {
            "id": item["id"],
            "field": match.field,
            "expected": match.reference,
            "found": match.prediction,
            "kind": kind,
            "similarity": match.similarity,
            "image": str(images[item["id"]]) if item["id"] in images else None,
        }
        for item, errors in zip(result.per_item, result.item_errors, strict=True)
        for match, kind in errors
    ]
    return RowTable(rows, ERROR_COLUMNS, values=("expected", "found"))


def plot_of(result: "Result", language: str) -> "Plot":
    """Draw the figure of each field with its interval, or the rates where fields have no figures.

    Raises:
        HdbenchError: matplotlib is not installed.
    """
    with needed("plots", "plots need"):
        from hdbench.common.display.plots import dots  # noqa: PLC0415  imports matplotlib

    fields = fields_table(result)
    if len(fields):
        figure = result.metric.field_figures[0].name
        rows = [Dot(row["field"], row[figure], row["low"], row["high"]) for row in fields]
    else:
        figure, intervals = "", result.intervals.figures
        rows = [
            Dot(rate.name, result.rates[rate.name], *_ends(intervals.get(rate.name)))
            for rate in result.metric.figures
            if rate.kind == "rate" and not rate.table and result.rates.get(rate.name) is not None
        ]
    rows.sort(key=lambda row: -(row.value or 0))
    return dots(rows, figure=figure, higher_is_better=True, language=language, width=_WIDTH)


def _ends(interval: "Interval | None") -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def images_of(result: "Result") -> Mapping[str, Path]:
    """Return id → the item's first image, if the benchmark that was scored against is here."""
    name = result.dataset.benchmark
    if not Path(full_name(name), DESCRIPTION).is_file():  # to show a result, nothing is fetched
        return {}
    try:
        benchmark = load_benchmark(name)
        if benchmark.spec.media == "text" or (
            benchmark.content_hash() != result.dataset.dataset_sha256
        ):
            return {}
        return {item: files[0] for item, files in benchmark.media().items() if files}
    except HdbenchError:
        return {}


def line_of(result: "Result") -> str:
    """Return a result in a few lines: what was scored, the primary metric, and the coverage."""
    of = result.dataset.benchmark or "references without a benchmark"
    return "\n".join(
        [
            f"<Result of {escaped(result.model or result.answers.path or 'answers')} on {of}",
            f" {_headline(result)}",
            f" {result.answered:,} of {len(result.ids):,} items answered, {result.metric.name}, "
            f"{result.metric.protocol}>",
        ]
    )


def html_of(result: "Result") -> str:
    """Return a result for a notebook: its primary metric, coverage, fields and worst items."""
    tables: list[HtmlTable] = []
    fields = fields_table(result)
    if len(fields):
        rate = fields.columns
        names = ["field", *(name for name in _RATES if name in rate)]
        rows = [[*(row[name] for name in names), _interval(row)] for row in fields[:_FIELDS_SHOWN]]
        tables.append(HtmlTable([*names, "95% interval"], rows, "Fields"))
    if worst := result.worst or sorted(result.per_item, key=itemgetter(result.metric.item_figure)):
        tables.append(_worst(result, worst[:_WORST]))
    coverage = f"{result.answered:,} of {len(result.ids):,} items answered"
    warnings = [in_language(warning, "en").text for warning in gravest_first(result.warnings)[:3]]
    return block(
        title=_headline(result),
        lines=[f"{result.model or result.answers.path} on {result.dataset.benchmark}", coverage],
        tables=tables,
        below=[*warnings, result.signature],
    )


def _headline(result: "Result") -> str:
    interval = result.intervals.describe(result.headline)
    return f"{result.headline} {result.value:.4f} ({interval})"


def _worst(result: "Result", items: Sequence[Mapping[str, Any]]) -> HtmlTable:
    images = images_of(result)
    rows = []
    for item in items:
        errors = [match for match in item["fields"] if match["outcome"] != "correct"]
        lines = [
            f"{match['field']}: {_value(match['reference'])} / {_value(match['prediction'])}"
            for match in errors[:_ERRORS_SHOWN]
        ]
        if len(errors) > _ERRORS_SHOWN:
            lines.append(f"{len(errors) - _ERRORS_SHOWN:,} more")
        picture = [_picture(images, item["id"])] if images else []
        rows.append([*picture, item["id"], item[result.metric.item_figure], Lines(lines)])
    image = ["image"] if images else []
    return HtmlTable(
        [*image, "id", result.metric.item_figure, "expected / found"], rows, "Worst items"
    )


def _interval(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"


def _value(value: Any) -> str:
    return "–" if value is None else str(value) or '""'


def _picture(images: Mapping[str, Path], item: str) -> Picture | None:
    if item not in images:
        return None
    try:
        uri = thumbnail(images[item], width=256)
    except HdbenchError:  # a damaged image, which a report names
        return None
    return None if uri is None else Picture(uri, item)
