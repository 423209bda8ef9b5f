"""Command that shows the progress of a run."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.terminal import shown
from hdbench.running.shards.merging import merge_now
from hdbench.running.status import read_status


def command(
    folder: Annotated[Path, typer.Argument(metavar="RUN")],
    *,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    merge: Annotated[bool, typer.Option("--merge")] = False,
) -> None:
    """See how a run is going: done, failed, rate, time left, tokens and cost.

    It reads files only, so it works while the run goes on, and from another machine; with --engine
    jobs, it fetches them first. Tasks of a run with --engine are listed: which wait, run, are done,
    failed or died. They are merged by themselves when all are done, and by the next hdbench run.

    Args:
        folder: A run folder, also while the run is going on.
        as_json: Print it as JSON.
        merge: First merge what the tasks of a run answered, if none of them is running.
    """
    if merge:
        merge_now(folder)
    status = read_status(folder)
    if as_json:
        typer.echo(status.as_json())
        return
    for line in status.lines():
        typer.echo(shown(line))
