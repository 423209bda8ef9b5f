"""Command that writes a report on a run, or on several."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.arguments import Authority, By, Names, Runs, answers_at, split_benchmark
from hdbench.cli.compare import load_comparable
from hdbench.cli.leaderboard import known_facts
from hdbench.common.display.terminal import say, say_notes
from hdbench.common.texts import current_language
from hdbench.errors import HdbenchError, escaped
from hdbench.evaluation.run import is_run
from hdbench.evaluation.runs import run_folders
from hdbench.evaluation.score import Settings
from hdbench.report.folder import write_report
from hdbench.report.leaderboard.models_report import write_models_report


def command(
    paths: Runs,
    *,
    out: Annotated[Path, typer.Option("-o", "--out")],
    name: Names = None,
    protocol: str = "documented",
    errata: str = "accepted",
    by: By = None,
    authority: Authority = None,
    without_media: Annotated[Path | None, typer.Option(metavar="RUN")] = None,
) -> None:
    """Write a report on a run: every item, Excel, CSV and plots.

    The page, index.html, is one file that needs no network.

    With several runs of the same items, or a folder of runs, the page says which model is best,
    whether that is sure, at what price and how much work is left, and has the readings of all
    models side by side.

    Args:
        paths: A run (one model's answers to one benchmark): a run folder, or a result of hdbench
            score --json --details; behind the name of its benchmark, such as zettelkatalog, also
            answers in any form, of which - reads a file from standard input.
        out: The folder to write; an older report is replaced.
        without_media: The same model's run of hdbench run --without-media: its score is shown
            beside.
    """
    benchmark, runs = split_benchmark(paths)
    in_folder = [] if len(runs) > 1 or is_run(runs[0]) else run_folders(runs[0])
    if len(in_folder) == 1:
        runs = in_folder
    if len(runs) > 1 or in_folder[1:]:
        for option, is_set in (
            ("--by", by is not None),
            ("--authority", bool(authority)),
            ("--without-media", without_media is not None),
        ):
            if is_set:
                raise HdbenchError("{option}: needs a single run", option=option)
        settings = Settings(protocol, errata=errata, details=True)
        results = load_comparable(runs, benchmark, settings, names=name or ())
        report = write_models_report(
            results, out, benchmark=benchmark, facts=known_facts(runs), language=current_language()
        )
    else:
        with answers_at(runs[0]) as (path, called):
            report = write_report(
                path,
                out,
                benchmark=benchmark,
                names=name or (),
                protocol=protocol,
                errata=errata,
                by=by,
                authority=authority or (),
                language=current_language(),
                without_media=without_media,
                called=called,
            )
    for path in report.files:
        typer.echo(escaped(str(path)))
    say_notes(report.notes)
    say("open {page}", page=report.page)
