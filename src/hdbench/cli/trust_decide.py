"""Command that decides by a plan."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import JsonOut, PlanPaths, split_benchmark_and_one
from hdbench.collections.trust.cuts import BILLION
from hdbench.collections.trust.decision import decide
from hdbench.collections.trust.decision_file import Decision, ReadCut
from hdbench.collections.trust.decision_page import check_page, write_decision_page
from hdbench.collections.trust.outlook import Work, work_left
from hdbench.collections.trust.plan import read_plan
from hdbench.collections.trust.seals import check_replaceable
from hdbench.collections.trust.sentences import sentences, warning_in_words, worry
from hdbench.common.display.terminal import (
    FIELD_WIDTH,
    heading,
    localized,
    localized_table,
    number,
    print_line,
    print_marked,
)
from hdbench.common.jsonio import write_json
from hdbench.common.texts import current_language
from hdbench.errors import Message, escaped


def command(
    paths: PlanPaths,
    *,
    json_out: JsonOut = None,
    page: Annotated[Path | None, typer.Option(metavar="OUT.html")] = None,
) -> None:
    """Decide what can be accepted, from what people read in the sample.

    That nothing can be accepted is a result as well, and exits with 0.

    Args:
        paths: The plan; all of its values are read. Before it, the
            benchmark that has what was read, if it is not the one that the plan names.
        json_out: Write everything to this file.
        page: Write a page for those who sign the decision: sentences, fields and examples. It
            prints on two sides.
    """
    benchmark, plan_file = split_benchmark_and_one(paths)
    if json_out:
        check_replaceable(json_out)
    if page:
        check_page(page)  # before the work
    plan = read_plan(plan_file)
    loaded = load_benchmark(benchmark or plan.benchmark)
    decision = decide(plan, loaded, plan_file)
    work = work_left(decision)
    if json_out:
        write_json(json_out, decision.model_dump(mode="json"))
    if page:
        write_decision_page(page, decision, work, loaded, current_language())
    print_decision(Console(), decision, work)
    for path in filter(None, (json_out, page)):
        typer.echo(escaped(str(path)))


def print_decision(console: Console, decision: Decision, work: Work) -> None:
    """Print a decision in sentences, its tables, warnings, and the next step.

    Args:
        console: the terminal.
        decision: the decision.
        work: the work that it leaves.
    """
    language = current_language()
    lines = sentences(decision, work, language)
    print_line(console, lines[0], style="bold")
    for line in lines[1:]:
        print_line(console, line)
    console.print()
    _print_cuts(console, decision)
    _print_fields(console, decision)
    answer = worry(decision, language)
    print_line(console, Message("Do I need to worry? {answer}", answer=answer))
    for warned in decision.warnings:
        print_marked(console, "warning: ", warning_in_words(warned, language))
    # What people read goes in, whether anything is accepted or not.
    advice = Message("next: hdbench trust apply {path} --out OUT", path=decision.plan_file)
    print_line(console, advice)
    line = Message("plan {hash}… of {created}", hash=decision.plan[:12], created=decision.created)
    print_line(console, line, style="dim")


def _print_cuts(console: Console, decision: Decision) -> None:
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


def _found(cut: ReadCut, decision: Decision) -> tuple[str, ...]:
    """Return what reading showed at a cut."""
    return (
        number(cut.read, ","),
        number(cut.wrong[decision.right], ","),
        number(cut.upper, ".2%"),
        localized("passes" if cut.accepted else "fails"),
    )


def _print_fields(console: Console, decision: Decision) -> None:
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
