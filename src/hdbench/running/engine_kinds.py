"""Engines as they declare themselves. `ENGINES` lists them."""

from typing import NamedTuple

from hdbench.errors import Message


class EngineKind(NamedTuple):
    """An engine as it declares itself; nothing else in hdbench knows engines by their names.

    Attributes:
        name: as given to `--engine`.
        check: the function that refuses what this engine cannot run, as `module:function`. It gets
            the plan, the engine's options and the run's folder.
        start: the function that starts the ranks of a launch, as `module:function`. It gets the
            shards, the options and how many ranks run at the same time, and returns a `RanksEnd`;
            with `only_submits`, None.
        runs_here: whether the ranks are processes of this machine.
        only_submits: whether the ranks go on in a queue without this process; `start` then also
            takes the ranks to submit again.
        uploads_items: whether the items leave this machine for the storage in its options.
    """

    name: str
    check: str
    start: str
    runs_here: bool = False
    only_submits: bool = False
    uploads_items: bool = False


class RanksEnd(NamedTuple):
    """End of the ranks that this process waited for.

    Attributes:
        failure: why one failed; None if all are done.
        interrupted: whether a person stopped them.
    """

    failure: Message | None = None
    interrupted: bool = False


ENGINES = {
    kind.name: kind
    for kind in (
        EngineKind(
            "local",
            check="hdbench.running.cluster.workers:check_processes",
            start="hdbench.running.cluster.workers:run_processes",
            runs_here=True,
        ),
        EngineKind(
            "slurm",
            check="hdbench.running.cluster.slurm:check_slurm",
            start="hdbench.running.cluster.slurm:submit",
            only_submits=True,
        ),
        EngineKind(
            "jobs",
            check="hdbench.running.cluster.jobs:check_jobs",
            start="hdbench.running.cluster.jobs:run_jobs",
            uploads_items=True,
        ),
    )
}
"""Name → engine."""
