"""Command that runs and scores a model on several benchmarks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.answers.subset import subset_in_words
from hdbench.cli.arguments import DEFAULT_OUT, JsonOut, finite
from hdbench.cli.run import (
    BatchSize,
    Concurrency,
    MaxFailed,
    MaxNewTokens,
    Timeout,
)
from hdbench.cli.terminal import localized, number, print_line, print_marked, say, say_error, shown
from hdbench.errors import HdbenchError
from hdbench.results.files import write_results
from hdbench.running.backend import Asked, Decoding
from hdbench.running.evaluating import Evaluation, Skipped, find_benchmarks, read_demands
from hdbench.running.evaluating import evaluate as evaluate_model


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="BENCHMARK…")] = None,
    *,
    every: Annotated[bool, typer.Option("--all")] = False,
    model: Annotated[str, typer.Option()],
    endpoint: Annotated[str | None, typer.Option(metavar="URL")] = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    max_minutes: Annotated[float | None, typer.Option(min=0, callback=finite)] = None,
    fail_under: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    out: Annotated[Path, typer.Option("-o", "--out")] = Path("runs"),
    json_out: JsonOut = None,
    batch_size: BatchSize = 1,
    concurrency: Concurrency = None,
    max_new_tokens: MaxNewTokens = 4096,
    timeout: Timeout = 300.0,
    max_failed: MaxFailed = 1.0,
) -> None:
    """Run and score a model on several benchmarks.

    With --all, a benchmark for which Tesseract has no rules is skipped, and a note says so.

    Exit status 0: every benchmark reaches what --fail-under demands; 1: one does not, none of its
    items was answered, or too many failed; 2: it could not be done.

    Args:
        names: Benchmarks, as for hdbench run.
        every: Run on every benchmark in hdb/.
        quick: Only a fixed subset of 20 items of each.
        max_minutes: Stop asking after this time; items without an answer by then are unanswered.
        fail_under: Exit with status 1 if a primary metric is worse than this, such as
            zettelkatalog=0.80; may be repeated.
        out: Where to make the run folders.
        json_out: Write the results to this file.
    """
    if every == bool(names):
        raise HdbenchError("name benchmarks, or give --all")
    benchmarks = find_benchmarks(DEFAULT_OUT, names or ())
    request = Asked(
        model,
        endpoint=endpoint,
        decoding=Decoding(max_new_tokens),
        batch_size=batch_size,
        concurrency=concurrency,
        timeout=timeout,
    )
    outcomes = list(
        evaluate_model(
            benchmarks,
            request,
            out,
            quick=quick,
            minutes=max_minutes,
            demands=read_demands(fail_under or (), benchmarks),
            skip=every,
        )
    )
    for outcome in outcomes:
        if isinstance(outcome, Skipped):
            say("note: skipped {name}: {why}", name=outcome.name, why=outcome.why, err=True)
    evaluations = [outcome for outcome in outcomes if isinstance(outcome, Evaluation)]
    if not evaluations:
        raise HdbenchError(
            "{model} answers none of the benchmarks in {folder}", model=model, folder=DEFAULT_OUT
        )
    if json_out:
        write_results(json_out, [scored.result for scored in evaluations])
    print_evaluations(Console(), evaluations)
    troubles = [(scored.folder, scored.outcome.trouble(max_failed)) for scored in evaluations]
    for folder, trouble in troubles:
        if trouble:
            say_error(HdbenchError("{place}: {why}", place=folder, why=trouble))
    if not all(scored.passed for scored in evaluations) or any(trouble for _, trouble in troubles):
        raise typer.Exit(1)


def print_evaluations(console: Console, evaluations: Sequence["Evaluation"]) -> None:
    """Print a line for each benchmark that a model was run on, and one for what is left to do.

    Args:
        console: the terminal.
        evaluations: from `hdbench.running.evaluating`.
    """
    for scored in evaluations:
        headline = scored.result.headline
        interval = shown(scored.result.intervals.describe(headline))
        answered = {"answered": scored.result.answered, "items": len(scored.result.ids)}
        parts = [
            f"{headline} {number(scored.value, '.3f')} ({interval})",
            localized("{answered} of {items} answered", **answered),
        ]
        if scored.result.run.subset is not None:
            parts.append(shown(subset_in_words(scored.result.run.subset)))
        if scored.least is not None:
            least = scored.least
            parts.append(
                localized("reaches {least:g}" if scored.passed else "below {least:g}", least=least)
            )
        print_line(console, f"{scored.benchmark.spec.name}: {', '.join(parts)}")
        for line in scored.outcome.lines(scored.folder):
            print_marked(console, "  ", line, style="")
