"""Command that computes a result or a decision again."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.collections.trust.decision import (
    verify_decision,
)
from hdbench.collections.trust.decision_file import is_decision
from hdbench.common.display.terminal import say, shown
from hdbench.errors import HdbenchError
from hdbench.evaluation.verify import verify

SHOWN = 20
"""Maximum number of differences that are listed."""


def command(
    file: Path, *, answers: Annotated[Path | None, typer.Option(metavar="PATH")] = None
) -> None:
    """Compute a result or a decision again, and say what differs.

    Exit status 0: equal; 1: something differs; 2: it cannot be computed again.

    Args:
        file: What hdbench score --json or hdbench trust decide --json wrote.
        answers: The answers; by default those that the result names.
    """
    if (is_trust := is_decision(file)) and answers:
        raise HdbenchError("--answers: the answers of a decision are those of its plan")
    lines = verify_decision(file) if is_trust else verify(file, answers)
    if not lines:
        say("{place}: equal", place=file)
        return
    for line in lines[:SHOWN]:
        typer.echo(shown(line))
    if len(lines) > SHOWN:
        say("and {count} more differences", count=len(lines) - SHOWN)
    raise typer.Exit(1)
