"""Command that scores answers, and a result as tables for a terminal."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from hdbench.answers.answer import Kind, Status
from hdbench.answers.answers import UnknownIdsError
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import (
    Also,
    Authority,
    By,
    JsonOut,
    Name,
    Revision,
    answers_at,
    read_options,
    required_benchmark,
    split_benchmark_and_one,
)
from hdbench.common.display.table import Table
from hdbench.common.display.terminal import (
    MAX_NOTE,
    localized,
    print_line,
    print_marked,
    print_table,
    printable,
    shown,
)
from hdbench.common.texts import current_language, translated
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.by_column import ByColumn, by_column
from hdbench.evaluation.by_identifier import ScoringByIdentifier, read_scoring_authorities
from hdbench.evaluation.parts import in_words
from hdbench.evaluation.result import Result
from hdbench.evaluation.result_file import write_records
from hdbench.evaluation.runs import recognized_in
from hdbench.evaluation.score import Settings, score_under, with_names
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


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] ANSWERS")],
    *,
    protocol: str = "documented",
    errata: str = "accepted",
    option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    also: Also = None,
    name: Name = None,
    by: By = None,
    authority: Authority = None,
    json_out: JsonOut = None,
    details: Annotated[bool, typer.Option("--details")] = False,
    revision: Revision = None,
) -> None:
    """Score a file of answers.

    An id without an answer counts as a complete failure. A `model` column splits a file into runs.

    Args:
        paths: The answers: JSON Lines, JSON, CSV, XLSX or Parquet, plain, gzip or Zstandard;
            a folder with its parts, or a folder or ZIP of ID.json or ID.txt; or a run (one model's
            answers to one benchmark). - reads a file from standard input. Before them, the
            benchmark, such as zettelkatalog: built here, or else taken from the Hub. A run names
            its own.
        option: An option of the metric, with its value as JSON, such as threshold=0.8; may be
            repeated.
        json_out: Write the result to this file.
        details: Print all warnings, and list what was done to read the answers; with --json also
            each field and item.
    """
    named, predictions = split_benchmark_and_one(paths)
    benchmark = required_benchmark(named, [predictions])
    settings = Settings(
        protocol,
        options=read_options(option or ()),
        errata=errata,
        revision=revision,
        details=details,
    )
    rules = _beside(settings, also or ())
    by_identifier = _by_identifier(benchmark, settings, authority or ())
    under = [*rules.values(), *(scoring.settings for scoring in by_identifier)]
    with answers_at(predictions) as (path, called), _naming_another(benchmark, predictions):
        scored = score_under(benchmark, path, under, name=called)
    results, *other_results = _named(scored[: len(rules)], name)
    records = [result.to_dict() for result in results.values()]
    groups = _groups(results, by)
    equated = {
        model: scoring.totals(own, result)
        for scoring, by_model in zip(by_identifier, scored[len(rules) :], strict=True)
        for model, (own, result) in zip(results, by_model.items(), strict=True)
    }
    for model, record in zip(results, records, strict=True):
        others = zip(list(rules)[1:], other_results, strict=True)
        if added := {name: by_model[model].to_dict() for name, by_model in others}:
            record["also"] = added
        if model in groups:
            record["by"] = groups[model].to_dict()
        if model in equated:
            record["by_identifier"] = equated[model]
    if json_out:
        write_records(json_out, records)
    alike = dict(zip(rules, (results, *other_results), strict=True))
    _print(alike, records, groups, details=details)


def _by_identifier(
    benchmark: str, settings: Settings, authority: Sequence[str]
) -> list[ScoringByIdentifier]:
    """Return what scores the answers again by identifiers; nothing without authority files."""
    if not authority:
        return []
    loaded = load_benchmark(benchmark, revision=settings.revision)
    return [ScoringByIdentifier(settings, read_scoring_authorities(authority, loaded))]


def _print(
    under: Mapping[str, Mapping[str | None, Result]],
    records: Sequence[Mapping[str, Any]],
    groups: Mapping[str | None, ByColumn],
    *,
    details: bool,
) -> None:
    """Print the results of each model.

    Args:
        under: name of rules → the results; those of the command come first.
        records: what is written of each result.
        groups: model → the headline by the values of a column.
        details: print details.
    """
    results = next(iter(under.values()))
    for (model, result), record in zip(results.items(), records, strict=True):
        prefix = "" if model is None else f"{model}: "
        dataset, scored_by = result.dataset, result.metric.protocol
        title = f"{prefix}{dataset.benchmark} {dataset.dataset_version}, {scored_by}"
        print_result(Console(), title, result, details=details)
        if len(under) > 1:
            print_under(Console(), {name: by_model[model] for name, by_model in under.items()})
        if model in groups:
            print_groups(Console(), groups[model])
        if "by_identifier" in record:
            print_by_identifier(Console(), result, record["by_identifier"])


def _named(
    scored: list[dict[str | None, Result]], name: str | None
) -> list[dict[str | None, Result]]:
    """Return the results, with the model's name if one is given."""
    if name is None:
        return scored
    renamed = (with_names(list(by_model.values()), [name]) for by_model in scored)
    return [{result.model: result for result in under} for under in renamed]


