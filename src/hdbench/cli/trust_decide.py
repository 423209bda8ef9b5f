"""Command that decides by a plan."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import JsonOut, Plan, split_benchmark_and_one
from hdbench.cli.terminal import (
    FIELD_WIDTH,
    localized,
    localized_table,
    number,
    print_line,
    print_marked,
)
from hdbench.common.jsonio import write_json
from hdbench.common.printing import heading
from hdbench.common.texts import Language
from hdbench.common.translation import current_language
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.output.report.trust_page import check_page, write_decision_page
from hdbench.trust.deciding import AnyDecision, decide_by, read_plan
from hdbench.trust.decision import Decision, Outcome
from hdbench.trust.forecasting.by_values import ValueForecast, value_forecast
from hdbench.trust.learned.cuts import BILLION
from hdbench.trust.learned.decision import ReadCut, ValueDecision
from hdbench.trust.learned.plan import ValuePlan
from hdbench.trust.sealed import check_replaceable
from hdbench.trust.value_words import value_sentences, worry
from hdbench.trust.words import sentences, warning_in_words


def command(
    paths: Plan,
    *,
    json_out: JsonOut = None,
    page: Annotated[Path | None, typer.Option(metavar="OUT.html")] = None,
    wage: float | None = None,
    language: Language | None = None,
) -> None:
    """Decide what can be accepted, from what people read in the sample.

    That nothing can be accepted is a result as well, and exits with 0.

    Args:
        paths: The plan; all of its values are read, or its sample has been checked. Before it, the
            benchmark that has what was read, if it is not the one that the plan names.
        json_out: Write everything to this file.
        page: Write a page for those who sign the decision: sentences, fields, examples, and what
            other limits would have allowed. It prints on two sides.
        wage: What an hour of a person costs, in US dollars.
    """
    benchmark, plan_file = split_benchmark_and_one(paths)
    if json_out:
        check_replaceable(json_out)
    if page:
        check_page(page)  # before the work
    plan = read_plan(plan_file)
    if wage is not None and not isinstance(plan, ValuePlan):
        raise HdbenchError(
            "--wage: goes with plans of single values; for this one: hdbench forecast --plan "
            "{place} --wage {wage}",
            place=plan_file,
            wage=f"{wage:g}",
        )
    loaded = load_benchmark(benchmark or plan.benchmark)
    decision = decide_by(plan, loaded, plan_file)
    work = value_forecast(decision, wage=wage) if isinstance(decision, ValueDecision) else None
    if json_out:
        write_json(json_out, decision.model_dump(mode="json"))
    if page:
        chosen = language or current_language()
        write_decision_page(page, decision, chosen, benchmark=loaded, wage=wage)
    print_decision(Console(), decision, work)
    for path in filter(None, (json_out, page)):
        typer.echo(escaped(str(path)))


def print_decision(console: Console, decision: AnyDecision, work: ValueForecast | None) -> None:
    """Print a decision in sentences, its tables, warnings, and the next step.

    Args:
        console: the terminal.
        decision: the decision.
        work: the work that a decision by single values leaves.
    """
    language = current_language()
    if isinstance(decision, ValueDecision):
        assert work is not None  # noqa: S101  the caller computed it
        lines = value_sentences(decision, work, language)
    else:
        lines = sentences(decision, language)
    print_line(console, lines[0], style="bold")
    for line in lines[1:]:
        print_line(console, line)
    console.print()
    if isinstance(decision, ValueDecision):
        _print_cuts(console, decision)
        _print_value_fields(console, decision)
        _print_limits(console, decision)
        answer = worry(decision, language)
        print_line(console, Message("Do I need to worry? {answer}", answer=answer))
        can_be_applied = True  # what people read goes in, whether anything is accepted or not
    else:
        _print_walks(console, decision)
        if decision.outcome is not None:
            console.print()
            _print_fields(console, decision.outcome)
        can_be_applied = decision.outcome is not None
    for warned in decision.warnings:
        print_marked(console, "warning: ", warning_in_words(warned, language))
    if can_be_applied and decision.holds:
        advice = Message("next: hdbench trust apply {path} --out OUT", path=decision.plan_file)
        print_line(console, advice)
    line = Message("plan {hash}… of {created}", hash=decision.plan[:12], created=decision.created)
    print_line(console, line, style="dim")


def _print_cuts(console: Console, decision: ValueDecision) -> None:
    """Print the cuts that were tested; where each field has its own, the one that decides."""
    if len(decision.groups) == 1:
        title = Message("From the surest values to less sure ones, until too many are wrong")
        heads = ("expected\nwrong up to", "values", "read", "wrong", "bound")
        table = localized_table(title, right=heads)
        table.add_column("")
        for cut in decision.groups[0].cuts:
            cells = (number(cut.probability / BILLION, ".1%"), number(cut.values, ","))
            style = "bold" if cut.probability == decision.groups[0].cut else ""
            table.add_row(*cells, *_found(cut, decision), style=style)
    else:
        title = Message("By field: the most values that pass, or else the surest ones")
        table = localized_table(title, "field", right=("read", "wrong", "bound"))
        table.add_column("")
        for group in decision.groups:
            names = heading(", ".join(group.fields), FIELD_WIDTH)
            table.add_row(names, *_found(group.chosen or group.cuts[0], decision))
    console.print(table)


def _found(cut: ReadCut, decision: ValueDecision) -> tuple[str, ...]:
    """Return what reading showed at a cut."""
    return (
        number(cut.read, ","),
        number(cut.wrong[decision.right], ","),
        number(cut.upper, ".2%"),
        localized("passes" if cut.accepted else "fails"),
    )


def _print_value_fields(console: Console, decision: ValueDecision) -> None:
    heads = ("accepted", "read", "wrong", "bound", "expected\nwrong")
    title = Message(
        "Fields: their bounds hold for all of them at once; expected: among all their values"
        if decision.by_field
        else "Fields: how many of all their values are wrong, as expected"
    )
    table = localized_table(title, "field", right=heads if decision.by_field else heads[-1:])
    for name, expected in decision.expected_by_field.items():
        cells = []
        field = decision.by_field.get(name)
        if field and field.accepted:
            cells = [
                number(field.accepted, ","),
                number(field.read, ","),
                number(field.wrong, ","),
                number(field.upper, ".1%") if field.read else "–",
            ]
        elif decision.by_field:
            cells = [localized("none"), "", "", ""]
        table.add_row(heading(name, FIELD_WIDTH), *cells, number(expected.wrong, ".1%"))
    console.print(table)


def _print_limits(console: Console, decision: ValueDecision) -> None:
    table = localized_table(
        "What other limits would have allowed: not promised", right=("limit", "accepted", "share")
    )
    for other in decision.what_if:
        cells = (number(other.accepted, ","), number(other.accepted / decision.values, ".1%"))
        table.add_row(number(other.limit, ".0%"), *cells)
    console.print(table)


def _print_walks(console: Console, decision: Decision) -> None:
    heads = ("threshold", "accepted", "wrong", "bound")
    table = localized_table("Loosest thresholds that pass", "right", "verdict", right=heads)
    values = decision.checked
    for walk in decision.walks:
        accepted = [step for step in walk.steps if step.accepted]
        counts = walk is decision.counting
        style = "bold" if counts else ""
        right = localized("to the letter" if walk.right == "letter" else "by threshold")
        total = values * (len(walk.fields) + len(walk.left_out))
        if accepted:
            last = accepted[-1]
            cells = [
                number(last.threshold, "g"),
                number(last.passing / total, ".1%"),
                number(last.wrong / last.passing, ".1%"),
                number(last.bound, ".2%")
                if walk.verdict == "rule"
                else localized("won {times:.3g} times", times=last.bound),
            ]
        else:
            cells = [localized("none"), "", "", ""]
        table.add_row(right, localized(walk.verdict), *cells, style=style)
    console.print(table)


def _print_fields(console: Console, outcome: Outcome) -> None:
    heads = ("accepted", "wrong", "bound", "empty", "wrong")
    table = localized_table("Fields, each by itself, and their empty values", "field", right=heads)
    for name, counts in outcome.by_field.items():
        upper = number(counts.share.upper, ".1%") if counts.passing else ""
        passing, wrong, empty, wrong_empty = (
            number(count, ",")
            for count in (counts.passing, counts.wrong, counts.empty, counts.wrong_empty)
        )
        table.add_row(heading(name, FIELD_WIDTH), passing, wrong, upper, empty, wrong_empty)
    console.print(table)
