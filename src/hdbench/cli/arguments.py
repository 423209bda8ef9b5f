"""Arguments and options that several commands take.

Those that a command's own docstring does not describe mean the same in each that has them:

Args:
    paths: Runs, each one model's answers to one benchmark: run folders, folders of them, or results
        of hdbench score --json; behind the name of their benchmark, such as zettelkatalog, also
        answers in any form.
    annotator: Your name, after which the file with what you enter is called. If several people
        work on a collection, each needs one.
    port: The port of the page; 0 for any that is free.
    name: The model's name, if the answers do not say it.
    protocol: The rules to score by. documented: as the benchmark's authors describe them.
        published: as its published results were computed.
    errata: Which corrections of ground-truth values count under documented. accepted: those that
        the data's owners accepted. proposed: all of them.
    revision: The revision of the benchmark on the Hub: a tag such as hdbench-1.0.0, a branch or a
        commit.
    by: A column of the benchmark, such as language: also show the primary metric for each of its
        values. Numbers with many values are cut into ranges.
    authority: An authority file, with a name and its identifier in each line, for all fields or
        for one: also show the figures with values counted as equal that share an identifier. May be
        repeated.
    also: Also score by other rules, and show them side by side: a protocol (published), an option
        of the metric (lists=position), or several, the protocol first and a comma before each
        option (published,threshold=0.8). A protocol starts without the options of the command;
        options alone are added to them. May be repeated.
    model: A repository on the Hub, a folder, the name that the server at --endpoint has for it, or
        tesseract.
    endpoint: An OpenAI-compatible server, such as http://localhost:8000/v1; its key is read from
        HDBENCH_API_KEY.
"""

import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from hdbench.benchmarks.spec import DESCRIPTION, full_name, is_name
from hdbench.common.bounds import MAX_UNPACKED
from hdbench.common.jsonio import UNIQUE, json_reason, parse_json
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.run import is_run, read_run_info

DEFAULT_OUT = Path("hdb")
JsonOut = Annotated[Path | None, typer.Option("--json", metavar="OUT")]
Annotator = Annotated[str, typer.Option("--as", metavar="NAME")]
Port = Annotated[int, typer.Option(min=0, max=65535)]
Runs = Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] RUN…")]
Run = Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] RUN")]
PlanPaths = Annotated[list[Path], typer.Argument(metavar="[BENCHMARK] PLAN")]
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
By = Annotated[str | None, typer.Option(metavar="COLUMN")]
Also = Annotated[list[str] | None, typer.Option(metavar="RULES")]
Authority = Annotated[list[str] | None, typer.Option(metavar="[FIELD=]FILE")]


def finite(value: float | None) -> float | None:
    """Refuse NaN, which a range lets pass, and infinity."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


def names_in(text: str | None) -> list[str]:
    """Return names that stand in one text with commas between them; none for no text."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def split_benchmark(paths: Sequence[Path]) -> tuple[str | None, list[Path]]:
    """Tell the benchmark, which is named first or not at all, from what follows.

    A benchmark that is built is also known as one in any other place.

    Args:
        paths: the arguments of a command.

    Returns:
        The benchmark, or None; and the other arguments.
    """
    first, *others = paths
    if not others:
        return None, [first]
    if is_built(first) or (is_name(str(first)) and not os.path.lexists(first)):
        return str(first), others
    built = [path for path in others if is_built(path)]
    if len(built) == 1:
        return str(built[0]), [path for path in paths if path != built[0]]
    return None, list(paths)


def split_benchmark_and_one(paths: Sequence[Path]) -> tuple[str | None, Path]:
    """Do the same as `split_benchmark`, for a command that takes one thing besides.

    Raises:
        HdbenchError: there are more.
    """
    benchmark, others = split_benchmark(paths)
    if len(others) > 1:
        raise HdbenchError(
            "{paths}: name the benchmark, such as zettelkatalog, and then only one of these",
            paths=" ".join(map(str, others)),
        )
    return benchmark, others[0]


def required_benchmark(benchmark: str | None, runs: Sequence[Path]) -> str:
    """Return the benchmark that was named, or else the one that all of the runs name.

    Raises:
        HdbenchError: one is not there, or names none; or they name several.
    """
    if benchmark is not None:
        return benchmark
    for run in runs:
        if run != Path("-") and not run.exists():
            raise HdbenchError("{place}: no such file or folder", place=run)
    named = {run: read_run_info(run).benchmark for run in runs if is_run(run)}
    for run in runs:
        if run not in named:
            raise HdbenchError(
                "{run}: does not say which benchmark it answers: name it first, as in "
                "zettelkatalog {run}",
                run=run,
            )
    if len(set(named.values())) > 1:
        raise HdbenchError(
            "these runs answer different benchmarks: {names}: name runs of one",
            names=", ".join(sorted(set(named.values()))),
        )
    return next(iter(named.values()))


def is_built(name: str | Path) -> bool:
    """Return whether a benchmark that is built here has that name, and no file or run has it."""
    path = Path(name)
    try:
        if (path / DESCRIPTION).is_file():
            return True
        return (
            not path.is_file()
            and not is_run(path)
            and (Path(full_name(str(name))) / DESCRIPTION).is_file()
        )
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


_WORD = re.compile(r"[A-Za-z_]+")


def read_options(texts: Sequence[str], where: str = "--option") -> dict[str, Any]:
    """Return the metric's options by name, from texts like `threshold=0.8` or `lists=position`.

    A value is JSON; a text that is one word needs no quotation marks.

    Raises:
        HdbenchError: a text has another form, or an option is given twice.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise HdbenchError("{where} {text}: must be NAME=VALUE", where=where, text=text)
        if name in options:
            raise HdbenchError(
                "{where} {text}: {name} is given twice: keep one", where=where, text=text, name=name
            )
        try:
            options[name] = parse_json(value, UNIQUE)
        except ValueError as error:
            if not _WORD.fullmatch(value):
                raise HdbenchError(
                    "{where} {text}: the value is not usable JSON: {why}",
                    where=where,
                    text=text,
                    why=json_reason(error),
                ) from error
            options[name] = value
    return options
