"""The command line. It reads options, calls, and prints; nothing is decided here."""

import json
import sys
from dataclasses import asdict
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
        typer.Argument(help="Benchmarks, or folders with a benchmark.yaml.", metavar="[NAME…]"),
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
    protocol: Annotated[
        str,
        typer.Option(
            help="documented: as the benchmark describes it. published: as its published results."
        ),
    ] = "documented",
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
    from hdbench.results import write_results  # noqa: PLC0415
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
    if json_out:
        write_results(json_out, list(results.values()), details=details)
    console = Console()
    for model, result in results.items():
        figures = result.figures()
        named = "" if model is None else f"{model}: "
        title = f"{named}{figures['benchmark']} {figures['dataset_version']}, {figures['protocol']}"
        print_result(
            console, title, figures, result.field_rates(), result.worst, details=result.per_item
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
    results: Annotated[
        list[Path], typer.Argument(help="Results of hdbench score --json, on the same items.")
    ],
    *,
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
    from hdbench.results import read_runs  # noqa: PLC0415
    from hdbench.statistics.comparison import compare_runs  # noqa: PLC0415
    from hdbench.tables import print_comparison  # noqa: PLC0415

    runs = read_runs(results)
    first = next(iter(runs.values()))
    # The headline is the first figure of every metric, and the higher the better.
    headline = next(iter(first.metric.rates(first.totals)))
    comparisons = compare_runs(runs, headline=headline, higher_is_better=True, seed=seed)
    if json_out:
        write_json(json_out, {"comparisons": [asdict(each) for each in comparisons]})
    for position, comparison in enumerate(comparisons):
        if position:
            Console().print()
        print_comparison(Console(), comparison)


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
