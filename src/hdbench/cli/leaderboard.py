"""Command that ranks runs."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.benchmarks.model_facts import RESULTS, ModelFacts, read_model_facts
from hdbench.benchmarks.spec import DESCRIPTION
from hdbench.benchmarks.titles import Titles
from hdbench.cli.arguments import (
    DEFAULT_OUT,
    Names,
    Runs,
    split_benchmark,
)
from hdbench.common.display.terminal import say
from hdbench.common.texts import current_language
from hdbench.errors import HdbenchError, Message
from hdbench.evaluation.runs import load_runs, without_unbuilt
from hdbench.evaluation.score import Settings
from hdbench.report.leaderboard import formats
from hdbench.report.leaderboard.boards import Board, leaderboards, unplaced
from hdbench.report.leaderboard.tables import leaderboard_page

Form = Literal["table", "markdown", "csv", "json", "html"]


def command(
    paths: Runs,
    *,
    name: Names = None,
    protocol: str = "documented",
    errata: str = "accepted",
    form: Annotated[Form, typer.Option("--format")] = "table",
) -> None:
    """Rank runs, with intervals and tests.

    A rank is a range, such as 1–3: with 95% confidence, the true ranks of all models lie in their
    ranges. Runs with different protocols, item sets or prompts are never ranked together: each kind
    has its own table. Several runs of one model are one row with their mean and spread, and a note
    if they are inconsistent. Below 20 items there are figures, but no intervals or ranks.

    Args:
        form: How to write it to standard output. html: one page that needs no network, with tables
            that can be sorted.
    """
    benchmark, runs = split_benchmark(paths)
    if benchmark is None:
        runs, missing = without_unbuilt(runs)
        if missing:
            _say_left_out(missing)
    settings = Settings(protocol, errata=errata)
    results = load_runs(runs, benchmark=benchmark, settings=settings, names=name or ())
    boards = leaderboards(results, facts=known_facts(runs))
    _say_unseen(unplaced(results, boards), boards)
    write_boards(boards, form, current_language(), benchmark)


def known_facts(runs: list[Path]) -> dict[str, ModelFacts]:
    """Return facts about models, from the results dataset built here and from the given ones."""
    facts: dict[str, ModelFacts] = {}
    for folder in (DEFAULT_OUT / RESULTS, *runs):
        facts |= read_model_facts(folder)
    return facts


def _say_unseen(names: list[str], boards: list[Board]) -> None:
    """Say in one line which runs without media are not shown."""
    if not names:
        return
    message = Message(
        "not ranked: {names}: a run without media stands beside the same model's run with media, "
        "on the same items and with the same prompt",
        names=", ".join(names),
    )
    if not boards:
        raise HdbenchError(message)
    say("note: {note}", note=message, err=True)


def _say_left_out(missing: dict[str, int]) -> None:
    """Say in one line which benchmarks are missing, and how to build them."""
    count = sum(missing.values())
    build = shlex.join(["hdbench", "build", *(name.rpartition("/")[2] for name in missing)])
    say(
        "note: left out {count} run of {names}, not built here: build with: {build}"
        if count == 1
        else "note: left out {count} runs of {names}, not built here: build with: {build}",
        count=count,
        names=", ".join(missing),
        build=build,
        err=True,
    )


def _titles(boards: Sequence[Board], benchmark: str | None, language: str) -> dict[str, Titles]:
    """Return the titles of the fields of each benchmark that is here."""
    titles: dict[str, Titles] = {}
    for name in {board.kind.benchmark for board in boards}:
        for folder in (benchmark, name):
            if folder and (Path(folder) / DESCRIPTION).is_file():
                titles[name] = load_benchmark(folder).field_titles(language)
    return titles


def write_boards(
    boards: Sequence[Board], form: Form, language: str, benchmark: str | None = None
) -> None:
    """Write leaderboards to standard output.

    Args:
        boards: the leaderboards.
        form: the format.
        language: the language of a table or page; the other forms are English.
        benchmark: the benchmark's folder, if it is not the one that the boards name.
    """
    if form == "table":
        formats.print_boards(Console(), boards, language)
    elif form == "csv":
        sys.stdout.buffer.write(formats.csv(boards))
    elif form == "html":
        page = leaderboard_page(boards, language, _titles(boards, benchmark, language))
        sys.stdout.buffer.write(page.encode(errors="backslashreplace"))
    else:
        write = formats.markdown if form == "markdown" else formats.as_json
        typer.echo(write(boards), nl=False)
