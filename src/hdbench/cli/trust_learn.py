"""Command that learns from the values that were read, and draws those to verify it."""

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import PlanPaths, split_benchmark_and_one
from hdbench.collections.trust.learning import Learned, learn_once, learned_file
from hdbench.collections.trust.plan import Plan, read_plan
from hdbench.common.display.terminal import heading, localized_table, number, print_line, say
from hdbench.errors import Message, escaped


def command(paths: PlanPaths) -> None:
    """Learn which values are probably wrong, and draw those to verify it.

    The page of hdbench annotate does the same once all values to learn from are read. What was
    learned is never replaced.

    Args:
        paths: The plan; the values to learn from are read. Before it, the benchmark with what was
            read, if it is not the one that the plan names.
    """
    benchmark, plan_file = split_benchmark_and_one(paths)
    plan = read_plan(plan_file)
    try:
        learned = learn_once(plan, load_benchmark(benchmark or plan.benchmark), plan_file)
    except KeyboardInterrupt:
        say("interrupted: the same command begins again", err=True)
        raise typer.Exit(130) from None
    print_learned(Console(), learned, plan)
    typer.echo(escaped(str(learned_file(plan_file))))
    say(
        "next: hdbench annotate {benchmark} --only {path}: {count:,} values to verify; then "
        "hdbench trust decide {path}",
        benchmark=benchmark or plan.benchmark,
        path=plan_file,
        count=len(learned.sample),
    )


def print_learned(console: Console, learned: Learned, plan: Plan) -> None:
    """Print what was learned.

    Args:
        console: the terminal.
        learned: what was learned.
        plan: its plan.
    """
    title = Message(
        "learned from {count:,} values, of which {wrong:,} are wrong ({share:.1%})",
        count=learned.learned_from,
        wrong=learned.wrong,
        share=learned.wrong / learned.learned_from,
    )
    print_line(console, title, style="bold")
    table = localized_table("By field", "field", right=("values", "expected wrong"))
    for name, expected in learned.by_field.items():
        table.add_row(heading(name), number(expected.values, ","), number(expected.wrong, ".1%"))
    console.print(table)
    if plan.each_field:
        names = ", ".join(name for group in learned.groups for name in group.fields)
        print_line(console, Message("fields that can be promised: {names}", names=names))
    most = learned.most_accepted
    share = most / (plan.items * len(plan.fields))
    line = Message(
        "at most {count:,} values can be accepted ({share:.0%})", count=most, share=share
    )
    print_line(console, line)
