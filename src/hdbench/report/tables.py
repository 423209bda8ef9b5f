"""The tables of a result: rows for the workbook, and CSV files that execute nothing."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hdbench.answers.answer import LOST
from hdbench.common.csv_and_excel import csv_rows
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.result import Result
from hdbench.scoring.metric import Figure

Cell = str | float | None
"""Untrusted text, one of our numbers, or nothing."""


class TableRows(NamedTuple):
    """A table: one row after another, each with a cell for every name in the head."""

    head: Sequence[str]
    rows: Iterator[Sequence[Cell]]


def field_rows(result: Result) -> TableRows:
    """Return one row per field: its counts and rates; none if the metric has no fields.

    Raises:
        HdbenchError: an option names a field that no item has.
    """
    rates = result.field_rates()
    names = list(next(iter(rates.values()), {}))
    return TableRows(
        ["field", *names],
        ([field, *(of_field[name] for name in names)] for field, of_field in rates.items()),
    )


def item_rows(result: Result) -> TableRows:
    """Return one row per item: the status of its answer, its figure, and its other statistics.

    Statistics that are zero for every item are left out. A cell is empty if the item has no such
    statistic: a textbook has no DOI.

    Raises:
        HdbenchError: the result did not keep the details of every item.
    """
    items = _items(result)
    names = [name for name in result.metric.statistics if any(result.statistics[name])]
    figure = result.metric.item_figure
    names = [figure, *(name for name in names if name != figure)]
    return TableRows(
        ["id", "status", *names],
        ([item["id"], item["status"], *(item.get(name) for name in names)] for item in items),
    )


def error_rows(result: Result) -> TableRows:
    """Return one row per field or advertisement that is not correct, with the class of the error.

    A missing and a spurious value that belong together are one row, as the classes count them. In
    an item without a usable answer everything is wrong, and its errors have no class.

    Raises:
        HdbenchError: the result did not keep the details of every item.
    """
    head = ("id", "status", "field", "outcome", "error class", "truth", "answer", "similarity")
    pairs = zip(_items(result), result.item_errors, strict=True)
    rows = (
        [
            *(item["id"], item["status"], match.field, match.outcome),
            None if item["status"] in LOST else error,
            *(text(match.reference), text(match.prediction), match.similarity),
        ]
        for item, errors in pairs
        for match, error in errors
    )
    return TableRows(head, rows)


def direction(figure: Figure | None) -> str:
    """Return the better direction of a figure; empty if it has none, or for no figure.

    Example:
        >>> direction(Figure("cer", "error", higher_is_better=False)), direction(None)
        ('lower is better', '')
    """
    if figure is None or figure.higher_is_better is None:
        return ""
    return "higher is better" if figure.higher_is_better else "lower is better"


def text(value: Any) -> str | None:
    """Return a record's value for people: a text as it is, anything else as JSON, nothing as None.

    Example:
        >>> text("Müller"), text(["S.", 12]), text(None)
        ('Müller', '["S.", 12]', None)
    """
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _items(result: Result) -> list[dict[str, Any]]:
    if len(result.per_item) < len(result.ids):
        raise HdbenchError(
            "this result did not keep what became of every item: score its answers with details"
        )
    return result.per_item


def csv_files(result: Result) -> dict[str, bytes]:
    r"""Return the files `fields.csv`, `items.csv` and `errors.csv`.

    See `csv_rows`. Control and invisible characters, line breaks and tabs
    too, are written as escapes: `\n`. Our own numbers are neither quoted nor rounded.

    Args:
        result: a result with details.

    Returns:
        Name → content.

    Raises:
        HdbenchError: the result did not keep the details of every item.
    """
    tables = {"fields": field_rows, "items": item_rows, "errors": error_rows}
    return {f"{name}.csv": csv_bytes(rows(result)) for name, rows in tables.items()}


def csv_bytes(table: TableRows) -> bytes:
    """Return a table as a CSV file, as `csv_files` describes it."""
    data = io.BytesIO()
    add = csv_rows(data, table.head)
    for row in table.rows:
        add([escaped(value) if isinstance(value, str) else value for value in row])
    return data.getvalue()
