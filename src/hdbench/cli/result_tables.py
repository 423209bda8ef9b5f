"""A result as tables for a terminal."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hdbench.answers.answer import LOST, Kind, Status
from hdbench.cli.terminal import (
    ends,
    localized,
    localized_table,
    number,
    print_line,
    print_marked,
    shown,
)
from hdbench.common.printing import HEADING_WIDTH, MAX_NOTE, MAX_VALUE, heading, printable
from hdbench.common.texts import current_language, translated
from hdbench.errors import Message
from hdbench.evaluation.by_column import ByColumn, Group, GroupDifference
from hdbench.evaluation.result import Result
from hdbench.evaluation.summary import ResultSummary
from hdbench.evaluation.warning_texts import in_words
from hdbench.statistics.bootstrap import MIN_ITEMS

MAX_FIELDS = 40
"""Maximum rows of the table of fields: a model can invent any number of fields."""

GRAVEST = 3
"""Number of warnings that are printed by default: more would bury the score."""

MAX_VIOLATIONS = 8
"""Maximum rows of the table of schema violations."""


MAX_ERRORS = 4
"""Maximum number of errors of one item that are shown."""


COLUMN_SPACE = 3
"""Width of the space between two columns of a table."""


BEFORE = MAX_VALUE // 4
"""Number of characters shown before the first difference of two long texts."""


_SHORT = {
    "f1": "F1",
    "fuzzy": "fuzzy",
    "cer": "CER",
    "accuracy": "accuracy",
    "true_positives": "TP",
    "false_positives": "FP",
    "false_negatives": "FN",
}
"""The statistics of an item that are shown, with their column headings."""

_KINDS: dict[Kind, str] = {
    "prompt": "prompt repeated",
    "template": "form with placeholders",
    "schema": "JSON Schema",
    "message": "message or error",
    "response": "server's response without an answer",
    "tool_call": "tool call",
    "thoughts": "thoughts alone",
    "xml": "XML instead of JSON",
    "yaml": "YAML instead of JSON",
    "table": "table instead of JSON",
    "text": "text without JSON",
    "other": "JSON that is no record",
}
"""Kind of unparsable answer → its printed name."""

_READ: tuple[Status, ...] = ("unwrapped", "repaired", "truncated")
"""The statuses of answered items that were not clean."""


_COUNTS = ("true_positives", "false_positives", "false_negatives")


def print_result(
    console: Console, title: str, summary: ResultSummary, *, details: bool = False
) -> None:
    """Print a result: its work and figures with their coverage, what to check, fields, worst items.

    Args:
        console: the terminal.
        title: what was scored.
        summary: the result's summary in the current language.
        details: print all warnings, and list the items whose answers were not clean.
    """
    result = summary.result
    console.print(printable(title, MAX_NOTE), style="bold")
    first = (summary.work, summary.lost, summary.score, summary.reading)
    for line in (" ".join(filter(None, first)), summary.resources, summary.estimated):
        if line:
            print_line(console, line)
    console.print(_figures_table(summary))
    direction = "higher is better" if result.higher_is_better else "lower is better"
    line = localized(
        "primary metric: {headline}, {direction}",
        headline=result.headline,
        direction=Message(direction),
    )
    console.print(line, markup=False)
    console.print(_coverage(summary))
    if result.strict_headline is not None:
        line = localized(
            "if only valid JSON counted: {headline} {strictly:.4f} instead of {value:.4f}",
            headline=result.headline,
            strictly=result.strict_headline,
            value=result.value,
        )
        console.print(line)
    if summary.people is not None:
        print_line(console, f"{summary.people}. {summary.people_means}")
    for note in summary.notes:
        print_marked(console, "note: ", note.text, style="")
    warnings = summary.gravest_warnings
    most = len(warnings) if details else GRAVEST
    for warning in warnings[:most]:
        print_marked(console, "warning: ", warning.text)
    if len(warnings) > most:
        more = localized("{count} more: --details", count=len(warnings) - most)
        console.print(Text(more, "bold yellow"))
    if summary.violations:
        console.print()
        console.print(_violations_table(summary.violations))
    if fields := result.field_rates():
        console.print()
        console.print(_fields_table(fields))
    if wrong := list(filter(_has_error, result.worst)):
        console.print()
        console.print(_worst_table(wrong, result.metric.item_figure))
    if details:
        console.print()
        console.print(_reading_table(result.per_item))
    console.print()
    console.print(Text(result.signature, style="dim"), soft_wrap=True)


def print_under(console: Console, results: Mapping[str, Result]) -> None:
    """Print the figures of the same answers under several rules, and how they differ.

    Args:
        console: the terminal.
        results: the rules' names → the result; the others are compared with the first.
    """
    result, *other_results = results.values()
    names = [figure.name for figure in result.metric.figures if figure.is_rate]
    room = console.width - max(map(len, names)) - COLUMN_SPACE
    width = room // len(results) - COLUMN_SPACE
    heads = [heading(name, min(HEADING_WIDTH, width)) for name in results]
    widths = [max(map(len, head.plain.split("\n"))) for head in heads]
    table = localized_table("Under other rules (difference)", "figure", right=heads)
    table.columns[0].no_wrap = True
    for least, column in zip(widths, table.columns[1:], strict=True):
        # Where there is little room, the difference goes below; a heading is broken last.
        column.no_wrap, column.overflow = False, "fold"
        if sum(widths) + COLUMN_SPACE * len(widths) <= room:
            column.min_width = least
    for figure in ResultSummary(result).figures:
        cells = [number(figure.value, ".4f")]
        for other_result in other_results:
            under = other_result.rates.get(figure.name)
            cells.append("" if under is None else _with_difference(under, under - figure.value))
        table.add_row(figure.name, *cells)
    console.print()
    console.print(table)
    for name, other_result in list(results.items())[1:]:
        text = f"{name}: {other_result.signature}"
        console.print(Text.assemble((printable(text, MAX_NOTE).plain, "dim")), soft_wrap=True)


def _with_difference(value: float, difference: float) -> str:
    return f"{number(value, '.4f')} ({number(difference, '+.4f')})"


def print_by_identifier(console: Console, result: Result, totals: Mapping[str, Any]) -> None:
    """Print the figures with values that share an identifier counted as equal.

    Args:
        console: the terminal.
        result: the result without that.
        totals: from `hdbench.evaluation.by_identifier`.
    """
    table = localized_table(
        "Values with the same identifier as equal", "figure", right=("value", "equal (difference)")
    )
    figures = result.rates
    for name, value in totals["figures"].items():
        table.add_row(
            name, number(figures[name], ".4f"), _with_difference(value, value - figures[name])
        )
    console.print()
    console.print(table)
    console.print(
        localized(
            "values of the answers with an identifier: {identified:,}; written otherwise than in "
            "the ground truth, and equal now: {equated:,}",
            identified=totals["identified"],
            equated=totals["equated"],
        )
    )


def _figures_table(summary: ResultSummary) -> Table:
    head = "95% interval" if summary.no_intervals is None else "single items"
    table = localized_table(None, "figure", right=("value", head))
    for figure in summary.figures:
        within = figure.ends and ends(figure.ends.low, figure.ends.high, form=".4f")
        table.add_row(figure.name, number(figure.value, ".4f"), within or "")
    return table


def _coverage(summary: ResultSummary) -> Text:
    result = summary.result
    parts = _answered(summary.coverage)
    text = Text(localized("{count} items: {parts}", count=len(result.ids), parts=parts))
    if summary.no_intervals is not None:
        text.append("\n" + shown(summary.no_intervals), style="yellow")
    for name, reason in result.intervals.without.items():
        text.append(f"\n{name}: {shown(translated(reason, summary.language))}")
    ways = [f"{result.status[name]} {localized(name)}" for name in _READ if result.status[name]]
    if ways:
        text.append("\n" + localized("of the answered, {parts}", parts=", ".join(ways)))
    if counts := result.kind_counts:
        kinds = ", ".join(f"{localized(_KINDS[kind])} ({count})" for kind, count in counts.items())
        text.append("\n" + localized("unparsable: {kinds}", kinds=kinds))
    return text


def _answered(figures: Mapping[str, Any]) -> Message:
    counts = {name: figures[name] for name in ("answered", "unanswered", "unparsable")}
    return Message(
        "{answered} answered, {unanswered} unanswered, {unparsable} unparsable", **counts
    )


def _violations_table(violations: Sequence[tuple[str, str, int]]) -> Table:
    """Return a table of the fields in which most answers break the benchmark's schema."""
    table = localized_table("Against the schema", "field", "rule", right=["times"])
    for field, rule, count in violations[:MAX_VIOLATIONS]:
        table.add_row(printable(field), rule, str(count))
    if len(violations) > MAX_VIOLATIONS:
        table.add_row(localized("and {count} more", count=len(violations) - MAX_VIOLATIONS))
    return table


