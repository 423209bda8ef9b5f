"""Command that writes the consensus of several runs."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.cli.arguments import Runs, required_benchmark, split_benchmark
from hdbench.cli.terminal import say
from hdbench.trust.consensus import write_consensus


def command(
    paths: Runs,
    *,
    out: Annotated[Path, typer.Option("-o", "--out")],
) -> None:
    """Write what several runs say together as a run of its own.

    Each field has the value that is most similar to those of the other runs. The folder can be
    scored, compared and ranked like that of any model.

    Args:
        paths: What two or more models answered; the one that is preferred first. Before them, the
            benchmark; run folders name it.
        out: The run folder to write.
    """
    named, runs = split_benchmark(paths)
    benchmark = required_benchmark(named, runs)
    answered = write_consensus(load_benchmark(benchmark), runs, out)
    say(
        "{out}: {count:,} answer",
        plural="{out}: {count:,} answers",
        out=out,
        count=answered,
    )
