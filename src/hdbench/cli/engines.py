"""Runs in many tasks: which engine starts them, and how they are going."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hdbench.cli.app import RUN, app
from hdbench.cli.saying import shown
from hdbench.common.extras import needed
from hdbench.errors import HdbenchError

if TYPE_CHECKING:
    from hdbench.running.cluster.launching import Engine
    from hdbench.running.planning import RunPlan
    from hdbench.running.run import RunOutcome

EngineName = Annotated[
    str | None,
    typer.Option(
        help="Split the run into --tasks and start them with this engine: local (processes of "
        "this machine), slurm (an array of jobs) or jobs (Hugging Face Jobs, experimental).",
    ),
]
Tasks = Annotated[
    int | None,
    typer.Option(help="With --engine: into how many tasks the items are split.", min=1),
]
Workers = Annotated[
    int | None,
    typer.Option(
        help="With --engine: how many tasks run at the same time. By default as many as there "
        "is room for; with local, one per accelerator, or per core if the model is elsewhere.",
        min=1,
    ),
]
EngineOptions = Annotated[
    list[str] | None,
    typer.Option(
        help="With --engine: an option of the engine, such as partition=gpu, time=12:00:00, "
        "gres=gpu:1 or sbatch.account=NAME; may be repeated.",
        metavar="KEY=VALUE",
    ),
]


def ask(
    plan: "RunPlan", folder: Path, engine: "Engine | None", *, retry_failed: bool
) -> "RunOutcome":
    """Ask in this process or on an engine; it ends here where the engine goes on alone."""
    if engine is None:
        return plan.run(folder, retry_failed=retry_failed)
    from hdbench.running.cluster.launching import Launched, launch  # noqa: PLC0415

    launched = launch(plan, folder, engine, retry_failed=retry_failed)
    if isinstance(launched, Launched):
        for line in launched.lines():
            typer.echo(shown(line))
        raise typer.Exit
    return launched


def read_engine(
    name: str | None, tasks: int | None, workers: int | None, options: list[str] | None
) -> "Engine | None":
    """The engine that was asked for; None for a single process."""
    if name is None:
        given = {"--tasks": tasks, "--workers": workers, "--engine-option": options}
        if useless := [option for option, value in given.items() if value]:
            raise HdbenchError(
                "{option} only matters with --engine: choose one, or leave it out",
                option=useless[0],
            )
        return None
    with needed("cluster", "--engine needs"):
        import datatrove  # noqa: F401, PLC0415  named if it is missing

        from hdbench.running.cluster.launching import Engine, read_engine_options  # noqa: PLC0415

    if tasks is None:
        raise HdbenchError(
            "--engine {name}: say with --tasks into how many parts to split the items", name=name
        )
    return Engine(name, tasks, workers, read_engine_options(options or []))


@app.command(rich_help_panel=RUN)
def status(
    folder: Annotated[
        Path, typer.Argument(help="A run folder, also while the run is going on.", metavar="RUN")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge",
            help="First merge what the tasks of a run answered, if none of them is running.",
        ),
    ] = False,
) -> None:
    """See how a run is going: done, failed, rate, time left, tokens and cost.

    It reads files only, so it works while the run goes on, and from another machine; with --engine
    jobs, it fetches them first. Tasks of a run with --engine are listed: which wait, run, are done,
    failed or died. They are merged by themselves when all are done, and by the next hdbench run.
    """
    from hdbench.running.status import read_status  # noqa: PLC0415  slow to import

    if merge:
        from hdbench.running.shards.merging import merge_now  # noqa: PLC0415

        merge_now(folder)
    found = read_status(folder)
    if as_json:
        typer.echo(found.as_json())
        return
    for line in found.lines():
        typer.echo(shown(line))