def _reading_table(details: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the ids of each status except `clean`."""
    table = localized_table("What was done to read the answers", "status", "ids", right=())
    by_status: dict[str, list[str]] = {}
    for item in details:
        by_status.setdefault(item["status"], []).append(item["id"])
    for status, ids in by_status.items():
        few = status != "clean" or len(ids) == 1
        items = ", ".join(ids) if few else localized("{count} items", count=len(ids))
        table.add_row(localized(status), printable(items, 10 * MAX_NOTE))
    return table


def _fields_table(fields: Mapping[str, Mapping[str, Any]]) -> Table:
    columns = [_SHORT.get(name, name) for name in next(iter(fields.values()), {})]
    table = localized_table("Fields", "field", right=columns)
    # Fields of the ground truth come first: a model can invent any number of others.
    ordered = sorted(fields.items(), key=lambda item: _is_invented(item[1]))
    for field, rates in ordered[:MAX_FIELDS]:
        table.add_row(printable(field), *(_number(value) for value in rates.values()))
    if len(ordered) > MAX_FIELDS:
        table.add_row(localized("and {count} more", count=len(ordered) - MAX_FIELDS))
    return table


def _is_invented(rates: Mapping[str, Any]) -> bool:
    return rates.get("true_positives") == rates.get("false_negatives") == 0


def _worst_table(worst: Sequence[Mapping[str, Any]], figure: str) -> Table:
    """Return a table of the worst items, which names their figure if it has no column."""
    numbers = [name for name in _SHORT if name in worst[0]]
    title = Message("Worst items")
    if figure not in numbers:
        title = Message("Worst items, by {figure}", figure=figure)
    table = localized_table(title, "id", "status", right=[_SHORT[name] for name in numbers])
    table.add_column(localized("what is wrong: reference → answer"), overflow="fold", ratio=1)
    for item in worst:
        table.add_row(
            printable(item["id"]),
            localized(item["status"]),
            *(_number(item[name] if name in _COUNTS else float(item[name])) for name in numbers),
            _errors(item),
        )
    return table


def _has_error(item: Mapping[str, Any]) -> bool:
    return item["status"] in LOST or bool(_wrong(item))


def _wrong(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [match for match in item["fields"] if match["outcome"] != "correct"]


def _errors(item: Mapping[str, Any]) -> Text:
    if item["status"] in LOST:
        return Text(localized("everything"))
    wrong = _wrong(item)
    lines = []
    for match in wrong[:MAX_ERRORS]:
        reference, prediction = _side_by_side(match["reference"], match["prediction"])
        lines.append(
            Text.assemble(
                printable(match["field"]), ": ", printable(reference), " → ", printable(prediction)
            )
        )
    if len(wrong) > MAX_ERRORS:
        lines.append(Text(localized("and {count} more", count=len(wrong) - MAX_ERRORS)))
    return Text("\n").join(lines)


def _side_by_side(reference: Any, prediction: Any) -> tuple[str, str]:
    """Return two values as text; long ones without what comes before their first difference."""
    both_shown = _shown(reference), _shown(prediction)
    is_long = max(map(len, both_shown)) > MAX_VALUE
    if not (is_long and isinstance(reference, str) and isinstance(prediction, str)):
        return both_shown
    pairs = enumerate(zip(reference, prediction, strict=False))
    shorter = min(len(reference), len(prediction))
    first = next((index for index, (left, right) in pairs if left != right), shorter)
    if first < MAX_VALUE // 2:  # it is visible from the start
        return both_shown
    left, right = (_shown(text[first - BEFORE :])[1:] for text in (reference, prediction))
    return f"…{left}", f"…{right}"


def _shown(value: Any) -> str:
    return localized("(absent)") if value is None else json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) or value == int(value) > 1 else number(value, ".3f")


_SIGNED = {"difference": "+.4f"}


def print_groups(console: Console, grouped: ByColumn[Group] | ByColumn[GroupDifference]) -> None:
    """Print the headline by the values of a column, of one run or of two side by side.

    Args:
        console: the terminal.
        grouped: from `hdbench.evaluation.by_column`.
    """
    differ = bool(grouped.groups) and hasattr(grouped.groups[0], "difference")
    figures = {"figure": grouped.headline}
    if grouped.judged_by != grouped.headline:
        figures["judged"] = grouped.judged_by
    if differ:
        figures = {"a": "A", "b": "B", "difference": "A - B"}
    counts = ["items"] if differ else ["items", "answered"]
    column = printable(grouped.column)
    title = Message("By {column}", column=column.plain)
    if differ:
        title = Message("{figure} by {column}", figure=grouped.judged_by, column=column.plain)
    table = localized_table(
        title,
        column,
        right=(*counts, *figures.values(), "95% interval"),
    )
    for group in grouped.groups:
        interval, sign = group.interval, "+" if differ else ""
        few = localized("too few") if group.items < MIN_ITEMS else ""
        table.add_row(
            Text(localized("(none)")) if group.value is None else printable(group.value),
            *(_cell(getattr(group, name), "d") for name in counts),
            *(_cell(getattr(group, name), _SIGNED.get(name, ".4f")) for name in figures),
            ends(interval.low, interval.high, form=f"{sign}.4f") if interval else few,
        )
    console.print()
    console.print(table)
    if grouped.note:
        print_marked(console, "note: ", grouped.note, style="")
    if grouped.warning:
        print_marked(console, "warning: ", in_words(**grouped.warning, language=current_language()))


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else number(value, form)
