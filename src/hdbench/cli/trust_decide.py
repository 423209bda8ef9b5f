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
from hdbench.errors import Message, escaped
from hdbench.output.report.trust_page import check_page, write_decision_page
from hdbench.trust.deciding import read_plan
from hdbench.trust.decision import Decision, Outcome
from hdbench.trust.decision import decide as decide_by
from hdbench.trust.sealed import check_replaceable
from hdbench.trust.words import sentences, warning_in_words


def command(
    paths: Plan,
    *,
    json_out: JsonOut = None,
    page: Annotated[Path | None, typer.Option(metavar="OUT.html")] = None,
    language: Language | None = None,
) -> None:
    """Decide what can be taken over, from the ground truth of the sample.

    That nothing can be is a result as well, and exits with 0.

    Args:
        paths: The plan; its sample has been checked. Before it, the benchmark that has the checked
            ground truth, if it is not the one that the plan names.
        json_out: Write everything to this file.
        page: Write a page with the sentences, the curve and the tables.
    """
    benchmark, plan_file = split_benchmark_and_one(paths)
    if json_out:
        check_replaceable(json_out)
    if page:
        check_page(page)  # before the work
    plan = read_plan(plan_file)
    decision = decide_by(plan, load_benchmark(benchmark or plan.benchmark), plan_file)
    if json_out:
        write_json(json_out, decision.model_dump(mode="json"))
    if page:
        write_decision_page(page, decision, language or current_language())
    print_decision(Console(), decision)
    for path in filter(None, (json_out, page)):
        typer.echo(escaped(str(path)))


def print_decision(console: Console, decision: Decision) -> None:
    """Print the decision, the thresholds, the fields, and warnings.

    Args:
        paths: The plan; its sample has been checked. Before it, the benchmark that has the checked
            ground truth, if it is not the one that the plan names.
        console: the terminal.
        decision: the decision.
    """
    first, *other_lines = sentences(decision, current_language())
    print_line(console, first, style="bold")
    for line in other_lines:
        print_line(console, line)
    console.print()
    _print_walks(console, decision)
    if decision.outcome is not None:
        console.print()
        _print_fields(console, decision.outcome)
    for warned in decision.warnings:
        print_marked(console, "warning: ", warning_in_words(warned, current_language()))
    if decision.outcome is not None and decision.holds:
        advice = Message("next: hdbench trust apply {path} --out OUT", path=decision.plan_file)
        print_line(console, advice)
    line = Message("plan {hash}… of {created}", hash=decision.plan[:12], created=decision.created)
    print_line(console, line, style="dim")


def _print_walks(console: Console, decision: Decision) -> None:
    heads = ("threshold", "taken over", "wrong", "bound")
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
    heads = ("taken over", "wrong", "bound", "empty", "wrong")
    table = localized_table("Fields, each by itself, and their empty values", "field", right=heads)
    for name, counts in outcome.by_field.items():
        upper = number(counts.share.upper, ".1%") if counts.passing else ""
        passing, wrong, empty, wrong_empty = (
            number(count, ",")
            for count in (counts.passing, counts.wrong, counts.empty, counts.wrong_empty)
        )
        table.add_row(heading(name, FIELD_WIDTH), passing, wrong, upper, empty, wrong_empty)
    console.print(table)
