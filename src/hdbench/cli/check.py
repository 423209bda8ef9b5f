"""Command that finds everything wrong with a folder before it is built."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from hdbench.benchmarks.building.checks.folder import check_folder
from hdbench.benchmarks.building.checks.problems import CheckReport, Example, Problem
from hdbench.cli.arguments import DEFAULT_OUT
from hdbench.common.display.terminal import localized, shown
from hdbench.errors import Message, escaped, joined


def command(
    folder: Path,
    *,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Find everything that is wrong with a folder of your own before it is built.

    Errors keep it from being built; warnings are what a person should look at. Exit status 0: no
    errors; 2: errors.

    Args:
        folder: The benchmark's folder, with benchmark.yaml and metadata.jsonl.
        as_json: Print the problems as JSON.
    """
    report = check_folder(folder, DEFAULT_OUT)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        for line in lines_of(report):
            typer.echo(line)
    if report.errors:
        raise typer.Exit(2)


def lines_of(report: CheckReport) -> Iterator[str]:
    """Yield the problems of each file, errors first, and a summary."""
    for file, problems in groupby(report.problems, lambda problem: problem.file):
        yield escaped(file)
        for problem in problems:
            yield from _of_problem(problem)
        yield ""
    if report.left_out:
        yield localized(
            "and further problems in {count:,} places: fix these first", count=report.left_out
        )
    yield localized(report.summary)


def warnings_line(report: CheckReport) -> str:
    """Return a line with the number of warnings, and how to see them."""
    warnings = report.number_of_warnings
    return localized("{warnings}: hdbench check {folder}", warnings=warnings, folder=report.folder)


def _of_problem(problem: Problem) -> Iterator[str]:
    message = problem.message
    if problem.count > 1:
        message = Message("{what} ({count:,} times)", what=message, count=problem.count)
    parts = [Message(problem.severity), problem.field, message, problem.remedy]
    yield f"  {shown(joined(list(filter(None, parts)), ': '))}"
    for example in problem.examples:
        if position := _place(example):
            yield f"    {shown(position)}"
    if problem.examples and problem.count > len(problem.examples):
        yield f"    {localized('and {count:,} more', count=problem.count - len(problem.examples))}"


def _place(example: Example) -> str:
    position = [] if example.line is None else [Message("line {line:,}", line=example.line)]
    if example.id is not None:
        position.append(Message("id {id}", id=example.id))
    return joined([part for part in (joined(position), example.value) if part], ": ")
