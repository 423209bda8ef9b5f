"""Command that applies a decision."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import PlanPaths, split_benchmark_and_one
from hdbench.collections.trust.acceptance import apply as apply_plan
from hdbench.collections.trust.folder import CONTROL, WORK_LIST, Applied
from hdbench.collections.trust.origins import doubtful_values
from hdbench.collections.trust.plan import read_plan
from hdbench.collections.truth.events import ValueKey
from hdbench.common.display.terminal import (
    FIELD_WIDTH,
    heading,
    localized_table,
    number,
    print_line,
    say,
)
from hdbench.common.progress import in_lines
from hdbench.errors import Message


def command(
    paths: PlanPaths,
    *,
    out: Annotated[Path, typer.Option("-o", "--out")],
    control: Annotated[int, typer.Option(min=1)] = 100,
) -> None:
    """Accept values, item by item, and list what people have to look at.

    OUT gets values.jsonl (each value, with what becomes of it and why), control.yaml (what to read
    blind, before anything else) and worklist.csv (what to look at, worst first); hdbench annotate
    --only opens both. The work list can also be filled in as a table, for hdbench trust finish
    --worked.

    Args:
        paths: The plan; all of its values are read. Before it, the benchmark that has what was
            read, if it is not the one that the plan names.
        out: The folder to write. If it was interrupted there, it begins again.
        control: How many of the accepted values are drawn at random, to be read blind.
    """
    benchmark, plan_file = split_benchmark_and_one(paths)
    plan = read_plan(plan_file)
    loaded = load_benchmark(benchmark or plan.benchmark)
    try:
        with in_lines():
            applied = apply_plan(plan, loaded, plan_file, out, control=control)
            left = list(doubtful_values(out, loaded))
    except KeyboardInterrupt:
        say("interrupted: the same command begins again", err=True)
        raise typer.Exit(130) from None
    print_applied(Console(), applied, left, out)


def print_applied(console: Console, applied: Applied, left: Sequence[ValueKey], out: Path) -> None:
    """Print the outcomes for the values, and the next step.

    Args:
        console: the terminal.
        applied: the outcome of applying the decision.
        left: the doubtful values that nobody has read.
        out: the folder.
    """
    values = applied.taken + applied.checked + sum(applied.check.values())
    title = Message(
        "{taken:,} of {values:,} values accepted, in {items:,} item"
        if applied.items == 1
        else "{taken:,} of {values:,} values accepted, in {items:,} items",
        taken=applied.taken,
        values=values,
        items=applied.items,
    )
    if not applied.taken:
        title = Message(
            "none of {values:,} values accepted: those that people have not read are all on the "
            "work list, and there is nothing to control",
            values=values,
        )
    print_line(console, title, style="bold")
    print_line(console, Message("checked by people already: {count:,}", count=applied.checked))
    for reason, count in applied.check.items():
        print_line(console, Message("{why}: {count:,}", why=Message(reason), count=count))
    console.print()
    heads = ("accepted", "to look at", "checked")
    table = localized_table("By field", "field", right=heads)
    for name, counts in applied.by_field.items():
        taken, checked = counts.get("taken", 0), counts.get("checked", 0)
        look = sum(counts.values()) - taken - checked
        cells = (number(count, ",") for count in (taken, look, checked))
        table.add_row(heading(name, FIELD_WIDTH), *cells)
    console.print(table)
    if known := sum(applied.check.values()) - len(left):
        known_line = Message(
            "{count:,} of those to look at was read by people since, or is in the ground truth: "
            "nobody is asked again",
            plural="{count:,} of those to look at were read by people since, or are in the ground "
            "truth: nobody is asked again",
            count=known,
        )
        print_line(console, known_line)
    if applied.taken:
        # First: an item checked with its draft visible says nothing about the others.
        first = Message(
            "first check the control sample, without drafts: hdbench annotate {folder} --only "
            "{control}, then hdbench trust control {out}",
            folder=applied.benchmark,
            control=out / CONTROL,
            out=out,
        )
        print_line(console, first)
    line = Message(
        "{count:,} item to look at",
        plural="{count:,} items to look at",
        count=len({key.item for key in left}),
    )
    if left:
        work_list = out / WORK_LIST
        line = Message(
            "{left}: hdbench annotate {benchmark} --only {path}",
            left=line,
            benchmark=applied.benchmark,
            path=work_list,
        )
    print_line(console, line)
