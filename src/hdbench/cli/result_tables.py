"""A result as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from hdbench.answers.answer import Kind, Status
from hdbench.cli.terminal import (
    localized,
    print_line,
    print_marked,
    shown,
)
from hdbench.common.display.table import Table
from hdbench.common.display.terminal import MAX_NOTE, print_table, printable
from hdbench.common.texts import current_language, translated
from hdbench.errors import Message
from hdbench.evaluation.by_column import ByColumn
from hdbench.evaluation.parts import in_words
from hdbench.evaluation.result import Result
from hdbench.evaluation.sentences import (
    estimated,
    lead,
    notes,
    people,
    people_means,
    resources,
    warnings,
)
from hdbench.evaluation.tables import (
    differences_table,
    equal_table,
    fields_table,
    reading_table,
    violations_table,
    worst_table,
)

MAX_FIELDS = 40
"""Maximum rows of the table of fields: a model can invent any number of fields."""

GRAVEST = 3
"""Number of warnings that are printed by default: more would bury the score."""

MAX_VIOLATIONS = 8
"""Maximum rows of the table of schema violations."""


_KINDS: dict[Kind, str] = {
    "thoughts": "thoughts alone",
    "message": "message, error or tool call",
    "repeated": "what was asked, repeated",
    "format": "XML, YAML or table instead of JSON",
    "text": "text without JSON",
    "other": "JSON that is not a record",
}
"""Kind of unparsable answer → its printed name."""

_READ: tuple[Status, ...] = ("unwrapped", "repaired", "truncated")
"""The statuses of answered items that were not clean."""


def print_result(console: Console, title: str, result: Result, *, details: bool = False) -> None:
    """Print a result: its work and figures with their coverage, what to check, fields, worst items.

    Args:
        console: the terminal.
        title: what was scored.
        result: the result.
        details: print all warnings, and list the items whose answers were not clean.
    """
    language = current_language()
    console.print(printable(title, MAX_NOTE), style="bold")
    first = " ".join(lead(result, language))
    for line in (first, resources(result, language), estimated(result, language)):
        if line:
            print_line(console, line)
    print_table(console, result.figures_table.without(["direction"]), language)
    direction = "higher is better" if result.higher_is_better else "lower is better"
    line = localized(
        "primary metric: {headline}, {direction}",
        headline=result.headline,
        direction=Message(direction),
    )
    console.print(line, markup=False)
    console.print(_coverage(result, language))
    if result.strict_headline is not None:
        line = localized(
            "if only valid JSON counted: {headline} {strictly:.4f} instead of {value:.4f}",
            headline=result.headline,
            strictly=result.strict_headline,
            value=result.value,
        )
        console.print(line)
    if said := people(result, language):
        print_line(console, f"{said}. {people_means(language)}")
    for note in notes(result, language):
        print_marked(console, "note: ", note.text, style="")
    gravest = warnings(result, language, gravest=True)
    most = len(gravest) if details else GRAVEST
    for warning in gravest[:most]:
        print_marked(console, "warning: ", warning.text)
    if len(gravest) > most:
        more = localized("{count} more: --details", count=len(gravest) - most)
        console.print(Text(more, "bold yellow"))
    _print(console, violations_table(result.violations), MAX_VIOLATIONS)
    # Fields of the ground truth come first: a model can invent any number of others.
    rates = sorted(result.field_rates().items(), key=lambda field: _is_invented(field[1]))
    _print(
        console,
        fields_table(dict(rates), result.field_intervals, result.metric.field_figures),
        MAX_FIELDS,
    )
    _print(console, worst_table(result.worst, result.metric.item_figure, {}))
    if details:
        _print(console, reading_table(result.ids, result.statuses))
    console.print()
    console.print(Text(result.signature, style="dim"), soft_wrap=True)


def print_under(console: Console, results: Mapping[str, Result]) -> None:
    """Print the figures of the same answers under several rules, and how they differ.

    Args:
        console: the terminal.
        results: the rules' names → the result; the others are compared with the first.
    """
    (first, result), *others = results.items()
    rows = [
        {"figure": figure.name, first: figure.value}
        | {name: other.rates.get(figure.name) for name, other in others}
        for figure in result.rated_figures
    ]
    _print(
        console,
        differences_table(Message("Under other rules"), rows, {name: name for name in results}),
    )
    for name, other in others:
        text = printable(f"{name}: {other.signature}", MAX_NOTE)
        console.print(Text(text.plain, "dim"), soft_wrap=True)


def print_by_identifier(console: Console, result: Result, totals: Mapping[str, Any]) -> None:
    """Print the figures with values that share an identifier counted as equal.

    Args:
        console: the terminal.
        result: the result without that.
        totals: from `hdbench.evaluation.by_identifier`.
    """
    _print(console, equal_table(result.rates, totals["figures"]))
    console.print(
        localized(
            "values of the answers with an identifier: {identified:,}; written otherwise than in "
            "the ground truth, and equal now: {equated:,}",
            identified=totals["identified"],
            equated=totals["equated"],
        )
    )


def _print(console: Console, table: Table, most: int | None = None) -> None:
    if table:
        console.print()
        print_table(console, table, current_language(), most=most)


def _coverage(result: Result, language: str) -> Text:
    parts = _answered(result.coverage)
    text = Text(localized("{count} items: {parts}", count=len(result.ids), parts=parts))
    if result.intervals.why is not None:
        text.append("\n" + shown(translated(result.intervals.why, language)), style="yellow")
    for name, reason in result.intervals.without.items():
        text.append(f"\n{name}: {shown(translated(reason, language))}")
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


def _is_invented(rates: Mapping[str, Any]) -> bool:
    return rates.get("true_positives") == rates.get("false_negatives") == 0


def print_groups(console: Console, grouped: ByColumn) -> None:
    """Print the headline by the values of a column, of one run or of two side by side.

    Args:
        console: the terminal.
        grouped: from `hdbench.evaluation.by_column`.
    """
    _print(console, grouped.table)
    if grouped.note:
        print_marked(console, "note: ", grouped.note, style="")
    if grouped.warning:
        print_marked(console, "warning: ", in_words(**grouped.warning, language=current_language()))
