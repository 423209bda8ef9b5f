"""Commands about one result: score, verify, report, cite."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from hdbench.cli.app import (
    BENCHMARK,
    SCORE,
    TRUST,
    By,
    ErrataChoice,
    Name,
    OfBenchmark,
    PageLanguage,
    Protocol,
    Revision,
    app,
    finite,
)
from hdbench.cli.orders import Misplaced, Other, benchmark_first, one_run
from hdbench.cli.rules import Also, beside, read_options
from hdbench.cli.saying import say, shown
from hdbench.cli.standard_input import answers_at
from hdbench.common.told import spoken
from hdbench.errors import HdbenchError, Message, escaped
from hdbench.reading import ReadAs

if TYPE_CHECKING:
    from hdbench.evaluation.by_column import ByColumn, Group
    from hdbench.results.result import Result


@app.command(rich_help_panel=SCORE)
def score(
    benchmark: Annotated[str, typer.Argument(help=BENCHMARK)],
    predictions: Annotated[
        Path,
        typer.Argument(
            help="The answers: JSON Lines, JSON, CSV, XLSX or Parquet, plain, gzip or Zstandard; a "
            "folder with its parts, or a folder or ZIP of ID.json or ID.txt; or a run (one model's "
            "answers to one benchmark). - reads a file from standard input."
        ),
    ],
    *,
    _misplaced: Misplaced = None,
    protocol: Protocol = "documented",
    errata: ErrataChoice = "accepted",
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of the metric, with its value as JSON, such as threshold=0.8; may be "
            "repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    also: Also = None,
    name: Name = None,
    by: By = None,
    held_out: Annotated[
        Path | None,
        typer.Option(
            help="The benchmark's held-out ground truths: their score and how far it lies from the "
            "public one, in totals only.",
            metavar="FILE",
        ),
    ] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the result to this file.", metavar="OUT")
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="List what was done to read the answers, and count the keystrokes that would "
            "correct them; with --json also each field and item.",
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Accept valid JSON only as an answer.")
    ] = False,
    reread: Annotated[
        bool,
        typer.Option("--reread", help='Read "text" even where there is already a "prediction".'),
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            help="How many processes score at most, if they pay; 0 is one for each core. The "
            "figures are the same.",
            min=0,
            metavar="N",
        ),
    ] = 1,
    revision: Revision = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            help="Exit with status 1 if the headline is worse than this: lower, or, where lower is "
            "better (CER), higher.",
            min=0.0,
            max=1.0,
            callback=finite,
            metavar="VALUE",
        ),
    ] = None,
    all_warnings: Annotated[
        bool,
        typer.Option("--warnings", help="Print all warnings, not only the gravest."),
    ] = False,
) -> None:
    """Score a file of answers.

    An id without an answer counts as a complete failure. A `model` column splits a file into runs.

    Exit status 0: scored; 1: scored, and a headline is worse than --fail-under; 2: the input is
    unusable, and the message says where.
    """
    from hdbench.cli.group_tables import print_groups  # noqa: PLC0415
    from hdbench.cli.tables import print_held_out, print_result, print_under  # noqa: PLC0415
    from hdbench.evaluation.held_out import score_held_out, totals  # noqa: PLC0415  slow
    from hdbench.evaluation.score import Settings, score_under  # noqa: PLC0415  slow to import
    from hdbench.results.files import write_records  # noqa: PLC0415
    from hdbench.results.record import to_record  # noqa: PLC0415
    from hdbench.results.summary import ResultSummary  # noqa: PLC0415

    benchmark, (predictions,) = benchmark_first("score", benchmark, [predictions])
    settings = Settings(
        protocol,
        options=read_options(option or ()),
        errata=errata,
        read_as=ReadAs(strict=strict, reread=reread),
        revision=revision,
        details=details,
        workers=workers,
    )
    if held_out is not None and also:
        raise HdbenchError("--held-out does not go with --also: leave one of them out")
    rules = beside(settings, also or ())
    unseen = {}
    with answers_at(predictions) as (path, called):
        if held_out:
            unseen = score_held_out(benchmark, path, held_out, settings, name=called)
        with _naming_another(benchmark, predictions):
            scored = score_under(benchmark, path, list(rules.values()), name=called)
    results, *others = _named(scored, name)
    records = [to_record(result, details=details) for result in results.values()]
    groups = _groups(results, by)
    apart = dict(zip(results, unseen.values(), strict=False))  # under the models' names now
    for model, record in zip(results, records, strict=True):
        under = zip(list(rules)[1:], others, strict=True)
        if found := {name: to_record(each[model], details=details) for name, each in under}:
            record["also"] = found
        if model in groups:
            record["by"] = groups[model].to_dict()
        if model in apart:
            record["held_out"] = totals(results[model], apart[model])
    if json_out:
        write_records(json_out, records)
    for (model, result), record in zip(results.items(), records, strict=True):
        named = "" if model is None else f"{model}: "
        dataset, scored_by = result.dataset, result.metric.protocol
        title = f"{named}{dataset.benchmark} {dataset.dataset_version}, {scored_by}"
        keystrokes = _keystrokes(result) if details else None
        summary = ResultSummary(result, spoken(), keystrokes=keystrokes)
        print_result(Console(), title, summary, details=details, all_warnings=all_warnings)
        if others:
            alike = [each[model] for each in (results, *others)]
            print_under(Console(), dict(zip(rules, alike, strict=True)))
        if model in groups:
            print_groups(Console(), groups[model])
        if "held_out" in record:
            print_held_out(Console(), record["held_out"])
    if fail_under is not None:
        _require(results, fail_under)


def _named(
    scored: "list[dict[str | None, Result]]", name: str | None
) -> "list[dict[str | None, Result]]":
    """What was scored, with the model's name if one is given."""
    from hdbench.evaluation.score import with_names  # noqa: PLC0415

    if name is None:
        return scored
    named = (with_names(list(each.values()), [name]) for each in scored)
    return [{each.model: each for each in under} for under in named]


