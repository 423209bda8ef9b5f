"""The command that says how well people agree."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hdbench.cli.app import MAKE, app
from hdbench.errors import HdbenchError, Message


@app.command(rich_help_panel=MAKE)
def agreement(
    folder: Annotated[Path, typer.Argument(help="The collection's folder.")],
    *,
    seed: Annotated[int, typer.Option(help="For the random numbers of the intervals.", min=0)] = 0,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the figures to this file.", metavar="OUT")
    ] = None,
) -> None:
    """How well do the people agree who annotated the same items?

    For each field, and as the score that they reach against each other, by the benchmark's own
    rules. It follows from what each of them entered before anything was settled.
    """
    from hdbench.annotating.agreement import agreement_of  # noqa: PLC0415  slow to import
    from hdbench.annotating.assigned import read_assigned  # noqa: PLC0415
    from hdbench.cli.agreement_table import print_agreement  # noqa: PLC0415
    from hdbench.common.jsonio import write_json  # noqa: PLC0415

    finished, unfinished = read_assigned(folder)
    found = agreement_of(folder, finished, seed=seed)
    if found is None:
        why = Message("assign some with hdbench annotate --assign")
        if unfinished:
            why = Message("{count} assigned, and not all are done with them", count=unfinished)
        raise HdbenchError(
            "{folder}: no item yet that several people are done with: {why}", folder=folder, why=why
        )
    if json_out:
        write_json(json_out, found.model_dump(mode="json"))
    print_agreement(Console(), found, unfinished)
