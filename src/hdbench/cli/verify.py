"""Command that computes a result or a decision again."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import Revision, split_benchmark_and_one
from hdbench.cli.terminal import shown
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.verify import verify as verify_result
from hdbench.trust.decision import is_decision
from hdbench.trust.verifying import verify_decision


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] RESULT")],
    *,
    answers: Annotated[Path | None, typer.Option(metavar="PATH")] = None,
    revision: Revision = None,
) -> None:
    """Compute a result or a decision again: is it equal, and if not, what differs and why?

    Exit status 0: equal; 1: something differs; 2: it cannot be computed again.

    Args:
        paths: What hdbench score --json or hdbench trust decide --json wrote. Before it, the
            benchmark, if it is another one than the result names.
        answers: The answers; by default those that the result names.
    """
    differs = False
    benchmark, result = split_benchmark_and_one(paths)
    if is_decision(result):
        if answers is not None:
            raise HdbenchError("--answers: the answers of a decision are those of its plan")
        verified = [verify_decision(result, benchmark=benchmark, revision=revision)]
    else:
        verified = verify_result(result, answers=answers, benchmark=benchmark, revision=revision)
    for verification in verified:
        typer.echo(shown(verification.headline))
        causes = (Message("cause: {cause}", cause=cause) for cause in verification.causes)
        notes = (Message("note: {note}", note=note) for note in verification.notes)
        for line in [*verification.differences, *causes, *notes]:
            typer.echo(f"  {shown(line)}")
        differs = differs or bool(verification.differences)
    if differs:
        raise typer.Exit(1)