def _require(results: "Mapping[str | None, Result]", least: float) -> None:
    """End with status 1 if a headline is worse than what was demanded."""
    worse = {model: each for model, each in results.items() if not each.reaches(least)}
    for model, each in worse.items():
        say(
            "{named}{headline} {value:.6g} is worse than --fail-under {least:.6g}",
            named="" if model is None else f"{model}: ",
            headline=each.headline,
            value=each.value,
            least=least,
            err=True,
        )
    if worse:
        raise typer.Exit(1)


@contextmanager
def _naming_another(benchmark: str, predictions: Path) -> Iterator[None]:
    """If the ids are not the benchmark's, say whose they are."""
    from hdbench.evaluation.recognition import recognized_in  # noqa: PLC0415
    from hdbench.reading.answers import UnknownIdsError  # noqa: PLC0415  slow to import

    try:
        yield
    except UnknownIdsError as error:
        other = recognized_in(Path(benchmark).parent, error.ids)
        if other is None:
            raise
        raise HdbenchError(
            "{what}: the ids are those of {other}: hdbench score {other} {predictions}",
            what=error.what,
            other=other,
            predictions=predictions,
        ) from error


def _keystrokes(result: "Result") -> float | None:
    """How many correct an item on average."""
    from hdbench.report.effort import keystrokes  # noqa: PLC0415  slow to import

    return keystrokes(result)


def _groups(
    results: "Mapping[str | None, Result]", column: str | None
) -> "dict[str | None, ByColumn[Group]]":
    """Model → the headline by the values of a column; nothing without one."""
    if column is None:
        return {}
    from hdbench.evaluation.by_column import by_column  # noqa: PLC0415
    from hdbench.evaluation.runs import benchmark_of  # noqa: PLC0415

    loaded = benchmark_of(next(iter(results.values())))
    return {model: by_column(each, loaded, column) for model, each in results.items()}


