"""A result as tables: its figures, fields, items, errors, and the items that are worst."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hdbench.answers.answer import LOST
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.spec import DESCRIPTION, full_name
from hdbench.common.display.table import INTERVAL, Column, Table, value_text
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.parts import RatedFigure, ScoredDataset
from hdbench.scoring.error_classes import ErrorClass
from hdbench.scoring.metric import FieldMatch, Figure
from hdbench.statistics.bootstrap import Interval

MAX_ERRORS = 4
"""Maximum number of errors of one item that are shown."""

MAX_VALUE = 48
"""Maximum number of characters shown of a value."""

BEFORE = MAX_VALUE // 4
"""Number of characters shown before the first difference of two long texts."""

COUNTS = {"true_positives": "TP", "false_positives": "FP", "false_negatives": "FN"}
"""The counts of a field or an item, with their short names."""

_SHORT = COUNTS | {"f1": "F1"}

_OF_ITEM = ("f1", "fuzzy", "cer", "accuracy", *COUNTS)
"""The statistics of an item that are shown beside its errors."""


def figures_table(figures: Iterable[RatedFigure], *, of_items: bool) -> Table:
    """Return a row for each figure, with its interval or its range over single items.

    Args:
        figures: the figures.
        of_items: whether these are ranges over single items.
    """
    rows = [
        {"figure": figure.name, "value": figure.value, "direction": direction_of(figure)}
        | {end: figure.ends and getattr(figure.ends, end) for end in ("low", "high")}
        for figure in figures
    ]
    columns = [
        Column("figure", "name", Message("figure")),
        Column("value", "figure", Message("value"), ("low", "high")),
        Column("direction", "word", Message("direction")),
    ]
    return Table(rows, columns, interval=Message("single items") if of_items else INTERVAL)


def direction_of(figure: RatedFigure | Figure | None) -> str:
    """Return the better direction of a figure; empty if it has none."""
    if figure is None or figure.higher_is_better is None:
        return ""
    return Message("higher is better" if figure.higher_is_better else "lower is better")


def figure_column(name: str, value: Any, ends: tuple[str, str] | None = None) -> Column:
    """Return the column of a figure of fields or items, by one of its values."""
    is_rate = isinstance(value, float) and name not in COUNTS
    return Column(name, "rate" if is_rate else "number", _SHORT.get(name, ""), ends)


def fields_table(
    rates: Mapping[str, Mapping[str, Any]],
    intervals: Mapping[str, Interval],
    figures: Sequence[Figure],
) -> Table:
    """Return a row for each field, with its counts and rates, and the interval of the first figure.

    Args:
        rates: from `Result.field_rates`.
        intervals: from `Result.field_intervals`.
        figures: the metric's figures of fields.
    """
    values = {name: value for of_field in rates.values() for name, value in of_field.items()}
    names = list(values)
    rows = []
    for field, of_field in rates.items():
        interval = intervals.get(field)
        ends = {"low": interval and interval.low, "high": interval and interval.high}
        rows.append({"field": field} | {name: of_field.get(name) for name in names} | ends)
    first = figures[0].name if figures else None
    columns = [
        figure_column(name, value, ("low", "high") if name == first else None)
        for name, value in values.items()
    ]
    return Table(rows, [Column("field", "field", Message("field")), *columns], Message("Fields"))


def items_table(
    ids: Sequence[str],
    statuses: Sequence[str],
    statistics: Mapping[str, Sequence[float]],
    figures: Mapping[str, Sequence[float]],
) -> Table:
    """Return a row for each item: what was done to read its answer, its figure, its statistics.

    Args:
        ids: the items.
        statuses: of each.
        statistics: name → the value of each item.
        figures: the same of its figure, if that is known.
    """
    columns = {**figures, **statistics}
    names = list(columns)
    rows = [
        {"id": item, "status": status, **dict(zip(names, values, strict=True))}
        for item, status, *values in zip(ids, statuses, *columns.values(), strict=True)
    ]
    kinds = [figure_column(name, 0.5 if name in figures else 0) for name in names]
    return Table(
        rows,
        [Column("id", title=Message("id")), Column("status", "word", Message("status")), *kinds],
        Message("Items"),
    )


def errors_table(
    items: Sequence[Mapping[str, Any]],
    errors: Sequence[Sequence[tuple[FieldMatch, ErrorClass]]],
    images: Mapping[str, Path],
) -> Table:
    """Return a row for each wrong value, with the path of the item's first image if it is here.

    A missing and a spurious value that belong together are one row, as the classes count them. In
    an item without a usable answer everything is missing.

    Args:
        items: what became of each item.
        errors: the errors of each, with their classes.
        images: from `images_of`.
    """
    rows = [
        {
            "id": item["id"],
            "status": item["status"],
            "field": match.field,
            "outcome": match.outcome,
            "kind": kind,
            "expected": match.reference,
            "found": match.prediction,
            "similarity": match.similarity,
            "image": str(images[item["id"]]) if item["id"] in images else None,
        }
        for item, of_item in zip(items, errors, strict=True)
        for match, kind in of_item
    ]
    return Table(
        rows,
        [
            Column("id", title=Message("id")),
            Column("status", "word", Message("status")),
            Column("field", "field", Message("field")),
            Column("outcome", "word", Message("outcome")),
            Column("kind", "word", Message("error class")),
            Column("expected", "value", Message("truth")),
            Column("found", "value", Message("answer")),
            Column("similarity", "rate", Message("similarity")),
            Column("image", "image", Message("image")),
        ],
        Message("Errors"),
    )


def worst_table(
    items: Sequence[Mapping[str, Any]], figure: str, images: Mapping[str, Path]
) -> Table:
    """Return a row for each of the worst items that have an error, with what is wrong.

    Args:
        items: what became of them, the worst first.
        figure: the one they are the worst by.
        images: from `images_of`.
    """
    rows = [
        {name: item.get(name) for name in ("id", "status", figure, *_OF_ITEM)}
        | {"wrong": lines, "image": str(images[item["id"]]) if item["id"] in images else None}
        for item in items
        if (lines := _errors(item))
    ]
    return Table(
        rows,
        [
            Column("image", "image", Message("image")),
            Column("id", title=Message("id")),
            Column("status", "word", Message("status")),
            *(
                figure_column(name, 0 if name in COUNTS else 0.5)
                for name in dict.fromkeys((figure, *_OF_ITEM))
            ),
            Column("wrong", "lines", Message("what is wrong: reference → answer")),
        ],
        Message("Worst items"),
    )


def reading_table(ids: Sequence[str], statuses: Sequence[str]) -> Table:
    """Return a row for each status, with the items that have it; of clean ones their number."""
    of_status: dict[str, list[str]] = {}
    for item, status in zip(ids, statuses, strict=True):
        of_status.setdefault(status, []).append(item)
    rows = [
        {
            "status": status,
            "ids": [
                Message("{count} items", count=len(items))
                if status == "clean" and len(items) > 1
                else ", ".join(items)
            ],
        }
        for status, items in of_status.items()
    ]
    return Table(
        rows,
        [Column("status", "word", Message("status")), Column("ids", "lines", Message("ids"))],
        Message("What was done to read the answers"),
    )


def violations_table(violations: Sequence[tuple[str, str, int]]) -> Table:
    """Return a row for each field and rule of the schema that answers break."""
    names = ("field", "rule", "times")
    return Table(
        [dict(zip(names, row, strict=True)) for row in violations],
        [
            Column("field", "field", Message("field")),
            Column("rule", title=Message("rule")),
            Column("times", "number", Message("times")),
        ],
        Message("Against the schema"),
    )


def differences_table(
    title: str, rows: Sequence[dict[str, Any]], heads: Mapping[str, str]
) -> Table:
    """Return a table of figures under several rules, and their differences from the first.

    Args:
        title: its title.
        rows: for each figure its name and, by rules, its value; they get the differences.
        heads: rules → what they are called.
    """
    first, *others = heads
    columns = [Column("figure", "name", Message("figure")), Column(first, "figure", heads[first])]
    for name in others:
        difference = Column(f"{name} - {first}", "difference", Message("difference"))
        columns += [Column(name, "figure", heads[name]), difference]
        for row in rows:
            row[difference.name] = None if row[name] is None else row[name] - row[first]
    return Table(rows, columns, title)


def equal_table(rates: Mapping[str, Any], figures: Mapping[str, float]) -> Table:
    """Return a row for each figure, as it is and with values that share an identifier as equal."""
    rows = [{"figure": each, "value": rates[each], "equal": figures[each]} for each in figures]
    heads = {"value": Message("value"), "equal": Message("counted as equal")}
    return differences_table(Message("Values with the same identifier as equal"), rows, heads)


def images_of(dataset: ScoredDataset) -> Mapping[str, Path]:
    """Return id → the item's first image, if the benchmark that was scored against is here."""
    name = dataset.benchmark
    if not Path(full_name(name), DESCRIPTION).is_file():  # to show a result, nothing is fetched
        return {}
    try:
        benchmark = load_benchmark(name)
        if benchmark.spec.media == "text" or benchmark.content_hash() != dataset.dataset_sha256:
            return {}
        return {item: files[0] for item, files in benchmark.media().items() if files}
    except HdbenchError:
        return {}


