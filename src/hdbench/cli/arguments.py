"""Arguments and options that several commands take.

Those that a command's own docstring does not describe mean the same in each that has them:

Args:
    benchmark: The benchmark, such as zettelkatalog; by default the one that a run names.
    runs: Runs, each one model's answers to one benchmark: run folders, folders of them, or results
        of hdbench score --json; with --benchmark also answers in any form.
    name: The model's name, if the answers do not say it.
    language: The page's language; by default that of hdbench --language.
    protocol: The rules to score by. documented: as the benchmark's authors describe them.
        published: as its published results were computed.
    errata: Which corrections of ground-truth values count under documented. accepted: those that
        the data's owners accepted. proposed: all of them.
    revision: The revision of the benchmark on the Hub: a tag such as hdbench-1.0.0, a branch or a
        commit.
    by: A column of the benchmark, such as language: also show the primary metric for each of its
        values. Numbers with many values are cut into ranges.
    also: Also score by other rules, and show them side by side: a protocol (published), an option
        of the metric (lists=position), or several, the protocol first and a comma before each
        option (published,threshold=0.8). A protocol starts without the options of the command;
        options alone are added to them. May be repeated.
    model: A repository on the Hub, a folder, the name that the server at --endpoint has for it, or
        tesseract.
    endpoint: An OpenAI-compatible server, such as http://localhost:8000/v1; its key is read from
        HDBENCH_API_KEY.
    batch_size: Items that a local model is asked for at once.
    concurrency: Maximum requests sent to a server at once: fewer are sent while it is busy or does
        not get faster. auto begins with 4.
    timeout: Seconds that one request to a server may take.
    max_failed: Exit with status 1 if a larger share of the items failed, such as 0.05. A run
        without any answer always exits with 1.
    max_new_tokens: The longest answer, in tokens; longer ones are cut off.
    approved_by: Who approved it: if possible, somebody who did not propose it.
    accepted: Where the data's owners accepted it; without it, a value does not count yet.
"""

import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from hdbench.answers.unpacking import MAX_UNPACKED
from hdbench.benchmarks.names import DESCRIPTION, full_name
from hdbench.errors import HdbenchError, Message

DEFAULT_OUT = Path("hdb")
BENCHMARK = "A benchmark, such as zettelkatalog: built here, or else taken from the Hub."
JsonOut = Annotated[Path | None, typer.Option("--json", metavar="OUT")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN…")]
Revision = Annotated[str | None, typer.Option(metavar="REVISION")]
Name = Annotated[str | None, typer.Option("--name", metavar="MODEL")]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        help="The model's name, for answers that do not say it; given once for each of them, in "
        "their order.",
        metavar="MODEL",
    ),
]
OfBenchmark = Annotated[str | None, typer.Option(metavar="BENCHMARK")]
By = Annotated[str | None, typer.Option(metavar="COLUMN")]
Also = Annotated[list[str] | None, typer.Option(metavar="RULES")]
OfPlan = Annotated[
    str | None,
    typer.Option(
        help="The benchmark, such as zettelkatalog; by default the one that the plan names.",
        metavar="BENCHMARK",
    ),
]


def finite(value: float | None) -> float | None:
    """Refuse NaN, which a range lets pass, and infinity."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


def names_in(text: str | None) -> list[str]:
    """Return names that stand in one text with commas between them; none for no text."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


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
    built = [path for path in answers if is_built(path)]
    if not is_built(benchmark) and len(built) == 1:
        return str(built[0]), [Path(benchmark), *(path for path in answers if path != built[0])]
    if Path(benchmark).is_file():
        raise HdbenchError(
            "{file}: a file of answers, not a benchmark: name the benchmark first: hdbench "
            "{command} BENCHMARK {file}",
            file=benchmark,
            command=command,
        )
    return benchmark, list(answers)


def benchmark_apart(
    paths: Sequence[Path | None], benchmark: str | None
) -> tuple[list[Path], str | None]:
    """Tell benchmark and runs apart, for a command that takes the benchmark as an option.

    Args:
        paths: the runs, among them perhaps the benchmark.
        benchmark: the option.

    Returns:
        The runs, and the benchmark.
    """
    runs = [path for path in paths if path is not None]
    built = [run for run in runs if is_built(run)]
    if benchmark is not None or len(built) != 1 or len(runs) == 1:
        return runs, benchmark
    return [run for run in runs if run != built[0]], str(built[0])


def one_run(run: Path, other: Path | None, benchmark: str | None) -> tuple[Path, str | None]:
    """Tell benchmark and run apart, for a command that takes one run.

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
    """Return whether a benchmark that is built here has that name, and nothing else does."""
    try:
        if Path(name).exists():
            return (Path(name) / DESCRIPTION).is_file()
        return (Path(full_name(str(name))) / DESCRIPTION).is_file()
    except OSError:  # too long for a name, or in a folder that must not be read
        return False


STANDARD_INPUT = Message("standard input")


_BLOCK = 2**20


class GivenAnswers(NamedTuple):
    """File of answers that a command was given.

    Attributes:
        path: where it is.
        name: what messages and results call it; None if that is its path.
    """

    path: Path
    name: str | None = None


@contextmanager
def answers_at(path: Path) -> Iterator[GivenAnswers]:
    """Give the file or folder at a path; for `-` a copy of standard input, until the block ends.

    Answers are read more than once, and in any order, which only a file allows.

    Raises:
        HdbenchError: there is more than a packed file may hold.
    """
    if path != Path("-"):
        yield GivenAnswers(path)
        return
    with tempfile.TemporaryDirectory(prefix="hdbench-", ignore_cleanup_errors=True) as folder:
        copy, size = Path(folder) / "answers", 0
        with copy.open("wb") as file:
            while block := sys.stdin.buffer.read(_BLOCK):
                size += len(block)
                if size > MAX_UNPACKED:
                    raise HdbenchError(
                        "{place}: larger than {most} GiB: name a file",
                        place=STANDARD_INPUT,
                        most=MAX_UNPACKED >> 30,
                    )
                file.write(block)
        yield GivenAnswers(copy, STANDARD_INPUT)