@app.command(rich_help_panel=TRUST)
def verify(
    result: Annotated[
        Path,
        typer.Argument(help="What hdbench score --json or hdbench trust decide --json wrote."),
    ],
    other: Other = None,
    *,
    answers: Annotated[
        Path | None,
        typer.Option(help="The answers; by default those that the result names.", metavar="PATH"),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="The benchmark, such as zettelkatalog; by default the one that the result names.",
            metavar="BENCHMARK",
        ),
    ] = None,
    revision: Revision = None,
) -> None:
    """Compute a result or a decision again: is it equal, and if not, what differs and why?

    Exit status 0: equal; 1: something differs; 2: it cannot be computed again.
    """
    from hdbench.evaluation.verify import verify as verify_result  # noqa: PLC0415  slow to import
    from hdbench.trust.decision import is_decision  # noqa: PLC0415
    from hdbench.trust.verifying import verify_decision  # noqa: PLC0415

    differs = False
    result, benchmark = one_run(result, other, benchmark)
    if is_decision(result):
        if answers is not None:
            raise HdbenchError("--answers: the answers of a decision are those of its plan")
        verified = [verify_decision(result, benchmark=benchmark, revision=revision)]
    else:
        verified = verify_result(result, answers=answers, benchmark=benchmark, revision=revision)
    for found in verified:
        typer.echo(shown(found.headline))
        causes = (Message("cause: {cause}", cause=cause) for cause in found.causes)
        notes = (Message("note: {note}", note=note) for note in found.notes)
        for line in [*found.differences, *causes, *notes]:
            typer.echo(f"  {shown(line)}")
        differs = differs or bool(found.differences)
    if differs:
        raise typer.Exit(1)


@app.command(rich_help_panel=SCORE)
def report(
    run: Annotated[
        Path,
        typer.Argument(
            help="A run (one model's answers to one benchmark): a run folder, or a result of "
            "hdbench score --json --details; with --benchmark also answers in any form, of which "
            "- reads a file from standard input."
        ),
    ],
    other: Other = None,
    *,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The folder to write; an older report is replaced.")
    ],
    benchmark: OfBenchmark = None,
    name: Name = None,
    protocol: Protocol = "documented",
    errata: ErrataChoice = "accepted",
    by: By = None,
    language: PageLanguage = None,
    without_media: Annotated[
        Path | None,
        typer.Option(
            help="The same model's run of hdbench run --without-media: its score is shown beside.",
            metavar="RUN",
        ),
    ] = None,
) -> None:
    """Write a report on a run: every item, Excel, CSV and plots.

    The page, index.html, is one file that needs no network. Of more than 5,000 items, it shows the
    worst 500 and 200 at random, and items.parquet has them all.
    """
    from hdbench.report.folder import write_report  # noqa: PLC0415  slow to import

    run, benchmark = one_run(run, other, benchmark)
    with answers_at(run) as (path, called):
        written = write_report(
            path,
            out,
            benchmark=benchmark,
            name=name,
            protocol=protocol,
            errata=errata,
            by=by,
            language=language or spoken(),
            without_media=without_media,
            called=called,
        )
    for path in written.files:
        typer.echo(escaped(str(path)))
    for note in written.notes:
        say("note: {note}", note=note, err=True)
    say("open {page}", page=written.page)


@app.command(rich_help_panel=TRUST)
def cite(
    path: Annotated[
        Path, typer.Argument(help="A result of hdbench score --json, or a built benchmark.")
    ],
) -> None:
    """Print BibTeX, and a sentence for the methods section."""
    from hdbench.evaluation.cite import cite as citation  # noqa: PLC0415  slow to import

    for line in citation(path, spoken()).expandtabs(2).split("\n"):
        typer.echo(escaped(line))
