"""Command that writes a report on a run."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import (
    Authority,
    By,
    Name,
    Run,
    answers_at,
    split_benchmark_and_one,
)
from hdbench.cli.terminal import say, say_notes
from hdbench.common.texts import Language
from hdbench.common.translation import current_language
from hdbench.errors import escaped
from hdbench.output.report.folder import write_report


def command(
    paths: Run,
    *,
    out: Annotated[Path, typer.Option("-o", "--out")],
    name: Name = None,
    protocol: str = "documented",
    errata: str = "accepted",
    by: By = None,
    authority: Authority = None,
    language: Language | None = None,
    without_media: Annotated[Path | None, typer.Option(metavar="RUN")] = None,
) -> None:
    """Write a report on a run: every item, Excel, CSV and plots.

    The page, index.html, is one file that needs no network. Of more than 5,000 items, it shows the
    worst 500 and 200 at random, and items.parquet has them all.

    Args:
        paths: A run (one model's answers to one benchmark): a run folder, or a result of hdbench
            score --json --details; behind the name of its benchmark, such as zettelkatalog, also
            answers in any form, of which - reads a file from standard input.
        out: The folder to write; an older report is replaced.
        without_media: The same model's run of hdbench run --without-media: its score is shown
            beside.
    """
    benchmark, run = split_benchmark_and_one(paths)
    with answers_at(run) as (path, called):
        report = write_report(
            path,
            out,
            benchmark=benchmark,
            name=name,
            protocol=protocol,
            errata=errata,
            by=by,
            authority=authority or (),
            language=language or current_language(),
            without_media=without_media,
            called=called,
        )
    for path in report.files:
        typer.echo(escaped(str(path)))
    say_notes(report.notes)
    say("open {page}", page=report.page)