def _errors(item: Mapping[str, Any]) -> list[Message]:
    """Return what is wrong with an item, in lines."""
    if item["status"] in LOST:
        return [Message("everything")]
    wrong = [match for match in item["fields"] if match["outcome"] != "correct"]
    lines = [
        Message("{field}: {truth} → {answer}", field=match["field"], truth=truth, answer=answer)
        for match in wrong[:MAX_ERRORS]
        for truth, answer in [_side_by_side(match["reference"], match["prediction"])]
    ]
    more = len(wrong) - MAX_ERRORS
    return [*lines, *([Message("and {count} more", count=more)] if more > 0 else [])]


def _side_by_side(reference: Any, prediction: Any) -> tuple[str, str]:
    """Return two values as text; long ones without what comes before their first difference."""
    shown = _shown(reference), _shown(prediction)
    is_long = max(map(len, shown)) > MAX_VALUE
    if not (is_long and isinstance(reference, str) and isinstance(prediction, str)):
        return shown
    pairs = enumerate(zip(reference, prediction, strict=False))
    shorter = min(len(reference), len(prediction))
    first = next((index for index, (left, right) in pairs if left != right), shorter)
    if first < MAX_VALUE // 2:  # it is visible from the start
        return shown
    left, right = (f"…{_shown(text[first - BEFORE :])[1:]}" for text in (reference, prediction))
    return left[:MAX_VALUE], right[:MAX_VALUE]


def _shown(value: Any) -> str:
    if value is None:
        return Message("(absent)")
    text = f'"{value}"' if isinstance(value, str) else value_text(value) or ""
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
