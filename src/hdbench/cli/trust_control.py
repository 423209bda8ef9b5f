"""Command that checks the result of applying a decision."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import JsonOut, split_benchmark_and_one
from hdbench.collections.trust.control import Controlled, check_control
from hdbench.collections.trust.folder import VALUES, WORK_LIST, Applied, read_applied, read_begun
from hdbench.collections.trust.seals import check_replaceable
from hdbench.collections.trust.sentences import control_sentences
from hdbench.common.display.terminal import print_line
from hdbench.common.jsonio import write_json
from hdbench.common.texts import current_language
from hdbench.errors import Message, escaped


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] OUT")],
    *,
    json_out: JsonOut = None,
) -> None:
    """Estimate again how many of the accepted values are wrong, from the control sample alone.

    Args:
        paths: The folder of hdbench trust apply; its control sample is read. Before it, the
            benchmark that has what was read, if it is not the one that the plan names.
        json_out: Write everything to this file.
    """
    benchmark, out = split_benchmark_and_one(paths)
    if json_out:
        check_replaceable(json_out)
    plan, _ = read_begun(out)
    controlled = check_control(out, load_benchmark(benchmark or plan.benchmark))
    if json_out:
        write_json(json_out, controlled.model_dump(mode="json"))
    applied = read_applied(out)
    print_controlled(Console(), controlled, applied, out)
    if json_out:
        typer.echo(escaped(str(json_out)))


def print_controlled(console: Console, controlled: Controlled, applied: Applied, out: Path) -> None:
    """Print the estimate from a control sample, and the next step.

    Args:
        console: the terminal.
        controlled: the estimate.
        applied: the outcome of applying the decision.
        out: the folder of `hdbench trust apply`.
    """
    first, *other_lines = control_sentences(controlled, current_language())
    print_line(console, first, style="bold")
    for line in other_lines:
        print_line(console, line)
    is_open = controlled.wrong[controlled.right].rate <= controlled.limit
    if not controlled.holds and is_open:
        advice = Message(
            "next: the promise of the plan stands, but is not confirmed: look at more of the "
            "values in {values}, or next time draw more with --control",
            values=out / VALUES,
        )
    elif not controlled.holds:
        advice = Message(
            "next: do not use the values in {values} unseen: look at them too",
            values=out / VALUES,
        )
    else:
        advice = Message("next: the values in {values} can be used", values=out / VALUES)
        if applied.to_look_at:
            advice = Message(
                "{then}; for the others: hdbench annotate {benchmark} --only {path}",
                then=advice,
                benchmark=applied.benchmark,
                path=out / WORK_LIST,
            )
    print_line(console, advice)
    print_line(console, Message("plan {hash}", hash=controlled.plan[:12]), style="dim")
