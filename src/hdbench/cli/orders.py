"""Benchmark and answers, in whichever order they are named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hdbench.errors import HdbenchError

Other = Annotated[Path | None, typer.Argument(hidden=True, metavar="BENCHMARK")]
"""A second argument of a command with one: the benchmark, before the run or behind it."""


def _misplaced(context: typer.Context, benchmark: str | None) -> None:
    if benchmark is not None:
        raise HdbenchError(
            "the benchmark is named first, without --benchmark: {command} {benchmark} ANSWERS",
            command=context.command_path,
            benchmark=benchmark,
        )


Misplaced = Annotated[
    str | None, typer.Option("--benchmark", hidden=True, is_eager=True, callback=_misplaced)
]
"""The option of a command that takes the benchmark as its first argument: says so."""


def benchmark_first(
    command: str, benchmark: str, answers: Sequence[Path]
) -> tuple[str, list[Path]]:
    """Tell benchmark and answers apart, for a command that takes the benchmark first.

    Args:
        command: the command, for the message.
        benchmark: what was named first.
        answers: what was named behind it.

    Returns:
        The benchmark, and the answers.

    Raises:
        HdbenchError: a file was named first, and none of the others is a benchmark that is built.
    """
    found = [each for each in answers if is_built(each)]
    if not is_built(benchmark) and len(found) == 1:
        return str(found[0]), [Path(benchmark), *(each for each in answers if each != found[0])]
    if Path(benchmark).is_file():
        raise HdbenchError(
            "{file}: a file of answers, not a benchmark: name the benchmark first: hdbench "
            "{command} BENCHMARK {file}",
            file=benchmark,
            command=command,
        )
    return benchmark, list(answers)


def benchmark_apart(
    named: Sequence[Path | None], benchmark: str | None
) -> tuple[list[Path], str | None]:
    """Tell benchmark and runs apart, for a command that takes the benchmark as an option.

    Args:
        named: the runs, among them perhaps the benchmark.
        benchmark: the option.

    Returns:
        The runs, and the benchmark.
    """
    runs = [each for each in named if each is not None]
    found = [each for each in runs if is_built(each)]
    if benchmark is not None or len(found) != 1 or len(runs) == 1:
        return runs, benchmark
    return [each for each in runs if each != found[0]], str(found[0])


def one_run(run: Path, other: Path | None, benchmark: str | None) -> tuple[Path, str | None]:
    """The same for a command that takes one run.

    Raises:
        HdbenchError: two were named, of which neither or both are a benchmark that is built.
    """
    runs, benchmark = benchmark_apart([run, other], benchmark)
    if len(runs) > 1:
        raise HdbenchError(
            "{run} and {other}: this command takes one run; name its benchmark with --benchmark",
            run=runs[0],
            other=runs[1],
        )
    return runs[0], benchmark


def is_built(name: str | Path) -> bool:
    """Whether a benchmark that is built here is named so, and nothing else is."""
    from hdbench.benchmarks.names import DESCRIPTION, full_name  # noqa: PLC0415

    try:
        if Path(name).exists():
            return (Path(name) / DESCRIPTION).is_file()
        return (Path(full_name(str(name))) / DESCRIPTION).is_file()
    except OSError:  # too long for a name, or in a folder that must not be read
        return False