@contextmanager
def _naming_another(benchmark: str, predictions: Path) -> Iterator[None]:
    """If the ids are not the benchmark's, say whose they are."""
    try:
        yield
    except UnknownIdsError as error:
        benchmark_id = recognized_in(Path(benchmark).parent, error.ids)
        if benchmark_id is None:
            raise
        raise HdbenchError(
            "{what}: the ids are those of {other}: hdbench score {other} {predictions}",
            what=str(error).rpartition(": ")[0],  # without its question
            other=benchmark_id,
            predictions=predictions,
        ) from error


def _groups(results: Mapping[str | None, Result], column: str | None) -> dict[str | None, ByColumn]:
    """Return model → the headline by the values of a column; nothing without one."""
    if column is None:
        return {}
    loaded = next(iter(results.values())).load_benchmark()
    return {model: by_column(result, loaded, column) for model, result in results.items()}


_NEXT_OPTION = re.compile(r",\s*(?=\w+=)")


def _beside(settings: Settings, also: Sequence[str]) -> dict[str, Settings]:
    """Return the settings of the command, and those that `--also` asks for.

    Returns:
        Name → settings; those of the command come first.

    Raises:
        HdbenchError: an option is unusable, or rules are asked for twice.
    """
    options = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in settings.options.items()
    ]
    rules = {",".join([settings.protocol, *options]): settings}
    for text in also:
        first, *values = _NEXT_OPTION.split(text)
        if "=" in first:
            base = settings
            values.insert(0, first)
        else:
            base = replace(settings, protocol=first, options={}, errata="accepted")
        combined = replace(base, options={**base.options, **read_options(values, "--also")})
        if text in rules or combined in rules.values():
            raise HdbenchError(
                "--also {text}: these rules are there already: leave it out", text=text
            )
        rules[text] = combined
    return rules


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
    _print_rows(console, violations_table(result.violations), MAX_VIOLATIONS)
    # Fields of the ground truth come first: a model can invent any number of others.
    rates = sorted(result.field_rates().items(), key=lambda field: _is_invented(field[1]))
    _print_rows(
        console,
        fields_table(dict(rates), result.field_intervals, result.metric.field_figures),
        MAX_FIELDS,
    )
    _print_rows(console, worst_table(result.worst, result.metric.item_figure, {}))
    if details:
        _print_rows(console, reading_table(result.ids, result.statuses))
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
    _print_rows(
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
    _print_rows(console, equal_table(result.rates, totals["figures"]))
    console.print(
        localized(
            "values of the answers with an identifier: {identified:,}; written otherwise than in "
            "the ground truth, and equal now: {equated:,}",
            identified=totals["identified"],
            equated=totals["equated"],
        )
    )


def _print_rows(console: Console, table: Table, most: int | None = None) -> None:
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
    _print_rows(console, grouped.table)
    if grouped.note:
        print_marked(console, "note: ", grouped.note, style="")
    if grouped.warning:
        print_marked(console, "warning: ", in_words(**grouped.warning, language=current_language()))
