"""The command line. It reads options, calls, and prints; nothing is decided here."""

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from hdbench import __version__
from hdbench.errors import HdbenchError, escaped

app = typer.Typer(
    help="Benchmarks of the digital humanities: build, load and score them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

DEFAULT_OUT = Path("hdb")

Protocol = Annotated[
    str,
    typer.Option(
        help="documented: as the benchmark describes it. published: as its published results."
    ),
]
Runs = Annotated[
    list[Path],
    typer.Argument(
        help="Run folders, folders of them, or results of hdbench score --json --details; with "
        "--benchmark also answers in any form.",
        metavar="RUN…",
    ),
]
OfBenchmark = Annotated[
    str | None,
    typer.Option(help="The built benchmark; without it the one that a run names.", metavar="PATH"),
]


class Form(StrEnum):
    """How a leaderboard is written."""

    table = "table"
    markdown = "markdown"
    csv = "csv"
    json = "json"
    latex = "latex"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hdbench {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
    _debug: Annotated[
        bool, typer.Option("--debug", help="On an error, show where in the program it arose.")
    ] = False,
) -> None:
    """What every command has."""


@app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks, or folders with a benchmark.yaml; or results, the recorded runs.",
            metavar="[NAME…]",
        ),
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Build every benchmark that hdbench has.")
    ] = False,
    source: Annotated[
        Path | None,
        typer.Option(help="A folder with the published files; without it they are downloaded."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The namespace folder to write to.")] = DEFAULT_OUT,
    sample: Annotated[
        bool, typer.Option("--sample", help="Build the small sample that hdbench carries.")
    ] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Keep rows whose image is missing, without it.")
    ] = False,
    accept_licence: Annotated[
        bool,
        typer.Option("--accept-licence", help="Build without an open licence."),
    ] = False,
    accept_changed: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of --source that may differ from the published one, as a corrected table; "
            "it gives a version of its own. May be repeated.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Build datasets, and the metrics beside them, into a folder that stands for the Hub.

    Afterwards `load_dataset("hdb/NAME")` and `evaluate.load("hdb/METRIC")` read it from there.
    """
    from hdbench.building.builder import build as build_dataset  # noqa: PLC0415  slow to import
    from hdbench.building.builder import install_metrics  # noqa: PLC0415
    from hdbench.building.recipe import find_recipe, recipe_names  # noqa: PLC0415
    from hdbench.building.results_dataset import NAME, build_results  # noqa: PLC0415

    if NAME in (names or ()) and not every:
        if len(names or ()) > 1 or sample or allow_missing or accept_changed:
            raise HdbenchError(f"{NAME}: is built alone, and takes only --source and --out")
        typer.echo(build_results(out, source))
        return
    if every == bool(names):
        raise HdbenchError(f"name benchmarks ({', '.join(recipe_names())}), or give --all")
    failed = False
    for recipe in [find_recipe(name, sample=sample) for name in names or recipe_names()]:
        try:
            built = build_dataset(
                recipe,
                out,
                source=source,
                allow_missing=allow_missing,
                accept_licence=accept_licence,
                accept_changed=accept_changed or (),
            )
        except HdbenchError as error:
            if not every:
                raise
            failed = True  # one source need not hold all of them: the others are built all the same
            typer.echo(f"error: {_one_line(error)}", err=True)
            continue
        note = f", {len(built.missing)} files missing" if built.missing else ""
        typer.echo(
            f"{built.folder}: {built.rows} rows{note}, version {built.version}, "
            f"metadata sha256 {built.metadata_sha256}"
        )
    for folder in install_metrics(out):
        typer.echo(f"{folder}: metric")
    if failed:
        raise typer.Exit(2)


@app.command()
def score(
    benchmark: Annotated[str, typer.Argument(help="A built benchmark, as hdb/zettelkatalog.")],
    predictions: Annotated[
        Path,
        typer.Argument(
            help="A file or folder of answers: JSON Lines, JSON, CSV, XLSX, a folder or ZIP of "
            "ID.json or ID.txt, a run; plain or gzip."
        ),
    ],
    *,
    protocol: Protocol = "documented",
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of the metric, the value as JSON: threshold=0.8; may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the result to this file.", metavar="OUT")
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="List what was done to read the answers; with --json also each field and item.",
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Only sound JSON, and nothing else, is an answer.")
    ] = False,
    reread: Annotated[
        bool,
        typer.Option("--reread", help='Read "text" also where there is a "prediction" already.'),
    ] = False,
) -> None:
    """Score a file of answers.

    An id without an answer is a complete failure, and is counted. A `model` column splits a file
    into runs. Exit status 0: scored; 2: the input is unusable, and the message says where.
    """
    from hdbench.api import score_runs  # noqa: PLC0415  slow to import
    from hdbench.results import to_record, write_records  # noqa: PLC0415
    from hdbench.tables import print_result  # noqa: PLC0415

    results = score_runs(
        benchmark,
        predictions,
        protocol=protocol,
        strict=strict,
        reread=reread,
        details=details,
        **dict(_option(text) for text in option or ()),
    )
    records = [to_record(result, details=details) for result in results.values()]
    if json_out:
        write_records(json_out, records)
    for (model, result), record in zip(results.items(), records, strict=True):
        named = "" if model is None else f"{model}: "
        title = f"{named}{record['benchmark']} {record['dataset_version']}, {record['protocol']}"
        print_result(
            Console(), title, record, result.field_rates(), result.worst, details=result.per_item
        )


def _option(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise HdbenchError(f"--option {text}: must be NAME=VALUE")
    if name in ("benchmark", "predictions", "protocol", "strict", "reread", "details"):
        raise HdbenchError(f"--option {text}: {name} is no option of a metric")
    try:
        return name, json.loads(value)
    except ValueError:
        raise HdbenchError(f"--option {text}: the value is not JSON") from None


@app.command()
def verify(
    result: Annotated[Path, typer.Argument(help="A result of hdbench score --json.")],
    *,
    answers: Annotated[
        Path | None,
        typer.Option(help="The answers; without it those that the result names.", metavar="PATH"),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="The built benchmark; without it the one that the result names.", metavar="PATH"
        ),
    ] = None,
) -> None:
    """Compute a result again from its answers, and say whether it is equal, or what differs.

    Exit status 0: equal; 1: something differs; 2: it cannot be computed again.
    """
    from hdbench.verify import verify as verify_result  # noqa: PLC0415  slow to import

    differs = False
    for found in verify_result(result, answers=answers, benchmark=benchmark):
        named = "" if found.model is None else f"{found.model}: "
        counts = f"{found.figures} figures, {found.values} per-item values"
        typer.echo(escaped(f"{named}{'differs' if found.differences else 'equal'}: {counts}"))
        for line in [*found.differences, *(f"note: {note}" for note in found.notes)]:
            typer.echo(f"  {escaped(line)}")
        differs = differs or bool(found.differences)
    if differs:
        raise typer.Exit(1)


@app.command()
def compare(
    runs: Runs,
    *,
    benchmark: OfBenchmark = None,
    protocol: Protocol = "documented",
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write the comparisons to this file.", metavar="OUT"),
    ] = None,
) -> None:
    """Compare runs in pairs on the same items: can they be told apart?

    Differences have 95 % intervals by the paired bootstrap over items; the headline is tested by
    a paired permutation test, corrected for the number of pairs. Below 20 items nothing is called
    separable.
    """
    from hdbench.jsonio import write_json  # noqa: PLC0415  slow to import
    from hdbench.runs import load_runs  # noqa: PLC0415
    from hdbench.statistics.comparison import compare_runs  # noqa: PLC0415
    from hdbench.tables import print_comparison  # noqa: PLC0415

    loaded = load_runs(runs, benchmark=benchmark, protocol=protocol)
    first = next(iter(loaded.values()))
    comparisons = compare_runs(
        loaded, headline=first.headline, higher_is_better=first.higher_is_better, seed=seed
    )
    if json_out:
        write_json(json_out, {"comparisons": [asdict(each) for each in comparisons]})
    for position, comparison in enumerate(comparisons):
        if position:
            Console().print()
        print_comparison(Console(), comparison)


@app.command()
def leaderboard(
    runs: Runs,
    *,
    benchmark: OfBenchmark = None,
    protocol: Protocol = "documented",
    show_changes: Annotated[
        bool,
        typer.Option(
            "--changes",
            help="Instead show each value and its place under published, under documented with the "
            "answers as they were recorded, and with those read that the harness lost.",
        ),
    ] = False,
    form: Annotated[
        Form, typer.Option("--format", help="How to write it to standard output.")
    ] = Form.table,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
) -> None:
    """Rank runs, with intervals: the rank is 1 + the number of significantly better models.

    Runs of different protocols, item sets or prompts are never ranked together: each kind has a
    table. Several runs of one model are one row, their mean, with their spread.
    """
    from hdbench.leaderboard import formats  # noqa: PLC0415  slow to import
    from hdbench.leaderboard.boards import leaderboards  # noqa: PLC0415
    from hdbench.leaderboard.changes import changes  # noqa: PLC0415
    from hdbench.runs import load_runs  # noqa: PLC0415

    if show_changes:
        if form is not Form.table:
            raise HdbenchError(f"--changes has no --format {form}: it is a table for a terminal")
        found = changes(runs, benchmark=benchmark, seed=seed)
        formats.print_changes(Console(), found)
        return
    loaded = load_runs(runs, benchmark=benchmark, protocol=protocol)
    boards = leaderboards(loaded.values(), seed=seed)
    if form is Form.table:
        formats.print_boards(Console(), boards)
    elif form is Form.csv:
        sys.stdout.buffer.write(formats.csv(boards))
    else:
        write = {
            Form.markdown: formats.markdown,
            Form.json: formats.as_json,
            Form.latex: formats.latex,
        }
        typer.echo(write[form](boards), nl=False)


@app.command()
def audit(
    runs: Runs,
    *,
    benchmark: OfBenchmark = None,
    protocol: Protocol = "documented",
    json_out: Annotated[
        Path | None,
        typer.Option("--json", help="Write the findings to this file.", metavar="OUT"),
    ] = None,
    csv_out: Annotated[
        Path | None,
        typer.Option("--csv", help="Write a work list with a column for verdicts.", metavar="OUT"),
    ] = None,
    html_out: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page with the picture of each item.", metavar="OUT"),
    ] = None,
) -> None:
    """List truth values that most good runs, of several makers, contradict with one same value.

    A finding is a slip of the truth, a convention that the models cannot know, or an error that
    they share: look at the picture. Runs of at least three makers are needed, on the same items.
    """
    from hdbench.audit.findings import audit as audit_runs  # noqa: PLC0415  slow to import
    from hdbench.audit.lists import print_audit, work_list  # noqa: PLC0415
    from hdbench.jsonio import write_json, write_whole  # noqa: PLC0415
    from hdbench.runs import load_runs  # noqa: PLC0415

    loaded = load_runs(runs, benchmark=benchmark, protocol=protocol, details=True)
    found = audit_runs(loaded)
    if json_out:
        write_json(json_out, asdict(found))
    if csv_out:
        write_whole(csv_out, work_list(found))
    if html_out:
        from hdbench.audit.page import audit_page  # noqa: PLC0415
        from hdbench.benchmark import load_benchmark  # noqa: PLC0415

        of = load_benchmark(benchmark or found.benchmark or "")
        page = audit_page(found, of.spec.title, of.media())
        write_whole(html_out, page.encode(errors="backslashreplace"))
    print_audit(Console(), found)


@app.command()
def report(
    run: Annotated[
        Path,
        typer.Argument(
            help="A run folder, or a result of hdbench score --json --details; with --benchmark "
            "also answers in any form."
        ),
    ],
    *,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The folder to write; an older report is replaced.")
    ],
    benchmark: OfBenchmark = None,
    protocol: Protocol = "documented",
) -> None:
    """Write a report of one run: a page with every item and its image, Excel, CSV and plots.

    The page, index.html, is one file that needs no network.
    """
    from hdbench.report.folder import write_report  # noqa: PLC0415  slow to import
    from hdbench.runs import load_runs  # noqa: PLC0415

    loaded = load_runs([run], benchmark=benchmark, protocol=protocol, details=True)
    if len(loaded) > 1:
        raise HdbenchError(f"{run}: holds {len(loaded)} runs: give one")
    for path in write_report(next(iter(loaded.values())), out, benchmark=benchmark):
        typer.echo(escaped(str(path)))


@app.command()
def cite(
    path: Annotated[
        Path, typer.Argument(help="A result of hdbench score --json, or a built benchmark.")
    ],
) -> None:
    """Print BibTeX of the benchmark and of hdbench, and a sentence for the methods section."""
    from hdbench.cite import cite as citation  # noqa: PLC0415  slow to import

    for line in citation(path).expandtabs(2).split("\n"):
        typer.echo(escaped(line))


@app.command()
def demo(
    name: Annotated[str, typer.Argument(help="The benchmark.")] = "zettelkatalog",
) -> None:
    """Build a small sample into ./hdb, load it, score sample answers: a first look in a minute."""
    from hdbench.demo import run_demo  # noqa: PLC0415  slow to import

    run_demo(name, DEFAULT_OUT, Console())


def main() -> None:
    """Run the command line; an error is one line on standard error, and exit status 2."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(arguments)
    except (HdbenchError, OSError) as error:
        if len(arguments) < len(sys.argv) - 1:  # --debug, wherever it stands
            raise
        typer.echo(f"error: {_one_line(error)}", err=True)
        sys.exit(2)


def _one_line(error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Ids and keys come from foreign files, and could carry a terminal's control sequences.
    return escaped(text)
