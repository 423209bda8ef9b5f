"""The problems of a folder, as lines for a terminal."""

from collections.abc import Iterator
from itertools import groupby

from hdbench.building.checks.problems import Example, Problem, Report
from hdbench.errors import escaped


def lines_of(report: Report) -> Iterator[str]:
    """What is wrong in each file, errors first, and a summary."""
    for file, problems in groupby(report.problems, lambda problem: problem.file):
        yield escaped(file)
        for problem in problems:
            yield from _of_problem(problem)
        yield ""
    if report.left_out:
        yield f"and further problems in {report.left_out:,} places: fix these first"
    yield escaped(report.summary)


def warnings_line(report: Report) -> str:
    """How many warnings there are, and how to see them."""
    noun = "warning" if report.warnings == 1 else "warnings"
    return escaped(f"{report.warnings} {noun}: hdbench check {report.folder}")


def _of_problem(problem: Problem) -> Iterator[str]:
    times = f" ({problem.count:,} times)" if problem.count > 1 else ""
    field = f"{problem.field}: " if problem.field else ""
    said = f"{field}{problem.message}{times}: {problem.remedy}"
    yield f"  {problem.severity}: {escaped(said)}"
    for example in problem.examples:
        if place := _place(example):
            yield f"    {escaped(place)}"
    if problem.examples and problem.count > len(problem.examples):
        yield f"    and {problem.count - len(problem.examples):,} more"


def _place(example: Example) -> str:
    where = [] if example.line is None else [f"line {example.line:,}"]
    if example.id is not None:
        where.append(f"id {example.id}")
    return ": ".join(filter(None, [", ".join(where), example.value]))
